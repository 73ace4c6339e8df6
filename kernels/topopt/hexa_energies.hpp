// SPDX-License-Identifier: Apache-2.0
// These kernels compute the energies u_e^T K_e v_e of hexahedra for a modulus of 1, from the
// strains at the Gauss points: K_e is never formed, and elements write to places of their own.
#pragma once

#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

namespace detail {

/// The integral of stress of u times strain of v over an element whose nodes' places, u and v have
/// the given modes.
KOKKOS_INLINE_FUNCTION double hexa_energy(const HexaModes& place, const HexaModes& u,
                                          const HexaModes& v, const UnitLame& lame) {
  double energy = 0;
  for (int g = 0; g < 8; ++g) {
    const Matrix3 jacobian = gauss_jacobian(place, g), to_x = cofactor(jacobian);
    const double weight = dot(jacobian.row[0], to_x.row[0]);
    // Both times the point's weight.
    const Matrix3 strain_u = symmetric_part(times_transposed(gauss_jacobian(u, g), to_x));
    const Matrix3 strain_v = symmetric_part(times_transposed(gauss_jacobian(v, g), to_x));
    energy += (lame.lambda * trace(strain_u) * trace(strain_v) +
               2 * lame.mu * inner(strain_u, strain_v)) /
              weight;
  }
  return energy;
}

template<class Exec>
struct AddEnergies {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  HexaRatioPointers ratios;
  double weight;
  Array<double, Exec> u, v, energy;

  KOKKOS_FUNCTION HexaModes modes_of(const Array<double, Exec>& values, int e) const {
    HexaModes modes = no_modes();
    for (int a = 0; a < 8; ++a) {
      const std::int64_t i = 3 * std::int64_t(arrays.node_of(e, a));
      modes.add_corner(a, Vector3{{values(i), values(i + 1), values(i + 2)}});
    }
    return modes;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    energy(e) += weight * hexa_energy(modes_of(arrays.point, int(e)), modes_of(u, int(e)),
                                      modes_of(v, int(e)), ratios.at(e, lame));
  }
};
} // namespace detail

/// energy(e) += weight u^T K_e v; u, v [num_nodes, 3] may be the same. `ratios` are of elements
/// that have another than `lame`. Does not fence.
template<class Exec>
void add_energies(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame,
                  double weight, const Array<double, Exec>& u, const Array<double, Exec>& v,
                  const Array<double, Exec>& energy, const HexaRatioPointers& ratios = {}) {
  Kokkos::parallel_for("ossatura::add_energies", range(exec, arrays.num_elem),
                       detail::AddEnergies<Exec>{arrays, lame, ratios, weight, u, v, energy});
}

namespace detail {
template<class Exec>
struct EnergyDensity {
  Array<double, Exec> modulus, volume, energy;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { energy(e) *= modulus(e) / volume(e); }
};
} // namespace detail

/// Makes energies for a modulus of 1 densities in J / m^3 for the given moduli. Does not fence.
template<class Exec>
void energy_density(const Exec& exec, const Array<double, Exec>& modulus,
                    const Array<double, Exec>& volume, const Array<double, Exec>& energy) {
  Kokkos::parallel_for("ossatura::energy_density", range(exec, energy.extent(0)),
                       detail::EnergyDensity<Exec>{modulus, volume, energy});
}

} // namespace ossatura
