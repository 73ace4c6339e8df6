// SPDX-License-Identifier: Apache-2.0
// Assembly of sparse matrices by the plainest means: a map from (row, column) to the sum so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace reference {

using Entries = std::map<std::pair<int, int>, double>; ///< ordered by row, then column

/// Which scalar (block_size 1) or block (3) a triplet adds to.
struct Triplets {
  int block_size = 1;
  int num_rows = 0;                ///< of scalars or blocks
  std::vector<int> i, j;           ///< negative: left out
  std::vector<double> value;       ///< [triplets, block_size^2], row-major
  std::vector<std::uint8_t> fixed; ///< [num_rows] or empty

  bool is_fixed(int row) const { return !fixed.empty() && fixed[std::size_t(row)] != 0; }
};

/// The scalar matrix: the sum of triplets, without rows and columns that are fixed, whose diagonal
/// is 1. Every block on the diagonal has its entries, of zero if nothing is added to them.
inline Entries assemble(const Triplets& t) {
  Entries entries;
  const int n = t.block_size;
  for (int row = 0; row < t.num_rows; ++row)
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c)
        entries[{n * row + r, n * row + c}] = t.is_fixed(row) && r == c ? 1 : 0;
  for (std::size_t k = 0; k < t.i.size(); ++k) {
    if (t.i[k] < 0 || t.j[k] < 0 || t.is_fixed(t.i[k]) || t.is_fixed(t.j[k]))
      continue;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c)
        entries[{n * t.i[k] + r, n * t.j[k] + c}] += t.value[k * n * n + std::size_t(n * r + c)];
  }
  return entries;
}

/// All blocks of element matrices that are given by their upper pairs [elements, pairs, 9].
inline Triplets expand_pairs(int num_nodes, int nodes_per_elem, const std::vector<int>& node,
                             const std::vector<double>& pairs) {
  Triplets t;
  t.block_size = 3;
  t.num_rows = num_nodes;
  const std::size_t n = std::size_t(nodes_per_elem);
  std::vector<std::array<double, 9>> blocks(n * n);
  std::size_t next = 0;
  for (std::size_t e = 0; e < node.size() / n; ++e) {
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = a; b < n; ++b)
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t c = 0; c < 3; ++c, ++next) {
            blocks[a * n + b][3 * r + c] = pairs[next];
            if (a != b)
              blocks[b * n + a][3 * c + r] = pairs[next];
          }
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        t.i.push_back(node[e * n + a]);
        t.j.push_back(node[e * n + b]);
        t.value.insert(t.value.end(), blocks[a * n + b].begin(), blocks[a * n + b].end());
      }
  }
  return t;
}

/// A x.
inline std::vector<double> multiply(const Entries& a, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (const auto& [place, value] : a)
    y[std::size_t(place.first)] += value * x[std::size_t(place.second)];
  return y;
}

} // namespace reference
