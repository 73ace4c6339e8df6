// SPDX-License-Identifier: BSD-3-Clause
// The dense inverse against Eigen, and as a generalised inverse where the matrix is singular.
#include "solvers/dense_inverse.hpp"
#include "tests/catch.hpp"
#include "tests/reference/symmetric_eigenvalues.hpp"
#include "tests/reference/voxel_reference.hpp"

#include <Eigen/Dense>

namespace {

using namespace femura;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix invert(const Matrix& a) {
  const std::vector<double> inverse =
      invert_semidefinite(std::vector<double>(a.data(), a.data() + a.size()), a.rows());
  return Eigen::Map<const Matrix>(inverse.data(), a.rows(), a.cols());
}

/// Random symmetric positive semidefinite of the given rank.
Matrix random_matrix(int n, int rank, unsigned seed) {
  std::mt19937 random(seed);
  Matrix factor(n, rank);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < rank; ++j)
      factor(i, j) = random() / 2147483648.0 - 1;
  return factor * factor.transpose();
}

/// The stiffness matrix of a model on the lattice, without constraints.
Matrix stiffness(const reference::Model& model) {
  const reference::SparseMatrix k = reference::assemble(model);
  Matrix dense = Matrix::Zero(model.num_dofs(), model.num_dofs());
  for (std::size_t i = 0; i < k.row.size(); ++i)
    for (const auto& [j, value] : k.row[i])
      dense(i, j) = value;
  return dense;
}

TEST_CASE("Positive definite matrices are inverted", "[dense_inverse]") {
  for (int n : {1, 2, 7, 40, 121}) {
    Matrix a = random_matrix(n, n, n);
    a.diagonal().array() += 0.1;
    const Matrix expected = a.llt().solve(Matrix::Identity(n, n));
    CHECK((invert(a) - expected).norm() < 1e-11 * expected.norm());
  }
}

TEST_CASE("Rows of zeros stay out of the inverse", "[dense_inverse]") {
  Matrix a = random_matrix(9, 9, 3);
  const int held[] = {0, 4, 8};
  for (int i : held) {
    a.row(i).setZero();
    a.col(i).setZero();
  }
  const Matrix x = invert(a);
  for (int i : held) {
    CHECK(x.row(i).norm() == 0);
    CHECK(x.col(i).norm() == 0);
  }
  CHECK((a * x * a - a).norm() < 1e-12 * a.norm());
  CHECK(x.norm() > 0);
}

TEST_CASE("Singular matrices get a symmetric semidefinite generalised inverse", "[dense_inverse]") {
  for (int rank : {1, 5, 19}) {
    const Matrix a = random_matrix(20, rank, 30 + rank), x = invert(a);
    INFO("rank " << rank);
    CHECK((a * x * a - a).norm() < 1e-10 * a.norm());
    CHECK(x == Matrix(x.transpose()));
    CHECK(Eigen::SelfAdjointEigenSolver<Matrix>(x).eigenvalues()(0) > -1e-12 * x.norm());
  }
}

TEST_CASE("Floating voxels lose their rigid motions and nothing else", "[dense_inverse]") {
  // Two bodies that do not touch, of very different moduli: 12 rigid motions.
  reference::Model model = reference::homogeneous({5, 2, 1}, 0, 0.3, 0.1);
  for (int x : {0, 1, 3, 4})
    for (int y : {0, 1})
      model.modulus[model.voxel(x, y, 0)] = x < 2 ? 1e4 : 1e-2;
  const Matrix k = stiffness(model), inverse = invert(k);
  int used = 0;
  for (int i = 0; i < inverse.rows(); ++i)
    used += inverse(i, i) > 0;
  CHECK(used == model.num_dofs() - 12);
  CHECK((k * inverse * k - k).norm() < 1e-10 * k.norm());
  // also for the soft body alone, to its own scale
  Matrix soft = Matrix::Zero(k.rows(), k.cols());
  for (int i = 0; i < k.rows(); ++i)
    for (int j = 0; j < k.cols(); ++j)
      if (model.site(i / 3)[0] >= 3 && model.site(j / 3)[0] >= 3)
        soft(i, j) = k(i, j);
  CHECK((soft * inverse * soft - soft).norm() < 1e-10 * soft.norm());
}

TEST_CASE("The oracle's eigenvalues are Eigen's", "[dense_inverse]") {
  const Matrix a = random_matrix(30, 25, 4);
  const Eigen::VectorXd expected = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues();
  const auto values =
      reference::symmetric_eigenvalues(std::vector<double>(a.data(), a.data() + a.size()), 30);
  for (int i = 0; i < 30; ++i)
    CHECK(values[i] == Approx(expected(i)).margin(1e-12 * expected(29)));
}

} // namespace
