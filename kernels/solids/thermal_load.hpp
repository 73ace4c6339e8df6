// SPDX-License-Identifier: Apache-2.0
// The forces and energies of temperature (kernels/hexa/thermal_load.hpp) on solid elements of any
// kinds, by the quadrature of their stiffness.
#pragma once

#include <ossatura/kernels/hexa/thermal_load.hpp>
#include <ossatura/kernels/solids/arrays.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
struct ThermalSlots<SolidArrays<Exec>> {
  SolidArrays<Exec> arrays;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t e) const { return arrays.begin(e); }
  KOKKOS_FORCEINLINE_FUNCTION int elem(int slot) const { return arrays.elem(slot); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t node(std::int64_t slot) const {
    return arrays.node(slot);
  }
};

/// The values of shape functions at the quadrature points of the stiffness, [points, nodes] of each
/// kind from `first`.
template<class Exec>
struct SolidShapeTable {
  std::int64_t first[num_solid_kinds];
  Array<double, Exec> value;
};

template<class Exec>
SolidShapeTable<Exec> make_solid_shape_table(const Exec& exec) {
  SolidShapeTable<Exec> table;
  std::vector<double> value;
  for (int k = 0; k < num_solid_kinds; ++k) {
    const SolidKind kind = SolidKind(k);
    table.first[k] = std::int64_t(value.size());
    for (const SolidQuadraturePoint& at : quadrature_of(kind)) {
      const SolidShapeValues shape = evaluate_shape(kind, at.at);
      value.insert(value.end(), shape.value.begin(), shape.value.begin() + nodes_per_elem(kind));
    }
  }
  table.value = upload(exec, "ossatura::solids::shape_values", value);
  return table;
}

template<class Exec>
struct FormSolidThermalLoad {
  SolidArrays<Exec> arrays;
  SolidShapeTable<Exec> table;
  Array<std::uint8_t, Exec> kind;
  double stress; ///< 3 lambda + 2 mu
  Array<double, Exec> expansion, warming;
  ThermalLoad<Exec> load;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int n = arrays.num_slots(e);
    const std::int64_t first = arrays.begin(e);
    for (std::int64_t i = 3 * first; i < 3 * (first + n); ++i)
      load.force(i) = 0;
    double energy = 0;
    for (int q = 0; q < arrays.num_points(e); ++q) {
      const std::int64_t at = table.first[kind(e)] + std::int64_t(n) * q;
      double strain = 0;
      for (int a = 0; a < n; ++a)
        strain += expansion(e) * table.value(at + a) * warming(arrays.node(first + a));
      const double share = stress * strain * arrays.weight(arrays.point_begin(e) + q);
      energy += 1.5 * strain * share;
      const std::int64_t slope = arrays.slope_begin(e) + 3 * std::int64_t(n) * q;
      for (int i = 0; i < 3 * n; ++i)
        load.force(3 * first + i) += share * arrays.slope(slope + i);
    }
    load.energy(e) = energy;
  }
};

} // namespace detail

/// Of elements that expand by `expansion` [num_elem] for each K, nodes being `warming` [num_nodes]
/// warmer; `mesh` is that of the arrays. Does not fence.
template<class Exec>
ThermalLoad<Exec> make_thermal_load(const Exec& exec, const SolidMesh& mesh,
                                    const SolidArrays<Exec>& arrays, const UnitLame& lame,
                                    const Array<double, Exec>& expansion,
                                    const Array<double, Exec>& warming) {
  std::vector<std::uint8_t> kind;
  for (const SolidKind one : mesh.kind)
    kind.push_back(std::uint8_t(one));
  const ThermalLoad<Exec> load =
      detail::make_empty_thermal_load(exec, std::int64_t(arrays.node.extent(0)), arrays.num_elem);
  Kokkos::parallel_for(
      "ossatura::make_solid_thermal_load", range(exec, arrays.num_elem),
      detail::FormSolidThermalLoad<Exec>{arrays, detail::make_solid_shape_table(exec),
                                         upload(exec, "ossatura::solids::kind", kind),
                                         3 * lame.lambda + 2 * lame.mu, expansion, warming, load});
  return load;
}

} // namespace ossatura
