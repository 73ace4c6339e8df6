// SPDX-License-Identifier: Apache-2.0
// A front block joins the panels of one supernode again, where a level takes longer than its
// arithmetic. A block is a run of panels in which the rows below each panel are the rows of the
// next one.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Block b has the panels panel[b] .. panel[b + 1], and as FactorPattern for a panel: the nodes
/// first[b] .., the rows row[row_begin[b]] .. below them, and a dense rectangle from begin[b].
struct FrontBlocks {
  std::vector<int> panel, first, row_begin, row, parent, level;
  std::vector<std::int64_t> begin;
  /// Where what the children subtract goes: node i of the block, or row i - width below it, gets
  /// rows source[source_begin[front_begin[b] + i]] .. of the children, numbered as `row`.
  std::vector<int> front_begin, source_begin, source;

  int num_blocks() const { return int(parent.size()); }
  int width(int b) const { return first[b + 1] - first[b]; }                     ///< nodes
  int height(int b) const { return width(b) + row_begin[b + 1] - row_begin[b]; } ///< nodes
};

namespace detail {

inline void list_sources(FrontBlocks& blocks) {
  blocks.front_begin.assign(1, 0);
  for (int b = 0; b < blocks.num_blocks(); ++b)
    blocks.front_begin.push_back(blocks.front_begin.back() + blocks.height(b));
  std::vector<int> target(blocks.row.size());
  std::vector<int>& begin = blocks.source_begin;
  begin.assign(std::size_t(blocks.front_begin.back()) + 1, 0);
  for (int b = 0; b < blocks.num_blocks(); ++b) {
    const int above = blocks.parent[b];
    if (above < 0)
      continue;
    const auto rows_end = blocks.row.begin() + blocks.row_begin[above + 1];
    const auto rows = blocks.row.begin() + blocks.row_begin[above];
    for (int k = blocks.row_begin[b]; k < blocks.row_begin[b + 1]; ++k) {
      const int node = blocks.row[k];
      int place = node - blocks.first[above];
      if (place >= blocks.width(above)) {
        const auto found = std::lower_bound(rows, rows_end, node);
        OSSATURA_REQUIRE(found != rows_end && *found == node,
                         "block " << b << " reaches node " << node << ", its parent does not");
        place = blocks.width(above) + int(found - rows);
      }
      target[k] = blocks.front_begin[above] + place;
      ++begin[target[k] + 1];
    }
  }
  for (std::size_t i = 1; i < begin.size(); ++i)
    begin[i] += begin[i - 1];
  blocks.source.resize(target.size());
  std::vector<int> next(begin);
  for (std::size_t k = 0; k < target.size(); ++k)
    blocks.source[next[target[k]]++] = int(k);
}

} // namespace detail

/// Blocks of at most `largest` nodes, or of one panel.
inline FrontBlocks make_front_blocks(const FactorPattern& pattern, int largest) {
  FrontBlocks blocks;
  std::vector<int> block_of(pattern.parent.size());
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const bool joins = s > 0 && pattern.parent[s - 1] == s &&
                       pattern.num_below(s - 1) == pattern.height(s) &&
                       pattern.first[s + 1] - blocks.first.back() <= largest;
    if (!joins) {
      blocks.panel.push_back(s);
      blocks.first.push_back(pattern.first[s]);
    }
    block_of[s] = int(blocks.panel.size()) - 1;
  }
  const int n = int(blocks.panel.size());
  blocks.panel.push_back(pattern.num_panels());
  blocks.first.push_back(pattern.num_nodes);
  blocks.row_begin.push_back(0);
  blocks.begin.push_back(0);
  blocks.level.assign(n, 0);
  for (int b = 0; b < n; ++b) {
    const int last = blocks.panel[b + 1] - 1;
    blocks.row.insert(blocks.row.end(), pattern.row.begin() + pattern.row_begin[last],
                      pattern.row.begin() + pattern.row_begin[last + 1]);
    blocks.row_begin.push_back(int(blocks.row.size()));
    const int above = pattern.parent[last] < 0 ? -1 : block_of[pattern.parent[last]];
    blocks.parent.push_back(above);
    if (above >= 0)
      blocks.level[above] = std::max(blocks.level[above], blocks.level[b] + 1);
    blocks.begin.push_back(blocks.begin.back() +
                           9 * std::int64_t(blocks.width(b)) * blocks.height(b));
  }
  detail::list_sources(blocks);
  return blocks;
}

} // namespace ossatura
