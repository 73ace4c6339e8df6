// SPDX-License-Identifier: Apache-2.0
// The inverse diagonal against the assembled matrix.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include <ossatura/kernels/bone/diagonal.hpp>

namespace {

using namespace ossatura;

template<class Scalar, class Exec>
double largest_error(const Exec& exec, const reference::Model& model) {
  const auto material = ossatura::test::upload_material(exec, model);
  const auto grid = make_voxel_grid(exec, material.solid());
  const auto inverse =
      make_inverse_diagonal<Scalar>(exec, grid, make_lame_field(exec, grid, material), model.edge);
  exec.fence();
  const auto values = ossatura::test::host_values(inverse);
  const auto sites = ossatura::test::host_sites(grid);
  const reference::SparseMatrix k = reference::assemble(model);
  double largest = 0;
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (int c = 0; c < 3; ++c) {
      const int row = 3 * model.node(sites[i][0], sites[i][1], sites[i][2]) + c;
      largest = std::max(largest, std::abs(values[i] * k.diagonal(row) - 1));
    }
  return largest;
}

OSSATURA_BACKEND_TEST("The inverse diagonal is that of the assembled matrix", "[diagonal]") {
  const TestType exec;
  for (const std::array<int, 3>& shape : {std::array<int, 3>{1, 1, 1}, {6, 5, 7}, {1, 9, 2}}) {
    const auto model = reference::random_model(shape, 0.5, 1e6, 0.3, 0.3, 8, 0.02);
    CHECK(largest_error<double>(exec, model) < 1e-13);
    CHECK(largest_error<float>(exec, model) < 2e-7);
    // Lame's constants are kept as floats.
    const auto mixed = reference::random_model(shape, 0.5, 1e6, -0.5, 0.45, 9, 0.02);
    CHECK(largest_error<double>(exec, mixed) < 1e-6);
  }
}

OSSATURA_BACKEND_TEST("The inverse block norm is of the largest eigenvalue of the assembled blocks",
                      "[diagonal]") {
  const TestType exec;
  for (const std::array<int, 3>& shape : {std::array<int, 3>{1, 1, 1}, {6, 5, 7}, {1, 9, 2}})
    for (double modulus : {1.0, 1e30, 1e-30}) {
      auto model = reference::random_model(shape, 0.5, 1e6, 0.3, 0.3, 8, 0.02);
      for (double& e : model.modulus)
        e *= modulus;
      const auto material = ossatura::test::upload_material(exec, model);
      const auto grid = make_voxel_grid(exec, material.solid());
      const auto values = ossatura::test::host_values(make_inverse_block_norm<double>(
          exec, grid, make_lame_field(exec, grid, material), model.edge));
      const auto sites = ossatura::test::host_sites(grid);
      const reference::SparseMatrix k = reference::assemble(model);
      double largest_error = 0;
      for (std::size_t i = 0; i < sites.size(); ++i) {
        const int first = 3 * model.node(sites[i][0], sites[i][1], sites[i][2]);
        std::vector<double> block(9);
        for (int c = 0; c < 3; ++c)
          for (const auto& [column, value] : k.row[first + c])
            if (column >= first && column < first + 3)
              block[3 * c + column - first] = value;
        const double norm = reference::symmetric_eigenvalues(block, 3).back();
        largest_error = std::max(largest_error, std::abs(values[i] * norm - 1));
      }
      CHECK(largest_error < 1e-6); // moduli are kept as floats
    }
}

} // namespace
