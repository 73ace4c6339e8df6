// SPDX-License-Identifier: Apache-2.0
// Dense symmetric systems, by plain loops.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace reference {

/// L with a = L L^T, in place, of a symmetric positive definite row-major matrix; NaN for another.
inline void factorise_dense(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
}

/// x with L L^T x = b, in place.
inline void solve_factorised(const std::vector<double>& l, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k)
      b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k)
      b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

/// x with a x = b.
inline std::vector<double> solve_dense(std::vector<double> a, std::vector<double> b) {
  factorise_dense(a, b.size());
  solve_factorised(a, b);
  return b;
}

} // namespace reference
