// SPDX-License-Identifier: Apache-2.0
// Estimates and bounds of eigenvalues against known spectra.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cell_levels.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include "tests/solvers/krylov/diagonal_matrix.hpp"
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/cells/operator.hpp>
#include <ossatura/kernels/bone/diagonal.hpp>
#include <ossatura/kernels/bone/eigenvalue_bound.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/voxel_blocks.hpp>
#include <ossatura/solvers/krylov/lanczos.hpp>

namespace {

using namespace ossatura;

/// The estimate for D^-1 A with the eigenvalues `eigenvalue`, three for each node, D = I / weight.
template<class Exec>
double estimate_diagonal(const Exec& exec, int steps, const std::vector<double>& eigenvalue,
                         const std::vector<double>& weight) {
  std::vector<double> entries = eigenvalue;
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] /= weight[i / 3];
  const auto a = upload(exec, "test::a", entries);
  const std::int64_t n = entries.size();
  const auto r = make_zeros<double>(exec, n, "test::r"), p = make_zeros<double>(exec, n, "test::p"),
             q = make_zeros<double>(exec, n, "test::q");
  return estimate_largest_eigenvalue(
      exec, steps, PointJacobi<Exec, double>{upload(exec, "test::inverse", weight)},
      [&](const auto& x, const auto& y) { ossatura::test::multiply_entries(exec, a, x, y); },
      [](const auto&) {}, r, p, q);
}

OSSATURA_BACKEND_TEST("As many steps as distinct eigenvalues give the largest exactly",
                      "[lanczos]") {
  const double distinct[] = {0.1, 0.5, 1.3, 2, 3.7};
  std::vector<double> eigenvalue, weight;
  for (int i = 0; i < 300; ++i) {
    eigenvalue.push_back(distinct[i * 7 % 5]);
    if (i % 3 == 0)
      weight.push_back(0.2 + 0.01 * i);
  }
  CHECK(estimate_diagonal(TestType(), 5, eigenvalue, weight) == Approx(3.7).epsilon(1e-10));
  // more steps than there are directions do no harm
  CHECK(estimate_diagonal(TestType(), 30, eigenvalue, weight) == Approx(3.7).epsilon(1e-10));
}

OSSATURA_BACKEND_TEST("The estimate is from below and grows with the steps", "[lanczos]") {
  std::vector<double> eigenvalue;
  for (int i = 1; i <= 3000; ++i)
    eigenvalue.push_back(5 * i / 3000.0);
  double last = 0;
  for (int steps : {1, 2, 4, 8, 12, 30}) {
    const double estimate =
        estimate_diagonal(TestType(), steps, eigenvalue, std::vector<double>(1000, 1));
    CHECK(estimate > last);
    CHECK(estimate < 5 * (1 + 1e-12));
    last = estimate;
  }
  CHECK(last > 0.99 * 5);
}

OSSATURA_BACKEND_TEST("The largest eigenvalue is found in parts a million times stiffer",
                      "[lanczos]") {
  std::vector<double> eigenvalue, weight(1000, 1);
  for (int i = 0; i < 3000; ++i)
    eigenvalue.push_back(0.01 + 1.5 * i / 3000.0);
  for (int node = 500; node < 600; ++node) {
    weight[node] = 1e-6;
    eigenvalue[3 * node] = 3;
  }
  CHECK(estimate_diagonal(TestType(), 12, eigenvalue, weight) > 0.99 * 3);
}

OSSATURA_BACKEND_TEST("The largest eigenvalue of a voxel model is that of the assembled matrix",
                      "[lanczos]") {
  const TestType exec;
  const auto model = reference::random_model({3, 2, 2}, 0.8, 1e3, 0.3, 0.3, 12);
  const auto material = ossatura::test::upload_material(exec, model);
  const auto grid = make_voxel_grid(exec, material.solid());
  const auto lame = make_lame_field(exec, grid, material);
  const GatherOperator<TestType> matrix(exec, grid, lame, 1);
  std::vector<std::uint8_t> mask(grid.num_nodes);
  mask[0] = mask[1] = 7;
  const auto held = make_constraints(exec, upload(exec, "test::mask", mask));
  const auto sites = ossatura::test::host_sites(grid);

  const reference::SparseMatrix k = reference::assemble(model);
  const int n = model.num_dofs();
  std::vector<char> out(n);
  for (int i : {0, 1})
    for (int c = 0; c < 3; ++c)
      out[3 * model.node(sites[i][0], sites[i][1], sites[i][2]) + c] = 1;
  std::vector<double> scaled(n * n);
  for (int i = 0; i < n; ++i)
    for (const auto& [j, value] : k.row[i])
      if (!out[i] && !out[j])
        scaled[i * n + j] = value / std::sqrt(k.diagonal(i) * k.diagonal(j));
  const double exact = reference::symmetric_eigenvalues(scaled, n).back();

  const auto r = make_zeros<double>(exec, grid.num_dofs(), "test::r"),
             p = make_zeros<double>(exec, grid.num_dofs(), "test::p"),
             q = make_zeros<double>(exec, grid.num_dofs(), "test::q");
  const auto estimate = [&](int steps) {
    return estimate_largest_eigenvalue(
        exec, steps,
        PointJacobi<TestType, double>{make_inverse_diagonal<double>(exec, grid, lame, 1)},
        [&](const auto& x, const auto& y) {
          matrix.apply(exec, x, y);
          clear(exec, held, y);
        },
        [&](const auto& x) { clear(exec, held, x); }, r, p, q);
  };
  CHECK(estimate(12) > 0.9 * exact);
  CHECK(estimate(12) < exact * (1 + 1e-12));
  CHECK(estimate(80) == Approx(exact).epsilon(1e-8));
}

OSSATURA_BACKEND_TEST("Both ends of a spectrum with few eigenvalues are found exactly",
                      "[lanczos]") {
  const TestType exec;
  const double distinct[] = {0.1, 0.5, 1.3, 2, 3.7};
  std::vector<double> a, m, start;
  for (int i = 0; i < 300; ++i) {
    m.push_back(0.2 + 0.01 * i);
    a.push_back(distinct[i * 7 % 5] / m.back()); // of M A
    start.push_back(std::sin(i) + 2);
  }
  const auto matrix = upload(exec, "test::a", a), scaling = upload(exec, "test::m", m),
             r = upload(exec, "test::r", start);
  const auto z = make_zeros<double>(exec, 300, "test::z"),
             p = make_zeros<double>(exec, 300, "test::p");
  const auto estimate = [&](int steps) {
    Kokkos::deep_copy(r, upload(exec, "test::r", start));
    return estimate_spectrum(
        exec, steps,
        [&](const auto& residual) {
          ossatura::test::multiply_entries(exec, scaling, residual, z);
          return z;
        },
        [&](const auto& x, const auto& y) { ossatura::test::multiply_entries(exec, matrix, x, y); },
        r, p, z); // the product takes the place of M r
  };
  for (int steps : {5, 30}) {
    CHECK(estimate(steps).largest == Approx(3.7).epsilon(1e-8));
    CHECK(estimate(steps).smallest == Approx(0.1).epsilon(1e-8));
  }
  CHECK(estimate(3).largest < 3.7);
  CHECK(estimate(3).smallest > 0.1);
  Kokkos::deep_copy(matrix, 0.0);
  CHECK(estimate(3).largest == 0);
}

OSSATURA_BACKEND_TEST("The bound holds on voxels and on coarse cells, and is close", "[lanczos]") {
  const TestType exec;
  for (const auto& model : {reference::homogeneous({12, 11, 13}, 1, 0.3),
                            reference::random_model({12, 11, 13}, 0.7, 100, -0.3, 0.45, 5, 0.1),
                            reference::random_model({12, 11, 13}, 0.3, 1, 0.2, 0.2, 6)}) {
    const ossatura::test::CellLevels<TestType> levels(exec, model, Coarsening::split);
    const double bound = bound_scaled_eigenvalue(exec, levels.lame);
    // Nothing is held: on small levels the process soon has all but the rigid motions.
    const auto largest = [&](const auto& matrix, std::int64_t num_nodes, const auto& blocks) {
      const std::int64_t n = 3 * num_nodes;
      const auto r = make_zeros<double>(exec, n, "test::r"),
                 p = make_zeros<double>(exec, n, "test::p"),
                 q = make_zeros<double>(exec, n, "test::q");
      return estimate_largest_eigenvalue(
          exec, num_nodes > 200 ? 20 : 4, BlockJacobi<TestType, double>{blocks},
          [&](const auto& x, const auto& y) { matrix.apply(exec, x, y); }, [](const auto&) {}, r, p,
          q);
    };
    const auto free = [&](int num_nodes) {
      return make_zeros<std::uint8_t>(exec, num_nodes, "test::free");
    };
    const int n = levels.grid.num_nodes;
    const double fine =
        largest(GatherOperator<TestType>(exec, levels.grid, levels.lame, 1), n,
                make_inverse_diagonal_blocks<double>(exec, levels.grid, levels.lame, 1, free(n)));
    CHECK(fine <= bound);
    CHECK(fine > 0.7 * bound);
    for (const auto& coarse : levels.coarse) {
      const int m = coarse.cells.num_nodes;
      CHECK(largest(CellOperator<TestType>(exec, coarse.cells, 1), m,
                    make_inverse_diagonal_blocks<double>(exec, coarse.cells, 1, free(m))) <=
            bound * (1 + 1e-6)); // constants are floats
    }
  }
}

OSSATURA_BACKEND_TEST("A matrix without a free component has the estimate zero", "[lanczos]") {
  const TestType exec;
  const auto r = make_zeros<double>(exec, 6, "test::r"), p = make_zeros<double>(exec, 6, "test::p"),
             q = make_zeros<double>(exec, 6, "test::q");
  const double estimate = estimate_largest_eigenvalue(
      exec, 12,
      PointJacobi<TestType, double>{upload(exec, "test::inverse", std::vector<double>(2, 1))},
      [&](const auto&, const auto& y) { Kokkos::deep_copy(exec, y, 0.0); },
      [&](const auto& x) { Kokkos::deep_copy(exec, x, 0.0); }, r, p, q);
  CHECK(estimate == 0);
}

} // namespace
