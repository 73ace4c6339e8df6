// SPDX-License-Identifier: Apache-2.0
// The inverse factor of a small dense matrix, in plain loops, with panels that a test chooses.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/inverse.hpp>

namespace ossatura::test {

/// Panels of a matrix: panel s ends before node first[s + 1] and is a child of parent[s]. Couplings
/// between nodes of which neither is in an ancestor of the other's panel are zero.
struct PanelTree {
  std::vector<int> first;
  std::vector<int> parent;
};

/// All nodes in a chain of panels of `width` nodes.
inline PanelTree panel_chain(int num_nodes, int width) {
  PanelTree tree;
  for (int i = 0; i < num_nodes; i += width)
    tree.first.push_back(i);
  for (std::size_t s = 0; s < tree.first.size(); ++s)
    tree.parent.push_back(s + 1 < tree.first.size() ? int(s + 1) : -1);
  tree.first.push_back(num_nodes);
  return tree;
}

/// Of the positive definite matrix a [3 num_nodes, 3 num_nodes].
template<class Storage, class Exec>
InverseFactor<Exec, Storage> make_dense_factor(const Exec& exec, const std::vector<double>& a,
                                               const PanelTree& tree) {
  const int num_panels = int(tree.parent.size()), num_nodes = tree.first.back(), n = 3 * num_nodes;
  // A = L D L^T, and W = L^-1 by forward substitution.
  std::vector<double> l(n * n, 0.), d(n), w(n * n, 0.);
  for (int j = 0; j < n; ++j) {
    d[j] = a[j * n + j];
    for (int k = 0; k < j; ++k)
      d[j] -= l[j * n + k] * l[j * n + k] * d[k];
    l[j * n + j] = 1;
    for (int i = j + 1; i < n; ++i) {
      double sum = a[i * n + j];
      for (int k = 0; k < j; ++k)
        sum -= l[i * n + k] * d[k] * l[j * n + k];
      l[i * n + j] = sum / d[j];
    }
  }
  for (int c = 0; c < n; ++c)
    for (int i = c; i < n; ++i) {
      double sum = i == c;
      for (int k = c; k < i; ++k)
        sum -= l[i * n + k] * w[k * n + c];
      w[i * n + c] = sum;
    }

  std::vector<int> subtree_first(num_panels), level(num_panels, 0), panel_of(num_nodes), origin,
      stride, row_begin{0}, row;
  std::vector<std::int64_t> begin{0}, panel_begin{0};
  for (int s = 0; s < num_panels; ++s) {
    subtree_first[s] = tree.first[s];
    for (int i = tree.first[s]; i < tree.first[s + 1]; ++i)
      panel_of[i] = s;
  }
  for (int s = 0; s < num_panels; ++s)
    if (tree.parent[s] >= 0) {
      const int p = tree.parent[s];
      subtree_first[p] = std::min(subtree_first[p], subtree_first[s]);
      level[p] = std::max(level[p], level[s] + 1);
    }
  std::vector<Storage> value;
  for (int s = 0; s < num_panels; ++s) {
    for (int p = tree.parent[s]; p >= 0; p = tree.parent[p])
      for (int i = tree.first[p]; i < tree.first[p + 1]; ++i)
        row.push_back(i);
    row_begin.push_back(int(row.size()));
    const int width = 3 * (tree.first[s + 1] - tree.first[s]);
    panel_begin.push_back(panel_begin.back() +
                          width * (width + 3 * (row_begin[s + 1] - row_begin[s])));
    const int from = 3 * subtree_first[s] / 8 * 8;
    const int upto = (3 * tree.first[s + 1] + 7) / 8 * 8;
    origin.push_back(from);
    stride.push_back(upto - from);
    for (int i = 3 * tree.first[s]; i < 3 * tree.first[s + 1]; ++i)
      for (int c = from; c < upto; ++c)
        value.push_back(c >= 3 * subtree_first[s] && c <= i ? Storage(w[i * n + c]) : Storage(0));
    begin.push_back(std::int64_t(value.size()));
  }
  for (double& pivot : d)
    pivot = 1 / pivot;

  InverseFactor<Exec, Storage> factor;
  FactorPatternArrays<Exec>& pattern = factor.pattern;
  pattern.num_nodes = num_nodes;
  pattern.num_panels = num_panels;
  pattern.first = upload(exec, "test::first", tree.first);
  pattern.parent = upload(exec, "test::parent", tree.parent);
  pattern.row_begin = upload(exec, "test::row_begin", row_begin);
  pattern.row = upload(exec, "test::row", row);
  pattern.subtree_first = upload(exec, "test::subtree_first", subtree_first);
  pattern.level = upload(exec, "test::level", level);
  pattern.panel_of = upload(exec, "test::panel_of", panel_of);
  pattern.begin = upload(exec, "test::panel_begin", panel_begin);
  factor.begin = upload(exec, "test::begin", begin);
  factor.origin = upload(exec, "test::origin", origin);
  factor.stride = upload(exec, "test::stride", stride);
  factor.value = upload(exec, "test::value", value);
  factor.inverse_pivot = upload(exec, "test::inverse_pivot", d);
  return factor;
}

} // namespace ossatura::test
