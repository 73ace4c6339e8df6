// SPDX-License-Identifier: Apache-2.0
// Symmetric positive definite systems with a narrow profile: rows are kept from their first entry
// to the diagonal. The standard library only; shares nothing with the code under test.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <vector>

namespace reference {

/// Solves A x = b by A = L L^T; row[i] has the entries of row i, of which those right of the
/// diagonal are not read.
inline std::vector<double> solve_skyline(const std::vector<std::map<int, double>>& row,
                                         std::vector<double> b) {
  const int n = int(row.size());
  std::vector<int> first(n);
  std::vector<std::vector<double>> l(n);
  for (int i = 0; i < n; ++i) {
    first[i] = std::min(i, row[i].empty() ? i : row[i].begin()->first);
    l[i].assign(i - first[i] + 1, 0);
    for (const auto& [j, value] : row[i])
      if (j <= i)
        l[i][j - first[i]] = value;
    for (int j = first[i]; j <= i; ++j) {
      double& entry = l[i][j - first[i]];
      for (int k = std::max(first[i], first[j]); k < j; ++k)
        entry -= l[i][k - first[i]] * l[j][k - first[j]];
      if (j < i)
        entry /= l[j].back();
      else if (!(entry > 0))
        throw std::runtime_error("not positive definite");
      else
        entry = std::sqrt(entry);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = first[i]; k < i; ++k)
      b[i] -= l[i][k - first[i]] * b[k];
    b[i] /= l[i].back();
  }
  for (int i = n - 1; i >= 0; --i) {
    b[i] /= l[i].back();
    for (int k = first[i]; k < i; ++k)
      b[k] -= l[i][k - first[i]] * b[i];
  }
  return b;
}

} // namespace reference
