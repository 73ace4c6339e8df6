// SPDX-License-Identifier: Apache-2.0
// An index set collects the distinct numbers of a list, one list after the other, in memory of the
// size of a list and not of the range of the numbers: each thread can have its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ossatura {

class IndexSet {
public:
  IndexSet() { resize(64); }

  /// The place of `number` (not negative) in list(), at whose end it is put where it is new.
  int add(int number) {
    std::size_t slot = find(number);
    if (number_[slot] != number) {
      if (2 * list_.size() >= number_.size()) {
        grow();
        slot = find(number);
      }
      put(number, slot);
    }
    return place_[slot];
  }
  /// The numbers in the order in which they came; they may be reordered before clear().
  std::vector<int>& list() { return list_; }
  const std::vector<int>& list() const { return list_; }

  void clear() {
    for (const std::uint32_t slot : used_)
      number_[slot] = -1;
    used_.clear();
    list_.clear();
  }

private:
  /// The slot of the number, or the free one where it belongs.
  std::size_t find(int number) const {
    const std::size_t mask = number_.size() - 1;
    std::size_t slot = std::uint32_t(number) * 0x9e3779b1U >> 7 & mask;
    while (number_[slot] != number && number_[slot] >= 0)
      slot = (slot + 1) & mask;
    return slot;
  }
  void put(int number, std::size_t slot) {
    number_[slot] = number;
    place_[slot] = int(list_.size());
    used_.push_back(std::uint32_t(slot));
    list_.push_back(number);
  }
  void resize(std::size_t count) {
    number_.assign(count, -1);
    place_.resize(count);
  }
  void grow() {
    const std::vector<int> all = std::exchange(list_, {});
    used_.clear();
    resize(2 * number_.size());
    for (const int number : all)
      put(number, find(number));
  }

  std::vector<int> number_; ///< by slots, a power of two of them; -1: free
  std::vector<int> place_;  ///< by slots
  std::vector<std::uint32_t> used_;
  std::vector<int> list_;
};

} // namespace ossatura
