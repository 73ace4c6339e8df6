// SPDX-License-Identifier: Apache-2.0
// The material that a process sees of a cut image.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

namespace ossatura {

/// The constants of a material at the voxels that a process sees of it, `visible`. Does not fence.
template<class Exec>
LameField<Exec> make_local_lame_field(const Exec& exec, const VoxelGrid<Exec>& grid,
                                      const MaterialImage<Exec>& material,
                                      const VisibleImage<Exec>& visible) {
  LameField<Exec> lame;
  lame.lambda_scale = material.lambda_scale;
  lame.mu_scale = material.mu_scale;
  lame.mu_value = restrict_to_grid(exec, grid, visible);
  // Lambda may be negative, and is not read where mu is 0.
  lame.lambda_value =
      material.uniform_poisson() ? lame.mu_value : restrict_to_grid(exec, grid, material.first);
  return lame;
}

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

} // namespace ossatura
