// SPDX-License-Identifier: Apache-2.0
// Factor rows are L as a sparse matrix of scalars, for other libraries that apply the factor, and
// the plain sequential solve with L; host memory, no Kokkos but for the types of the pattern.
#pragma once

#include "bench/host/csr_matrix.hpp"
#include <ossatura/kernels/factor/published/scalar_rows.hpp>

#include <vector>

namespace ossatura::bench {

/// Which numbers of the panels belong to 3 x 3 blocks that are not all zero. Those that are come
/// from merged panels; single zeros may be of one state alone (a flat cloth has many).
inline std::vector<char> structural_entries(const FactorPattern& pattern,
                                            const std::vector<double>& panel) {
  std::vector<char> structural(panel.size(), 0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const std::int64_t height = 3 * std::int64_t(pattern.height(s));
    for (int k = 0; k < pattern.width(s); ++k)
      for (int i = 0; i < pattern.height(s); ++i) {
        const std::int64_t first = pattern.begin[s] + 3 * (k * height + i);
        bool any = false;
        for (int e = 0; e < 9; ++e)
          any |= panel[std::size_t(first + e / 3 * height + e % 3)] != 0;
        for (int e = 0; e < 9; ++e)
          structural[std::size_t(first + e / 3 * height + e % 3)] = any;
      }
  }
  return structural;
}

/// The entries of L below its unit diagonal.
inline CsrMatrix<double> factor_rows(const FactorPattern& pattern,
                                     const std::vector<double>& panel) {
  const std::vector<char> structural = structural_entries(pattern, panel);
  CsrMatrix<double> rows;
  const std::size_t n = 3 * std::size_t(pattern.num_nodes);
  rows.row_begin.assign(n + 1, 0);
  visit_factor_entries(pattern, [&](int row, int, std::int64_t position) {
    rows.row_begin[std::size_t(row) + 1] += structural[std::size_t(position)];
  });
  for (std::size_t i = 0; i < n; ++i)
    rows.row_begin[i + 1] += rows.row_begin[i];
  rows.column.resize(std::size_t(rows.row_begin[n]));
  rows.value.resize(rows.column.size());
  std::vector<int> next(rows.row_begin);
  visit_factor_entries(pattern, [&](int row, int column, std::int64_t position) {
    if (!structural[std::size_t(position)])
      return;
    const std::size_t entry = std::size_t(next[std::size_t(row)]++);
    rows.column[entry] = column;
    rows.value[entry] = panel[std::size_t(position)];
  });
  return rows;
}

/// The same rows with ones on the diagonal, last in each.
inline CsrMatrix<double> with_unit_diagonal(const CsrMatrix<double>& rows) {
  CsrMatrix<double> result;
  result.row_begin.push_back(0);
  for (std::size_t i = 0; i + 1 < rows.row_begin.size(); ++i) {
    const auto begin = rows.row_begin[i], end = rows.row_begin[i + 1];
    result.column.insert(result.column.end(), &rows.column[0] + begin, &rows.column[0] + end);
    result.value.insert(result.value.end(), &rows.value[0] + begin, &rows.value[0] + end);
    result.column.push_back(int(i));
    result.value.push_back(1);
    result.row_begin.push_back(int(result.column.size()));
  }
  return result;
}

/// Columns ascend, so that the diagonal of a lower triangle comes first in the rows of the result.
inline CsrMatrix<double> transpose(const CsrMatrix<double>& rows) {
  CsrMatrix<double> result;
  result.row_begin.assign(rows.row_begin.size(), 0);
  for (const int column : rows.column)
    ++result.row_begin[std::size_t(column) + 1];
  for (std::size_t i = 0; i + 1 < rows.row_begin.size(); ++i)
    result.row_begin[i + 1] += result.row_begin[i];
  result.column.resize(rows.column.size());
  result.value.resize(rows.value.size());
  std::vector<int> next(result.row_begin);
  for (std::size_t i = 0; i + 1 < rows.row_begin.size(); ++i)
    for (int k = rows.row_begin[i]; k < rows.row_begin[i + 1]; ++k) {
      const std::size_t entry = std::size_t(next[std::size_t(rows.column[std::size_t(k)])]++);
      result.column[entry] = int(i);
      result.value[entry] = rows.value[std::size_t(k)];
    }
  return result;
}

/// z = L^-T D^-1 L^-1 r row by row, as on one thread of a processor; z may be r.
inline void solve_sequentially(const CsrMatrix<double>& rows, const double* inverse_pivot,
                               const double* r, double* z) {
  const int n = int(rows.num_rows());
  const int* const begin = rows.row_begin.data();
  const int* const column = rows.column.data();
  const double* const value = rows.value.data();
  for (int i = 0; i < n; ++i) {
    double sum = r[i];
    for (int k = begin[i]; k < begin[i + 1]; ++k)
      sum -= value[k] * z[column[k]];
    z[i] = sum;
  }
  for (int i = 0; i < n; ++i)
    z[i] *= inverse_pivot[i];
  for (int i = n - 1; i >= 0; --i) {
    const double x = z[i];
    for (int k = begin[i]; k < begin[i + 1]; ++k)
      z[column[k]] -= value[k] * x;
  }
}

} // namespace ossatura::bench
