// SPDX-License-Identifier: Apache-2.0
// A smoothing polynomial p has p(0) = 1 and is small at the upper end of a spectrum; it is given by
// its roots. A smoother multiplies the error by p(D^-1 A), factor by factor.
//
// [1] M. Adams, M. Brezina, J. Hu, R. Tuminaro. Parallel multigrid smoothing: polynomial versus
//     Gauss-Seidel. J. Comput. Phys. 188 (2003) 593-610, doi:10.1016/S0021-9991(03)00194-3.
// [2] J. Lottes. Optimal polynomial smoothers for multigrid V-cycles. Numer. Linear Algebra Appl.
//     30 (2023) e2518, doi:10.1002/nla.2518, arXiv:2202.08830.
// [3] L. Reichel. Newton interpolation at Leja points. BIT 30 (1990) 332-346,
//     doi:10.1007/BF02017352.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/require.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ossatura {

enum class SmootherKind {
  first_kind,         ///< Chebyshev's polynomial of [lmax / ratio, 1.05 lmax] [1]
  fourth_kind,        ///< least sup of t p(t)^2 on [0, lmax] [2, section 4.2]
  optimal_fourth_kind ///< least sup of t p(t)^2 / (1 - p(t)^2): the best V-cycle bound [2]
};

constexpr Names<SmootherKind> names_of(SmootherKind) {
  return {{SmootherKind::first_kind, "first"},
          {SmootherKind::fourth_kind, "fourth"},
          {SmootherKind::optimal_fourth_kind, "optimal"}};
}

struct SmootherOptions {
  SmootherKind kind = SmootherKind::optimal_fourth_kind;
  int degree = 2;       ///< factors: matrix products of one smoothing (from zero: one fewer)
  double ratio = 16;    ///< first kind alone: largest by smallest eigenvalue that is smoothed
  double safety = 1.05; ///< an estimate of lmax from below is multiplied by this
};

namespace detail {

/// p(t) for the polynomial with p(0) = 1 and the given roots.
inline double polynomial_at(const std::vector<double>& roots, double t) {
  double p = 1;
  for (double root : roots)
    p *= 1 - t / root;
  return p;
}

/// Roots on [-1, 1] of Chebyshev's polynomial, ascending.
inline std::vector<double> first_kind_roots(int degree) {
  std::vector<double> roots;
  for (int i = degree; i >= 1; --i)
    roots.push_back(std::cos((2 * i - 1) * Kokkos::numbers::pi / (2 * degree)));
  return roots;
}

/// Roots on (0, 1) of W_k(1 - 2 t) / (2 k + 1), W_k(cos a) = sin((k + 1/2) a) / sin(a / 2),
/// ascending.
inline std::vector<double> fourth_kind_roots(int degree) {
  std::vector<double> roots;
  for (int i = 1; i <= degree; ++i)
    roots.push_back(std::pow(std::sin(i * Kokkos::numbers::pi / (2 * degree + 1)), 2));
  return roots;
}

/// Solves the small dense system a x = b by elimination with pivots; a is row-major.
inline std::vector<double> solve_dense(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]))
        pivot = i;
    for (std::size_t j = 0; j < n; ++j)
      std::swap(a[k * n + j], a[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j)
        a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j)
      b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return b;
}

/// Where p(t)^2 (1 + m t) is largest between two neighbouring roots, or beyond the last up to 1.
inline double peak(const std::vector<double>& roots, double m, double low, double high) {
  // The logarithm is concave there, so the root of its derivative is found by bisection.
  for (int step = 0; step < 60; ++step) {
    const double t = (low + high) / 2;
    double slope = m / (1 + m * t);
    for (double root : roots)
      slope += 2 / (t - root);
    (slope > 0 ? low : high) = t;
  }
  return (low + high) / 2;
}

/// Roots on (0, 1) of the optimal polynomial of [2], ascending. There the least C with
/// t p^2 <= C (1 - p^2) on [0, 1] is such that p^2 (1 + t / C) has the value 1 at its `degree`
/// peaks and a slope of 0 at t = 0, 1 / C = 2 sum 1 / root. Newton's iteration on the roots; [2]
/// tabulates weights of a recursion instead.
inline std::vector<double> optimal_roots(int degree) {
  const std::size_t n = std::size_t(degree);
  std::vector<double> roots = fourth_kind_roots(degree);
  for (int step = 0; step < 50; ++step) {
    double m = 0;
    for (double root : roots)
      m += 2 / root;
    std::vector<double> matrix(n * n), defect(n);
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double t = peak(roots, m, roots[j], j + 1 < n ? roots[j + 1] : 1.0);
      defect[j] = -std::log(std::pow(polynomial_at(roots, t), 2) * (1 + m * t));
      largest = std::max(largest, std::abs(defect[j]));
      // The peak itself moves without effect: it is stationary, or it is the end of the interval.
      for (std::size_t i = 0; i < n; ++i)
        matrix[j * n + i] =
            (2 * t / (1 - t / roots[i]) - 2 * t / (1 + m * t)) / (roots[i] * roots[i]);
    }
    if (largest < 1e-14 * n)
      break;
    const std::vector<double> change = solve_dense(matrix, defect);
    // Keeps the roots apart and within (0, 1).
    double damping = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double below = i > 0 ? roots[i] - roots[i - 1] : roots[i];
      const double above = i + 1 < n ? roots[i + 1] - roots[i] : 1 - roots[i];
      damping = std::min(damping, 0.4 * std::min(below, above) / std::abs(change[i]));
    }
    for (std::size_t i = 0; i < n; ++i)
      roots[i] += damping * change[i];
  }
  return roots;
}

/// The roots in Leja's order [3]: partial products stay of moderate size, so that rounding errors
/// are not amplified whatever the degree.
inline std::vector<double> leja_order(std::vector<double> roots) {
  for (std::size_t k = 0; k + 1 < roots.size(); ++k) {
    std::size_t best = k;
    double largest = -1;
    for (std::size_t i = k; i < roots.size(); ++i) {
      double distance = k == 0 ? roots[i] : 1;
      for (std::size_t j = 0; j < k; ++j)
        distance *= std::abs(roots[i] - roots[j]) / roots[0]; // scaled against underflow
      if (distance > largest) {
        largest = distance;
        best = i;
      }
    }
    std::swap(roots[k], roots[best]);
  }
  return roots;
}

inline std::vector<double> reciprocals(std::vector<double> x) {
  for (double& value : x)
    value = 1 / value;
  return x;
}

} // namespace detail

/// 1 / root of Chebyshev's polynomial of the first kind on [low, high], the least on it of those
/// with p(0) = 1, in the order of application.
inline std::vector<double> chebyshev_weights(int degree, double low, double high) {
  std::vector<double> roots;
  for (double root : detail::first_kind_roots(degree))
    roots.push_back((high + low) / 2 + (high - low) / 2 * root);
  return detail::reciprocals(detail::leja_order(roots));
}

/// 1 / root of the polynomial for a largest eigenvalue estimated as `lmax` > 0, in the order of
/// application. Throws UsageError for a degree outside 1 .. 32.
inline std::vector<double> smoothing_weights(const SmootherOptions& options, double lmax) {
  if (options.degree < 1 || options.degree > 32)
    fail<UsageError>("a smoother of degree ", options.degree, "; 1 to 32 are possible");
  if (options.kind == SmootherKind::first_kind && !(options.ratio > 1))
    fail<UsageError>("a smoothing ratio of ", options.ratio, "; it must be greater than 1");
  OSSATURA_REQUIRE(lmax > 0 && options.safety >= 1,
                   "largest eigenvalue " << lmax << ", safety " << options.safety);
  const double high = options.safety * lmax;
  if (options.kind == SmootherKind::first_kind)
    return chebyshev_weights(options.degree, lmax / options.ratio, high);
  std::vector<double> roots = options.kind == SmootherKind::fourth_kind
                                  ? detail::fourth_kind_roots(options.degree)
                                  : detail::optimal_roots(options.degree);
  for (double& root : roots)
    root *= high;
  return detail::reciprocals(detail::leja_order(roots));
}

} // namespace ossatura
