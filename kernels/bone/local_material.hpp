// SPDX-License-Identifier: Apache-2.0
// The material that a process sees of a cut image.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/shared_planes.hpp>

namespace ossatura {

/// Planes of a material. Does not fence.
template<class Exec>
MaterialImage<Exec> take_planes(const Exec& exec, const MaterialImage<Exec>& material,
                                ImagePlanes planes) {
  MaterialImage<Exec> part = material;
  part.first = take_planes(exec, material.first, planes);
  if (!material.uniform_poisson())
    part.second = take_planes(exec, material.second, planes);
  return part;
}

namespace detail {
template<class Exec>
struct SetVoxelValues {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> site;
  Array<float, Exec> from, value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = unpack_site(site(i));
    value(grid.find(s.x, s.y, s.z)) = from(i);
  }
};
} // namespace detail

/// The constants of listed voxels of a grid, times the scales. Does not fence.
template<class Exec>
LameField<Exec> make_listed_lame_field(const Exec& exec, const VoxelGrid<Exec>& grid,
                                       const VoxelList<Exec>& list, double lambda_scale = 1,
                                       double mu_scale = 1) {
  const auto at_nodes = [&](const Array<float, Exec>& from) {
    const auto value = make_zeros<float>(exec, grid.num_nodes, "ossatura::voxel_values");
    Kokkos::parallel_for("ossatura::make_listed_lame_field", range(exec, from.extent(0)),
                         detail::SetVoxelValues<Exec>{grid, list.site, from, value});
    return value;
  };
  LameField<Exec> lame;
  lame.lambda_scale = lambda_scale;
  lame.mu_scale = mu_scale;
  lame.mu_value = at_nodes(list.solid);
  lame.lambda_value = list.first.extent(0) > 0 ? at_nodes(list.first) : lame.mu_value;
  return lame;
}

/// The voxels of all processes, each counted where its lowest corner is owned. Fences.
template<class Exec>
std::int64_t count_owned_voxels(const Exec& exec, const Communicator& comm,
                                const VoxelGrid<Exec>& grid, const LameField<Exec>& lame) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_owned_voxels",
                          range(exec, grid.owned.begin, grid.owned.end),
                          detail::CountElements<Exec>{lame.mu_value}, count);
  return comm.sum(count);
}

} // namespace ossatura
