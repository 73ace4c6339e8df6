// SPDX-License-Identifier: Apache-2.0
// Rank blocks bring the parts of large arrays that processes have to the first process, block by
// block in the order of ranks, so that it can write them without ever holding one as a whole.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/host_blocks.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Thrown on the other ranks when the first has stopped taking blocks.
struct BlocksNotTaken {};

/// One object for several arrays, made by all ranks of a communicator, which call for_each() in the
/// same order. The first rank calls finish() behind the last; where it is destroyed without that,
/// because the body threw, the others leave for_each() by BlocksNotTaken.
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

  /// There is no other array.
  void finish() { finished_ = true; }

private:
  static constexpr int go = 1, stop = 0;
  static constexpr std::size_t block_bytes = std::size_t(1) << 27;

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
