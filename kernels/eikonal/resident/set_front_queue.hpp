// SPDX-License-Identifier: Apache-2.0
// The queue of a front of sets, as its kernel sees it: points with the sets that evaluate them.
#pragma once

#include <ossatura/kernels/eikonal/resident/parted_queue.hpp>
#include <ossatura/kernels/eikonal/resident/set_front_state.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// The arrays of SetFront.
struct SetFrontQueue {
  std::uint32_t* queue;
  std::size_t queue_size;
  int* length;
  SetsOfPoint* point;
  int part_size;

  /// Of one iteration.
  struct Turn {
    int k, num_blocks;
    const std::uint32_t* from;
    std::uint32_t* to; ///< the block's part
    std::uint32_t* to_last;
    int* last_length;
  };

  __device__ __forceinline__ Turn turn_of(const ResidentBlock& block, int k) const {
    const std::size_t parts = std::size_t(block.num_blocks) * part_size;
    std::uint32_t* const to = queue + std::size_t((k + 1) % 3) * queue_size;
    return {k,
            block.num_blocks,
            queue + std::size_t(k % 3) * queue_size,
            to + std::size_t(block.rank) * part_size,
            to + parts,
            length + 2 * block.num_blocks + (k + 1) % 4};
  }

  /// As find_parts().
  __device__ __forceinline__ int find(const ResidentBlock& block, int k, int* begin) const {
    return find_parts(block, length + (k & 1) * block.num_blocks,
                      length + 2 * block.num_blocks + k % 4, begin);
  }

  /// What the block has appended to the next queue, by one thread.
  __device__ __forceinline__ void end_turn(const ResidentBlock& block, int k, int appended) const {
    __stcg(length + (1 - (k & 1)) * block.num_blocks + block.rank,
           appended < part_size ? appended : part_size);
    if (block.rank == 0) // whose readers of two iterations before are through
      __stcg(length + 2 * block.num_blocks + (k + 2) % 4, 0);
  }

  /// The fields of the iteration before, by all threads: of the block's part of the queue, and of a
  /// share of the last part.
  __device__ __forceinline__ void clear_fields(const ResidentBlock& block, int k,
                                               int threads) const {
    const std::uint32_t* const before = queue + std::size_t((k + 2) % 3) * queue_size;
    std::uint16_t* const field = reinterpret_cast<std::uint16_t*>(point) + (k + 3) % 4;
    const std::uint32_t* const own = before + std::size_t(block.rank) * part_size;
    const int size = __ldcg(length + (1 - (k & 1)) * block.num_blocks + block.rank);
    for (int i = int(threadIdx.x); i < size; i += threads)
      __stcg(field + 4 * std::size_t(__ldcg(own + i)), std::uint16_t(0));
    const std::uint32_t* const rest = before + std::size_t(block.num_blocks) * part_size;
    const int rest_size = __ldcg(length + 2 * block.num_blocks + (k + 3) % 4);
    for (int i = block.rank * threads + int(threadIdx.x); i < rest_size;
         i += block.num_blocks * threads)
      __stcg(field + 4 * std::size_t(__ldcg(rest + i)), std::uint16_t(0));
  }

  __device__ __forceinline__ SetsOfPoint load_sets(int index) const {
    const uint2 p = __ldcg(reinterpret_cast<const uint2*>(point + index));
    return {{p.x, p.y}};
  }

  /// Item i + g of the queue, for a lane that has one, and 0. By all lanes of a warp, with the same
  /// i. `begin`: of find().
  __device__ __forceinline__ int load_item(const int* begin, const Turn& turn, int i, int g,
                                           bool there) const {
    int part = part_of_item(begin, turn.num_blocks + 1, i);
    if (!there)
      return 0;
    while (begin[part + 1] <= i + g)
      ++part;
    return int(__ldcg(turn.from + std::size_t(part) * part_size + (i + g - begin[part])));
  }

  /// Appends an item at place `i` of the block's part of the next queue, which is its own.
  __device__ __forceinline__ void append(const Turn& turn, int i, int item) const {
    if (i < part_size)
      __stcg(turn.to + i, std::uint32_t(item));
    else
      __stcg(turn.to_last + atomicAdd(turn.last_length, 1), std::uint32_t(item));
  }

  /// Adds `bits` to the next iteration's field of an item; returns the half of the item before.
  __device__ __forceinline__ unsigned enter(const Turn& turn, int index, unsigned bits) const {
    const int k = turn.k + 1;
    return atomicOr(&point[index].half[(k & 2) / 2], bits << SetsOfPoint::shift_of(k));
  }
  /// Whether they were the first, so that the item is to be appended.
  __device__ __forceinline__ static bool is_first(const Turn& turn, unsigned before) {
    return (before >> SetsOfPoint::shift_of(turn.k + 1) & 0xffffu) == 0;
  }

  /// Sets of `done` that neither evaluate an item in this iteration nor have it in the next.
  __device__ __forceinline__ static unsigned missing(const SetsOfPoint& item, int k,
                                                     unsigned done) {
    return done & ~item.field(k) & ~item.field(k + 1);
  }

  /// Appends an item whose sets the next iteration is to evaluate, unless it is there already.
  /// `num_appended`: places that the block has given away.
  __device__ void notify(int* num_appended, const Turn& turn, int index, unsigned done) const {
    const unsigned bits = missing(load_sets(index), turn.k, done);
    if (bits != 0 && is_first(turn, enter(turn, index, bits)))
      append(turn, atomicAdd(num_appended, 1), index);
  }
};
#endif

} // namespace ossatura::detail
