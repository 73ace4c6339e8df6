// SPDX-License-Identifier: Apache-2.0
// Oracle: dense matrices, row-major [n * n], by plain elimination.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace reference {

/// Inverse by Gauss-Jordan elimination with partial pivoting.
inline std::vector<double> dense_inverse(std::vector<double> a, int n) {
  std::vector<double> inverse(n * n, 0.);
  for (int i = 0; i < n; ++i)
    inverse[i * n + i] = 1;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]))
        pivot = i;
    for (int j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(inverse[k * n + j], inverse[pivot * n + j]);
    }
    const double scale = 1 / a[k * n + k];
    for (int j = 0; j < n; ++j) {
      a[k * n + j] *= scale;
      inverse[k * n + j] *= scale;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k || factor == 0)
        continue;
      for (int j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return inverse;
}

/// Some x with a x = b for a symmetric positive semidefinite matrix, where there is one: Gaussian
/// elimination that leaves out rows whose pivot is nothing but rounding.
inline std::vector<double> semidefinite_solve(std::vector<double> a, std::vector<double> b) {
  const int n = int(b.size());
  std::vector<double> diagonal(n), x(n, 0.);
  for (int k = 0; k < n; ++k)
    diagonal[k] = a[k * n + k];
  const auto is_used = [&](int k) { return a[k * n + k] > 1e-10 * diagonal[k]; };
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n && is_used(k); ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int j = k; j < n && factor != 0; ++j)
        a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  for (int k = n; k-- > 0;) {
    if (!is_used(k))
      continue;
    x[k] = b[k];
    for (int j = k + 1; j < n; ++j)
      x[k] -= a[k * n + j] * x[j];
    x[k] /= a[k * n + k];
  }
  return x;
}

/// a x.
inline std::vector<double> dense_product(const std::vector<double>& a,
                                         const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(a.size() / n, 0.);
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = 0; j < n; ++j)
      y[i] += a[i * n + j] * x[j];
  return y;
}

} // namespace reference
