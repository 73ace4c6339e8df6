// SPDX-License-Identifier: Apache-2.0
// Coarse cells against their definition in plain loops.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cell_levels.hpp"
#include <ossatura/kernels/bone/cells/coarsen.hpp>

namespace {

using namespace ossatura;
using ossatura::test::CellLevels;
using ossatura::test::host_values;

constexpr Coarsening kinds[] = {Coarsening::averaged, Coarsening::split};

template<class Exec>
int count_differences(const CellGrid<Exec>& cells, const reference::CellLevel& expected) {
  REQUIRE(cells.num_elem == int(expected.cell.size()));
  REQUIRE(cells.num_nodes == expected.num_nodes);
  const auto corner = host_values(cells.corner);
  const auto place = host_values(cells.place);
  const auto lambda = host_values(cells.lambda_value), mu = host_values(cells.mu_value);
  const auto begin = host_values(cells.node_begin), entries = host_values(cells.node_corner);
  REQUIRE(corner.size() == 8 * expected.cell.size());
  REQUIRE(entries.size() == corner.size());
  REQUIRE(begin.size() == std::size_t(cells.num_nodes) + 1);
  int wrong = 0;
  std::vector<std::vector<int>> corners_of_node(expected.num_nodes);
  for (int e = 0; e < cells.num_elem; ++e) {
    const reference::Cell& cell = expected.cell[e];
    const Site s = detail::unpack_site(place[e]);
    wrong += reference::Place{s.x, s.y, s.z} != cell.place;
    wrong += std::abs(cells.lambda_scale * lambda[e] - cell.lambda) > 1e-6 * cell.lambda;
    wrong += std::abs(cells.mu_scale * mu[e] - cell.mu) > 1e-6 * cell.mu;
    for (int v = 0; v < 8; ++v) {
      wrong += corner[8 * e + v] != cell.node[v];
      corners_of_node[cell.node[v]].push_back(8 * e + v);
    }
  }
  for (int n = 0; n < cells.num_nodes; ++n)
    wrong += std::vector<int>(entries.begin() + begin[n], entries.begin() + begin[n + 1]) !=
             corners_of_node[n];
  return wrong;
}

OSSATURA_BACKEND_TEST("Cells, their nodes, places and moduli are those of the definition",
                      "[cell_coarsen]") {
  const TestType exec;
  for (const auto& model : ossatura::test::cell_models())
    for (Coarsening kind : kinds) {
      const CellLevels<TestType> levels(exec, model, kind);
      const auto oracle = ossatura::test::oracle_levels(levels, kind);
      int wrong = 0;
      for (std::size_t l = 0; l < levels.coarse.size(); ++l)
        wrong += count_differences(levels.coarse[l].cells, oracle[l + 1].level);
      CHECK(wrong == 0);
    }
}

/// Entries of the transfer that differ from the interpolation by any child with the node.
template<class Exec>
int count_transfer_differences(const CoarseCells<Exec>& coarse, const reference::CellLevel& fine,
                               const reference::CoarseLevel& expected) {
  const auto parent = host_values(coarse.transfer.parent);
  const auto position = host_values(coarse.transfer.position);
  const auto corner = host_values(coarse.cells.corner);
  const auto cells_of_nodes = fine.cells_of_nodes();
  const auto sites = fine.sites();
  int wrong = 0;
  for (int n = 0; n < fine.num_nodes; ++n) {
    const int along[3] = {position[n] % 3, position[n] / 3 % 3, position[n] / 9};
    std::map<int, double> weights;
    for (int v = 0; v < 8; ++v) {
      double weight = 1;
      for (int d = 0; d < 3; ++d)
        weight *= (v >> d & 1) ? along[d] / 2. : 1 - along[d] / 2.;
      if (weight > 0)
        weights[corner[8 * parent[n] + v]] += weight;
    }
    bool is_parent = false;
    for (int child : cells_of_nodes[n]) {
      wrong += weights != reference::interpolation(fine, expected, n, child);
      is_parent = is_parent || expected.parent[child] == parent[n];
    }
    const reference::Place& place = expected.level.cell[parent[n]].place;
    for (int d = 0; d < 3; ++d)
      wrong += sites[n][d] != 2 * place[d] + along[d];
    wrong += !is_parent;
  }
  return wrong;
}

OSSATURA_BACKEND_TEST("Every cell with a fine node gives it the same interpolation",
                      "[cell_coarsen]") {
  const TestType exec;
  for (const auto& model : ossatura::test::cell_models())
    for (Coarsening kind : kinds) {
      const CellLevels<TestType> levels(exec, model, kind);
      const auto oracle = ossatura::test::oracle_levels(levels, kind);
      int wrong = 0;
      for (std::size_t l = 0; l < levels.coarse.size(); ++l)
        wrong += count_transfer_differences(levels.coarse[l], oracle[l].level, oracle[l + 1]);
      CHECK(wrong == 0);
    }
}

OSSATURA_BACKEND_TEST(
    "The fine nodes of a cell are listed where they are not found by their places",
    "[cell_coarsen]") {
  const TestType exec;
  const CellLevels<TestType> levels(exec, reference::random_model({13, 9, 11}, 0.2, 1, 0.3, 0.3, 3),
                                    Coarsening::split);
  REQUIRE(levels.coarse.size() > 2);
  const bool finds = finds_fine_nodes<TestType, VoxelGrid<TestType>>;
  CHECK((levels.coarse[0].transfer.fine_mask.extent(0) != 0) == finds);
  CHECK((levels.coarse[0].transfer.fine_begin.extent(0) == 0) == finds);
  for (std::size_t l = finds ? 1 : 0; l < levels.coarse.size(); ++l) {
    const auto parent = host_values(levels.coarse[l].transfer.parent);
    const auto begin = host_values(levels.coarse[l].transfer.fine_begin);
    const auto listed = host_values(levels.coarse[l].transfer.fine_node);
    std::vector<int> expected;
    for (int e = 0; e < levels.coarse[l].cells.num_elem; ++e) {
      CHECK(begin[e] == int(expected.size()));
      for (std::size_t n = 0; n < parent.size(); ++n)
        if (parent[n] == e)
          expected.push_back(int(n));
    }
    CHECK(listed == expected);
  }
}

OSSATURA_BACKEND_TEST("Struts that do not touch share nodes on coarse levels only when averaged",
                      "[cell_coarsen]") {
  const TestType exec;
  // Two struts along z at x = 0 and x = 3: in neighbouring groups, then in one.
  const auto apart =
      ossatura::test::drawn_model({4, 1, 4}, [](int x, int, int) { return x % 3 == 0; });
  const CellLevels<TestType> split(exec, apart, Coarsening::split);
  const CellLevels<TestType> averaged(exec, apart, Coarsening::averaged);
  // Each strut of its own: 2 * 2 * 3, 2 * 2 * 2 nodes.
  CHECK(split.coarse[0].cells.num_nodes == 2 * 12);
  CHECK(split.coarse[0].cells.num_elem == 4);
  CHECK(split.coarse[1].cells.num_nodes == 2 * 8);
  CHECK(split.coarse[1].cells.num_elem == 2);
  CHECK(averaged.coarse[0].cells.num_nodes == 18);
  CHECK(averaged.coarse[0].cells.num_elem == 4);
  CHECK(averaged.coarse[1].cells.num_nodes == 8);
  CHECK(averaged.coarse[1].cells.num_elem == 1);
}

OSSATURA_BACKEND_TEST("On a solid block both kinds are the same", "[cell_coarsen]") {
  const TestType exec;
  const auto model = reference::random_model({9, 6, 5}, 1, 100, 0.3, 0.3, 3);
  const CellLevels<TestType> split(exec, model, Coarsening::split);
  const CellLevels<TestType> averaged(exec, model, Coarsening::averaged);
  for (std::size_t l = 0; l < split.coarse.size(); ++l) {
    CHECK(host_values(split.coarse[l].cells.corner) ==
          host_values(averaged.coarse[l].cells.corner));
    CHECK(host_values(split.coarse[l].cells.mu_value) ==
          host_values(averaged.coarse[l].cells.mu_value));
  }
}

OSSATURA_BACKEND_TEST("Averaged cells of cells that were split are glued again", "[cell_coarsen]") {
  const TestType exec;
  const CellLevels<TestType> split(exec, reference::random_model({12, 12, 12}, 0.1, 1, 0.3, 0.3, 5),
                                   Coarsening::split);
  const CellLevels<TestType> averaged(exec, split.model, Coarsening::averaged);
  REQUIRE(split.coarse[1].cells.num_elem > averaged.coarse[1].cells.num_elem);
  const auto glued = coarsen_cells(exec, split.coarse[1].cells, Coarsening::averaged);
  CHECK(glued.cells.num_elem == averaged.coarse[2].cells.num_elem);
  CHECK(glued.cells.num_nodes == averaged.coarse[2].cells.num_nodes);
}

OSSATURA_BACKEND_TEST("One array of moduli stays one array", "[cell_coarsen]") {
  const TestType exec;
  const CellLevels<TestType> uniform(exec, reference::homogeneous({4, 4, 4}, 8, 0.3),
                                     Coarsening::split);
  const CellLevels<TestType> mixed(exec, reference::random_model({4, 4, 4}, 1, 1, 0, 0.4, 1),
                                   Coarsening::split);
  for (const auto& level : uniform.coarse)
    CHECK(level.cells.lambda_value.data() == level.cells.mu_value.data());
  for (const auto& level : mixed.coarse)
    CHECK(level.cells.lambda_value.data() != level.cells.mu_value.data());
}

} // namespace
