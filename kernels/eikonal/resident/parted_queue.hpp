// SPDX-License-Identifier: Apache-2.0
// A parted queue has a part for each block of a resident grid, which counts the places of its own
// part in its scratch memory, and a last one for all blocks, for what a part has no room for. After
// a barrier of the grid every block reads the lengths of all parts, and finds items by bisection.
#pragma once

#include <ossatura/core/parallel/resident_grid.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// Where the parts of a queue begin, into begin [num_blocks + 2], by all threads of the block;
/// returns the length of the queue. `own` [num_blocks] and `last_part` [1] are lengths, which are
/// asked for together before they are summed. Synchronises the block.
__device__ __forceinline__ int find_parts(const ResidentBlock& block, const int* own,
                                          const int* last_part, int* begin) {
  constexpr unsigned all = 0xffffffffu;
  const int num_parts = block.num_blocks + 1;
  if (threadIdx.x < 32) {
    constexpr int rounds = 5;
    const int lane = int(threadIdx.x);
    int sum = 0;
    for (int part = 0; part < num_parts; part += 32 * rounds) {
      int length[rounds];
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        const int i = part + 32 * r + lane;
        length[r] = i < num_parts ? __ldcg(i < block.num_blocks ? own + i : last_part) : 0;
      }
#pragma unroll
      for (int r = 0; r < rounds; ++r) {
        int x = length[r];
#pragma unroll
        for (int offset = 1; offset < 32; offset *= 2) {
          const int y = __shfl_up_sync(all, x, offset);
          x += lane >= offset ? y : 0;
        }
        const int i = part + 32 * r + lane;
        if (i < num_parts)
          begin[i + 1] = sum + x;
        sum += __shfl_sync(all, x, 31);
      }
    }
    if (lane == 0)
      begin[0] = 0;
  }
  __syncthreads();
  return begin[num_parts];
}

/// The part of item i, which is in the queue: the same i for all lanes of a warp, by all of them.
__device__ __forceinline__ int part_of_item(const int* begin, int num_parts, int i) {
  constexpr unsigned all = 0xffffffffu;
  const int lane = int(threadIdx.x) % 32;
  int low = 0;
  for (int size = num_parts; size > 1;) {
    const int step = (size + 31) / 32, at = lane * step;
    const unsigned before = __ballot_sync(all, at < size && begin[low + at] <= i);
    const int group = __popc(before) - 1; // parts begin in ascending order
    low += group * step;
    size = size - group * step < step ? size - group * step : step;
  }
  return low;
}
#endif

} // namespace ossatura::detail
