// SPDX-License-Identifier: Apache-2.0
// The tables hold the one-dimensional functions of core/pfem/modes.hpp at the points of Gauss and
// Legendre.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/pfem/modes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <cmath>
#include <vector>

namespace ossatura {

/// psi_n for n >= 2 is the integral of the Legendre polynomial P_{n-1} from -1, (P_n - P_{n-2}) /
/// (2n - 1), as it stands or times sqrt((2n - 1) / 2), so that derivatives are orthonormal.
enum class ModeScaling { orthonormal, paper };

constexpr Names<ModeScaling> names_of(ModeScaling) {
  return {{ModeScaling::orthonormal, "orthonormal"}, {ModeScaling::paper, "paper"}};
}

/// Points along each axis of an element of order p.
enum class QuadratureRule {
  order_plus_1, ///< p + 1: exact for parallelepipeds of one material
  order_plus_2, ///< p + 2: for elements that are bent a lot
  paper         ///< max(2, ceil((3 p - 2) / 2)): singular at p = 2
};

constexpr Names<QuadratureRule> names_of(QuadratureRule) {
  return {{QuadratureRule::order_plus_1, "p+1"},
          {QuadratureRule::order_plus_2, "p+2"},
          {QuadratureRule::paper, "paper"}};
}

inline int quadrature_points(QuadratureRule rule, int order) {
  if (rule == QuadratureRule::paper)
    return order == 1 ? 2 : (3 * order - 1) / 2;
  return order + (rule == QuadratureRule::order_plus_1 ? 1 : 2);
}

struct GaussRule {
  std::vector<double> point, weight; ///< ascending in (-1, 1)
};

/// Exact for polynomials of degree 2 n - 1; by Newton's method on P_n. n >= 1.
inline GaussRule gauss_legendre(int n) {
  OSSATURA_REQUIRE(n >= 1, "gauss_legendre: at least one point");
  GaussRule rule;
  rule.point.resize(std::size_t(n));
  rule.weight.resize(std::size_t(n));
  for (int k = 0; k < n; ++k) {
    double x = -std::cos(Kokkos::numbers::pi * (k + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 100; ++step) {
      double p0 = 1, p1 = x;
      for (int j = 2; j <= n; ++j) {
        const double p2 = ((2 * j - 1) * x * p1 - (j - 1) * p0) / j;
        p0 = p1;
        p1 = p2;
      }
      slope = n * (x * p1 - p0) / (x * x - 1);
      const double change = p1 / slope;
      x -= change;
      if (std::abs(change) < 1e-16)
        break;
    }
    rule.point[std::size_t(k)] = 2 * k + 1 == n ? 0 : x;
    rule.weight[std::size_t(k)] = 2 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

/// value[n], derivative[n] of psi_n at s, n = 0 .. order.
inline void evaluate_basis(int order, ModeScaling scaling, double s, double* value,
                           double* derivative) {
  value[0] = 0.5 * (1 - s);
  value[1] = 0.5 * (1 + s);
  derivative[0] = -0.5;
  derivative[1] = 0.5;
  double before = 1, legendre = s; // P_{n-2}, P_{n-1}
  for (int n = 2; n <= order; ++n) {
    const double next = ((2 * n - 1) * s * legendre - (n - 1) * before) / n;
    const double scale = scaling == ModeScaling::paper ? 1 : std::sqrt(0.5 * (2 * n - 1));
    value[n] = scale * (next - before) / (2 * n - 1);
    derivative[n] = scale * legendre;
    before = legendre;
    legendre = next;
  }
}

struct BasisTables {
  int order = 0, points = 0;
  GaussRule rule;
  std::vector<double> value, derivative; ///< [points, order + 1]
};

inline BasisTables make_basis_tables(int order, int points, ModeScaling scaling) {
  OSSATURA_REQUIRE(order >= 1 && order <= max_hexa_order, "make_basis_tables: order out of range");
  BasisTables tables{order, points, gauss_legendre(points), {}, {}};
  const std::size_t stride = std::size_t(order) + 1;
  tables.value.resize(std::size_t(points) * stride);
  tables.derivative.resize(tables.value.size());
  for (std::size_t q = 0; q < std::size_t(points); ++q)
    evaluate_basis(order, scaling, tables.rule.point[q], &tables.value[q * stride],
                   &tables.derivative[q * stride]);
  return tables;
}

} // namespace ossatura
