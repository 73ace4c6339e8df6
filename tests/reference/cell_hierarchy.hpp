// SPDX-License-Identifier: Apache-2.0
// Oracle: coarse cells of a voxel model by their definition, in plain loops over sets and maps.
#pragma once

#include "tests/reference/voxel_reference.hpp"

#include <algorithm>
#include <set>

namespace reference {

using Place = std::array<int, 3>;

inline Place vertex_of(const Place& place, int v) {
  return {place[0] + (v & 1), place[1] + (v >> 1 & 1), place[2] + (v >> 2)};
}

/// A voxel or a coarse cell. `order` decides the numbering of the next level: cells there come in
/// the order of the least among their children.
struct Cell {
  Place place{};
  std::array<int, 8> node{};
  double lambda = 0, mu = 0;
  int order = 0;
};

struct CellLevel {
  std::vector<Cell> cell;
  int num_nodes = 0;

  /// Cells that have the node.
  std::vector<std::set<int>> cells_of_nodes() const {
    std::vector<std::set<int>> cells(num_nodes);
    for (int e = 0; e < int(cell.size()); ++e)
      for (int n : cell[e].node)
        cells[n].insert(e);
    return cells;
  }
  std::vector<Place> sites() const {
    std::vector<Place> sites(num_nodes);
    for (const Cell& c : cell)
      for (int v = 0; v < 8; ++v)
        sites[c.node[v]] = vertex_of(c.place, v);
    return sites;
  }
};

/// Disjoint sets without any refinement.
struct Sets {
  std::vector<int> label;

  explicit Sets(int n)
      : label(n) {
    for (int i = 0; i < n; ++i)
      label[i] = i;
  }
  void unite(int a, int b) {
    const int from = std::max(label[a], label[b]), to = std::min(label[a], label[b]);
    if (from != to)
      std::replace(label.begin(), label.end(), from, to);
  }
  /// Sets numbered in the order of `order`, least first.
  std::vector<int> numbers(const std::vector<int>& order, int& count) const {
    std::map<int, int> least; // label -> order
    for (int i = 0; i < int(label.size()); ++i) {
      const auto [it, first] = least.insert({label[i], order[i]});
      if (!first)
        it->second = std::min(it->second, order[i]);
    }
    std::map<int, int> rank; // order -> number
    for (const auto& [l, o] : least)
      rank[o] = 0;
    count = 0;
    for (auto& [o, number] : rank)
      number = count++;
    std::vector<int> number(label.size());
    for (std::size_t i = 0; i < label.size(); ++i)
      number[i] = rank[least[label[i]]];
    return number;
  }
};

struct CoarseLevel {
  CellLevel level;
  std::vector<int> parent; ///< of the finer level's cells
};

/// The next coarser level. Split: children of a 2 x 2 x 2 group are one cell if shared nodes
/// connect them; corners at one site are one node if a chain of cells with children that share a
/// node connects them. Else: one cell per place, one node per site.
inline CoarseLevel coarsen(const CellLevel& fine, bool split) {
  const int n = int(fine.cell.size());
  const auto half = [](const Place& p) { return Place{p[0] / 2, p[1] / 2, p[2] / 2}; };
  const auto cells_of_nodes = fine.cells_of_nodes();
  Sets groups(n);
  std::map<Place, std::vector<int>> at;
  for (int e = 0; e < n; ++e)
    at[half(fine.cell[e].place)].push_back(e);
  for (const auto& [place, members] : at)
    for (int a : members)
      for (int b : members) {
        bool shared = !split;
        for (int i : fine.cell[a].node)
          for (int j : fine.cell[b].node)
            shared = shared || i == j;
        if (shared)
          groups.unite(a, b);
      }
  std::vector<int> order;
  for (const Cell& c : fine.cell)
    order.push_back(c.order);
  CoarseLevel coarse;
  int count = 0;
  coarse.parent = groups.numbers(order, count);
  std::vector<Cell>& cell = coarse.level.cell;
  cell.resize(count);
  for (int e = 0; e < n; ++e) {
    Cell& c = cell[coarse.parent[e]];
    c.place = half(fine.cell[e].place);
    c.lambda += fine.cell[e].lambda / 8;
    c.mu += fine.cell[e].mu / 8;
    c.order = coarse.parent[e];
  }

  Sets corners(8 * count);
  const auto merge = [&](int a, int b) {
    for (int v = 0; v < 8; ++v)
      for (int w = 0; w < 8; ++w)
        if (vertex_of(cell[a].place, v) == vertex_of(cell[b].place, w))
          corners.unite(8 * a + v, 8 * b + w);
  };
  if (split) {
    std::set<std::pair<int, int>> touching;
    for (const auto& cells : cells_of_nodes)
      for (int a : cells)
        for (int b : cells)
          if (coarse.parent[a] < coarse.parent[b])
            touching.insert({coarse.parent[a], coarse.parent[b]});
    for (const auto& [a, b] : touching)
      merge(a, b);
  } else {
    std::map<Place, int> first;
    for (int e = 0; e < count; ++e)
      for (int v = 0; v < 8; ++v)
        corners.unite(8 * e + v,
                      first.insert({vertex_of(cell[e].place, v), 8 * e + v}).first->second);
  }
  std::vector<int> slots;
  for (int i = 0; i < 8 * count; ++i)
    slots.push_back(i);
  const std::vector<int> node = corners.numbers(slots, coarse.level.num_nodes);
  for (int i = 0; i < 8 * count; ++i)
    cell[i / 8].node[i % 8] = node[i];
  return coarse;
}

/// Weights of coarse nodes for fine node `node`, taken from the coarse cell of fine cell `child`.
inline std::map<int, double> interpolation(const CellLevel& fine, const CoarseLevel& coarse,
                                           int node, int child) {
  const Cell& small = fine.cell[child];
  const Cell& large = coarse.level.cell[coarse.parent[child]];
  std::map<int, double> weights;
  for (int v = 0; v < 8; ++v)
    if (small.node[v] == node) {
      const Place site = vertex_of(small.place, v);
      for (int w = 0; w < 8; ++w) {
        const Place corner = vertex_of(large.place, w);
        double weight = 1;
        for (int d = 0; d < 3; ++d)
          weight *= 1 - 0.5 * std::abs(site[d] - 2 * corner[d]);
        if (weight > 0)
          weights[large.node[w]] += weight;
      }
    }
  return weights;
}

} // namespace reference
