// SPDX-License-Identifier: Apache-2.0
// The material that a process sees of a cut image.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

namespace ossatura {

/// The voxels of a whole grid that a process sees, as an image for make_local_grid.
template<class Exec>
struct VisibleVoxels {
  VoxelGrid<Exec> whole;
  LameField<Exec> lame;
  CutTable<Exec> table;
  Kokkos::Array<int, 3> shape = whole.shape;

  KOKKOS_FUNCTION float value_or_void(int x, int y, int z) const {
    const int node = whole.find(x, y, z);
    return node >= 0 && lame.solid(node) && table.is_near(x, y, z, 1, cut_halo, false) ? 1.0f
                                                                                       : 0.0f;
  }
};

namespace detail {
template<class Exec>
struct RestrictLame {
  VoxelGrid<Exec> whole, local;
  CutTable<Exec> table;
  LameField<Exec> from, to;
  bool uniform;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = local.site(int(node));
    const int found = whole.find(s.x, s.y, s.z);
    const bool seen = table.is_near(s.x, s.y, s.z, 1, cut_halo, false);
    to.mu_value(node) = seen ? from.mu_value(found) : 0.0f;
    if (!uniform)
      to.lambda_value(node) = seen ? from.lambda_value(found) : 0.0f;
  }
};
} // namespace detail

/// The constants of the voxels of a whole grid at those of a local one. Does not fence.
template<class Exec>
LameField<Exec> restrict_lame(const Exec& exec, const VoxelGrid<Exec>& whole,
                              const LameField<Exec>& lame, const CutTable<Exec>& table,
                              const VoxelGrid<Exec>& local) {
  LameField<Exec> to = lame;
  const bool uniform = lame.lambda_value.data() == lame.mu_value.data();
  to.mu_value = make_uninitialized<float>(exec, local.num_nodes, "ossatura::voxel_values");
  to.lambda_value =
      uniform ? to.mu_value
              : make_uninitialized<float>(exec, local.num_nodes, "ossatura::voxel_values");
  Kokkos::parallel_for("ossatura::restrict_lame", range(exec, local.num_nodes),
                       detail::RestrictLame<Exec>{whole, local, table, lame, to, uniform});
  return to;
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
