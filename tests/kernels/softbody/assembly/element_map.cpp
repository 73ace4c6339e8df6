// SPDX-License-Identifier: Apache-2.0
// Sums through the element map against those of a list of triplets.
#include "tests/backend_test.hpp"
#include "tests/kernels/softbody/assembly/element_cases.hpp"

#include <cstring>

namespace {

using namespace ossatura;
using ossatura::test::difference;
using ossatura::test::ElementCase;
using ossatura::test::host_entries;
using ossatura::test::host_values;

struct Scales {
  double mass = 1.5, damping = 0.25;
};

template<class Exec>
struct Assembled {
  ElementMap<Exec> map;
  BlockMatrix<Exec> matrix;
  Array<double, Exec> b;

  /// With the kernel of devices or that of cores.
  template<bool by_entries>
  static Assembled make(const Exec& exec, const ElementCase& c, const Scales& scales = {}) {
    Assembled a;
    a.map = make_element_map(exec, c.num_nodes, c.groups, c.fixed, a.matrix);
    a.b = make_uninitialized<double>(exec, 3 * c.num_nodes, "test::b");
    Kokkos::deep_copy(exec, a.matrix.value, 777.0); // all of it is to be written
    Kokkos::deep_copy(exec, a.b, 777.0);
    detail::assemble_step<by_entries>(exec, a.map, upload(exec, "test", c.stiffness),
                                      upload(exec, "test", c.force), upload(exec, "test", c.mass),
                                      scales.mass, upload(exec, "test", c.load), scales.damping,
                                      upload(exec, "test", c.v), a.matrix, a.b);
    exec.fence();
    return a;
  }
};

reference::Entries expected_matrix(const ElementCase& c, const Scales& scales = {}) {
  reference::Entries entries = assemble(c.triplets());
  for (int i = 0; i < 3 * c.num_nodes; ++i)
    if (!c.fixed[std::size_t(i / 3)])
      entries[{i, i}] += scales.mass * c.mass[std::size_t(i / 3)];
  return entries;
}

/// Sums of element forces at the nodes.
std::vector<double> expected_sums(const ElementCase& c) {
  std::vector<double> f(3 * std::size_t(c.num_nodes));
  std::size_t slot = 0;
  for (const ElementGroup& group : c.groups)
    for (const int node : group.node) {
      for (std::size_t d = 0; d < 3; ++d)
        f[3 * std::size_t(node) + d] += c.force[3 * slot + d];
      ++slot;
    }
  return f;
}

std::vector<double> expected_side(const ElementCase& c, const Scales& scales = {}) {
  std::vector<double> b = expected_sums(c);
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = c.fixed[i / 3] ? 0 : c.load[i] - b[i] - scales.damping * c.mass[i / 3] * c.v[i];
  return b;
}

OSSATURA_BACKEND_TEST("Elements of all shapes are summed like triplets", "[element_map]") {
  const TestType exec;
  const ElementCase c;
  const auto by_entries = Assembled<TestType>::template make<true>(exec, c);
  const auto by_nodes = Assembled<TestType>::template make<false>(exec, c);
  CHECK(difference(host_entries(by_nodes.matrix), expected_matrix(c)) < 1e-14);
  CHECK(difference(host_entries(by_entries.matrix), host_entries(by_nodes.matrix)) < 1e-15);
  const std::vector<double> f = expected_sums(c);
  std::vector<double> b = expected_side(c);
  CHECK(difference(host_values(by_nodes.b), b) < 1e-14);
  CHECK(difference(host_values(by_entries.b), b) < 1e-14);

  // The forces alone.
  const auto force = upload(exec, "test", c.force), load = upload(exec, "test", c.load);
  const auto sum = make_uninitialized<double>(exec, 3 * c.num_nodes, "test::sum");
  gather_node_forces(exec, by_nodes.map, force, sum);
  CHECK(difference(host_values(sum), f) < 1e-14);
  assemble_forces(exec, by_nodes.map, force, load, load);
  exec.fence();
  for (std::size_t i = 0; i < f.size(); ++i)
    b[i] = c.fixed[i / 3] ? 0 : c.load[i] - f[i];
  CHECK(difference(host_values(load), b) < 1e-14);
}

OSSATURA_BACKEND_TEST("Sums have the bits of those element by element, every time",
                      "[element_map]") {
  const TestType exec;
  const ElementCase c;
  const Scales exact{1, 0}; // no product is rounded, so multiply-adds change nothing
  for (const auto& sums : {Assembled<TestType>::template make<true>(exec, c, exact),
                           Assembled<TestType>::template make<false>(exec, c, exact)}) {
    CHECK(difference(host_entries(sums.matrix), expected_matrix(c, exact)) == 0);
    CHECK(difference(host_values(sums.b), expected_side(c, exact)) == 0);
  }
  const auto first = Assembled<TestType>::template make<true>(exec, c);
  const auto second = Assembled<TestType>::template make<true>(exec, c);
  for (const auto& [a, b] :
       {std::pair(host_values(first.matrix.value), host_values(second.matrix.value)),
        std::pair(host_values(first.b), host_values(second.b))}) {
    REQUIRE(a.size() == b.size());
    CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
  }
}

/// All arrays of a map and the pattern of its matrix.
template<class Exec>
std::vector<std::vector<std::int64_t>> all_arrays(const ElementMap<Exec>& map,
                                                  const BlockMatrix<Exec>& matrix) {
  std::vector<std::vector<std::int64_t>> all;
  const auto add = [&](const auto& array) {
    const auto values = host_values(array);
    all.emplace_back(values.begin(), values.end());
  };
  add(map.around_begin), add(map.slot), add(map.diagonal_pair), add(map.diagonal), add(map.fixed);
  add(map.edge_of_node), add(map.edge_begin), add(map.edge_pair);
  all.emplace_back();
  for (const EdgePlaces& edge : host_values(map.edge))
    all.back().insert(all.back().end(), {edge.upper, edge.lower});
  add(matrix.row_begin), add(matrix.column);
  return all;
}

OSSATURA_BACKEND_TEST("Every backend builds the map that the host builds", "[element_map]") {
  const ElementCase c;
  BlockMatrix<TestType> matrix;
  const auto map = make_element_map(TestType(), c.num_nodes, c.groups, c.fixed, matrix);
  using Host = Kokkos::DefaultHostExecutionSpace;
  BlockMatrix<Host> host_matrix;
  const auto host_map = make_element_map(Host(), c.num_nodes, c.groups, c.fixed, host_matrix);
  CHECK(all_arrays(map, matrix) == all_arrays(host_map, host_matrix));
}

OSSATURA_BACKEND_TEST("The map of two tetrahedra by pencil and paper", "[element_map]") {
  const TestType exec;
  BlockMatrix<TestType> matrix;
  // Node 1 is fixed; they share nodes 1, 2, 3, in different order.
  const auto map = make_element_map(exec, 5, {{ElementShape::tetra, {0, 1, 2, 3, 3, 2, 1, 4}}},
                                    {0, 1, 0, 0, 0}, matrix);
  using Ints = std::vector<int>;
  using Unsigned = std::vector<std::uint32_t>;
  CHECK(host_values(matrix.row_begin) == Ints{0, 3, 4, 8, 12, 15});
  CHECK(host_values(matrix.column) == Ints{0, 2, 3, 1, 0, 2, 3, 4, 0, 2, 3, 4, 2, 3, 4});
  CHECK(host_values(map.around_begin) == Ints{0, 1, 3, 5, 7, 8});
  CHECK(host_values(map.slot) == Unsigned{0, 1, 6, 2, 5, 3, 4, 7});
  CHECK(host_values(map.diagonal_pair) == Unsigned{0, 4, 17, 7, 14, 9, 10, 19});
  CHECK(host_values(map.edge_of_node) == Ints{0, 2, 2, 4, 5, 5});
  // Edges 0-2, 0-3, 2-3, 2-4, 3-4; 2-3 is pair (2, 3) of the first and (0, 1) of the second.
  CHECK(host_values(map.edge_begin) == Ints{0, 1, 2, 4, 5, 6});
  CHECK(host_values(map.edge_pair) == Unsigned{2 * 2, 2 * 3, 2 * 8, 2 * 11 + 1, 2 * 16, 2 * 13});
}

OSSATURA_BACKEND_TEST("Maps without elements, nodes or anything free", "[element_map]") {
  const TestType exec;
  BlockMatrix<TestType> matrix;
  CHECK(make_element_map(exec, 0, {}, {}, matrix).num_edges() == 0);
  CHECK(matrix.num_entries() == 0);
  const ElementCase c;
  ElementCase all_fixed = c, empty = c;
  all_fixed.fixed.assign(std::size_t(c.num_nodes), 1);
  empty.groups.clear();
  for (const ElementCase& one : {all_fixed, empty}) {
    const auto a = Assembled<TestType>::template make<true>(exec, one);
    CHECK(a.matrix.num_entries() == c.num_nodes);
    ElementCase expected = one;
    if (one.groups.empty())
      expected.stiffness.clear();
    CHECK(difference(host_entries(a.matrix), expected_matrix(expected)) < 1e-15);
  }
}

OSSATURA_BACKEND_TEST("Elements that cannot be mapped are named", "[element_map]") {
  const TestType exec;
  BlockMatrix<TestType> matrix;
  const auto message = [&](const ElementGroup& group, const std::vector<std::uint8_t>& fixed) {
    try {
      make_element_map(exec, 5, {{ElementShape::tetra, {0, 1, 2, 3}}, group}, fixed, matrix);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message({ElementShape::triangle, {0, 1, 2, 1, 5, 2}}, {}),
             ContainsSubstring("element 1 of group 1 has node 5 of 5"));
  CHECK_THAT(message({ElementShape::triangle, {0, -1, 2}}, {}), ContainsSubstring("node -1"));
  CHECK_THAT(message({ElementShape::triangle, {0, 3, 3}}, {}),
             ContainsSubstring("element 0 of group 1 has node 3 twice"));
  CHECK_THAT(message({ElementShape::hexa, {0, 1, 2, 3}}, {}),
             ContainsSubstring("4 nodes of elements with 8"));
  CHECK_THAT(message({ElementShape::triangle, {0, 1, 2}}, {1, 0}),
             ContainsSubstring("2 marks of fixed nodes for 5"));
}

} // namespace
