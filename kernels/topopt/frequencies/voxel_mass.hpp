// SPDX-License-Identifier: Apache-2.0
// The consistent mass matrix of voxels, by the closed form of that of a trilinear cube and without
// a stored entry. Integrals over an edge of products of its two linear functions are 1/3 and 1/6 of
// its length, hence those of nodes a and b over a cube of volume V, which differ along k axes,
//
//   m_ab = V / 27 2^-k.
//
// A mass is at the place of the lowest corner of its voxel, as moduli are; places without a voxel
// have none.
#pragma once

#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {

/// A node sums over its neighbours, in their order: each in as many voxels as both are corners of.
/// They are found once for all vectors.
template<class Exec>
struct ApplyVoxelMass {
  VoxelGrid<Exec> grid;
  double volume;
  Array<double, Exec> mass;
  int count;
  Array<double, Exec> x, y;

  /// The masses of the voxels that have a node and its neighbour in direction `way` as corners.
  KOKKOS_FUNCTION static double shared(const double (&around)[8], const int (&way)[3]) {
    double sum = 0;
    for (int z = way[2] > 0 ? 1 : 0; z <= (way[2] < 0 ? 0 : 1); ++z)
      for (int y = way[1] > 0 ? 1 : 0; y <= (way[1] < 0 ? 0 : 1); ++y)
        for (int x = way[0] > 0 ? 1 : 0; x <= (way[0] < 0 ? 0 : 1); ++x)
          sum += around[x + 2 * y + 4 * z];
    return sum;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    int at[27]; // nodes, of which those below are the places of voxels, too
    for (int k = 0; k < 27; ++k)
      at[k] = grid.find(s.x + k % 3 - 1, s.y + k / 3 % 3 - 1, s.z + k / 9 - 1);
    double around[8]; // below and above along each axis
    for (int k = 0; k < 8; ++k) {
      const int voxel = at[(k & 1) + 3 * (k >> 1 & 1) + 9 * (k >> 2)];
      around[k] = voxel < 0 ? 0 : mass(voxel);
    }
    double part[27];
    for (int k = 0; k < 27; ++k) {
      const int way[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      part[k] = volume / 27 * shared(around, way);
      for (const int one : way)
        part[k] *= one == 0 ? 1 : 0.5;
    }
    const std::int64_t n = 3 * std::int64_t(grid.num_nodes);
    for (std::int64_t first = 0; first < count * n; first += n) { // of a vector
      double sum[3] = {};
      for (int k = 0; k < 27; ++k) {
        if (!(part[k] > 0)) // there may be no node
          continue;
        for (int c = 0; c < 3; ++c)
          sum[c] += part[k] * x(first + 3 * std::int64_t(at[k]) + c);
      }
      for (int c = 0; c < 3; ++c)
        y(first + 3 * node + c) = sum[c];
    }
  }
};

/// In the modes of kernels/bone/element.hpp the matrix is diagonal, V 3^-|p| for 1/8 of sums.
template<class Exec>
struct AddVoxelMassEnergies {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double volume, weight;
  Array<double, Exec> u, energy;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!lame.solid(int(i)))
      return;
    const Site s = grid.site(int(i));
    double mode[24];
    for (int corner = 0; corner < 8; ++corner) {
      const std::int64_t node =
          grid.find(s.x + (corner & 1), s.y + (corner >> 1 & 1), s.z + (corner >> 2));
      for (int c = 0; c < 3; ++c)
        mode[3 * corner + c] = u(3 * node + c);
    }
    for (int c = 0; c < 3; ++c)
      transform_vertices(mode + c);
    double sum = 0;
    for (int p = 0; p < 8; ++p) {
      double part = 1. / 64;
      for (int d = 0; d < 3; ++d)
        part /= (p >> d & 1) != 0 ? 3 : 1;
      for (int c = 0; c < 3; ++c)
        sum += part * mode[3 * p + c] * mode[3 * p + c];
    }
    energy(i) += weight * volume * sum;
  }
};

} // namespace detail

/// y = M x for voxels of `mass` [num_nodes] kg / m^3 and `edge`; x, y [count, num_nodes, 3], all
/// components. The same for any number of threads. Does not fence.
template<class Exec>
void apply_mass(const Exec& exec, const VoxelGrid<Exec>& grid, double edge,
                const Array<double, Exec>& mass, int count, const Array<double, Exec>& x,
                const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::apply_voxel_mass", range(exec, grid.num_nodes),
                       detail::ApplyVoxelMass<Exec>{grid, edge * edge * edge, mass, count, x, y});
}

/// energy(i) += weight u . M_i u for 1 kg / m^3 of the voxel whose lowest corner is node i. Does
/// not fence.
template<class Exec>
void add_mass_energies(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                       double edge, double weight, const Array<double, Exec>& u,
                       const Array<double, Exec>& energy) {
  Kokkos::parallel_for(
      "ossatura::add_voxel_mass_energies", range(exec, grid.num_nodes),
      detail::AddVoxelMassEnergies<Exec>{grid, lame, edge * edge * edge, weight, u, energy});
}

} // namespace ossatura
