// SPDX-License-Identifier: Apache-2.0
// make_factor_pattern goes from the graph of a matrix and an order of elimination to the panels of
// its factor: elimination tree [1], structure of the columns, supernodes merged where merging adds
// few zeros [2], panels.
//
// [1] J. Liu. The role of elimination trees in sparse factorization. SIAM J. Matrix Anal. Appl. 11
//     (1990) 134-172, doi:10.1137/0611010.
// [2] C. Ashcraft, R. Grimes. The influence of relaxed supernode partitions on the multifrontal
//     method. ACM Trans. Math. Softw. 15 (1989) 291-309, doi:10.1145/76909.76910.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

namespace detail {

/// parent[j] of every column in the given order, -1 at roots. `position`: old -> new.
inline std::vector<int> elimination_tree(const std::vector<int>& row_begin,
                                         const std::vector<int>& column,
                                         const std::vector<int>& order,
                                         const std::vector<int>& position) {
  const int n = int(order.size());
  std::vector<int> parent(n, -1), ancestor(n, -1);
  for (int j = 0; j < n; ++j)
    for (int k = row_begin[order[j]]; k < row_begin[order[j] + 1]; ++k)
      for (int i = position[column[k]], next; i != -1 && i < j; i = next) {
        next = ancestor[i];
        ancestor[i] = j; // path compression
        if (next == -1)
          parent[i] = j;
      }
  return parent;
}

/// Columns of a forest, children before parents and every subtree contiguous; `post[k]` is the
/// k-th. Children keep their order.
inline std::vector<int> postorder(const std::vector<int>& parent) {
  const int n = int(parent.size());
  std::vector<int> first_child(n, -1), next_sibling(n, -1), post, stack;
  for (int j = n - 1; j >= 0; --j)
    if (parent[j] >= 0) {
      next_sibling[j] = first_child[parent[j]];
      first_child[parent[j]] = j;
    }
  post.reserve(n);
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0)
      continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int j = stack.back(), child = first_child[j];
      if (child >= 0) {
        first_child[j] = next_sibling[child];
        stack.push_back(child);
      } else {
        post.push_back(j);
        stack.pop_back();
      }
    }
  }
  return post;
}

/// A supernode while the tree is being merged: its nodes are those of its members.
struct Supernode {
  int parent = -1;
  std::vector<int> members; ///< nodes in postorder numbers, ascending
  std::vector<int> below;   ///< rows below, ascending
  std::int64_t subtree = 0; ///< nodes of the whole subtree
  std::int64_t zeros = 0;   ///< entries of L that merging added
};

/// Fundamental supernodes: runs of columns in which each is the only child of the next and has the
/// same rows below. Children come before parents.
inline std::vector<Supernode> fundamental_supernodes(const std::vector<int>& row_begin,
                                                     const std::vector<int>& column,
                                                     const std::vector<int>& order,
                                                     const std::vector<int>& position,
                                                     const std::vector<int>& parent) {
  const int n = int(order.size());
  std::vector<std::vector<int>> below(n), children(n);
  std::vector<int> mark(n, -1), subtree(n, 1), supernode_of(n, -1);
  std::vector<Supernode> supernodes;
  for (int j = 0; j < n; ++j) {
    std::vector<int>& rows = below[j];
    mark[j] = j;
    for (int k = row_begin[order[j]]; k < row_begin[order[j] + 1]; ++k) {
      const int i = position[column[k]];
      if (i > j && mark[i] != j) {
        mark[i] = j;
        rows.push_back(i);
      }
    }
    for (const int child : children[j])
      for (const int i : below[child])
        if (mark[i] != j) {
          mark[i] = j;
          rows.push_back(i);
        }
    std::sort(rows.begin(), rows.end());
    const bool joins = children[j].size() == 1 && below[j - 1].size() == rows.size() + 1 &&
                       children[j][0] == j - 1;
    if (joins) {
      supernode_of[j] = supernode_of[j - 1];
    } else {
      supernode_of[j] = int(supernodes.size());
      supernodes.emplace_back();
      for (const int child : children[j])
        supernodes[supernode_of[child]].parent = supernode_of[j];
    }
    Supernode& own = supernodes[supernode_of[j]];
    own.members.push_back(j);
    for (const int child : children[j])
      subtree[j] += subtree[child];
    own.subtree = subtree[j];
    if (parent[j] >= 0)
      children[parent[j]].push_back(j);
    own.below = rows;
  }
  return supernodes;
}

/// Merges supernodes into their parents where at most a part of the entries of L, and of the rows
/// of L^-1, become zeros that are stored.
inline void merge_supernodes(std::vector<Supernode>& supernodes) {
  const auto entries = [](std::int64_t width, std::int64_t below) {
    return width * (width + 1) / 2 + width * below;
  };
  for (Supernode& child : supernodes) {
    if (child.parent < 0)
      continue;
    Supernode& parent = supernodes[child.parent];
    const std::int64_t c = child.members.size(), p = parent.members.size();
    const std::int64_t merged = entries(c + p, parent.below.size());
    const std::int64_t zeros = merged - entries(c, child.below.size()) -
                               entries(p, parent.below.size()) + child.zeros + parent.zeros;
    const std::int64_t inverse = (c + p) * parent.subtree;
    const std::int64_t inverse_zeros = c * (parent.subtree - child.subtree);
    // Wide ones are cut into panels anyway: less is gained.
    const double part = c + p <= max_panel_nodes ? 0.3 : 0.05;
    if (double(zeros) > part * double(merged) || double(inverse_zeros) > part * double(inverse))
      continue;
    parent.members.insert(parent.members.end(), child.members.begin(), child.members.end());
    parent.zeros = zeros;
    child.members.clear();
  }
}

/// Lists the supernodes that merging left, children before parents.
inline std::vector<int> remaining_supernodes(const std::vector<Supernode>& supernodes) {
  const int n = int(supernodes.size());
  std::vector<int> stands_for(n), tree(n, -1), kept; // a merged supernode stands for its parent
  for (int s = n - 1; s >= 0; --s)
    stands_for[s] = supernodes[s].members.empty() ? stands_for[supernodes[s].parent] : s;
  for (int s = 0; s < n; ++s)
    if (stands_for[s] == s && supernodes[s].parent >= 0)
      tree[s] = stands_for[supernodes[s].parent];
    else if (stands_for[s] != s)
      tree[s] = stands_for[s]; // an empty leaf of it
  for (const int s : postorder(tree))
    if (!supernodes[s].members.empty())
      kept.push_back(s);
  return kept;
}

/// Cuts the `kept` supernodes into panels, with their rows; `renumber`: the supernodes' numbers of
/// nodes -> the pattern's.
inline FactorPattern cut_into_panels(const std::vector<Supernode>& supernodes,
                                     const std::vector<int>& kept,
                                     const std::vector<int>& renumber) {
  FactorPattern pattern;
  pattern.num_nodes = int(renumber.size());
  pattern.panel_of.resize(renumber.size());
  pattern.first.push_back(0);
  pattern.row_begin.push_back(0);
  pattern.begin.push_back(0);
  for (const int s : kept) {
    const int width = int(supernodes[s].members.size());
    std::vector<int> below = supernodes[s].below;
    for (int& i : below)
      i = renumber[i];
    std::sort(below.begin(), below.end());
    const int last = pattern.first.back() + width;
    for (int pieces = (width + max_panel_nodes - 1) / max_panel_nodes; pieces > 0; --pieces) {
      const int begin = pattern.first.back(), end = begin + (last - begin) / pieces;
      for (int i = begin; i < end; ++i)
        pattern.panel_of[i] = int(pattern.first.size()) - 1;
      pattern.first.push_back(end);
      for (int i = end; i < last; ++i)
        pattern.row.push_back(i);
      pattern.row.insert(pattern.row.end(), below.begin(), below.end());
      pattern.row_begin.push_back(int(pattern.row.size()));
      const std::int64_t height = (end - begin) + (last - end) + std::int64_t(below.size());
      pattern.begin.push_back(pattern.begin.back() + 9 * height * (end - begin));
    }
  }
  return pattern;
}

/// Fills the tree of the panels: parents, levels and subtrees, from their rows.
inline void link_panels(FactorPattern& pattern) {
  const int num_panels = int(pattern.first.size()) - 1;
  pattern.parent.assign(num_panels, -1);
  pattern.level.assign(num_panels, 0);
  pattern.subtree_first.assign(pattern.first.begin(), pattern.first.end() - 1);
  for (int s = 0; s < num_panels; ++s) {
    if (pattern.num_below(s) == 0)
      continue;
    const int above = pattern.panel_of[pattern.row[pattern.row_begin[s]]];
    pattern.parent[s] = above;
    pattern.level[above] = std::max(pattern.level[above], pattern.level[s] + 1);
    pattern.subtree_first[above] = std::min(pattern.subtree_first[above], pattern.subtree_first[s]);
  }
}

} // namespace detail

/// `order` [num_nodes] (new -> old, as of nested dissection) becomes the order that the pattern
/// counts in: nodes of a panel, and of every subtree, contiguous. The graph as of
/// nested_dissection.
inline FactorPattern make_factor_pattern(const std::vector<int>& row_begin,
                                         const std::vector<int>& column, std::vector<int>& order) {
  const int n = int(order.size());
  OSSATURA_REQUIRE(row_begin.size() == order.size() + 1,
                   "an order of " << n << " nodes for a graph of " << row_begin.size() - 1);
  std::vector<int> position(n);
  const auto number = [&] {
    for (int k = 0; k < n; ++k)
      position[order[k]] = k;
  };
  const auto reorder = [&](const std::vector<int>& by) {
    std::vector<int> next(n);
    for (int k = 0; k < n; ++k)
      next[k] = order[by[k]];
    order = std::move(next);
    number();
  };
  number();
  reorder(detail::postorder(detail::elimination_tree(row_begin, column, order, position)));
  const std::vector<int> parent = detail::elimination_tree(row_begin, column, order, position);
  std::vector<detail::Supernode> supernodes =
      detail::fundamental_supernodes(row_begin, column, order, position, parent);
  detail::merge_supernodes(supernodes);

  const std::vector<int> kept = detail::remaining_supernodes(supernodes);
  std::vector<int> by, renumber(n);
  by.reserve(n);
  for (const int s : kept) {
    std::vector<int>& members = supernodes[s].members;
    std::sort(members.begin(), members.end());
    by.insert(by.end(), members.begin(), members.end());
  }
  for (int k = 0; k < n; ++k)
    renumber[by[k]] = k;
  reorder(by);
  FactorPattern pattern = detail::cut_into_panels(supernodes, kept, renumber);
  detail::link_panels(pattern);
  return pattern;
}

/// Copies it to the backend. Fences.
template<class Exec>
FactorPatternArrays<Exec> upload_pattern(const Exec& exec, const FactorPattern& pattern) {
  FactorPatternArrays<Exec> arrays;
  arrays.num_nodes = pattern.num_nodes;
  arrays.num_panels = pattern.num_panels();
  arrays.first = upload(exec, "ossatura::pattern::first", pattern.first);
  arrays.parent = upload(exec, "ossatura::pattern::parent", pattern.parent);
  arrays.row_begin = upload(exec, "ossatura::pattern::row_begin", pattern.row_begin);
  arrays.row = upload(exec, "ossatura::pattern::row", pattern.row);
  arrays.subtree_first = upload(exec, "ossatura::pattern::subtree_first", pattern.subtree_first);
  arrays.level = upload(exec, "ossatura::pattern::level", pattern.level);
  arrays.panel_of = upload(exec, "ossatura::pattern::panel_of", pattern.panel_of);
  arrays.begin = upload(exec, "ossatura::pattern::begin", pattern.begin);
  return arrays;
}

} // namespace ossatura
