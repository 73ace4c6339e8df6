// SPDX-License-Identifier: Apache-2.0
// A FactorPattern says where the factor of A = L D L^T has entries: panels of nodes with equal
// columns. A is symmetric of 3 x 3 blocks, already numbered by nested dissection and postordered,
// so that the nodes of every subtree of the elimination tree are contiguous.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Panel s has the columns of nodes first[s] .. first[s + 1] (at most max_panel_nodes) and, below
/// its dense triangle, the rows of nodes row[row_begin[s]] .. row[row_begin[s + 1]], ascending.
/// Host memory; "nodes" count blocks of three scalars.
struct FactorPattern {
  int num_nodes = 0;
  std::vector<int> first;          ///< [num_panels + 1]
  std::vector<int> parent;         ///< [num_panels], the panel of the first row below; -1: none
  std::vector<int> row_begin;      ///< [num_panels + 1]
  std::vector<int> row;            ///< nodes, > those of the panel
  std::vector<int> subtree_first;  ///< [num_panels], first node of the subtree that s ends
  std::vector<int> level;          ///< [num_panels]: 0 without children, else 1 + the highest
  std::vector<int> panel_of;       ///< [num_nodes]
  std::vector<std::int64_t> begin; ///< [num_panels + 1], offsets of panels in L

  int num_panels() const { return int(parent.size()); }
  int width(int s) const { return first[s + 1] - first[s]; }             ///< nodes
  int num_below(int s) const { return row_begin[s + 1] - row_begin[s]; } ///< nodes
  int height(int s) const { return width(s) + num_below(s); }            ///< nodes
};

inline constexpr int max_panel_nodes = 16;

/// A FactorPattern on a device, all arrays as above.
template<class Exec>
struct FactorPatternArrays {
  int num_nodes = 0, num_panels = 0;
  Array<int, Exec> first, parent, row_begin, row, subtree_first, level, panel_of;
  Array<std::int64_t, Exec> begin;
};

/// L and D. Panel s is a column-major matrix of 3 height(s) rows (its leading dimension) and
/// 3 width(s) columns from begin(s): entry (i, k) at begin(s) + k 3 height(s) + i. Its unit lower
/// triangle is stored with ones on the diagonal and zeros above it.
template<class Exec>
struct SupernodalFactor {
  FactorPatternArrays<Exec> pattern;
  Array<double, Exec> panel; ///< L
  Array<double, Exec> pivot; ///< [3 num_nodes], D
};

} // namespace ossatura
