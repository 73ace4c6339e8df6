// SPDX-License-Identifier: BSD-3-Clause
// Inverse of a small symmetric positive semidefinite matrix on the host.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace femura {

/// The inverse of the row-major symmetric matrix [n][n] on the rows whose Cholesky pivot exceeds
/// `threshold` times the diagonal entry, and zero elsewhere: the inverse if the matrix is positive
/// definite, else a symmetric generalised inverse (rows of held components are zero, floating parts
/// lose their rigid motions).
inline std::vector<double> invert_semidefinite(std::vector<double> a, std::size_t n,
                                               double threshold = 1e-10) {
  std::vector<char> used(n, 0);
  // In place a = L L^T, row by row, in the lower triangle.
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = a[i * n + i];
    double pivot = diagonal;
    for (std::size_t j = 0; j < i; ++j) {
      if (!used[j])
        continue;
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = sum / a[j * n + j];
      pivot -= a[i * n + j] * a[i * n + j];
    }
    used[i] = pivot > threshold * diagonal && diagonal > 0;
    a[i * n + i] = used[i] ? std::sqrt(pivot) : 1;
    for (std::size_t j = 0; j < i; ++j)
      if (!used[i] || !used[j])
        a[i * n + j] = 0;
  }
  // Columns of W = L^-1 (kept transposed for contiguous access), then W^T W.
  std::vector<double> w(n * n, 0.0); // w[c * n + i] = W[i][c]
  for (std::size_t c = 0; c < n; ++c) {
    if (!used[c])
      continue;
    double* column = &w[c * n];
    column[c] = 1 / a[c * n + c];
    for (std::size_t i = c + 1; i < n; ++i) {
      if (!used[i])
        continue;
      double sum = 0;
      for (std::size_t k = c; k < i; ++k)
        sum += a[i * n + k] * column[k];
      column[i] = -sum / a[i * n + i];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = i; k < n; ++k)
        sum += w[i * n + k] * w[j * n + k];
      a[i * n + j] = a[j * n + i] = sum;
    }
  return a;
}

} // namespace femura
