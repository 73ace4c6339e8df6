// SPDX-License-Identifier: Apache-2.0
// The smoothers on a diagonal matrix, where their errors are polynomials, and on voxels, where
// products that fuse the step and products that do not agree.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include "tests/solvers/krylov/diagonal_matrix.hpp"
#include <ossatura/kernels/bone/diagonal.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/offset_operator.hpp>
#include <ossatura/solvers/krylov/polynomial_smoother.hpp>

namespace {

using namespace ossatura;
using ossatura::test::host_values;

template<class Exec>
struct DiagonalOperator {
  static constexpr bool fuses_updates = false;
  Array<double, Exec> entries;
  void apply(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& y) const {
    ossatura::test::multiply_entries(exec, entries, x, y);
  }
};

OSSATURA_BACKEND_TEST("The error of a smoothing is the polynomial of its roots",
                      "[polynomial_smoother]") {
  const TestType exec;
  constexpr int num_nodes = 40, n = 3 * num_nodes;
  const double lmax = 2.5;
  std::vector<double> eigenvalue, weight, entries, solution, start;
  for (int i = 0; i < n; ++i) {
    eigenvalue.push_back(1.05 * lmax * (i + 1) / n);
    if (i % 3 == 0)
      weight.push_back(0.3 + 0.05 * i);
    entries.push_back(eigenvalue[i] / weight[i / 3]);
    solution.push_back(std::sin(i) + 2);
    start.push_back(std::cos(3.0 * i));
  }
  const DiagonalOperator<TestType> matrix{upload(exec, "test::a", entries)};
  const PointJacobi<TestType, double> jacobi{upload(exec, "test::inverse", weight)};
  const auto held = make_zeros<std::uint8_t>(exec, num_nodes, "test::held");
  const auto b = make_zeros<double>(exec, n, "test::b"),
             scratch = make_zeros<double>(exec, n, "test::scratch");
  matrix.apply(exec, upload(exec, "test::solution", solution), b);
  const std::vector<double> garbage(n, std::nan(""));
  for (SmootherKind kind :
       {SmootherKind::first_kind, SmootherKind::fourth_kind, SmootherKind::optimal_fourth_kind})
    for (int degree : {1, 2, 3, 5, 10}) {
      const auto weights = smoothing_weights({kind, degree, 16, 1.05}, lmax);
      const SmoothedSystem<TestType, double, DiagonalOperator<TestType>,
                           PointJacobi<TestType, double>>
          system{matrix, jacobi, held, scratch};
      for (bool from_zero : {true, false}) {
        auto x = upload(exec, "test::x", from_zero ? garbage : start),
             next = upload(exec, "test::next", garbage);
        if (from_zero)
          smooth_from_zero(exec, system, weights, b, x, next);
        else
          smooth(exec, system, weights, b, x, next);
        const auto result = host_values(x);
        double worst = 0;
        for (int i = 0; i < n; ++i) {
          double p = 1;
          for (double w : weights)
            p *= 1 - w * eigenvalue[i];
          const double before = (from_zero ? 0 : start[i]) - solution[i];
          worst = std::max(worst, std::abs(result[i] - solution[i] - p * before));
        }
        INFO("degree " << degree);
        CHECK(worst < 1e-12);
      }
    }
}

template<class Exec, template<class> class Operator>
std::vector<double> smooth_voxels(const Exec& exec, const reference::Model& model,
                                  const std::vector<std::uint8_t>& mask, std::uint64_t seed,
                                  std::vector<double>* right_hand_side = nullptr) {
  const auto material = ossatura::test::upload_material(exec, model);
  const auto grid = make_voxel_grid(exec, material.solid());
  const auto lame = make_lame_field(exec, grid, material);
  const Operator<Exec> matrix(exec, grid, lame, 1);
  const PointJacobi<Exec, double> jacobi{make_inverse_diagonal<double>(exec, grid, lame, 1)};
  const auto held = make_constraints(exec, upload(exec, "test::mask", mask));
  const std::int64_t n = grid.num_dofs();
  const auto b = make_zeros<double>(exec, n, "test::b"),
             scratch = make_zeros<double>(exec, n, "test::scratch");
  fill_random(exec, seed, b);
  clear(exec, held, b);
  auto x = make_zeros<double>(exec, n, "test::x"), next = make_zeros<double>(exec, n, "test::next");
  const SmoothedSystem<Exec, double, Operator<Exec>, PointJacobi<Exec, double>> system{
      matrix, jacobi, held.mask, scratch};
  const auto weights = smoothing_weights(SmootherOptions(), 3);
  smooth_from_zero(exec, system, weights, b, x, next);
  smooth(exec, system, weights, b, x, next);
  if (right_hand_side)
    *right_hand_side = host_values(b);
  return host_values(x);
}

OSSATURA_BACKEND_TEST("Smoothing voxels is symmetric and keeps held components at zero",
                      "[polynomial_smoother]") {
  const TestType exec;
  const auto model = reference::random_model({6, 5, 7}, 0.6, 1e3, 0.3, 0.3, 2);
  const auto grid = make_voxel_grid(exec, ossatura::test::upload_material(exec, model).solid());
  std::vector<std::uint8_t> mask(grid.num_nodes);
  for (int i = 0; i < 20; ++i)
    mask[i] = std::uint8_t(i % 8);
  std::vector<double> b, c;
  const auto sb = smooth_voxels<TestType, GatherOperator>(exec, model, mask, 1, &b),
             sc = smooth_voxels<TestType, GatherOperator>(exec, model, mask, 2, &c);
  double first = 0, second = 0, own = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    first += sb[i] * c[i];
    second += b[i] * sc[i];
    own += sb[i] * b[i];
  }
  CHECK(first == Approx(second).epsilon(1e-12));
  CHECK(own > 0);
  for (int i = 0; i < 60; ++i)
    if (mask[i / 3] >> i % 3 & 1)
      CHECK(sb[i] == 0);
  const auto offset = smooth_voxels<TestType, OffsetOperator>(exec, model, mask, 1);
  CHECK(reference::relative_difference(offset, sb) < 1e-13);
}

OSSATURA_BACKEND_TEST("Blocks without couplings are the inverse diagonal of the blocks",
                      "[polynomial_smoother]") {
  const TestType exec;
  // Two blocks by hand, xx, yy, zz, xy, yz, zx: [4 1 0; 1 2 0; 0 0 5] and one with y held.
  const double determinant = 7;
  const BlockJacobi<TestType, double> jacobi{
      upload(exec, "test::blocks",
             std::vector<double>{2 / determinant, 4 / determinant, 1. / 5, -1 / determinant, 0, 0,
                                 3. / 5, 0, 2. / 5, 0, 0, -1. / 5})};
  drop_couplings(exec, jacobi);
  const std::vector<double> expected{1. / 4, 1. / 2, 1. / 5, 0, 0, 0, // [2 . 1; . . .; 1 . 3]
                                     1. / 2, 0,      1. / 3, 0, 0, 0};
  const auto values = host_values(jacobi.blocks);
  for (int k = 0; k < 12; ++k)
    CHECK(values[k] == Approx(expected[k]).margin(1e-15));
}

} // namespace
