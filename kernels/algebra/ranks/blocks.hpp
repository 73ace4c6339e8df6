// SPDX-License-Identifier: Apache-2.0
// Rank blocks bring the parts of large arrays that processes have to the first process, block by
// block in the order of ranks, so that it can write them without ever holding one as a whole: as
// they are, or what the others make of them.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/host_blocks.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Thrown on the other ranks when the first has stopped taking blocks.
struct BlocksNotTaken {};

/// What a rank made of a part of its array.
struct MadeBlock {
  std::vector<std::uint64_t> numbers;
  std::vector<unsigned char> bytes;
};

/// One object for several arrays, made by all ranks of a communicator, which call for_each() in the
/// same order. The first rank calls finish() behind the last; where it is destroyed without that,
/// because the body threw, the others leave it by BlocksNotTaken.
template<class Exec>
class RankBlocks {
public:
  RankBlocks(const Exec& exec, const Communicator& comm)
      : blocks_(exec)
      , comm_(comm) {}
  ~RankBlocks() {
    if (!finished_ && comm_.is_first())
      for (int rank = 1; rank < comm_.size(); ++rank)
        comm_.send(std::vector<int>{stop}, rank);
  }
  RankBlocks(const RankBlocks&) = delete;
  RankBlocks& operator=(const RankBlocks&) = delete;

  /// Whether this process takes the blocks.
  bool is_first() const { return comm_.is_first(); }

  /// On the first rank calls body(values, first, count) for blocks of the arrays [rows, columns] of
  /// all ranks one behind the other: `values` are rows first to first + count of all, on the host,
  /// until body returns. On the others hands over `array`. Fences.
  template<class T, class Body>
  void for_each(const Array<T, Exec>& array, std::size_t columns, const Body& body) {
    if (!comm_.is_first()) {
      hand_over(array, columns);
      return;
    }
    blocks_.for_each(array, columns, body);
    std::size_t first = array.extent(0) / columns;
    for (int rank = 1; rank < comm_.size(); ++rank)
      for (;;) {
        comm_.send(std::vector<int>{go}, rank);
        const std::vector<T> values = comm_.receive<T>(rank);
        if (values.empty()) // its last
          break;
        body(values.data(), first, values.size() / columns);
        first += values.size() / columns;
      }
  }

  /// The same in steps, where the others make what the first rank takes; all take the same ones.
  /// 1. On all, what say() returns on the first rank, which alone calls it; trivially copyable.
  template<class Say>
  auto tell(const Say& say) -> decltype(say()) {
    using T = decltype(say());
    if (!comm_.is_first()) {
      wait();
      return comm_.receive<T>(0).front();
    }
    const T value = say();
    for (int rank = 1; rank < comm_.size(); ++rank) {
      comm_.send(std::vector<int>{go}, rank);
      comm_.send(std::vector<T>{value}, rank);
    }
    return value;
  }
  /// 2. Calls body(values, count) for blocks of rows of the own array, on the host until body
  /// returns; ranks that hand over have small ones. Fences.
  template<class T, class Body>
  void for_own(const Array<T, Exec>& array, std::size_t columns, const Body& body) {
    const std::size_t most = is_first()
                                 ? array.extent(0)
                                 : std::max<std::size_t>(1, block_bytes / (columns * sizeof(T)));
    blocks_.for_each(array, columns, [&](const T* values, std::size_t, std::size_t rows) {
      for (std::size_t first = 0; first < rows; first += most)
        body(values + first * columns, std::min(most, rows - first));
    });
  }
  /// Bytes that a rank makes before it hands them over, about.
  static constexpr std::size_t block_bytes = std::size_t(1) << 27;
  /// 3. Hands over to the first rank, which calls take(MadeBlock&) for the blocks of the others,
  /// rank by rank. One without numbers is the last.
  void hand_over(const MadeBlock& block) {
    wait();
    comm_.send(block.numbers, 0);
    if (!block.numbers.empty())
      comm_.send(block.bytes, 0);
  }
  template<class Take>
  void take_others(const Take& take) {
    for (int rank = 1; rank < comm_.size(); ++rank)
      for (MadeBlock block;;) {
        comm_.send(std::vector<int>{go}, rank);
        block.numbers = comm_.receive<std::uint64_t>(rank);
        if (block.numbers.empty())
          break;
        block.bytes = comm_.receive<unsigned char>(rank);
        take(block);
      }
  }

  /// There is no other array.
  void finish() { finished_ = true; }

private:
  static constexpr int go = 1, stop = 0;

  void wait() const {
    if (comm_.receive<int>(0).front() == stop)
      throw BlocksNotTaken();
  }

  template<class T>
  void hand_over(const Array<T, Exec>& array, std::size_t columns) {
    const std::size_t most = std::max<std::size_t>(1, block_bytes / (columns * sizeof(T)));
    blocks_.for_each(array, columns, [&](const T* values, std::size_t, std::size_t rows) {
      for (std::size_t first = 0; first < rows; first += most) {
        const T* begin = values + first * columns;
        const std::vector<T> block(begin, begin + std::min(most, rows - first) * columns);
        wait();
        comm_.send(block, 0);
      }
    });
    wait();
    comm_.send(std::vector<T>(), 0);
  }

  HostBlocks<Exec> blocks_;
  Communicator comm_;
  bool finished_ = false;
};

} // namespace ossatura
