// SPDX-License-Identifier: Apache-2.0
// The material that a process sees of a cut image.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct CountOwnedVoxels {
  LameField<Exec> lame;
  int begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += lame.solid(begin + int(i));
  }
};
} // namespace detail

/// The voxels of all processes, each counted where its lowest corner is owned. Fences.
template<class Exec>
std::int64_t count_owned_voxels(const Exec& exec, const Communicator& comm,
                                const VoxelGrid<Exec>& grid, const LameField<Exec>& lame) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_owned_voxels", range(exec, grid.owned.count()),
                          detail::CountOwnedVoxels<Exec>{lame, grid.owned.begin}, count);
  return comm.sum(count);
}

/// A copy of a material that is void where a process does not see (keep_visible in local_grid.hpp).
/// Does not fence.
template<class Exec>
MaterialImage<Exec> keep_visible(const Exec& exec, const CutTable<Exec>& table,
                                 const MaterialImage<Exec>& material, int halo = cut_halo) {
  MaterialImage<Exec> visible = material;
  if (material.uniform_poisson()) {
    visible.first = keep_visible(exec, table, material.first, halo);
  } else { // lambda is not seen where mu is void, and may be negative
    visible.second = keep_visible(exec, table, material.second, halo);
  }
  return visible;
}

} // namespace ossatura
