// SPDX-License-Identifier: Apache-2.0
// These kernels compute the von Mises stress that elements would have where they are solid, of
// their mean strain, and the forces that are its derivative by displacements. `Strains` is one of
// mean_strains.hpp.
#pragma once

#include <ossatura/kernels/topopt/mean_strains.hpp>
#include <ossatura/kernels/topopt/simp.hpp>

namespace ossatura {

namespace detail {

/// 3/2 of the square of the deviator, whose root times twice the shear modulus is the von Mises
/// stress: the pressure does not count.
KOKKOS_FORCEINLINE_FUNCTION double square_deviator(const double (&s)[6]) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return 0.5 * (a * a + b * b + c * c) + 0.75 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
}

/// Of an element that is there.
template<class Strains, class Vector>
KOKKOS_FUNCTION double solid_stress(const Strains& strains, const SimpLaw& law, std::int64_t e,
                                    const Vector& u) {
  double s[6];
  strains.strain(e, u, s);
  return law.young * law.solid_part(e) * 2 * strains.shear_modulus(e) *
         Kokkos::sqrt(square_deviator(s));
}

template<class Exec, class Strains>
struct FillSolidStress {
  Strains strains;
  SimpLaw law;
  Array<double, Exec> u, stress;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    stress(e) = strains.is_elem(e) ? solid_stress(strains, law, e, u) : 0;
  }
};

/// Adds what one element has at a node.
template<class Exec, class Strains>
struct StressForceOfElement {
  const Strains& strains;
  const SimpLaw& law;
  const Array<double, Exec>& factor;
  const Array<double, Exec>& u;
  Vector3 force;

  KOKKOS_FUNCTION void operator()(std::int64_t e, const Vector3& g) {
    if (factor(e) == 0)
      return;
    double s[6];
    strains.strain(e, u, s);
    const double square = square_deviator(s);
    if (!(square > 0))
      return;
    const double scale =
        factor(e) * law.young * law.solid_part(e) * strains.shear_modulus(e) / Kokkos::sqrt(square);
    const double trace = s[0] + s[1] + s[2];
    for (int c = 0; c < 3; ++c) {
      const int d = (c + 1) % 3, b = (c + 2) % 3;
      force[c] += scale * ((3 * s[c] - trace) * g[c] + 1.5 * (s[3 + c] * g[d] + s[3 + b] * g[b]));
    }
  }
};

/// A node sums over its elements, in their order.
template<class Exec, class Strains>
struct AddStressForces {
  Strains strains;
  SimpLaw law;
  Array<double, Exec> factor, u, force;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    StressForceOfElement<Exec, Strains> sum{strains, law, factor, u, Vector3{{0, 0, 0}}};
    strains.at_node(node, sum);
    for (int c = 0; c < 3; ++c)
      force(3 * node + c) += sum.force[c];
  }
};

} // namespace detail

/// stress(e) = von Mises stress of the mean strain of element e with the modulus of solid material,
/// whatever its density, in the unit of the law; 0 where there is no element. Does not fence.
template<class Exec, class Strains>
void fill_solid_stress(const Exec& exec, const Strains& strains, const SimpLaw& law,
                       const Array<double, Exec>& u, const Array<double, Exec>& stress) {
  Kokkos::parallel_for("ossatura::fill_solid_stress", range(exec, stress.extent(0)),
                       detail::FillSolidStress<Exec, Strains>{strains, law, u, stress});
}

/// force [num_nodes, 3] += sum of factor(e) times the derivative of that stress by u. The same for
/// any number of threads. Does not fence.
template<class Exec, class Strains>
void add_stress_forces(const Exec& exec, const Strains& strains, const SimpLaw& law,
                       const Array<double, Exec>& factor, const Array<double, Exec>& u,
                       const Array<double, Exec>& force) {
  Kokkos::parallel_for("ossatura::add_stress_forces", range(exec, force.extent(0) / 3),
                       detail::AddStressForces<Exec, Strains>{strains, law, factor, u, force});
}

} // namespace ossatura
