// SPDX-License-Identifier: Apache-2.0
// Dense assembly and product against the oracle's sparse matrix.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/bone/assemble_dense.hpp>

namespace {

using namespace ossatura;

OSSATURA_BACKEND_TEST("The dense matrix is the assembled one without held rows and columns",
                      "[dense_operator]") {
  const TestType exec;
  for (double high_poisson : {0.3, 0.4}) {
    const auto model = reference::random_model({4, 3, 5}, 0.5, 1e3, 0.3, high_poisson, 6, 0.5);
    const auto material = ossatura::test::upload_material(exec, model);
    const auto grid = make_voxel_grid(exec, material.solid());
    std::vector<std::uint8_t> mask(grid.num_nodes);
    for (int i = 0; i < grid.num_nodes; ++i)
      mask[i] = i % 5 == 0 ? i / 5 % 8 : 0;
    const auto held = make_constraints(exec, upload(exec, "test::mask", mask));
    const auto dense = download(
        exec, assemble_dense(exec, grid, make_lame_field(exec, grid, material), held, model.edge));

    const auto sites = ossatura::test::host_sites(grid);
    std::vector<int> compact(model.num_lattice_nodes(), -1);
    for (std::size_t i = 0; i < sites.size(); ++i)
      compact[model.node(sites[i][0], sites[i][1], sites[i][2])] = int(i);
    const std::size_t n = grid.num_dofs();
    std::vector<double> expected(n * n);
    const auto is_held = [&](int dof) { return mask[dof / 3] >> dof % 3 & 1; };
    const reference::SparseMatrix k = reference::assemble(model);
    for (std::size_t i = 0; i < k.row.size(); ++i)
      for (const auto& [j, value] : k.row[i]) {
        const int row = 3 * compact[i / 3] + int(i % 3), column = 3 * compact[j / 3] + j % 3;
        if (!is_held(row) && !is_held(column))
          expected[row * n + column] = value;
      }
    REQUIRE(dense.size() == n * n);
    CHECK(reference::relative_difference(dense, expected) < (high_poisson == 0.3 ? 1e-14 : 1e-6));
    int stray = 0;
    for (std::size_t i = 0; i < n * n; ++i)
      stray += expected[i] == 0 && std::abs(dense[i]) > 1e-12;
    CHECK(stray == 0);
  }
}

OSSATURA_BACKEND_TEST("The product with a dense matrix is the one of plain loops",
                      "[dense_operator]") {
  const TestType exec;
  const int n = 75;
  std::mt19937 random(1);
  std::vector<double> matrix(n * n), x(n), expected(n);
  for (int i = 0; i < n; ++i) {
    x[i] = random() / 4294967296.0 - 0.5;
    for (int j = 0; j <= i; ++j)
      matrix[i * n + j] = matrix[j * n + i] = random() / 4294967296.0 - 0.5;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      expected[i] += matrix[i * n + j] * x[j];
  const auto y = make_uninitialized<double>(exec, n, "test::y");
  apply_dense(exec, upload(exec, "test::matrix", matrix), upload(exec, "test::x", x), y);
  exec.fence();
  CHECK(reference::relative_difference(ossatura::test::host_values(y), expected) < 1e-14);
}

OSSATURA_BACKEND_TEST("A grid too large for a dense matrix is rejected", "[dense_operator]") {
  const TestType exec;
  const auto model = reference::homogeneous({16, 16, 16}, 1, 0.3);
  const auto material = ossatura::test::upload_material(exec, model);
  const auto grid = make_voxel_grid(exec, material.solid());
  const auto held =
      make_constraints(exec, make_zeros<std::uint8_t>(exec, grid.num_nodes, "test::mask"));
  CHECK_THROWS_AS(assemble_dense(exec, grid, make_lame_field(exec, grid, material), held, 1),
                  std::invalid_argument);
}

} // namespace
