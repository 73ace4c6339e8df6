// SPDX-License-Identifier: Apache-2.0
// The Helmholtz filter solves - l^2 laplace(y) + y = x with zero flux through the boundary, y
// trilinear on hexahedra and x one value for each element. Its finite-element terms, for
// solvers/topopt/filters. The term y has its integrals at the nodes (rows of the consistent matrix,
// summed): with that matrix itself y of steps from 0 to 1 is below 0 and above 1 where l is no
// longer than half an edge h, as with the usual radius of 1.5 edges. On cubes the two differ by h^2
// / 6 times the Laplacian, by which l^2 is less here. Elements write their terms, and nodes gather
// them: no atomics, the same for any number of threads.
#pragma once

#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

/// How far filtered densities may be outside 0 to 1: on elements up to ten times as long as wide,
/// whose Laplacian has entries of either sign beside the diagonal. Of cubes none are, of distorted
/// ones they are by some 1e-4.
inline constexpr double helmholtz_excess = 0.02;

/// Scratch for the terms, and what they are of. Values of a slot (HexaArrays) lie where nodes of
/// elements do.
template<class Exec>
struct HelmholtzTerms {
  HexaArrays<Exec> arrays;
  double length_square = 0;   ///< l^2, m^2
  Array<double, Exec> slot;   ///< [8 num_elem] scratch
  Array<double, Exec> share;  ///< [8 num_elem] integral of each shape function, m^3
  Array<double, Exec> volume; ///< [num_elem]

  KOKKOS_FUNCTION std::int64_t place(std::int64_t elem, int a) const {
    return HexaArrays<Exec>::place(arrays.num_elem, int(elem), a);
  }
  /// The factor of the Laplacian.
  KOKKOS_FUNCTION double diffusion(std::int64_t elem) const {
    const double edge = Kokkos::cbrt(volume(elem));
    return Kokkos::fmax(0.0, length_square - edge * edge / 6);
  }
};

namespace detail {

KOKKOS_INLINE_FUNCTION double hexa_shape_value(int a, int g) {
  const double s = gauss_point;
  return 0.125 * (1 + s * hexa_xi(a) * hexa_xi(g)) * (1 + s * hexa_eta(a) * hexa_eta(g)) *
         (1 + s * hexa_zeta(a) * hexa_zeta(g));
}

template<class Exec>
struct HelmholtzElements {
  HelmholtzTerms<Exec> terms;

  KOKKOS_FUNCTION HexaModes modes(std::int64_t e) const {
    double x[24];
    terms.arrays.load_points(int(e), x);
    return hexa_modes(x);
  }
};

template<class Exec>
struct HelmholtzShares : HelmholtzElements<Exec> {
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const HelmholtzTerms<Exec>& t = this->terms;
    const HexaModes modes = this->modes(e);
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, volume = 0;
    for (int g = 0; g < 8; ++g) {
      const double weight = determinant(gauss_jacobian(modes, g));
      volume += weight;
      for (int a = 0; a < 8; ++a)
        sum[a] += weight * hexa_shape_value(a, g);
    }
    t.volume(e) = volume;
    for (int a = 0; a < 8; ++a)
      t.share(t.place(e, a)) = sum[a];
  }
};

template<class Exec>
struct HelmholtzDiagonal : HelmholtzElements<Exec> {
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const HelmholtzTerms<Exec>& t = this->terms;
    const HexaModes modes = this->modes(e);
    const double diffusion = t.diffusion(e);
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int g = 0; g < 8; ++g) {
      const Matrix3 jacobian = gauss_jacobian(modes, g), turn = cofactor(jacobian);
      const double weight = dot(jacobian.row[0], turn.row[0]);
      for (int a = 0; a < 8; ++a) {
        const Vector3 d = turn * hexa_shape_gradient(a, g);
        sum[a] += diffusion / weight * dot(d, d);
      }
    }
    for (int a = 0; a < 8; ++a)
      t.slot(t.place(e, a)) = sum[a] + t.share(t.place(e, a));
  }
};

/// 1, xi, eta, zeta, eta zeta, zeta xi, xi eta, xi eta zeta.
KOKKOS_FORCEINLINE_FUNCTION void fill_modes(double xi, double eta, double zeta, double (&m)[8]) {
  m[0] = 1, m[1] = xi, m[2] = eta, m[3] = zeta;
  m[4] = eta * zeta, m[5] = zeta * xi, m[6] = xi * eta, m[7] = xi * eta * zeta;
}

/// Works on the coefficients of y by these, whose derivatives have few terms.
template<class Exec>
struct HelmholtzProduct : HelmholtzElements<Exec> {
  Array<double, Exec> y;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const HelmholtzTerms<Exec>& t = this->terms;
    const HexaModes modes = this->modes(e);
    const double diffusion = t.diffusion(e);
    double c[8] = {0, 0, 0, 0, 0, 0, 0, 0}, r[8] = {0, 0, 0, 0, 0, 0, 0, 0}, m[8];
    for (int a = 0; a < 8; ++a) {
      const double value = 0.125 * y(t.arrays.node_of(int(e), a));
      fill_modes(hexa_xi(a), hexa_eta(a), hexa_zeta(a), m);
      for (int k = 0; k < 8; ++k)
        c[k] += m[k] * value;
    }
    for (int g = 0; g < 8; ++g) {
      fill_modes(gauss_point * hexa_xi(g), gauss_point * hexa_eta(g), gauss_point * hexa_zeta(g),
                 m);
      const Matrix3 jacobian = gauss_jacobian(modes, g), turn = cofactor(jacobian);
      const double weight = dot(jacobian.row[0], turn.row[0]);
      // dy / dxi, which the cofactors turn into det J times dy / dx.
      const Vector3 slope{{c[1] + m[3] * c[5] + m[2] * c[6] + m[4] * c[7],
                           c[2] + m[3] * c[4] + m[1] * c[6] + m[5] * c[7],
                           c[3] + m[2] * c[4] + m[1] * c[5] + m[6] * c[7]}};
      const Vector3 f = (diffusion / weight) * (transpose(turn) * (turn * slope));
      r[1] += f[0];
      r[2] += f[1];
      r[3] += f[2];
      r[4] += m[3] * f[1] + m[2] * f[2];
      r[5] += m[3] * f[0] + m[1] * f[2];
      r[6] += m[2] * f[0] + m[1] * f[1];
      r[7] += m[4] * f[0] + m[5] * f[1] + m[6] * f[2];
    }
    for (int a = 0; a < 8; ++a) {
      fill_modes(hexa_xi(a), hexa_eta(a), hexa_zeta(a), m);
      double sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += m[k] * r[k];
      t.slot(t.place(e, a)) = 0.125 * sum + t.share(t.place(e, a)) * y(t.arrays.node_of(int(e), a));
    }
  }
};

template<class Exec>
struct HelmholtzSource {
  HelmholtzTerms<Exec> terms;
  Array<double, Exec> x;
  bool by_volume;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const double value = by_volume ? x(e) / terms.volume(e) : x(e);
    for (int a = 0; a < 8; ++a)
      terms.slot(terms.place(e, a)) = value * terms.share(terms.place(e, a));
  }
};

template<class Exec>
struct HelmholtzIntegral {
  HelmholtzTerms<Exec> terms;
  Array<double, Exec> y, x;
  bool mean;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (int a = 0; a < 8; ++a)
      sum += terms.share(terms.place(e, a)) * y(terms.arrays.node_of(int(e), a));
    x(e) = mean ? sum / terms.volume(e) : sum;
  }
};

template<class Exec>
struct GatherSlots {
  HexaArrays<Exec> arrays;
  Array<double, Exec> slot, sum;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double total = 0;
    for (int k = arrays.around_begin(node); k < arrays.around_begin(node + 1); ++k) {
      const int s = arrays.around(k);
      total += slot(HexaArrays<Exec>::place(arrays.num_elem, s >> 3, s & 7));
    }
    sum(node) = total;
  }
};

template<class Exec>
struct DivideEntries {
  Array<double, Exec> x, y, z;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { z(i) = x(i) / y(i); }
};

template<class Exec>
void gather_slots(const Exec& exec, const HelmholtzTerms<Exec>& terms,
                  const Array<double, Exec>& sum) {
  Kokkos::parallel_for("ossatura::helmholtz::gather", range(exec, terms.arrays.num_nodes),
                       GatherSlots<Exec>{terms.arrays, terms.slot, sum});
}

} // namespace detail

/// `length` >= 0, m. Does not fence.
template<class Exec>
HelmholtzTerms<Exec> make_helmholtz_terms(const Exec& exec, const HexaArrays<Exec>& arrays,
                                          double length) {
  HelmholtzTerms<Exec> terms;
  terms.arrays = arrays;
  terms.length_square = length * length;
  const std::int64_t slots = 8 * std::int64_t(arrays.num_elem);
  terms.slot = make_uninitialized<double>(exec, slots, "ossatura::helmholtz::slot");
  terms.share = make_uninitialized<double>(exec, slots, "ossatura::helmholtz::share");
  terms.volume = make_uninitialized<double>(exec, arrays.num_elem, "ossatura::helmholtz::volume");
  Kokkos::parallel_for("ossatura::helmholtz::shares", range(exec, arrays.num_elem),
                       detail::HelmholtzShares<Exec>{{terms}});
  return terms;
}

/// The matrix's diagonal [num_nodes]. Does not fence.
template<class Exec>
void helmholtz_diagonal(const Exec& exec, const HelmholtzTerms<Exec>& terms,
                        const Array<double, Exec>& diagonal) {
  Kokkos::parallel_for("ossatura::helmholtz::diagonal", range(exec, terms.arrays.num_elem),
                       detail::HelmholtzDiagonal<Exec>{{terms}});
  detail::gather_slots(exec, terms, diagonal);
}

/// z = b / diagonal, entry by entry. Does not fence.
template<class Exec>
void helmholtz_precondition(const Exec& exec, const Array<double, Exec>& diagonal,
                            const Array<double, Exec>& b, const Array<double, Exec>& z) {
  Kokkos::parallel_for("ossatura::helmholtz::precondition", range(exec, b.extent(0)),
                       detail::DivideEntries<Exec>{b, diagonal, z});
}

/// z = A y, [num_nodes] both, no aliases. Does not fence.
template<class Exec>
void helmholtz_product(const Exec& exec, const HelmholtzTerms<Exec>& terms,
                       const Array<double, Exec>& y, const Array<double, Exec>& z) {
  Kokkos::parallel_for("ossatura::helmholtz::product", range(exec, terms.arrays.num_elem),
                       detail::HelmholtzProduct<Exec>{{terms}, y});
  detail::gather_slots(exec, terms, z);
}

/// b [num_nodes] = B x, or B V^-1 x for x [num_elem] that are integrals over elements. B_ae is the
/// integral of shape function a over element e, V the volumes. Does not fence.
template<class Exec>
void helmholtz_source(const Exec& exec, const HelmholtzTerms<Exec>& terms,
                      const Array<double, Exec>& x, bool by_volume, const Array<double, Exec>& b) {
  Kokkos::parallel_for("ossatura::helmholtz::source", range(exec, terms.arrays.num_elem),
                       detail::HelmholtzSource<Exec>{terms, x, by_volume});
  detail::gather_slots(exec, terms, b);
}

/// x [num_elem] = B^T y, the integrals over elements, or V^-1 B^T y, the means. Does not fence.
template<class Exec>
void helmholtz_integral(const Exec& exec, const HelmholtzTerms<Exec>& terms,
                        const Array<double, Exec>& y, bool mean, const Array<double, Exec>& x) {
  Kokkos::parallel_for("ossatura::helmholtz::integral", range(exec, terms.arrays.num_elem),
                       detail::HelmholtzIntegral<Exec>{terms, y, x, mean});
}

} // namespace ossatura
