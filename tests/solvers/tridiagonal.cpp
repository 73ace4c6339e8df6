// SPDX-License-Identifier: BSD-3-Clause
// The largest eigenvalue of tridiagonal matrices against Eigen.
#include "solvers/lanczos.hpp"
#include "tests/catch.hpp"

#include <Eigen/Eigenvalues>
#include <random>

namespace {

double by_eigen(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal) {
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(
      Eigen::Map<const Eigen::VectorXd>(diagonal.data(), diagonal.size()),
      Eigen::Map<const Eigen::VectorXd>(off_diagonal.data(), off_diagonal.size()),
      Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff();
}

TEST_CASE("The largest eigenvalue of a tridiagonal matrix is found by bisection", "[tridiagonal]") {
  std::mt19937 random(1);
  for (int n : {1, 2, 3, 12, 50})
    for (int round = 0; round < 10; ++round) {
      std::vector<double> diagonal, off_diagonal;
      for (int i = 0; i < n; ++i) {
        const double grade = round < 5 ? 1 : std::pow(10.0, -i % 9);
        diagonal.push_back(grade * (2.1 + random() / 4294967296.0));
        if (i > 0) // diagonally dominant, hence positive; some blocks fall apart
          off_diagonal.push_back(random() % 5 == 0 ? 0 : grade * (random() / 2147483648.0 - 1));
      }
      CHECK(femura::largest_tridiagonal_eigenvalue(diagonal, off_diagonal) ==
            Approx(by_eigen(diagonal, off_diagonal)).epsilon(1e-13));
    }
}

TEST_CASE("The largest eigenvalue of the second difference is the closed form", "[tridiagonal]") {
  for (int n : {1, 2, 10, 100})
    CHECK(femura::largest_tridiagonal_eigenvalue(std::vector<double>(n, 2),
                                                 std::vector<double>(n - 1, -1)) ==
          Approx(2 + 2 * std::cos(3.14159265358979323846 / (n + 1))).epsilon(1e-13));
}

} // namespace
