// SPDX-License-Identifier: Apache-2.0
// The product with the stiffness of cells against an assembled matrix.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cell_levels.hpp"
#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>
#include <ossatura/kernels/bone/assemble_dense.hpp>
#include <ossatura/kernels/bone/cells/operator.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/voxel_blocks.hpp>

namespace {

using namespace ossatura;
using ossatura::test::CellLevels;
using ossatura::test::host_values;

std::vector<std::map<int, double>> assemble(const reference::CellLevel& level, double edge) {
  std::vector<std::map<int, double>> row(3 * level.num_nodes);
  for (const reference::Cell& cell : level.cell) {
    const double l = cell.lambda, m = cell.mu;
    const auto k =
        reference::element_matrix(m * (3 * l + 2 * m) / (l + m), l / (2 * (l + m)), edge);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        row[3 * cell.node[i / 3] + i % 3][3 * cell.node[j / 3] + j % 3] += k[i][j];
  }
  return row;
}

template<class Scalar>
std::vector<Scalar> random_values(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Scalar> x(n);
  for (Scalar& value : x)
    value = Scalar(random() / 2147483648.0 - 1);
  return x;
}

template<class Scalar, class Exec>
double largest_difference(const Exec& exec, const CellGrid<Exec>& cells,
                          const reference::CellLevel& level, double edge) {
  const auto x = random_values<Scalar>(3 * level.num_nodes, 1);
  std::vector<double> expected(x.size());
  const auto k = assemble(level, edge);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (const auto& [j, value] : k[i])
      expected[i] += value * x[j];
  const auto y = make_zeros<Scalar>(exec, std::int64_t(x.size()), "test::y");
  const CellOperator<Exec> matrix(exec, cells, edge);
  matrix.apply(exec, upload(exec, "test::x", x), y);
  exec.fence();
  const auto computed = host_values(y);
  return reference::relative_difference(std::vector<double>(computed.begin(), computed.end()),
                                        expected);
}

OSSATURA_BACKEND_TEST("The product with cells is that with their assembled matrix",
                      "[cell_operator]") {
  const TestType exec;
  for (const auto& model : ossatura::test::cell_models())
    for (Coarsening kind : {Coarsening::averaged, Coarsening::split}) {
      const CellLevels<TestType> levels(exec, model, kind);
      const auto oracle = ossatura::test::oracle_levels(levels, kind);
      double edge = model.edge;
      for (std::size_t l = 0; l < levels.coarse.size(); ++l) {
        edge *= 2;
        for (const auto& cells : {ossatura::test::by_patches(exec, levels.coarse[l].cells),
                                  ossatura::test::by_nodes(levels.coarse[l].cells)}) {
          // The moduli are kept as floats.
          CHECK(largest_difference<double>(exec, cells, oracle[l + 1].level, edge) < 1e-6);
          CHECK(largest_difference<float>(exec, cells, oracle[l + 1].level, edge) < 2e-6);
        }
      }
    }
}

/// Wrong entries in the lists of patches, by their definition.
template<class Exec>
int count_wrong_patches(const CellGrid<Exec>& cells, const reference::CellLevel& level) {
  const auto cell_begin = host_values(cells.patches.cell_begin);
  const auto late_begin = host_values(cells.patches.late_begin);
  const auto cell = host_values(cells.patches.cell), late = host_values(cells.patches.late);
  const auto begin = host_values(cells.patches.begin);
  const auto is_of = [&](int p, int node) { return node >= begin[p] && node < begin[p + 1]; };
  REQUIRE(int(cell_begin.size()) == cells.patches.num_patches + 1);
  REQUIRE(begin.front() == 0);
  REQUIRE(begin.back() == cells.num_nodes);
  REQUIRE(cell_begin.back() == int(cell.size()));
  REQUIRE(late_begin.back() == int(late.size()));
  int wrong = 0;
  for (int p = 0; p < cells.patches.num_patches; ++p) {
    std::multiset<int> listed, expected;
    std::set<std::pair<int, int>> taken; // corner, node
    for (int i = cell_begin[p]; i < cell_begin[p + 1]; ++i) {
      listed.insert(cell[i]);
      for (int v = 0; v < 8; ++v) {
        const int node = level.cell[cell[i]].node[v];
        if (is_of(p, node))
          wrong += !taken.insert({v, node}).second;
      }
    }
    listed.insert(late.begin() + late_begin[p], late.begin() + late_begin[p + 1]);
    for (std::size_t e = 0; e < level.cell.size(); ++e) {
      bool touches = false;
      for (int node : level.cell[e].node)
        touches = touches || is_of(p, node);
      if (touches)
        expected.insert(int(e));
    }
    wrong += listed != expected;
  }
  return wrong;
}

OSSATURA_BACKEND_TEST("Patches list their cells once, and the product does not depend on them",
                      "[cell_operator]") {
  const TestType exec;
  std::size_t num_late = 0;
  for (const auto& model : ossatura::test::cell_models()) {
    CellLevels<TestType> levels(exec, model, Coarsening::split);
    const auto oracle = ossatura::test::oracle_levels(levels, Coarsening::split);
    for (std::size_t l = 0; l < levels.coarse.size(); ++l)
      for (int per_patch : {1, 6, 64}) {
        CellGrid<TestType>& cells = levels.coarse[l].cells;
        cells.patches = make_cell_patches(exec, cells, per_patch);
        exec.fence();
        CHECK(count_wrong_patches(cells, oracle[l + 1].level) == 0);
        num_late += cells.patches.late.extent(0);
        CHECK(largest_difference<double>(exec, cells, oracle[l + 1].level, 1) < 1e-6);
      }
  }
  CHECK(num_late > 0);
}

OSSATURA_BACKEND_TEST("Rigid motions of every part cost nothing", "[cell_operator]") {
  const TestType exec;
  const CellLevels<TestType> levels(
      exec, reference::random_model({13, 11, 9}, 0.15, 1, 0.3, 0.3, 3), Coarsening::split);
  const auto oracle = ossatura::test::oracle_levels(levels, Coarsening::split);
  for (std::size_t l = 0; l < levels.coarse.size(); ++l) {
    std::vector<double> x;
    for (const auto& s : oracle[l + 1].level.sites())
      for (int c = 0; c < 3; ++c) // (1, 2, 3) + (3, 1, 2) x site
        x.push_back(1 + c +
                    (c == 0   ? s[2] - 2 * s[1]
                     : c == 1 ? 2 * s[0] - 3 * s[2]
                              : 3 * s[1] - s[0]));
    const auto y = make_zeros<double>(exec, std::int64_t(x.size()), "test::y");
    CellOperator<TestType>(exec, levels.coarse[l].cells, 0.5)
        .apply(exec, upload(exec, "test::x", x), y);
    CHECK(dot(exec, y, y) < 1e-24 * reference::dot(x, x));
  }
}

OSSATURA_BACKEND_TEST("Products and fused updates repeat to the bit", "[cell_operator]") {
  const TestType exec;
  const CellLevels<TestType> levels(
      exec, reference::random_model({21, 17, 19}, 0.3, 100, 0.3, 0.3, 3), Coarsening::split);
  for (const auto& cells : {ossatura::test::by_patches(exec, levels.coarse[0].cells),
                            ossatura::test::by_nodes(levels.coarse[0].cells)}) {
    const std::int64_t n = cells.num_dofs();
    const CellOperator<TestType> matrix(exec, cells, 0.5);
    const auto x = upload(exec, "test::x", random_values<float>(n, 1));
    const auto b = upload(exec, "test::b", random_values<float>(n, 2));
    std::vector<std::uint8_t> mask(cells.num_nodes);
    for (int i = 0; i < cells.num_nodes; ++i)
      mask[i] = std::uint8_t(i % 5 == 0 ? i / 5 % 8 : 0);
    const auto held = upload(exec, "test::mask", mask);
    const auto y = make_zeros<float>(exec, n, "test::y");
    matrix.apply(exec, x, y);
    exec.fence();
    const auto first = host_values(y);
    for (int repeat = 0; repeat < 3; ++repeat) {
      Kokkos::deep_copy(exec, y, 0.f);
      matrix.apply(exec, x, y);
      exec.fence();
      CHECK(host_values(y) == first);
    }
    matrix.apply_then(exec, x, StoreResidual<TestType, float>{held, b, y});
    exec.fence();
    const auto residual = host_values(y), host_b = host_values(b);
    int wrong = 0;
    for (std::int64_t i = 0; i < n; ++i)
      wrong += residual[i] != (mask[i / 3] >> i % 3 & 1 ? 0 : host_b[i] - first[i]);
    CHECK(wrong == 0);
  }
}

OSSATURA_BACKEND_TEST("On a homogeneous block the coarse operator is the Galerkin product",
                      "[cell_operator]") {
  const TestType exec;
  const double edge = 0.3;
  for (Coarsening kind : {Coarsening::averaged, Coarsening::split}) {
    const CellLevels<TestType> levels(exec, reference::homogeneous({8, 6, 4}, 7, 0.3), kind);
    const auto& fine = levels.grid;
    const auto& [cells, transfer] = levels.coarse[0];
    const auto free = make_zeros<std::uint8_t>(exec, fine.num_nodes, "test::free"),
               coarse_free = make_zeros<std::uint8_t>(exec, cells.num_nodes, "test::free");
    const auto x = upload(exec, "test::x", random_values<double>(cells.num_dofs(), 6));
    const auto px = make_zeros<double>(exec, fine.num_dofs(), "test::px");
    const auto apx = make_zeros<double>(exec, fine.num_dofs(), "test::apx");
    const auto galerkin = make_zeros<double>(exec, cells.num_dofs(), "test::galerkin");
    const auto direct = make_zeros<double>(exec, cells.num_dofs(), "test::direct");
    prolong_add(exec, transfer, cells, x, free, px);
    GatherOperator<TestType>(exec, fine, levels.lame, edge).apply(exec, px, apx);
    restrict_residual(exec, transfer, fine, cells, apx, coarse_free, galerkin);
    CellOperator<TestType>(exec, cells, 2 * edge).apply(exec, x, direct);
    exec.fence();
    CHECK(reference::relative_difference(host_values(galerkin), host_values(direct)) < 1e-14);
  }
}

OSSATURA_BACKEND_TEST(
    "The dense matrix of cells is the assembled one without held rows and columns",
    "[cell_operator]") {
  const TestType exec;
  const CellLevels<TestType> levels(
      exec, reference::random_model({7, 6, 9}, 0.2, 1e3, 0.3, 0.4, 6, 0.5), Coarsening::split);
  const auto oracle = ossatura::test::oracle_levels(levels, Coarsening::split);
  const auto& cells = levels.coarse[0].cells;
  std::vector<std::uint8_t> mask(cells.num_nodes);
  for (int i = 0; i < cells.num_nodes; ++i)
    mask[i] = std::uint8_t(i % 5 == 0 ? i / 5 % 8 : 0);
  const auto held = make_constraints(exec, upload(exec, "test::mask", mask));
  const auto dense = download(exec, assemble_dense(exec, cells, held, 1));
  const std::size_t n = cells.num_dofs();
  std::vector<double> expected(n * n);
  const auto k = assemble(oracle[1].level, 1);
  for (std::size_t i = 0; i < n; ++i)
    for (const auto& [j, value] : k[i])
      if (!(mask[i / 3] >> i % 3 & 1) && !(mask[j / 3] >> j % 3 & 1))
        expected[i * n + j] = value;
  REQUIRE(dense.size() == n * n);
  CHECK(reference::relative_difference(dense, expected) < 1e-6);
}

OSSATURA_BACKEND_TEST("Cells too many for a dense matrix are rejected", "[cell_operator]") {
  const TestType exec;
  const CellLevels<TestType> levels(exec, reference::homogeneous({32, 32, 32}, 1, 0.3),
                                    Coarsening::split);
  const auto& cells = levels.coarse[0].cells;
  const auto held =
      make_constraints(exec, make_zeros<std::uint8_t>(exec, cells.num_nodes, "test::mask"));
  CHECK_THROWS_AS(assemble_dense(exec, cells, held, 1), std::invalid_argument);
}

/// Largest entry of B K - I over the blocks' free components, of B elsewhere; K by the oracle.
template<class Scalar>
double largest_block_error(const std::vector<Scalar>& blocks, const std::vector<std::uint8_t>& mask,
                           const std::vector<std::map<int, double>>& k) {
  constexpr int entry[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  double largest = 0;
  for (std::size_t n = 0; n < mask.size(); ++n)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        const bool free = !(mask[n] >> c & 1) && !(mask[n] >> d & 1);
        double sum = free ? -(c == d) : 0;
        for (int e = 0; e < 3 && free; ++e)
          if (!(mask[n] >> e & 1))
            sum += double(blocks[6 * n + entry[c][e]]) * k[3 * n + e].at(int(3 * n) + d);
        largest = std::max(largest, std::abs(free ? sum : double(blocks[6 * n + entry[c][d]])));
      }
  return largest;
}

OSSATURA_BACKEND_TEST("Inverse diagonal blocks invert the free part of the assembled blocks",
                      "[block_diagonal]") {
  const TestType exec;
  for (const auto& model : ossatura::test::cell_models()) {
    const CellLevels<TestType> levels(exec, model, Coarsening::split);
    const auto oracle = ossatura::test::oracle_levels(levels, Coarsening::split);
    for (std::size_t l = 0; l <= levels.coarse.size(); ++l) {
      const double edge = 0.01;
      const int num_nodes = oracle[l].level.num_nodes;
      std::vector<std::uint8_t> mask(num_nodes);
      for (int i = 0; i < num_nodes; ++i)
        mask[i] = std::uint8_t(i % 3 == 0 ? i / 3 % 8 : 0);
      const auto held = upload(exec, "test::mask", mask);
      const auto k = assemble(oracle[l].level, edge);
      if (l == 0) {
        const auto blocks =
            make_inverse_diagonal_blocks<double>(exec, levels.grid, levels.lame, edge, held);
        exec.fence();
        CHECK(largest_block_error(host_values(blocks), mask, k) < 2e-6);
        continue;
      }
      const auto& cells = levels.coarse[l - 1].cells;
      const auto wide = make_inverse_diagonal_blocks<double>(exec, cells, edge, held);
      const auto narrow = make_inverse_diagonal_blocks<float>(exec, cells, edge, held);
      exec.fence();
      CHECK(largest_block_error(host_values(wide), mask, k) < 2e-6);
      CHECK(largest_block_error(host_values(narrow), mask, k) < 4e-6);
    }
  }
}

OSSATURA_BACKEND_TEST("A smoothing step by blocks is x + omega B (b - A x)", "[block_diagonal]") {
  const TestType exec;
  const CellLevels<TestType> levels(exec, reference::random_model({9, 8, 7}, 0.3, 100, 0.3, 0.3, 3),
                                    Coarsening::split);
  const auto& cells = levels.coarse[0].cells;
  const std::int64_t n = cells.num_dofs();
  std::vector<std::uint8_t> mask(cells.num_nodes);
  for (int i = 0; i < cells.num_nodes; ++i)
    mask[i] = std::uint8_t(i % 4 == 0 ? i / 4 % 8 : 0);
  const auto held = upload(exec, "test::mask", mask);
  const auto blocks = make_inverse_diagonal_blocks<double>(exec, cells, 0.5, held);
  const CellOperator<TestType> matrix(exec, cells, 0.5);
  auto free_x = random_values<double>(n, 1);
  for (std::int64_t i = 0; i < n; ++i)
    free_x[i] = mask[i / 3] >> i % 3 & 1 ? 0 : free_x[i];
  const auto x = upload(exec, "test::x", free_x);
  const auto b = upload(exec, "test::b", random_values<double>(n, 2));
  const auto y = make_zeros<double>(exec, n, "test::y");
  const auto ax = make_zeros<double>(exec, n, "test::ax");
  matrix.apply(exec, x, ax);
  matrix.apply_then(exec, x, BlockSmoothingStep<TestType, double>{0.7, blocks, b, y});
  exec.fence();
  const auto computed = host_values(y), product = host_values(ax), rhs = host_values(b),
             inverse = host_values(blocks);
  constexpr int entry[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  const auto expected = [&](std::int64_t i) {
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      const std::int64_t j = i / 3 * 3 + d;
      sum += inverse[i / 3 * 6 + entry[i % 3][d]] * (rhs[j] - product[j]);
    }
    return free_x[i] + 0.7 * sum;
  };
  int wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    wrong += std::abs(computed[i] - expected(i)) > 1e-13 * std::abs(expected(i));
    wrong += (mask[i / 3] >> i % 3 & 1) && computed[i] != 0;
  }
  CHECK(wrong == 0);
}

} // namespace
