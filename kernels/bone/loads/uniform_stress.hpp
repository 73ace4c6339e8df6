// SPDX-License-Identifier: Apache-2.0
// These kernels make a uniform strain of a grid of voxels: its nodal forces and its displacements.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

/// A strain (xx, yy, zz, xy, yz, zx), shears as engineers have them.
using UniformStrain = Kokkos::Array<double, 6>;

namespace detail {

/// The symmetric tensor of one in (xx, yy, zz, xy, yz, zx), shears as they are.
KOKKOS_INLINE_FUNCTION double tensor_entry(const double (&t)[6], int i, int j) {
  constexpr int place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  return t[place[i][j]];
}

template<class Exec>
struct UniformStrainForces {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  UniformStrain strain;
  double face; ///< of a voxel, mm2, with the sign of the forces
  Array<double, Exec> f;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double sum[3] = {0, 0, 0};
    for (int v = 0; v < 8; ++v) { // the node is corner v of the voxel
      const int high[3] = {v & 1, v >> 1 & 1, v >> 2};
      const int lowest = grid.find(s.x - high[0], s.y - high[1], s.z - high[2]);
      if (lowest < 0 || !lame.solid(lowest))
        continue;
      const double lambda = lame.lambda(lowest), mu = lame.mu(lowest);
      const double mean = lambda * (strain[0] + strain[1] + strain[2]);
      double stress[6];
      for (int k = 0; k < 6; ++k)
        stress[k] = k < 3 ? mean + 2 * mu * strain[k] : mu * strain[k];
      // The gradient of a trilinear shape function has the integral +-edge^2 / 4 along each axis.
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          sum[i] += (high[j] ? 0.25 : -0.25) * tensor_entry(stress, i, j);
    }
    for (int i = 0; i < 3; ++i)
      f(3 * node + i) = face * sum[i];
  }
};

template<class Exec>
struct AddUniformStrain {
  VoxelGrid<Exec> grid;
  UniformStrain strain;
  double edge;
  Array<double, Exec> u;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const double x[3] = {edge * s.x, edge * s.y, edge * s.z};
    double t[6];
    for (int k = 0; k < 6; ++k)
      t[k] = k < 3 ? strain[k] : strain[k] / 2;
    for (int i = 0; i < 3; ++i)
      u(3 * node + i) += tensor_entry(t, i, 0) * x[0] + tensor_entry(t, i, 1) * x[1] +
                         tensor_entry(t, i, 2) * x[2];
  }
};

} // namespace detail

/// f [3 num_nodes] = -K u (N) for the displacements u of a uniform strain, from the stresses of the
/// voxels of the given edge (mm): where these are equal around a node its force is 0 but for a
/// rounding error of the sum. Does not fence.
template<class Exec>
void release_uniform_strain(const Exec& exec, const VoxelGrid<Exec>& grid,
                            const LameField<Exec>& lame, double edge, const UniformStrain& strain,
                            const Array<double, Exec>& f) {
  Kokkos::parallel_for("ossatura::release_uniform_strain", range(exec, grid.num_nodes),
                       detail::UniformStrainForces<Exec>{grid, lame, strain, -edge * edge, f});
}

/// Adds the displacements (mm) of a uniform strain, 0 at the lower corner of the image, to u
/// [3 num_nodes]. Does not fence.
template<class Exec>
void add_uniform_strain(const Exec& exec, const VoxelGrid<Exec>& grid, double edge,
                        const UniformStrain& strain, const Array<double, Exec>& u) {
  Kokkos::parallel_for("ossatura::add_uniform_strain", range(exec, grid.num_nodes),
                       detail::AddUniformStrain<Exec>{grid, strain, edge, u});
}

} // namespace ossatura
