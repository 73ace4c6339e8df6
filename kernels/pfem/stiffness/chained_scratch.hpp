// SPDX-License-Identifier: Apache-2.0
// Scratch memory of a team that forms matrices by chained products (kernels/pfem/stiffness/
// chained_products.hpp), and the state of the team, which is in it.
#pragma once

#include <ossatura/kernels/pfem/stiffness/chained_layout.hpp>

#include <cstdint>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// A pass of an element, in scratch memory: in registers it would be spilled.
struct ChainedTurn {
  std::int64_t matrix; ///< of this launch
  int number, component, num_slots, first_item;
  int num_batches; ///< of points of the next element, the first tasks
  int num_tasks;
  int next; ///< task
};

/// What is where in scratch memory: constants, which take no registers.
template<int P>
struct ChainedScratch {
  using Layout = ChainedLayout<P>;
  static constexpr int plane = Layout::plane, slots = Layout::slots;

  double* base;
  double* memory; ///< C of the team, if it is not in scratch
  int own;        ///< of the warp

  __device__ double* a() const { return base; }
  __device__ double* eta() const { return a() + slots * Layout::a_size; }
  __device__ double* zeta() const { return eta() + plane * Layout::eta_stride; }
  __device__ double* xi() const { return zeta() + Layout::zeta_rows * Layout::zeta_stride; }
  __device__ double* behind_xi() const { return xi() + slots * Layout::xi_stride; }
  __device__ double* c() const { return Layout::c_in_memory ? memory : behind_xi(); }
  __device__ double* stages() const {
    return behind_xi() + (Layout::c_in_memory ? 0 : Layout::c_size);
  }
  __device__ double* stage() const { return stages() + own; } ///< 8 pairs by 24
  __device__ ChainedPair* pair() const {                      // of the item
    return reinterpret_cast<ChainedPair*>(stage() + 192);
  }
  __device__ typename Layout::Place* place() const {
    return reinterpret_cast<typename Layout::Place*>(stages() + 208 * Layout::warps);
  }
  __device__ ChainedEntry* third() const { // [plane + 1], by pairs of third indices, and none
    return reinterpret_cast<ChainedEntry*>(place() + (Layout::c_in_memory ? 0 : Layout::c_rows));
  }
  __device__ std::uint16_t* folded_row() const { // [plane + 1]
    return reinterpret_cast<std::uint16_t*>(third() + plane + 1);
  }
  __device__ volatile ChainedTurn* turn() const { // [2], in turns
    return reinterpret_cast<volatile ChainedTurn*>(third() + plane + 1 +
                                                   (Layout::folded ? plane / 4 + 1 : 0));
  }
  __device__ const volatile unsigned* numbers() const { // [32]: numbers_of the lanes
    return reinterpret_cast<const volatile unsigned*>(turn() + 2);
  }
};

#endif

} // namespace ossatura::detail
