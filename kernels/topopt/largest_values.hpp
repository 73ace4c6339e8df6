// SPDX-License-Identifier: Apache-2.0
// These kernels find the largest displacement and stress of what a design is made of: elements with
// a density above 0.5, and their nodes. `Strains` is one of mean_strains.hpp.
#pragma once

#include <ossatura/kernels/topopt/solid_stress.hpp>

namespace ossatura {

namespace detail {

KOKKOS_FORCEINLINE_FUNCTION bool is_material(double density) {
  return density > 0.5;
}

template<class Exec>
struct MaterialAround {
  const Array<double, Exec>& density;
  bool found = false;
  KOKKOS_FUNCTION void operator()(std::int64_t e, const Vector3&) {
    found = found || is_material(density(e));
  }
};

template<class Exec, class Strains>
struct MaterialDisplacements {
  Strains strains;
  Array<double, Exec> density, u;

  KOKKOS_FUNCTION double at(std::int64_t node) const {
    MaterialAround<Exec> around{density};
    strains.at_node(node, around);
    const double x = u(3 * node), y = u(3 * node + 1), z = u(3 * node + 2);
    return around.found ? Kokkos::sqrt(x * x + y * y + z * z) : -1;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t node, double& most) const {
    most = Kokkos::max(most, at(node));
  }
};

template<class Exec, class Strains>
struct FillMaterialDisplacements {
  MaterialDisplacements<Exec, Strains> displacements;
  Array<double, Exec> size;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const { size(node) = displacements.at(node); }
};

template<class Exec, class Strains>
struct MaterialStresses {
  Strains strains;
  SimpLaw law;
  Array<double, Exec> density, u;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double& most) const {
    if (strains.is_elem(e) && is_material(density(e)))
      most = Kokkos::max(most, solid_stress(strains, law, e, u));
  }
};

template<class Exec>
struct LargestOf {
  Array<double, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& most) const {
    most = Kokkos::max(most, value(i));
  }
};
template<class Exec>
struct LargestOfMaterial {
  Array<double, Exec> density, value;
  KOKKOS_FUNCTION void operator()(std::int64_t e, double& most) const {
    if (is_material(density(e)))
      most = Kokkos::max(most, value(e));
  }
};

/// The largest of `of` over [0, n); below 0 where there is none. Fences.
template<class Exec, class Of>
double largest(const Exec& exec, std::int64_t n, const Of& of) {
  double most = -1;
  Kokkos::parallel_reduce("ossatura::largest_values", range(exec, n), of,
                          Kokkos::Max<double>(most));
  fence(exec, "ossatura::largest_values");
  return most;
}

} // namespace detail

/// The largest |u| of such nodes, for displacements u [num_nodes, 3] and densities [num_elem];
/// below 0 where there are none. Keeps nothing by node. Fences.
template<class Exec, class Strains>
double largest_displacement(const Exec& exec, const Strains& strains,
                            const Array<double, Exec>& density, const Array<double, Exec>& u) {
  return detail::largest(exec, u.extent(0) / 3,
                         detail::MaterialDisplacements<Exec, Strains>{strains, density, u});
}

/// The largest stress of such elements, as fill_solid_stress() has it; below 0 where there are
/// none. Keeps nothing by element. Fences.
template<class Exec, class Strains>
double largest_solid_stress(const Exec& exec, const Strains& strains, const SimpLaw& law,
                            const Array<double, Exec>& density, const Array<double, Exec>& u) {
  return detail::largest(exec, density.extent(0),
                         detail::MaterialStresses<Exec, Strains>{strains, law, density, u});
}

/// size [num_nodes] = |u| of nodes of elements with a density above 0.5, and -1 of all others. Does
/// not fence.
template<class Exec, class Strains>
void fill_material_displacements(const Exec& exec, const Strains& strains,
                                 const Array<double, Exec>& density, const Array<double, Exec>& u,
                                 const Array<double, Exec>& size) {
  Kokkos::parallel_for(
      "ossatura::fill_material_displacements", range(exec, size.extent(0)),
      detail::FillMaterialDisplacements<Exec, Strains>{{strains, density, u}, size});
}

/// The largest value; that of elements with a density above 0.5, below 0 where there are none.
/// Fence.
template<class Exec>
double largest_value(const Exec& exec, const Array<double, Exec>& value) {
  return detail::largest(exec, value.extent(0), detail::LargestOf<Exec>{value});
}
template<class Exec>
double largest_value(const Exec& exec, const Array<double, Exec>& density,
                     const Array<double, Exec>& value) {
  return detail::largest(exec, value.extent(0), detail::LargestOfMaterial<Exec>{density, value});
}

} // namespace ossatura
