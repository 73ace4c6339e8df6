// SPDX-License-Identifier: Apache-2.0
// The forces of gravity and rotation on voxels, and their work, in closed form and without a stored
// number. The acceleration b of a load is an affine function of the place. With a shape function N
// of a corner, whose integral is an eighth of the volume V and whose centroid is a third of the
// edge h from that corner along each axis,
//
//   integral of N b dV = V/8 b(corner + h/3 (+-1, +-1, +-1)),
//
// the signs towards the centre of the voxel. It is what 2 x 2 x 2 Gauss points give
// (hexa_load.hpp). A mass is at the place of the lowest corner of its voxel; places without a voxel
// have none.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/topopt/body_loads/hexa_load.hpp>

namespace ossatura {

namespace detail {

/// The accelerations of a load at the corners of voxels of `edge`, the first of which has its
/// lowest corner at `origin`.
struct ForceOnVoxels {
  ForceOnMass load;
  double origin[3], edge;

  ForceOnVoxels(const BodyLoad& of, const std::array<double, 3>& at, double h)
      : load(of)
      , edge(h) {
    for (std::size_t c = 0; c < 3; ++c)
      origin[c] = at[c];
  }
  /// The mean over N of the node `corner` in a voxel: bit c of `above` where the voxel is above the
  /// node along c. m / s^2
  KOKKOS_FUNCTION Vector3 mean(const Site& corner, int above) const {
    const int place[3] = {corner.x, corner.y, corner.z};
    Vector3 x{{0, 0, 0}};
    for (int c = 0; c < 3; ++c)
      x[c] = origin[c] + edge * (place[c] + ((above >> c & 1) != 0 ? 1. / 3 : -1. / 3));
    return load.at(x);
  }
};

/// A node sums over the voxels around it.
template<class Exec>
struct AddVoxelBodyForces {
  VoxelGrid<Exec> grid;
  ForceOnVoxels load;
  double part; ///< of a node in the volume of a voxel
  Array<double, Exec> mass, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    Vector3 sum{{0, 0, 0}};
    for (int k = 0; k < 8; ++k) { // below and above along each axis
      const int voxel = grid.find(s.x - 1 + (k & 1), s.y - 1 + (k >> 1 & 1), s.z - 1 + (k >> 2));
      if (voxel >= 0 && mass(voxel) > 0)
        sum = sum + (part * mass(voxel)) * load.mean(s, k);
    }
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum[c];
  }
};

template<class Exec>
struct AddVoxelBodyWork {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  ForceOnVoxels load;
  double part; ///< likewise, times the weight
  Array<double, Exec> u, work;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!lame.solid(int(i)))
      return;
    const Site s = grid.site(int(i));
    double sum = 0;
    for (int k = 0; k < 8; ++k) {
      const Site corner{s.x + (k & 1), s.y + (k >> 1 & 1), s.z + (k >> 2)};
      const std::int64_t node = 3 * std::int64_t(grid.find(corner.x, corner.y, corner.z));
      sum += dot(load.mean(corner, 7 ^ k), Vector3{{u(node), u(node + 1), u(node + 2)}});
    }
    work(i) += part * sum;
  }
};

} // namespace detail

/// force [num_nodes, 3] += the forces of a load on voxels of `mass` [num_nodes, by the lowest
/// corner], kg / m^3, and of `edge`; the corner of the grid is at `origin`. The same for any number
/// of threads. Does not fence.
template<class Exec>
void add_body_forces(const Exec& exec, const VoxelGrid<Exec>& grid,
                     const std::array<double, 3>& origin, double edge, const BodyLoad& load,
                     const Array<double, Exec>& mass, const Array<double, Exec>& force) {
  Kokkos::parallel_for("ossatura::add_voxel_body_forces", range(exec, grid.num_nodes),
                       detail::AddVoxelBodyForces<Exec>{
                           grid, {load, origin, edge}, edge * edge * edge / 8, mass, force});
}

/// work(i) += weight times the work of the forces on the voxel whose lowest corner is node i, for
/// 1 kg / m^3, u [num_nodes, 3]. Does not fence.
template<class Exec>
void add_body_work(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                   const std::array<double, 3>& origin, double edge, const BodyLoad& load,
                   double weight, const Array<double, Exec>& u, const Array<double, Exec>& work) {
  const double part = weight * edge * edge * edge / 8;
  Kokkos::parallel_for(
      "ossatura::add_voxel_body_work", range(exec, grid.num_nodes),
      detail::AddVoxelBodyWork<Exec>{grid, lame, {load, origin, edge}, part, u, work});
}

} // namespace ossatura
