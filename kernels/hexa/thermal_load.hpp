// SPDX-License-Identifier: Apache-2.0
// What is warmer than where it is without strain would be longer by alpha T in all directions, and
// has the stress D (B u - alpha T m), m = (1, 1, 1, 0, 0, 0). With D for a modulus of 1 each
// element has the forces and the energy
//
//   q_a = integral of dN_a/dx (3 lambda + 2 mu) alpha T,
//   w = 1/2 integral of 3 (3 lambda + 2 mu) (alpha T)^2,
//
// both to be multiplied by its modulus: the thermal stress coefficient E alpha of a design changes
// as its stiffness does. T is that of the nodes by the shape functions. Integrals are by the
// quadrature of the stiffness, so that strain energy is a sum of squares, and what can expand
// freely has no stress to rounding, whatever the rule. Designs of warm bodies were first made in
// [1], of homogenised material.
//
// [1] H. Rodrigues, P. Fernandes. A material based model for topology optimization of thermoelastic
//     structures. Int. J. Numer. Methods Eng. 38 (1995) 1951-1965, doi:10.1002/nme.1620381202.
#pragma once

#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

/// Of a load case, for a modulus of 1.
template<class Exec>
struct ThermalLoad {
  Array<double, Exec> force;  ///< [num_slots, 3], m^2
  Array<double, Exec> energy; ///< [num_elem] where nothing moves, m^3
  /// Of voxels, in the place of `force`: 1 / K by element, K by node.
  Array<double, Exec> expansion{}, warming{};

  bool empty() const { return energy.extent(0) == 0; }
};

namespace detail {

/// Elements, slots and nodes of `arrays`, whatever these are of.
template<class Arrays>
struct ThermalSlots;

template<class Exec>
struct ThermalSlots<HexaArrays<Exec>> {
  HexaArrays<Exec> arrays;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t e) const { return 8 * e; }
  KOKKOS_FORCEINLINE_FUNCTION int elem(int slot) const { return slot / 8; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t node(std::int64_t slot) const {
    return arrays.node_of(int(slot / 8), int(slot % 8));
  }
};

template<class Exec>
struct FormHexaThermalLoad {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  HexaRatioPointers ratios;
  Array<double, Exec> expansion, warming;
  ThermalLoad<Exec> load;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double x[24], temperature[8], force[24] = {};
    arrays.load_points(int(e), x);
    for (int a = 0; a < 8; ++a)
      temperature[a] = warming(arrays.node_of(int(e), a));
    const HexaModes modes = hexa_modes(x);
    const UnitLame own = ratios.at(e, lame);
    const double stress = 3 * own.lambda + 2 * own.mu;
    double energy = 0;
    for (int g = 0; g < 8; ++g) {
      const Matrix3 jacobian = gauss_jacobian(modes, g), to_x = cofactor(jacobian);
      double strain = 0;
      for (int a = 0; a < 8; ++a)
        strain += expansion(e) * thermal_shape(a, g) * temperature[a];
      energy += 1.5 * stress * strain * strain * dot(jacobian.row[0], to_x.row[0]);
      for (int a = 0; a < 8; ++a) {
        const Vector3 slope = to_x * hexa_shape_gradient(a, g); // times the weight
        for (int c = 0; c < 3; ++c)
          force[3 * a + c] += stress * strain * slope[c];
      }
    }
    load.energy(e) = energy;
    for (int i = 0; i < 24; ++i)
      load.force(24 * e + i) = force[i];
  }

  /// N_a at Gauss point g.
  KOKKOS_FORCEINLINE_FUNCTION static double thermal_shape(int a, int g) {
    const double s = gauss_point;
    return 0.125 * (1 + s * hexa_xi(a) * hexa_xi(g)) * (1 + s * hexa_eta(a) * hexa_eta(g)) *
           (1 + s * hexa_zeta(a) * hexa_zeta(g));
  }
};

/// A node sums over its slots, in their order.
template<class Exec, class Arrays>
struct AddThermalForces {
  ThermalSlots<Arrays> slots;
  ThermalLoad<Exec> load;
  Array<double, Exec> modulus, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double sum[3] = {};
    for (int s = slots.arrays.around_begin(node); s < slots.arrays.around_begin(node + 1); ++s) {
      const int slot = slots.arrays.around(s);
      for (int c = 0; c < 3; ++c)
        sum[c] += modulus(slots.elem(slot)) * load.force(3 * std::int64_t(slot) + c);
    }
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum[c];
  }
};

template<class Exec, class Arrays>
struct AddThermalWork {
  ThermalSlots<Arrays> slots;
  ThermalLoad<Exec> load;
  double weight;
  Array<double, Exec> u, work;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (std::int64_t slot = slots.begin(e); slot < slots.begin(e + 1); ++slot)
      for (int c = 0; c < 3; ++c)
        sum += load.force(3 * slot + c) * u(3 * std::int64_t(slots.node(slot)) + c);
    work(e) += weight * sum;
  }
};

template<class Exec>
ThermalLoad<Exec> make_empty_thermal_load(const Exec& exec, std::int64_t num_slots,
                                          std::int64_t num_elem) {
  return {make_uninitialized<double>(exec, 3 * num_slots, "ossatura::thermal::force"),
          make_uninitialized<double>(exec, num_elem, "ossatura::thermal::energy")};
}

} // namespace detail

/// Of elements that expand by `expansion` [num_elem] for each K, nodes being `warming` [num_nodes]
/// warmer. `ratios` are of elements that have another than `lame`. Does not fence.
template<class Exec>
ThermalLoad<Exec> make_thermal_load(const Exec& exec, const HexaArrays<Exec>& arrays,
                                    const UnitLame& lame, const HexaRatioPointers& ratios,
                                    const Array<double, Exec>& expansion,
                                    const Array<double, Exec>& warming) {
  const ThermalLoad<Exec> load =
      detail::make_empty_thermal_load(exec, 8 * std::int64_t(arrays.num_elem), arrays.num_elem);
  Kokkos::parallel_for(
      "ossatura::make_hexa_thermal_load", range(exec, arrays.num_elem),
      detail::FormHexaThermalLoad<Exec>{arrays, lame, ratios, expansion, warming, load});
  return load;
}

/// force [num_nodes, 3] += the forces of a load on elements of `modulus` [num_elem]. `Arrays` are
/// those of hexahedra or of other solids. The same for any number of threads. Does not fence.
template<class Exec, class Arrays>
void add_thermal_forces(const Exec& exec, const Arrays& arrays, const ThermalLoad<Exec>& load,
                        const Array<double, Exec>& modulus, const Array<double, Exec>& force) {
  Kokkos::parallel_for("ossatura::add_thermal_forces", range(exec, arrays.num_nodes),
                       detail::AddThermalForces<Exec, Arrays>{{arrays}, load, modulus, force});
}

/// work(e) += weight times the work of the forces on element e for a modulus of 1, u
/// [num_nodes, 3]. Does not fence.
template<class Exec, class Arrays>
void add_thermal_work(const Exec& exec, const Arrays& arrays, const ThermalLoad<Exec>& load,
                      double weight, const Array<double, Exec>& u,
                      const Array<double, Exec>& work) {
  Kokkos::parallel_for("ossatura::add_thermal_work", range(exec, arrays.num_elem),
                       detail::AddThermalWork<Exec, Arrays>{{arrays}, load, weight, u, work});
}

} // namespace ossatura
