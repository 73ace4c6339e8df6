// SPDX-License-Identifier: Apache-2.0
// The next coarser level of a voxel model: 2 x 2 x 2 aggregation with averaged moduli (eq. 5 of
// Arbenz, Flaig, Kellenberger, doi:10.1016/j.jpdc.2014.06.014), and constraints carried along.
#pragma once

#include "kernels/constraints.hpp"
#include "kernels/lame_field.hpp"

namespace femura {

namespace detail {
template<class Exec>
struct CoarsenImage {
  VoxelArray<Exec> fine;
  VoxelArray<Exec> coarse;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int x = int(i % coarse.shape[0]), y = int(i / coarse.shape[0] % coarse.shape[1]),
              z = int(i / coarse.shape[0] / coarse.shape[1]);
    float sum = 0;
    for (int k = 0; k < 8; ++k)
      sum += fine.value_or_void(2 * x + (k & 1), 2 * y + (k >> 1 & 1), 2 * z + (k >> 2));
    coarse.value(i) = sum / 8;
  }
};
} // namespace detail

/// Means over 2 x 2 x 2 voxels; voxels that are void or off the image count as zero. An odd axis is
/// completed with void. Does not fence.
template<class Exec>
VoxelArray<Exec> coarsen_image(const Exec& exec, const VoxelArray<Exec>& fine) {
  std::array<int, 3> shape{};
  for (int d = 0; d < 3; ++d)
    shape[d] = (fine.shape[d] + 1) / 2;
  const VoxelArray<Exec> coarse = make_voxel_array(exec, shape);
  Kokkos::parallel_for("femura::coarsen_image", range(exec, coarse.num_voxels()),
                       detail::CoarsenImage<Exec>{fine, coarse});
  return coarse;
}

/// Both images of a material, averaged.
template<class Exec>
MaterialImage<Exec> coarsen_material(const Exec& exec, const MaterialImage<Exec>& fine) {
  MaterialImage<Exec> coarse{coarsen_image(exec, fine.first), {}, fine.lambda_scale, fine.mu_scale};
  if (!fine.uniform_poisson())
    coarse.second = coarsen_image(exec, fine.second);
  return coarse;
}

namespace detail {
template<class Exec>
struct CoarsenConstraints {
  VoxelGrid<Exec> fine;
  Array<std::uint8_t, Exec> fine_mask;
  VoxelGrid<Exec> coarse;
  Array<std::uint8_t, Exec> mask;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = coarse.site(int(node));
    std::uint8_t held = 0;
    for (int k = 0; k < 27; ++k) {
      const int f = fine.find(2 * s.x + k % 3 - 1, 2 * s.y + k / 3 % 3 - 1, 2 * s.z + k / 9 - 1);
      if (f >= 0)
        held |= fine_mask(f);
    }
    mask(node) = held;
  }
};
} // namespace detail

/// A coarse component is held if any fine held component interpolates from it. Fences.
template<class Exec>
Constraints<Exec> coarsen_constraints(const Exec& exec, const VoxelGrid<Exec>& fine,
                                      const Constraints<Exec>& fine_held,
                                      const VoxelGrid<Exec>& coarse) {
  const Array<std::uint8_t, Exec> mask =
      make_uninitialized<std::uint8_t>(exec, coarse.num_nodes, "femura::held_mask");
  const Array<std::uint8_t, Exec> fine_mask = fine_held.mask;
  Kokkos::parallel_for("femura::coarsen_constraints", range(exec, coarse.num_nodes),
                       detail::CoarsenConstraints<Exec>{fine, fine_mask, coarse, mask});
  return make_constraints(exec, mask);
}

} // namespace femura
