// SPDX-License-Identifier: Apache-2.0
// Elements with random matrices, for tests of assembly.
#pragma once

#include "tests/kernels/image/host_values.hpp"
#include "tests/reference/assembly.hpp"
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace ossatura::test {

inline std::vector<double> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(n);
  std::generate(values.begin(), values.end(), [&] { return uniform(random); });
  return values;
}

/// Triangles, tetrahedra and hexahedra on a lattice of 6 x 5 x 4 nodes and a few more nodes, one of
/// which no element has; some nodes are fixed.
struct ElementCase {
  int num_nodes = 6 * 5 * 4 + 9;
  std::vector<ElementGroup> groups;
  std::vector<std::uint8_t> fixed;
  std::vector<double> stiffness, force, mass, load, v;

  ElementCase() {
    const auto at = [](int x, int y, int z) { return x + 6 * (y + 5 * z); };
    groups.resize(3);
    groups[0].shape = ElementShape::hexa;
    groups[1].shape = ElementShape::tetra;
    groups[2].shape = ElementShape::triangle;
    for (int z = 0; z < 3; ++z)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 5; ++x) {
          const int n[8] = {
              at(x, y, z),     at(x + 1, y, z),     at(x + 1, y + 1, z),     at(x, y + 1, z),
              at(x, y, z + 1), at(x + 1, y, z + 1), at(x + 1, y + 1, z + 1), at(x, y + 1, z + 1)};
          if ((x + y + z) % 2 == 0)
            groups[0].node.insert(groups[0].node.end(), n, n + 8);
          else
            for (const auto& t : {std::array<int, 4>{0, 1, 3, 4}, {6, 5, 7, 2}, {1, 3, 4, 6}})
              for (const int k : t)
                groups[1].node.push_back(n[k]);
        }
    // A fan: many elements around one node.
    const int hub = 6 * 5 * 4;
    for (int k = 1; k < 7; ++k)
      for (const int n : {hub, hub + k, hub + 1 + k % 7})
        groups[2].node.push_back(n);
    groups[2].node.insert(groups[2].node.end(), {0, hub, 1, 5, 2, 0}); // the last element: inside
    fixed.assign(std::size_t(num_nodes), 0);
    for (int k = 0; k < num_nodes; k += 7)
      fixed[std::size_t(k)] = 1;
    std::size_t pairs = 0, slots = 0;
    for (const ElementGroup& group : groups) {
      slots += group.node.size();
      pairs += group.node.size() / std::size_t(nodes_per_elem(group.shape)) *
               std::size_t(pairs_per_elem(group.shape));
    }
    const std::size_t n = std::size_t(num_nodes);
    stiffness = random_values(9 * pairs, 1);
    force = random_values(3 * slots, 2);
    mass = random_values(n, 3);
    load = random_values(3 * n, 4);
    v = random_values(3 * n, 5);
  }

  /// The sum of all element matrices as triplets; pair (a, a) need not be symmetric.
  reference::Triplets triplets() const {
    reference::Triplets all;
    all.block_size = 3;
    all.num_rows = num_nodes;
    all.fixed = fixed;
    std::size_t first = 0;
    for (const ElementGroup& group : groups) {
      const std::size_t width = std::size_t(nodes_per_elem(group.shape));
      const std::size_t size =
          9 * group.node.size() / width * std::size_t(pairs_per_elem(group.shape));
      const reference::Triplets own = reference::expand_pairs(
          num_nodes, int(width), group.node,
          std::vector<double>(stiffness.begin() + std::ptrdiff_t(first),
                              stiffness.begin() + std::ptrdiff_t(first + size)));
      first += size;
      all.i.insert(all.i.end(), own.i.begin(), own.i.end());
      all.j.insert(all.j.end(), own.j.begin(), own.j.end());
      all.value.insert(all.value.end(), own.value.begin(), own.value.end());
    }
    return all;
  }
};

/// The entries of a matrix on a backend, with columns that ascend.
template<class Exec>
reference::Entries host_entries(const BlockMatrix<Exec>& matrix) {
  const auto begin = host_values(matrix.row_begin), column = host_values(matrix.column);
  const auto value = host_values(matrix.value);
  reference::Entries entries;
  for (int i = 0; i < matrix.num_rows; ++i)
    for (int k = begin[std::size_t(i)]; k < begin[std::size_t(i) + 1]; ++k) {
      CHECK((k == begin[std::size_t(i)] || column[std::size_t(k)] > column[std::size_t(k) - 1]));
      for (int entry = 0; entry < 9; ++entry)
        entries[{3 * i + entry / 3, 3 * column[std::size_t(k)] + entry % 3}] =
            value[9 * std::size_t(k) + std::size_t(entry)];
    }
  return entries;
}

/// The larger one; infinite if `next` is not a number.
inline double worse(double worst, double next) {
  return next <= worst ? worst : next > worst ? next : INFINITY;
}

/// The largest difference; infinite if the patterns differ.
inline double difference(const reference::Entries& a, const reference::Entries& b) {
  if (a.size() != b.size())
    return INFINITY;
  double worst = 0;
  for (auto p = a.begin(), q = b.begin(); p != a.end(); ++p, ++q)
    worst = p->first == q->first ? worse(worst, std::abs(p->second - q->second)) : INFINITY;
  return worst;
}

inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    worst = worse(worst, std::abs(a[i] - b[i]));
  return worst;
}

} // namespace ossatura::test
