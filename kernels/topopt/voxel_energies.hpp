// SPDX-License-Identifier: Apache-2.0
// These kernels compute the energies u_e^T K_e v_e of voxels for a modulus of 1, by the closed form
// of their matrix (kernels/bone/element.hpp), and write moduli to where the voxel solver reads
// them.
#pragma once

#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/topopt/simp.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct AddVoxelEnergies {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge, weight;
  Array<double, Exec> u, v, energy;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!lame.solid(int(i)))
      return;
    const Site s = grid.site(int(i));
    double force[24], own[24];
    for (int corner = 0; corner < 8; ++corner) {
      const std::int64_t node =
          grid.find(s.x + (corner & 1), s.y + (corner >> 1 & 1), s.z + (corner >> 2));
      for (int c = 0; c < 3; ++c) {
        force[3 * corner + c] = u(3 * node + c);
        own[3 * corner + c] = v(3 * node + c);
      }
    }
    apply_voxel_stiffness(edge * lame.lambda_scale, edge * lame.mu_scale, force);
    double sum = 0;
    for (int k = 0; k < 24; ++k)
      sum += own[k] * force[k];
    energy(i) += weight * sum;
  }
};

template<class Exec>
struct StoreVoxelModuli {
  SimpLaw law;
  Array<double, Exec> density;
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (value(i) > 0)
      value(i) = float(law.modulus(i, density(i)));
  }
};

template<class Exec>
struct CountBadModuli {
  SimpLaw law;
  Array<double, Exec> density;
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    const double modulus = law.modulus(i, density(i));
    sum += value(i) > 0 && !(float(modulus) > 0 && modulus < 1e37);
  }
};

template<class Exec>
struct VoxelEnergyDensity {
  LameField<Exec> lame;
  double volume;
  Array<double, Exec> energy;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    energy(i) = lame.solid(int(i)) ? energy(i) * (double(lame.mu_value(i)) / volume) : 0;
  }
};
} // namespace detail

/// energy(i) += weight u^T K v for the voxel whose lowest corner is node i, of one Poisson ratio
/// and a modulus of 1; u, v [num_nodes, 3] may be the same. Does not fence.
template<class Exec>
void add_energies(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                  double edge, double weight, const Array<double, Exec>& u,
                  const Array<double, Exec>& v, const Array<double, Exec>& energy) {
  Kokkos::parallel_for("ossatura::add_voxel_energies", range(exec, grid.num_nodes),
                       detail::AddVoxelEnergies<Exec>{grid, lame, edge, weight, u, v, energy});
}

/// Puts the moduli of densities [num_nodes] in the place of those of the voxels, in single
/// precision. Throws std::invalid_argument, and leaves what was there, unless all are greater than
/// 0 and finite there. Fences.
template<class Exec>
void store_moduli(const Exec& exec, const SimpLaw& law, const Array<double, Exec>& density,
                  const LameField<Exec>& lame) {
  std::int64_t bad = 0;
  Kokkos::parallel_reduce("ossatura::store_moduli::check", range(exec, density.extent(0)),
                          detail::CountBadModuli<Exec>{law, density, lame.mu_value}, bad);
  fence(exec, "ossatura::store_moduli");
  OSSATURA_REQUIRE(bad == 0, bad << " moduli are not positive, or too large for single precision");
  Kokkos::parallel_for("ossatura::store_moduli", range(exec, density.extent(0)),
                       detail::StoreVoxelModuli<Exec>{law, density, lame.mu_value});
}

/// Makes energies for a modulus of 1 densities of energy, of the moduli that are stored. Does not
/// fence.
template<class Exec>
void voxel_energy_density(const Exec& exec, const LameField<Exec>& lame, double edge,
                          const Array<double, Exec>& energy) {
  Kokkos::parallel_for("ossatura::voxel_energy_density", range(exec, energy.extent(0)),
                       detail::VoxelEnergyDensity<Exec>{lame, edge * edge * edge, energy});
}

} // namespace ossatura
