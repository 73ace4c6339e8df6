// SPDX-License-Identifier: Apache-2.0
// This kernel computes von Mises stresses of voxels, where their solver numbers them: by the node
// of their lowest corner.
#pragma once

#include <ossatura/kernels/bone/fields.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {
template<class Exec>
struct VoxelVonMises {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<double, Exec> u, stress;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int lowest = int(i);
    stress(i) = 0;
    if (!lame.solid(lowest))
      return;
    double v[24], strain[6], s[6];
    load_voxel(grid, u, lowest, v);
    centre_strain_stress(v, edge, lame.lambda(lowest), lame.mu(lowest), strain, s);
    const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
    stress(i) =
        Kokkos::sqrt(0.5 * (a * a + b * b + c * c) + 3 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
  }
};
} // namespace detail

/// stress(i) = von Mises stress at the centre of the voxel whose lowest corner is node i, in the
/// unit of the moduli, 0 where there is none. u [num_nodes, 3], stress [num_nodes]. Does not fence.
template<class Exec>
void voxel_von_mises(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                     double edge, const Array<double, Exec>& u, const Array<double, Exec>& stress) {
  Kokkos::parallel_for("ossatura::voxel_von_mises", range(exec, grid.num_nodes),
                       detail::VoxelVonMises<Exec>{grid, lame, edge, u, stress});
}

} // namespace ossatura
