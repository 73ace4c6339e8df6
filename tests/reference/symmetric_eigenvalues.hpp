// SPDX-License-Identifier: Apache-2.0
// Oracle: eigenvalues of small symmetric matrices by Jacobi's rotations.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace reference {

/// Ascending eigenvalues of the row-major symmetric matrix a [n * n].
inline std::vector<double> symmetric_eigenvalues(std::vector<double> a, int n) {
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        all += a[i * n + j] * a[i * n + j];
        off += i == j ? 0 : a[i * n + j] * a[i * n + j];
      }
    if (off <= 1e-28 * all)
      break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0)
          continue;
        // The angle that makes a[p][q] zero.
        const double angle = 0.5 * std::atan2(2 * a[p * n + q], a[p * n + p] - a[q * n + q]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (int k = 0; k < n; ++k) {
          const double x = a[p * n + k], y = a[q * n + k];
          a[p * n + k] = c * x + s * y;
          a[q * n + k] = c * y - s * x;
        }
        for (int k = 0; k < n; ++k) {
          const double x = a[k * n + p], y = a[k * n + q];
          a[k * n + p] = c * x + s * y;
          a[k * n + q] = c * y - s * x;
        }
      }
  }
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    values.push_back(a[i * n + i]);
  std::sort(values.begin(), values.end());
  return values;
}

} // namespace reference
