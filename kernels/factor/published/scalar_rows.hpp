// SPDX-License-Identifier: Apache-2.0
// Scalar rows are L and its transpose as sparse matrices of scalars, in the order of levels [1]:
// rows of a level need nothing of each other.
//
// [1] E. Anderson, Y. Saad. Solving sparse triangular linear systems on parallel computers. Int. J.
//     High Speed Comput. 1 (1989) 73-95, doi:10.1142/S0129053389000056.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ossatura {

/// The entries off the unit diagonal of a triangular matrix. Level l has the slots level_begin[l]
/// .. level_begin[l + 1]; slot q is row[q] and has the entries begin[q] .. begin[q + 1].
struct ScalarRows {
  std::vector<int> level_begin, row, begin;
  std::vector<int> column;            ///< of an entry
  std::vector<std::int64_t> position; ///< of its value among the panels

  int num_levels() const { return int(level_begin.size()) - 1; }
};

/// Calls visit(row, column, position) for every entry of L that is stored below its diagonal, zeros
/// of merged panels too, column by column.
template<class Visit>
void visit_factor_entries(const FactorPattern& pattern, const Visit& visit) {
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int first = 3 * pattern.first[s], width = 3 * pattern.width(s);
    const int height = 3 * pattern.height(s);
    const int* const below = pattern.row.data() + pattern.row_begin[s];
    for (int k = 0; k < width; ++k)
      for (int i = k + 1; i < height; ++i) {
        const int row = i < width ? first + i : 3 * below[(i - width) / 3] + i % 3;
        visit(row, first + k, pattern.begin[s] + std::int64_t(k) * height + i);
      }
  }
}

/// Of L, or of L^T, whose rows are the columns of L.
inline ScalarRows make_scalar_rows(const FactorPattern& pattern, bool transposed) {
  const int n = 3 * pattern.num_nodes;
  std::vector<int> length(n, 0), level(n, 0);
  visit_factor_entries(pattern, [&](int row, int column, std::int64_t) {
    ++length[transposed ? column : row];
    if (!transposed) // the level of `column` is known: all of its row came before
      level[row] = std::max(level[row], level[column] + 1);
  });
  if (transposed) // from the last column to the first, and so panel by panel backwards
    for (int s = pattern.num_panels() - 1; s >= 0; --s) {
      const int last = 3 * pattern.first[s + 1], num_below = pattern.num_below(s);
      int deepest = -1;
      for (int k = 0; k < num_below; ++k)
        for (int c = 0; c < 3; ++c)
          deepest = std::max(deepest, level[3 * pattern.row[pattern.row_begin[s] + k] + c]);
      for (int j = last - 1; j >= 3 * pattern.first[s]; --j)
        level[j] = ++deepest;
    }

  ScalarRows rows;
  rows.row.resize(n);
  std::iota(rows.row.begin(), rows.row.end(), 0);
  std::stable_sort(rows.row.begin(), rows.row.end(),
                   [&](int a, int b) { return level[a] < level[b]; });
  std::vector<int> next(n);
  rows.begin.push_back(0);
  for (int q = 0; q < n; ++q) {
    const int row = rows.row[q];
    if (q == 0 || level[row] != level[rows.row[q - 1]])
      rows.level_begin.push_back(q);
    next[row] = rows.begin.back();
    rows.begin.push_back(rows.begin.back() + length[row]);
  }
  rows.level_begin.push_back(n);
  rows.column.resize(rows.begin.back());
  rows.position.resize(rows.begin.back());
  visit_factor_entries(pattern, [&](int row, int column, std::int64_t position) {
    const int entry = next[transposed ? column : row]++;
    rows.column[entry] = transposed ? row : column;
    rows.position[entry] = position;
  });
  return rows;
}

} // namespace ossatura
