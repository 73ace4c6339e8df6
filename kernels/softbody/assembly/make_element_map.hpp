// SPDX-License-Identifier: Apache-2.0
// make_element_map builds an ElementMap and the pattern of its matrix. The kernels are the same on
// every backend, a row of the matrix at a time, so that the map does not depend on backend or
// threads.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/softbody/assembly/element_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>

#include <limits>

namespace ossatura {

namespace detail {

/// The element that has a slot.
struct SlotElement {
  int first;     ///< its first slot
  int num_nodes; ///< as many slots from there on
  std::uint32_t pair;

  /// Pair of its nodes a <= b.
  KOKKOS_FUNCTION std::uint32_t pair_of(int a, int b) const {
    return pair + std::uint32_t(a * num_nodes - a * (a - 1) / 2 + b - a);
  }
};

struct DescribeSlots {
  int first_slot, num_nodes, pairs;
  std::uint32_t first_pair;
  SlotElement* element; ///< [slots]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int e = int(i) / num_nodes;
    element[first_slot + i] = {first_slot + e * num_nodes, num_nodes,
                               first_pair + std::uint32_t(e) * std::uint32_t(pairs)};
  }
};

/// The arrays that the kernels below read.
struct NodeRings {
  const int* begin; ///< of the slots of a node
  const int* slot;
  const int* node; ///< of each slot
  const SlotElement* element;
  const std::uint8_t* fixed;
};

/// At most so many columns a row can have.
struct CountCandidates {
  NodeRings ring;
  int* count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int sum = 1;
    for (int k = ring.begin[i]; k < ring.begin[i + 1] && !ring.fixed[i]; ++k)
      sum += ring.element[ring.slot[k]].num_nodes - 1;
    count[i] = sum;
  }
};

/// Place of the first of ascending `list` [n] that is not below `value`.
KOKKOS_INLINE_FUNCTION int lower_bound(const int* list, int n, int value) {
  int first = 0;
  while (n > 0) {
    const int half = n / 2;
    if (list[first + half] < value) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

/// The columns of each row, ascending, from candidate[candidate_begin[i]] on.
struct FindColumns {
  NodeRings ring;
  const int* candidate_begin;
  int* candidate;
  int *num_columns, *num_upper;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int* const list = candidate + candidate_begin[i];
    int n = 1;
    list[0] = int(i);
    for (int k = ring.begin[i]; k < ring.begin[i + 1] && !ring.fixed[i]; ++k) {
      const SlotElement e = ring.element[ring.slot[k]];
      for (int s = e.first; s < e.first + e.num_nodes; ++s) {
        const int j = ring.node[s];
        const int place = lower_bound(list, n, j);
        if (ring.fixed[j] || (place < n && list[place] == j))
          continue;
        for (int m = n; m > place; --m)
          list[m] = list[m - 1];
        list[place] = j;
        ++n;
      }
    }
    num_columns[i] = n;
    num_upper[i] = n - 1 - lower_bound(list, n, int(i));
  }
};

/// The rows without the gaps between them.
struct CopyColumns {
  const int *candidate_begin, *candidate, *row_begin;
  int *column, *diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int begin = row_begin[i];
    for (int k = begin; k < row_begin[i + 1]; ++k) {
      const int j = candidate[candidate_begin[i] + k - begin];
      column[k] = j;
      if (j == i)
        diagonal[i] = k;
    }
  }
};

/// Goes through what edges get: counts it, and then, with the beginnings known, lists it. A row
/// owns its edges to higher nodes.
struct ListEdges {
  NodeRings ring;
  const int *row_begin, *column, *diagonal, *edge_of_node;
  int* count;               ///< [num_edges], of an edge; while listing: where the next one goes
  std::uint32_t* edge_pair; ///< null: only count
  EdgePlaces* edge;
  std::uint32_t *slot, *diagonal_pair;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = ring.begin[i]; k < ring.begin[i + 1]; ++k) {
      const int own = ring.slot[k];
      const SlotElement e = ring.element[own];
      const int a = own - e.first;
      if (edge_pair != nullptr) {
        slot[k] = std::uint32_t(own);
        diagonal_pair[k] = e.pair_of(a, a);
      }
      for (int b = 0; b < e.num_nodes && !ring.fixed[i]; ++b)
        if (const int j = ring.node[e.first + b]; j > i && !ring.fixed[j])
          add(int(i), j, a < b ? 2 * e.pair_of(a, b) : 2 * e.pair_of(b, a) + 1);
    }
    if (edge_pair != nullptr)
      for (int k = diagonal[i] + 1; k < row_begin[i + 1]; ++k) {
        const int j = column[k], begin = row_begin[j];
        edge[edge_of_node[i] + k - diagonal[i] - 1] = {
            k, begin + lower_bound(column + begin, row_begin[j + 1] - begin, int(i))};
      }
  }
  KOKKOS_FUNCTION void add(int i, int j, std::uint32_t pair) const {
    const int first = diagonal[i] + 1;
    const int k = lower_bound(column + first, row_begin[i + 1] - first, j);
    int& place = count[edge_of_node[i] + k];
    if (edge_pair != nullptr)
      edge_pair[place] = pair;
    ++place;
  }
};

/// Slots of all groups, checked.
inline std::vector<int> node_of_slots(int num_nodes, const std::vector<ElementGroup>& groups) {
  std::vector<int> node;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<int>& own = groups[g].node;
    const std::size_t width = std::size_t(nodes_per_elem(groups[g].shape));
    OSSATURA_REQUIRE(own.size() % width == 0,
                     "group " << g << " has " << own.size() << " nodes of elements with " << width);
    for (std::size_t s = 0; s < own.size(); ++s) {
      OSSATURA_REQUIRE(own[s] >= 0 && own[s] < num_nodes, "element " << s / width << " of group "
                                                                     << g << " has node " << own[s]
                                                                     << " of " << num_nodes);
      for (std::size_t other = s - s % width; other < s; ++other)
        OSSATURA_REQUIRE(own[other] != own[s], "element " << s / width << " of group " << g
                                                          << " has node " << own[s] << " twice");
    }
    node.insert(node.end(), own.begin(), own.end());
  }
  OSSATURA_REQUIRE(node.size() <= std::size_t(std::numeric_limits<int>::max()),
                   node.size() << " nodes of elements: more than 32 bits count");
  return node;
}

/// Finds the element of every slot, and counts the pairs.
template<class Exec>
Array<SlotElement, Exec> describe_slots(const Exec& exec, const std::vector<ElementGroup>& groups,
                                        ElementMap<Exec>& map) {
  const auto element =
      make_uninitialized<SlotElement>(exec, map.num_slots, "ossatura::element_map::element");
  int first_slot = 0;
  for (const ElementGroup& group : groups) {
    const int width = nodes_per_elem(group.shape), pairs = pairs_per_elem(group.shape);
    const std::int64_t slots = std::int64_t(group.node.size());
    OSSATURA_REQUIRE(map.num_pairs + slots / width * pairs <= std::numeric_limits<int>::max(),
                     "blocks of element matrices: more than 31 bits count");
    Kokkos::parallel_for(
        "ossatura::make_element_map::slots", range(exec, slots),
        DescribeSlots{first_slot, width, pairs, std::uint32_t(map.num_pairs), element.data()});
    map.num_pairs += slots / width * pairs;
    first_slot += int(slots);
  }
  return element;
}

/// Makes the pattern of the matrix, with values of zero, and in the map its diagonal and the edges
/// of nodes. Returns the number of edges. Fences.
template<class Exec>
int make_pattern(const Exec& exec, const NodeRings& ring, ElementMap<Exec>& map,
                 BlockMatrix<Exec>& matrix) {
  const int num_nodes = map.num_nodes;
  const auto ints = [&](std::int64_t n, const char* label) {
    return make_uninitialized<int>(exec, n, label);
  };
  const auto candidate_begin = ints(num_nodes + 1, "ossatura::element_map::candidate_begin");
  Kokkos::parallel_for("ossatura::make_element_map::candidates", range(exec, num_nodes),
                       CountCandidates{ring, candidate_begin.data()});
  const auto candidate = ints(lengths_to_begins(exec, candidate_begin, "candidates for blocks"),
                              "ossatura::element_map::candidate");
  matrix.num_rows = num_nodes;
  matrix.row_begin = ints(num_nodes + 1, "ossatura::block_matrix::row_begin");
  map.edge_of_node = ints(num_nodes + 1, "ossatura::element_map::edge_of_node");
  Kokkos::parallel_for("ossatura::make_element_map::columns", range(exec, num_nodes),
                       FindColumns{ring, candidate_begin.data(), candidate.data(),
                                   matrix.row_begin.data(), map.edge_of_node.data()});
  const int num_blocks = lengths_to_begins(exec, matrix.row_begin, "blocks");
  const int num_edges = lengths_to_begins(exec, map.edge_of_node, "edges");
  OSSATURA_REQUIRE(num_edges < std::numeric_limits<int>::max() / 5, num_edges << " edges");
  matrix.column = ints(num_blocks, "ossatura::block_matrix::column");
  matrix.value = make_zeros<double>(exec, 9 * std::int64_t(num_blocks), "ossatura::block_matrix");
  map.diagonal = ints(num_nodes, "ossatura::element_map::diagonal");
  Kokkos::parallel_for("ossatura::make_element_map::pattern", range(exec, num_nodes),
                       CopyColumns{candidate_begin.data(), candidate.data(),
                                   matrix.row_begin.data(), matrix.column.data(),
                                   map.diagonal.data()});
  fence(exec, "ossatura::make_element_map::pattern"); // candidates go
  return num_edges;
}

/// Lists the pairs of element nodes that each edge and each diagonal block sums. Fences.
template<class Exec>
void list_pairs(const Exec& exec, const NodeRings& ring, int num_edges,
                const BlockMatrix<Exec>& matrix, ElementMap<Exec>& map) {
  const int num_nodes = map.num_nodes;
  map.edge_begin = make_zeros<int>(exec, num_edges + 1, "ossatura::element_map::edge_begin");
  ListEdges list{ring,
                 matrix.row_begin.data(),
                 matrix.column.data(),
                 map.diagonal.data(),
                 map.edge_of_node.data(),
                 map.edge_begin.data(),
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr};
  Kokkos::parallel_for("ossatura::make_element_map::count", range(exec, num_nodes), list);
  const int num_sources = lengths_to_begins(exec, map.edge_begin, "element edges");
  const auto next = make_uninitialized<int>(exec, num_edges + 1, "ossatura::element_map::next");
  Kokkos::deep_copy(exec, next, map.edge_begin);
  map.edge = make_uninitialized<EdgePlaces>(exec, num_edges, "ossatura::element_map::edge");
  map.edge_pair =
      make_uninitialized<std::uint32_t>(exec, num_sources, "ossatura::element_map::edge_pair");
  map.slot = make_uninitialized<std::uint32_t>(exec, map.num_slots, "ossatura::element_map::slot");
  map.diagonal_pair = make_uninitialized<std::uint32_t>(exec, map.num_slots,
                                                        "ossatura::element_map::diagonal_pair");
  if (num_nodes > 0) {
    list.count = next.data();
    list.edge_pair = map.edge_pair.data();
    list.edge = map.edge.data();
    list.slot = map.slot.data();
    list.diagonal_pair = map.diagonal_pair.data();
  }
  Kokkos::parallel_for("ossatura::make_element_map::list", range(exec, num_nodes), list);
  fence(exec, "ossatura::make_element_map");
}

} // namespace detail

/// The map of the elements of all groups, and `matrix` with its pattern and values of zero: row i
/// has the nodes that share an element with i and are not fixed, and always the diagonal. A fixed
/// node (`fixed` [num_nodes], or empty: none) has the diagonal alone. Fences. Throws
/// std::invalid_argument naming the element for nodes out of range or twice in it, and where 32
/// bits do not count slots, blocks or (31 bits) pairs.
template<class Exec>
ElementMap<Exec>
make_element_map(const Exec& exec, int num_nodes, const std::vector<ElementGroup>& groups,
                 const std::vector<std::uint8_t>& fixed, BlockMatrix<Exec>& matrix) {
  OSSATURA_REQUIRE(num_nodes >= 0 && num_nodes < std::numeric_limits<int>::max() / 6,
                   num_nodes << " nodes");
  OSSATURA_REQUIRE(fixed.empty() || fixed.size() == std::size_t(num_nodes),
                   fixed.size() << " marks of fixed nodes for " << num_nodes << " nodes");
  ElementMap<Exec> map;
  map.num_nodes = num_nodes;
  map.fixed = fixed.empty()
                  ? make_zeros<std::uint8_t>(exec, num_nodes, "ossatura::element_map::fixed")
                  : upload(exec, "ossatura::element_map::fixed", fixed);
  const Array<int, Exec> node =
      upload(exec, "ossatura::element_map::node", detail::node_of_slots(num_nodes, groups));
  map.num_slots = std::int64_t(node.extent(0));
  const Array<detail::SlotElement, Exec> element = detail::describe_slots(exec, groups, map);
  const InverseMap<Exec> around = invert_map(exec, node, num_nodes);
  map.around_begin = around.begin;
  const detail::NodeRings ring{around.begin.data(), around.member.data(), node.data(),
                               element.data(), map.fixed.data()};
  const int num_edges = detail::make_pattern(exec, ring, map, matrix);
  detail::list_pairs(exec, ring, num_edges, matrix, map);
  return map;
}

} // namespace ossatura
