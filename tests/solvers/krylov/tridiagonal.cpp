// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of tridiagonal matrices against Eigen.
#include "tests/catch.hpp"
#include <ossatura/solvers/krylov/lanczos.hpp>

#include <Eigen/Eigenvalues>
#include <Kokkos_MathematicalConstants.hpp>
#include <random>

namespace {

Eigen::VectorXd by_eigen(const std::vector<double>& diagonal,
                         const std::vector<double>& off_diagonal) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(
      Eigen::Map<const Eigen::VectorXd>(diagonal.data(), diagonal.size()),
      Eigen::Map<const Eigen::VectorXd>(off_diagonal.data(), off_diagonal.size()),
      Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

TEST_CASE("The eigenvalues of a tridiagonal matrix are found by bisection", "[tridiagonal]") {
  std::mt19937 random(1);
  for (int n : {1, 2, 3, 12, 50})
    for (int round = 0; round < 10; ++round) {
      std::vector<double> diagonal, off_diagonal;
      for (int i = 0; i < n; ++i) {
        const auto grade_of = [&](int j) { return round < 5 ? 1 : std::pow(10.0, -j % 9); };
        const double grade = grade_of(i), least = std::min(grade, grade_of(std::max(i - 1, 0)));
        diagonal.push_back(grade * (2.1 + random() / 4294967296.0));
        if (i > 0) // diagonally dominant, hence positive; some blocks fall apart
          off_diagonal.push_back(random() % 5 == 0 ? 0 : least * (random() / 2147483648.0 - 1));
      }
      const Eigen::VectorXd expected = by_eigen(diagonal, off_diagonal);
      const double scale = expected.maxCoeff();
      for (int k = 0; k < n; ++k)
        CHECK(std::abs(ossatura::tridiagonal_eigenvalue(diagonal, off_diagonal, k) - expected[k]) <
              1e-13 * scale);
    }
}

TEST_CASE("The eigenvalues of the second difference are the closed form", "[tridiagonal]") {
  for (int n : {1, 2, 10, 100})
    for (int k = 0; k < n; ++k)
      CHECK(ossatura::tridiagonal_eigenvalue(std::vector<double>(n, 2),
                                             std::vector<double>(n - 1, -1), k) ==
            Approx(2 - 2 * std::cos((k + 1) * Kokkos::numbers::pi / (n + 1))).epsilon(1e-10));
}

} // namespace
