// SPDX-License-Identifier: BSD-3-Clause
// The smoother against Chebyshev's polynomials, and its symmetry on voxels.
#include "solvers/chebyshev.hpp"
#include "kernels/constraints.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/gather_operator.hpp"
#include "tests/backend_test.hpp"
#include "tests/kernels/lattice.hpp"
#include "tests/solvers/diagonal_matrix.hpp"

namespace {

using namespace femura;
using femura::test::host_values;

/// T_k(t) by the closed forms for |t| <= 1 and t > 1.
double chebyshev(int k, double t) {
  if (std::abs(t) <= 1)
    return std::cos(k * std::acos(t));
  const double sign = t < 0 && k % 2 == 1 ? -1 : 1;
  return sign * std::cosh(k * std::acosh(std::abs(t)));
}

/// A diagonal matrix whose eigenvalues after Jacobi's scaling are known.
template<class Exec>
struct Spectrum {
  static constexpr int num_nodes = 40;
  static constexpr double lmax = 2.5;
  std::vector<double> eigenvalue, weight, entries, solution;

  Spectrum() {
    for (int i = 0; i < 3 * num_nodes; ++i) {
      eigenvalue.push_back(1.05 * lmax * (i + 1) / (3 * num_nodes));
      if (i % 3 == 0)
        weight.push_back(0.3 + 0.05 * i);
      entries.push_back(eigenvalue[i] / weight[i / 3]);
      solution.push_back(std::sin(i) + 2);
    }
  }
  /// Error after one smoothing of A x = A solution from `start`.
  std::vector<double> smooth(const Exec& exec, const ChebyshevOptions& options,
                             const std::vector<double>& start, bool from_zero) const {
    const auto a = upload(exec, "test::a", entries), x = upload(exec, "test::x", start),
               b = make_zeros<double>(exec, entries.size(), "test::b"),
               p = make_zeros<double>(exec, entries.size(), "test::p"),
               q = make_zeros<double>(exec, entries.size(), "test::q");
    femura::test::multiply_entries(exec, a, upload(exec, "test::solution", solution), b);
    // Scratch is not read before it is written.
    Kokkos::deep_copy(exec, p, std::nan(""));
    Kokkos::deep_copy(exec, q, std::nan(""));
    chebyshev_smooth(
        exec, options, lmax, upload(exec, "test::inverse", weight),
        [&](const auto& u, const auto& v) { femura::test::multiply_entries(exec, a, u, v); }, b, x,
        from_zero, p, q);
    exec.fence();
    std::vector<double> error = host_values(x);
    for (std::size_t i = 0; i < error.size(); ++i)
      error[i] -= solution[i];
    return error;
  }
};

FEMURA_BACKEND_TEST("The smoother of degree k is Chebyshev's polynomial of degree k",
                    "[chebyshev]") {
  const Spectrum<TestType> spectrum;
  for (double ratio : {4.0, 16.0, 30.0})
    for (int degree : {1, 2, 3, 5, 10}) {
      const double high = 1.05 * spectrum.lmax, low = spectrum.lmax / ratio;
      const double centre = (high + low) / 2, half_width = (high - low) / 2;
      std::vector<double> start(spectrum.entries.size()), garbage(start.size(), std::nan(""));
      for (std::size_t i = 0; i < start.size(); ++i)
        start[i] = std::cos(3.0 * i);
      const auto from_zero = spectrum.smooth(TestType(), {degree, ratio}, garbage, true);
      const auto from_start = spectrum.smooth(TestType(), {degree, ratio}, start, false);
      double largest = 0, top = 0;
      for (std::size_t i = 0; i < start.size(); ++i) {
        const double l = spectrum.eigenvalue[i];
        const double factor =
            chebyshev(degree, (centre - l) / half_width) / chebyshev(degree, centre / half_width);
        largest = std::max(largest, std::abs(from_zero[i] + factor * spectrum.solution[i]));
        largest =
            std::max(largest, std::abs(from_start[i] - factor * (start[i] - spectrum.solution[i])));
        if (l >= low)
          top = std::max(top, std::abs(from_zero[i] / spectrum.solution[i]));
      }
      INFO("degree " << degree << ", ratio " << ratio);
      CHECK(largest < 1e-13);
      CHECK(top <= (1 + 1e-12) / chebyshev(degree, centre / half_width));
    }
}

template<class Exec>
struct VoxelSmoother {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Constraints<Exec> held;
  GatherOperator<Exec> matrix;
  Array<double, Exec> inverse_diagonal;

  /// x = S b: one smoothing from zero.
  Array<double, Exec> operator()(const Exec& exec, const Array<double, Exec>& b) const {
    const std::int64_t n = grid.num_dofs();
    const auto x = make_zeros<double>(exec, n, "test::x"),
               p = make_zeros<double>(exec, n, "test::p"),
               q = make_zeros<double>(exec, n, "test::q");
    chebyshev_smooth(
        exec, ChebyshevOptions(), 3.0, inverse_diagonal,
        [&](const auto& u, const auto& v) {
          matrix.apply(exec, u, v);
          clear(exec, held, v);
        },
        b, x, true, p, q);
    return x;
  }
};

FEMURA_BACKEND_TEST("The smoother is symmetric and keeps held components at zero", "[chebyshev]") {
  const TestType exec;
  const auto model = reference::random_model({6, 5, 7}, 0.6, 1e3, 0.3, 0.3, 2);
  const auto material = femura::test::upload_material(exec, model);
  const auto grid = make_voxel_grid(exec, material.solid());
  const auto lame = make_lame_field(exec, grid, material);
  std::vector<std::uint8_t> mask(grid.num_nodes);
  for (int i = 0; i < 20; ++i)
    mask[i] = std::uint8_t(i % 8);
  const VoxelSmoother<TestType> smooth{grid, lame,
                                       make_constraints(exec, upload(exec, "test::mask", mask)),
                                       GatherOperator<TestType>(exec, grid, lame, 1),
                                       make_inverse_diagonal<double>(exec, grid, lame, 1)};
  const auto b = make_zeros<double>(exec, grid.num_dofs(), "test::b"),
             c = make_zeros<double>(exec, grid.num_dofs(), "test::c");
  fill_random(exec, 1, b);
  fill_random(exec, 2, c);
  clear(exec, smooth.held, b);
  clear(exec, smooth.held, c);
  const auto sb = smooth(exec, b), sc = smooth(exec, c);
  CHECK(dot(exec, sb, c) == Approx(dot(exec, b, sc)).epsilon(1e-12));
  CHECK(dot(exec, sb, b) > 0);
  const auto values = host_values(sb);
  for (int i = 0; i < 60; ++i)
    if (mask[i / 3] >> i % 3 & 1)
      CHECK(values[i] == 0);
}

} // namespace
