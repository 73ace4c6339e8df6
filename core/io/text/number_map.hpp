// SPDX-License-Identifier: Apache-2.0
// A NumberMap takes the numbers that a file gives its nodes or elements, which may be any, to their
// places in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ossatura {

class NumberMap {
public:
  /// Gives `number` the next place; false, and nothing done, where it has one.
  bool add(std::uint64_t number) {
    if (find(number) >= 0)
      return false;
    const auto place = std::int32_t(number_.size());
    if (number < 4 * number_.size() + 65536) {
      if (number >= dense_.size())
        dense_.resize(number + 1, -1);
      dense_[number] = place;
    } else {
      sparse_.emplace(number, place);
    }
    number_.push_back(number);
    return true;
  }

  /// The place, or -1.
  std::int32_t find(std::uint64_t number) const {
    if (number < dense_.size() && dense_[number] >= 0)
      return dense_[number];
    if (sparse_.empty())
      return -1;
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? -1 : found->second;
  }

  std::uint64_t number(std::size_t place) const { return number_[place]; }
  std::size_t size() const { return number_.size(); }

private:
  std::vector<std::uint64_t> number_;
  std::vector<std::int32_t> dense_;                        ///< by number, -1 = none or in sparse_
  std::unordered_map<std::uint64_t, std::int32_t> sparse_; ///< numbers far above the count
};

} // namespace ossatura
