// SPDX-License-Identifier: Apache-2.0
// These kernels compute energies and stresses of solid elements from the strains at their
// quadrature points. Elements write to places of their own.
#pragma once

#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/solids/arrays.hpp>

namespace ossatura {

namespace detail {

/// Strain of displacements at a quadrature point: xx, yy, zz, and twice xy, yz, zx.
template<class Exec>
KOKKOS_FUNCTION void solid_strain(const SolidArrays<Exec>& arrays, std::int64_t e, int q,
                                  const Array<double, Exec>& u, double (&strain)[6]) {
  const int n = arrays.num_slots(e);
  const std::int64_t first = arrays.begin(e);
  const double* const slope = arrays.slope.data() + arrays.slope_begin(e) + 3 * std::int64_t(n) * q;
  for (double& s : strain)
    s = 0;
  for (int a = 0; a < n; ++a) {
    const double* const g = slope + 3 * a;
    const double* const at = u.data() + 3 * std::int64_t(arrays.node(first + a));
    for (int c = 0; c < 3; ++c) {
      const int d = (c + 1) % 3;
      strain[c] += at[c] * g[c];
      strain[3 + c] += at[c] * g[d] + at[d] * g[c];
    }
  }
}

template<class Exec>
struct AddSolidEnergies {
  SolidArrays<Exec> arrays;
  UnitLame lame;
  double weight;
  Array<double, Exec> u, v, energy;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (int q = 0; q < arrays.num_points(e); ++q) {
      double a[6], b[6];
      solid_strain(arrays, e, q, u, a);
      solid_strain(arrays, e, q, v, b);
      double normal = 0, shear = 0;
      for (int c = 0; c < 3; ++c) {
        normal += a[c] * b[c];
        shear += a[3 + c] * b[3 + c];
      }
      sum += arrays.weight(arrays.point_begin(e) + q) *
             (lame.lambda * ((a[0] + a[1] + a[2]) * (b[0] + b[1] + b[2])) +
              lame.mu * (2 * normal + shear));
    }
    energy(e) += weight * sum;
  }
};

template<class Exec>
struct SolidVonMises {
  SolidArrays<Exec> arrays;
  UnitLame lame;
  Array<double, Exec> modulus, u, stress;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double mean[6] = {}, volume = 0;
    for (int q = 0; q < arrays.num_points(e); ++q) {
      double strain[6];
      solid_strain(arrays, e, q, u, strain);
      const double w = arrays.weight(arrays.point_begin(e) + q);
      volume += w;
      for (int k = 0; k < 6; ++k)
        mean[k] += w * strain[k];
    }
    // The pressure does not count.
    const double scale = modulus(e) * 2 * lame.mu / volume;
    const double a = mean[0] - mean[1], b = mean[1] - mean[2], c = mean[2] - mean[0];
    const double shear = mean[3] * mean[3] + mean[4] * mean[4] + mean[5] * mean[5];
    stress(e) = scale * Kokkos::sqrt(0.5 * (a * a + b * b + c * c) + 0.75 * shear);
  }
};

} // namespace detail

/// energy(e) += weight u^T K_e v for a modulus of 1; u, v [num_nodes, 3] may be the same. Does not
/// fence.
template<class Exec>
void add_energies(const Exec& exec, const SolidArrays<Exec>& arrays, const UnitLame& lame,
                  double weight, const Array<double, Exec>& u, const Array<double, Exec>& v,
                  const Array<double, Exec>& energy) {
  Kokkos::parallel_for("ossatura::add_solid_energies", range(exec, arrays.num_elem),
                       detail::AddSolidEnergies<Exec>{arrays, lame, weight, u, v, energy});
}

/// stress(e) = von Mises stress of the mean stress of element e, for `modulus` [num_elem] and in
/// its unit. u [num_nodes, 3]. Does not fence.
template<class Exec>
void solid_von_mises(const Exec& exec, const SolidArrays<Exec>& arrays, const UnitLame& lame,
                     const Array<double, Exec>& modulus, const Array<double, Exec>& u,
                     const Array<double, Exec>& stress) {
  Kokkos::parallel_for("ossatura::solid_von_mises", range(exec, arrays.num_elem),
                       detail::SolidVonMises<Exec>{arrays, lame, modulus, u, stress});
}

} // namespace ossatura
