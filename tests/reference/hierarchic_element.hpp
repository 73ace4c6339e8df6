// SPDX-License-Identifier: Apache-2.0
// Oracle of the stiffness of hierarchical hexahedra: B^T D B at the points of a rule of its own,
// shape functions as polynomials of long double coefficients, integrated term by term. The standard
// library only.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace reference {

using Polynomial = std::vector<long double>; ///< coefficient of s^k at k

inline long double evaluate(const Polynomial& p, long double s) {
  long double sum = 0;
  for (std::size_t k = p.size(); k-- > 0;)
    sum = sum * s + p[k];
  return sum;
}

inline Polynomial derivative_of(const Polynomial& p) {
  Polynomial d(p.size() > 1 ? p.size() - 1 : 1, 0);
  for (std::size_t k = 1; k < p.size(); ++k)
    d[k - 1] = (long double)(k)*p[k];
  return d;
}

inline Polynomial legendre_polynomial(int n) {
  Polynomial before{1}, p{0, 1};
  if (n == 0)
    return before;
  for (int k = 2; k <= n; ++k) {
    Polynomial next(p.size() + 1, 0);
    for (std::size_t i = 0; i < p.size(); ++i)
      next[i + 1] += (2 * k - 1) * p[i] / k;
    for (std::size_t i = 0; i < before.size(); ++i)
      next[i] -= (k - 1) * before[i] / k;
    before = p;
    p = next;
  }
  return p;
}

/// (1 - s) / 2, (1 + s) / 2 and the integrals of Legendre polynomials from -1.
inline Polynomial hierarchic_polynomial(int n, bool orthonormal) {
  if (n < 2)
    return {0.5L, n == 0 ? -0.5L : 0.5L};
  const Polynomial p = legendre_polynomial(n - 1);
  Polynomial integral(p.size() + 1, 0);
  for (std::size_t k = 0; k < p.size(); ++k)
    integral[k + 1] = p[k] / (long double)(k + 1);
  integral[0] = -evaluate(integral, -1);
  if (orthonormal)
    for (long double& c : integral)
      c *= std::sqrt((2 * n - 1) / 2.0L);
  return integral;
}

struct QuadraturePoint {
  long double x, weight;
};

/// Gauss and Legendre's rule: zeros by bisection on a fine grid.
inline std::vector<QuadraturePoint> legendre_rule(int n) {
  const Polynomial p = legendre_polynomial(n), slope = derivative_of(p);
  std::vector<QuadraturePoint> rule;
  const int steps = 1001;
  for (int k = 0; k < steps; ++k) {
    long double low = -1 + 2.0L * k / steps, high = -1 + 2.0L * (k + 1) / steps;
    if ((evaluate(p, low) > 0) == (evaluate(p, high) > 0))
      continue;
    for (int half = 0; half < 70; ++half) {
      const long double middle = (low + high) / 2;
      ((evaluate(p, low) > 0) == (evaluate(p, middle) > 0) ? low : high) = middle;
    }
    const long double d = evaluate(slope, low);
    rule.push_back({low, 2 / ((1 - low * low) * d * d)});
  }
  return rule;
}

struct HierarchicElement {
  std::vector<double> corner; ///< [8, 3] in the order of VTK
  int order, points;
  bool trunk, orthonormal;
  /// D [6, 6] at x, of xx yy zz yz zx xy.
  std::function<std::vector<double>(const double* x)> elasticity;

  std::vector<std::vector<int>> modes() const {
    std::vector<std::vector<int>> all;
    for (int i = 0; i <= order; ++i)
      for (int j = 0; j <= order; ++j)
        for (int k = 0; k <= order; ++k)
          if (!trunk || (i > 1 ? i : 0) + (j > 1 ? j : 0) + (k > 1 ? k : 0) <= order)
            all.push_back({i, j, k});
    return all;
  }

  /// [3 modes, 3 modes], row 3 a + component.
  std::vector<double> stiffness() const {
    const double sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    const std::vector<std::vector<int>> mode = modes();
    const std::vector<QuadraturePoint> rule = legendre_rule(points);
    std::vector<std::vector<double>> value(rule.size()), slope(rule.size());
    for (std::size_t q = 0; q < rule.size(); ++q)
      for (int n = 0; n <= order; ++n) {
        const Polynomial p = hierarchic_polynomial(n, orthonormal);
        value[q].push_back(double(evaluate(p, rule[q].x)));
        slope[q].push_back(double(evaluate(derivative_of(p), rule[q].x)));
      }
    const std::size_t n = 3 * mode.size();
    std::vector<double> matrix(n * n, 0), strain(6 * n), stress(6 * n);
    for (std::size_t q0 = 0; q0 < rule.size(); ++q0)
      for (std::size_t q1 = 0; q1 < rule.size(); ++q1)
        for (std::size_t q2 = 0; q2 < rule.size(); ++q2) {
          const double s[3] = {double(rule[q0].x), double(rule[q1].x), double(rule[q2].x)};
          double x[3] = {0, 0, 0}, j[3][3] = {}, inverse[3][3];
          for (int a = 0; a < 8; ++a)
            for (int i = 0; i < 3; ++i) {
              const double along[3] = {1 + sign[a][0] * s[0], 1 + sign[a][1] * s[1],
                                       1 + sign[a][2] * s[2]};
              const double at = corner[std::size_t(3 * a + i)] / 8;
              x[i] += at * along[0] * along[1] * along[2];
              for (int k = 0; k < 3; ++k)
                j[i][k] += at * sign[a][k] * along[(k + 1) % 3] * along[(k + 2) % 3];
            }
          double det = 0;
          for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) {
              const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
              inverse[k][i] = j[i1][k1] * j[i2][k2] - j[i1][k2] * j[i2][k1];
              det += i == 0 ? j[0][k] * inverse[k][0] : 0;
            }
          const double w = det * double(rule[q0].weight * rule[q1].weight * rule[q2].weight);
          const std::vector<double> d = elasticity(x);
          for (std::size_t a = 0; a < mode.size(); ++a) {
            const double *v0 = &value[q0][std::size_t(mode[a][0])],
                         *v1 = &value[q1][std::size_t(mode[a][1])],
                         *v2 = &value[q2][std::size_t(mode[a][2])];
            const double local[3] = {slope[q0][std::size_t(mode[a][0])] * *v1 * *v2,
                                     *v0 * slope[q1][std::size_t(mode[a][1])] * *v2,
                                     *v0 * *v1 * slope[q2][std::size_t(mode[a][2])]};
            double g[3];
            for (int i = 0; i < 3; ++i)
              g[i] =
                  (inverse[0][i] * local[0] + inverse[1][i] * local[1] + inverse[2][i] * local[2]) /
                  det;
            const double b[3][6] = {{g[0], 0, 0, 0, g[2], g[1]},
                                    {0, g[1], 0, g[2], 0, g[0]},
                                    {0, 0, g[2], g[1], g[0], 0}};
            for (std::size_t c = 0; c < 3; ++c)
              for (std::size_t i = 0; i < 6; ++i) {
                strain[6 * (3 * a + c) + i] = b[c][i];
                double sum = 0;
                for (std::size_t k = 0; k < 6; ++k)
                  sum += d[6 * i + k] * b[c][k];
                stress[6 * (3 * a + c) + i] = w * sum;
              }
          }
          for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < n; ++k)
              for (std::size_t t = 0; t < 6; ++t)
                matrix[n * i + k] += strain[6 * i + t] * stress[6 * k + t];
        }
    return matrix;
  }
};

/// Eigenvalues of the symmetric matrix a [n, n] below `shift`, which is none: the negative pivots
/// of a - shift I (Sylvester).
inline int eigenvalues_below(std::vector<double> a, std::size_t n, double shift) {
  int negative = 0;
  for (std::size_t i = 0; i < n; ++i)
    a[n * i + i] -= shift;
  for (std::size_t k = 0; k < n; ++k) {
    negative += a[n * k + k] < 0;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[n * i + k] / a[n * k + k];
      for (std::size_t j = k + 1; j <= i; ++j)
        a[n * i + j] -= factor * a[n * j + k];
    }
  }
  return negative;
}

} // namespace reference
