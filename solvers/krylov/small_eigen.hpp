// SPDX-License-Identifier: Apache-2.0
// The eigenvalues of small dense symmetric matrices, by Jacobi's rotations, which find small ones
// to as many digits as the matrix has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ossatura {

struct SmallEigen {
  std::vector<double> value;  ///< [n], the largest first
  std::vector<double> vector; ///< [n, n], eigenvector j is column j
};

namespace detail {

/// Rotates rows and columns p and q of `a`, and columns of `v`, so that a(p, q) is zero.
inline void rotate_small(std::vector<double>& a, std::vector<double>& v, std::size_t n,
                         std::size_t p, std::size_t q) {
  const double ratio = (a[n * q + q] - a[n * p + p]) / (2 * a[n * p + q]);
  const double tangent = (ratio >= 0 ? 1 : -1) / (std::fabs(ratio) + std::sqrt(ratio * ratio + 1));
  const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
  for (std::size_t k = 0; k < n; ++k)
    for (std::vector<double>* m : {&a, &v}) {
      const double at_p = (*m)[n * k + p], at_q = (*m)[n * k + q];
      (*m)[n * k + p] = cosine * at_p - sine * at_q;
      (*m)[n * k + q] = sine * at_p + cosine * at_q;
    }
  for (std::size_t k = 0; k < n; ++k) {
    const double at_p = a[n * p + k], at_q = a[n * q + k];
    a[n * p + k] = cosine * at_p - sine * at_q;
    a[n * q + k] = sine * at_p + cosine * at_q;
  }
  a[n * p + q] = a[n * q + p] = 0;
}

} // namespace detail

/// Of a symmetric matrix [n, n].
inline SmallEigen small_eigen(std::vector<double> a, std::size_t n) {
  std::vector<double> v(n * n);
  for (std::size_t i = 0; i < n; ++i)
    v[n * i + i] = 1;
  constexpr int most_sweeps = 60; // they converge quadratically in the end
  for (int sweep = 0, rotations = 1; sweep < most_sweeps && rotations > 0; ++sweep) {
    rotations = 0;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double size = std::sqrt(std::fabs(a[n * p + p]) * std::fabs(a[n * q + q]));
        if (!(std::fabs(a[n * p + q]) > 1e-16 * size))
          continue;
        detail::rotate_small(a, v, n, p, q);
        ++rotations;
      }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[n * i + i] > a[n * j + j]; });
  SmallEigen found;
  found.vector.resize(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    found.value.push_back(a[n * order[j] + order[j]]);
    for (std::size_t i = 0; i < n; ++i)
      found.vector[n * i + j] = v[n * i + order[j]];
  }
  return found;
}

} // namespace ossatura
