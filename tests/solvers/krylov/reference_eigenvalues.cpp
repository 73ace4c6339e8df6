// SPDX-License-Identifier: Apache-2.0
// The oracle's eigenvalues against Eigen.
#include "tests/catch.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"

#include <Eigen/Dense>

namespace {

TEST_CASE("The oracle's eigenvalues are Eigen's", "[reference]") {
  const int n = 30;
  std::srand(4);
  const Eigen::MatrixXd factor = Eigen::MatrixXd::Random(n, 25), a = factor * factor.transpose();
  const Eigen::VectorXd expected = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a).eigenvalues();
  const auto values =
      reference::symmetric_eigenvalues(std::vector<double>(a.data(), a.data() + a.size()), n);
  for (int i = 0; i < n; ++i)
    CHECK(values[i] == Approx(expected(i)).margin(1e-12 * expected(n - 1)));
}

} // namespace
