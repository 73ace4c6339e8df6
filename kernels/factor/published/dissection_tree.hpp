// SPDX-License-Identifier: Apache-2.0
// The dissection tree reads sub-domains of nested dissection off the panels of the factor: subtrees
// of few nodes, and above them separators, chains of panels with the same rows.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <vector>

namespace ossatura {

/// Sub-domain d has the panels first[d] .. first[d + 1]; those of level l, which need nothing of
/// each other, are order[level_begin[l]] .. order[level_begin[l + 1]].
struct DissectionTree {
  std::vector<int> first, level_begin, order;

  int num_levels() const { return int(level_begin.size()) - 1; }
};

/// Subtrees of at most `leaf_nodes` nodes are not divided.
inline DissectionTree make_dissection_tree(const FactorPattern& pattern, int leaf_nodes) {
  const int n = pattern.num_panels();
  std::vector<int> leaf(n, -1); // root of the undivided subtree that a panel belongs to
  for (int s = n - 1; s >= 0; --s)
    if (pattern.first[s + 1] - pattern.subtree_first[s] <= leaf_nodes) {
      const int above = pattern.parent[s];
      leaf[s] = above >= 0 && leaf[above] >= 0 ? leaf[above] : s;
    }
  DissectionTree tree;
  std::vector<int> domain_of(n);
  for (int s = 0; s < n; ++s) {
    const bool chained = s > 0 && leaf[s - 1] < 0 && leaf[s] < 0 && pattern.parent[s - 1] == s &&
                         pattern.num_below(s - 1) == pattern.height(s);
    const bool same_leaf = s > 0 && leaf[s] >= 0 && leaf[s] == leaf[s - 1];
    if (!chained && !same_leaf)
      tree.first.push_back(s);
    domain_of[s] = int(tree.first.size()) - 1;
  }
  const int num_domains = int(tree.first.size());
  tree.first.push_back(n);

  std::vector<int> level(num_domains, 0);
  int num_levels = 0;
  for (int d = 0; d < num_domains; ++d) {
    num_levels = std::max(num_levels, level[d] + 1);
    const int above = pattern.parent[tree.first[d + 1] - 1];
    if (above >= 0)
      level[domain_of[above]] = std::max(level[domain_of[above]], level[d] + 1);
  }
  tree.level_begin.push_back(0);
  for (int l = 0; l < num_levels; ++l) {
    for (int d = 0; d < num_domains; ++d)
      if (level[d] == l)
        tree.order.push_back(d);
    tree.level_begin.push_back(int(tree.order.size()));
  }
  return tree;
}

} // namespace ossatura
