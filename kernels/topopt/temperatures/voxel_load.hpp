// SPDX-License-Identifier: Apache-2.0
// The forces and energies of temperature (kernels/hexa/thermal_load.hpp) on voxels, in closed form
// and without a stored number for a corner. For a modulus of 1, an edge h and nodes that are T
// warmer, with integrals over an edge of N' N = +-1/2 and of N N / h = 1/3 or 1/6,
//
//   q_ac = (3 lambda + 2 mu) alpha h^2 sum_b T_b (+-1/2) m_ab(d) m_ab(e),   d, e other than c,
//
// + where a is the upper corner along c, m = 1/3 where a and b agree along the axis, else 1/6.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/hexa/thermal_load.hpp>

namespace ossatura {

namespace detail {

/// Integrals of products of linear functions on an edge of length 1.
KOKKOS_FORCEINLINE_FUNCTION double edge_mass(int differ, int axis) {
  return (differ >> axis & 1) != 0 ? 1. / 6 : 1. / 3;
}

/// What node b of a voxel, where it is 1 K warmer, adds to the force on node a along c.
KOKKOS_FORCEINLINE_FUNCTION double thermal_entry(int a, int b, int c) {
  const int differ = a ^ b;
  const double others = edge_mass(differ, (c + 1) % 3) * edge_mass(differ, (c + 2) % 3);
  return (a >> c & 1) != 0 ? 0.5 * others : -0.5 * others;
}

/// A node sums over the voxels around it.
template<class Exec>
struct AddVoxelThermalForces {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double scale; ///< (3 lambda + 2 mu) h^2
  Array<double, Exec> expansion, warming, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double sum[3] = {};
    for (int k = 0; k < 8; ++k) {
      const Site low{s.x - 1 + (k & 1), s.y - 1 + (k >> 1 & 1), s.z - 1 + (k >> 2)};
      const int voxel = grid.find(low.x, low.y, low.z);
      if (voxel < 0 || !lame.solid(voxel))
        continue;
      const double factor = scale * double(lame.mu_value(voxel)) * expansion(voxel);
      for (int b = 0; b < 8; ++b) {
        const double warm =
            factor * warming(grid.find(low.x + (b & 1), low.y + (b >> 1 & 1), low.z + (b >> 2)));
        for (int c = 0; c < 3; ++c)
          sum[c] += warm * thermal_entry(7 ^ k, b, c);
      }
    }
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum[c];
  }
};

template<class Exec>
struct AddVoxelThermalWork {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double scale; ///< times the weight
  Array<double, Exec> expansion, warming, u, work;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!lame.solid(int(i)))
      return;
    const Site s = grid.site(int(i));
    std::int64_t node[8];
    for (int b = 0; b < 8; ++b)
      node[b] = grid.find(s.x + (b & 1), s.y + (b >> 1 & 1), s.z + (b >> 2));
    double sum = 0;
    for (int b = 0; b < 8; ++b) {
      double moved = 0;
      for (int a = 0; a < 8; ++a)
        for (int c = 0; c < 3; ++c)
          moved += thermal_entry(a, b, c) * u(3 * node[a] + c);
      sum += warming(node[b]) * moved;
    }
    work(i) += scale * expansion(i) * sum;
  }
};

template<class Exec>
struct FillVoxelThermalEnergy {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double scale; ///< 3/2 (3 lambda + 2 mu) h^3
  Array<double, Exec> expansion, warming, energy;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    energy(i) = 0;
    if (!lame.solid(int(i)))
      return;
    const Site s = grid.site(int(i));
    double warm[8], sum = 0;
    for (int b = 0; b < 8; ++b)
      warm[b] = warming(grid.find(s.x + (b & 1), s.y + (b >> 1 & 1), s.z + (b >> 2)));
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        sum += warm[a] * warm[b] * edge_mass(a ^ b, 0) * edge_mass(a ^ b, 1) * edge_mass(a ^ b, 2);
    energy(i) = scale * expansion(i) * expansion(i) * sum;
  }
};

template<class Exec>
double thermal_stress_of(const LameField<Exec>& lame) {
  return 3 * lame.lambda_scale + 2 * lame.mu_scale;
}

} // namespace detail

/// The load of voxels of one Poisson ratio that expand by `expansion` [num_nodes, by the lowest
/// corner] for each K, nodes being `warming` [num_nodes] warmer; both are kept. Does not fence.
template<class Exec>
ThermalLoad<Exec> make_thermal_load(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const LameField<Exec>& lame, double edge,
                                    const Array<double, Exec>& expansion,
                                    const Array<double, Exec>& warming) {
  const auto energy = make_uninitialized<double>(exec, grid.num_nodes, "ossatura::thermal::energy");
  const double scale = 1.5 * detail::thermal_stress_of(lame) * edge * edge * edge;
  Kokkos::parallel_for(
      "ossatura::make_voxel_thermal_load", range(exec, grid.num_nodes),
      detail::FillVoxelThermalEnergy<Exec>{grid, lame, scale, expansion, warming, energy});
  return {{}, energy, expansion, warming};
}

/// force [num_nodes, 3] += the forces of a load for the moduli of `lame`. The same for any number
/// of threads. Does not fence.
template<class Exec>
void add_thermal_forces(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                        double edge, const ThermalLoad<Exec>& load,
                        const Array<double, Exec>& force) {
  const double scale = detail::thermal_stress_of(lame) * edge * edge;
  Kokkos::parallel_for(
      "ossatura::add_voxel_thermal_forces", range(exec, grid.num_nodes),
      detail::AddVoxelThermalForces<Exec>{grid, lame, scale, load.expansion, load.warming, force});
}

/// work(i) += weight times the work of the forces on the voxel whose lowest corner is node i, for a
/// modulus of 1, u [num_nodes, 3]. Does not fence.
template<class Exec>
void add_thermal_work(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                      double edge, const ThermalLoad<Exec>& load, double weight,
                      const Array<double, Exec>& u, const Array<double, Exec>& work) {
  const double scale = weight * detail::thermal_stress_of(lame) * edge * edge;
  Kokkos::parallel_for(
      "ossatura::add_voxel_thermal_work", range(exec, grid.num_nodes),
      detail::AddVoxelThermalWork<Exec>{grid, lame, scale, load.expansion, load.warming, u, work});
}

} // namespace ossatura
