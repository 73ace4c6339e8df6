// SPDX-License-Identifier: Apache-2.0
// The closed form of the trilinear cube against numerical integration and exact figures.
#include "tests/catch.hpp"
#include "tests/reference/voxel_reference.hpp"
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <Eigen/Dense>

namespace {

using namespace ossatura;
using Matrix = Eigen::Matrix<double, 24, 24>;
using Vector = Eigen::Matrix<double, 24, 1>;

Matrix entries(double modulus, double poisson, double h) {
  const LamePerModulus lame = lame_per_modulus(poisson);
  const VoxelStiffnessEntries<double> k(h * modulus * lame.lambda, h * modulus * lame.mu);
  Matrix matrix;
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j)
      matrix(i, j) = k(i / 3, i % 3, j / 3, j % 3);
  return matrix;
}

/// Column by column through the product.
Matrix products(double modulus, double poisson, double h) {
  const LamePerModulus lame = lame_per_modulus(poisson);
  Matrix matrix = Matrix::Identity();
  for (int j = 0; j < 24; ++j)
    apply_voxel_stiffness(h * modulus * lame.lambda, h * modulus * lame.mu, matrix.col(j).data());
  return matrix;
}

Matrix quadrature(double modulus, double poisson, double h) {
  const reference::ElementMatrix k = reference::element_matrix(modulus, poisson, h);
  Matrix matrix;
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < 24; ++j)
      matrix(i, j) = k[i][j];
  return matrix;
}

/// u = gradient * x at the vertices of a cube of edge h.
Vector linear_field(const Eigen::Matrix3d& gradient, double h) {
  Vector u;
  for (int v = 0; v < 8; ++v)
    u.segment<3>(3 * v) = gradient * Eigen::Vector3d(v & 1, v >> 1 & 1, v >> 2) * h;
  return u;
}

constexpr double poisson_ratios[] = {-0.9, -0.5, 0, 0.2, 0.3, 0.49, 0.4999};

TEST_CASE("Product and entries of the cube are the integral of B^T D B", "[voxel_element]") {
  for (double poisson : poisson_ratios)
    for (double h : {1.0, 0.034}) {
      const Matrix expected = quadrature(17.5, poisson, h);
      const double scale = expected.cwiseAbs().maxCoeff();
      INFO("Poisson's ratio " << poisson << ", edge " << h);
      CHECK((entries(17.5, poisson, h) - expected).cwiseAbs().maxCoeff() < 1e-14 * scale);
      CHECK((products(17.5, poisson, h) - expected).cwiseAbs().maxCoeff() < 1e-14 * scale);
    }
}

TEST_CASE("Entries and diagonal of the cube are the published ones", "[voxel_element]") {
  // The 14 values of the first row times E h / (144 (1 + nu)(1 - 2 nu)), by computer algebra, with
  // the vertices counted round the faces: (0,0,0), (1,0,0), (1,1,0), (0,1,0), then the same above.
  const double nu = 0.3, E = 1;
  const double a = 32 - 48 * nu, b = 24 * nu - 6, c = 12 * nu - 10, d = 12 * nu - 3,
               e = 12 * nu - 4, g = 12 * nu - 8;
  const double row[24] = {a, 6, 6,  -8, b, b,  c, -6, d,  4, -b, 3,
                          4, 3, -b, c,  d, -6, g, -3, -3, e, -d, -d};
  const int around[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  const Matrix k = entries(E, nu, 1);
  for (int j = 0; j < 24; ++j)
    CHECK(k(0, 3 * around[j / 3] + j % 3) ==
          Approx(row[j] * E / (144 * (1 + nu) * (1 - 2 * nu))).epsilon(1e-14));
  CHECK(k(0, 0) == Approx(55. / 234).epsilon(1e-14));
  CHECK(k.trace() == Approx(220. / 39).epsilon(1e-14));
  CHECK(k.norm() == Approx(1.72402929521).epsilon(1e-11));
  const LamePerModulus lame = lame_per_modulus(nu);
  const VoxelStiffnessEntries<double> closed(lame.lambda, lame.mu);
  for (int i = 0; i < 24; ++i)
    CHECK(k(i, i) == closed.diagonal());
}

TEST_CASE("The spectrum of the cube has six zeros and the exact values", "[voxel_element]") {
  const double expected[24] = {0,       0,       0,         0,         0,         0,
                               5. / 78, 5. / 78, 55. / 468, 55. / 468, 55. / 468, 5. / 26,
                               5. / 26, 5. / 26, 10. / 39,  5. / 13,   5. / 13,   5. / 13,
                               5. / 13, 5. / 13, 5. / 13,   5. / 13,   5. / 13,   5. / 4};
  const Vector values = Eigen::SelfAdjointEigenSolver<Matrix>(products(1, 0.3, 1)).eigenvalues();
  for (int i = 0; i < 24; ++i)
    CHECK(values(i) == Approx(expected[i]).margin(1e-13));
  for (double poisson : poisson_ratios) {
    const Vector any = Eigen::SelfAdjointEigenSolver<Matrix>(products(1, poisson, 1)).eigenvalues();
    INFO("Poisson's ratio " << poisson);
    CHECK(any(5) < 1e-12 * any(23));
    CHECK(any(0) > -1e-12 * any(23));
    CHECK(any(6) > 1e-6 * any(23));
  }
}

TEST_CASE("Rigid motions of the cube cause no force", "[voxel_element]") {
  for (double poisson : poisson_ratios) {
    const Matrix k = products(3, poisson, 0.5);
    for (int axis = 0; axis < 3; ++axis) {
      Vector translation = Vector::Zero();
      for (int v = 0; v < 8; ++v)
        translation(3 * v + axis) = 1;
      Eigen::Matrix3d spin = Eigen::Matrix3d::Zero();
      spin((axis + 1) % 3, axis) = 1;
      spin(axis, (axis + 1) % 3) = -1;
      CHECK((k * translation).cwiseAbs().maxCoeff() < 1e-14 * k.norm());
      CHECK((k * linear_field(spin, 0.5)).cwiseAbs().maxCoeff() < 1e-14 * k.norm());
    }
  }
}

TEST_CASE("The cube's matrix is symmetric", "[voxel_element]") {
  for (double poisson : poisson_ratios) {
    const Matrix k = entries(1, poisson, 1), p = products(1, poisson, 1);
    CHECK((k - k.transpose()).cwiseAbs().maxCoeff() == 0); // by construction
    CHECK((p - p.transpose()).cwiseAbs().maxCoeff() < 1e-15 * p.norm());
  }
}

TEST_CASE("The energy of a constant strain is that of the continuum", "[voxel_element]") {
  Eigen::Matrix3d gradient;
  gradient << 0.3, -0.7, 0.2, 0.5, -0.4, 0.9, -0.1, 0.6, 0.8;
  const Eigen::Matrix3d strain = (gradient + gradient.transpose()) / 2;
  for (double poisson : poisson_ratios) {
    const double h = 0.25, E = 12;
    const LamePerModulus lame = lame_per_modulus(poisson);
    const double density =
        E * (lame.lambda / 2 * strain.trace() * strain.trace() + lame.mu * strain.squaredNorm());
    Vector u = linear_field(gradient, h);
    CHECK(u.dot(entries(E, poisson, h) * u) / 2 == Approx(density * h * h * h).epsilon(1e-12));
    Vector force = u;
    apply_voxel_stiffness(h * E * lame.lambda, h * E * lame.mu, force.data());
    CHECK(u.dot(force) / 2 == Approx(density * h * h * h).epsilon(1e-12));
  }
}

TEST_CASE("In the modes of the cube the matrix has 45 non-zero entries", "[voxel_element]") {
  Matrix hadamard;
  for (int p = 0; p < 8; ++p)
    for (int v = 0; v < 8; ++v) {
      int minus = 0;
      for (int d = 0; d < 3; ++d)
        minus += (p >> d & 1) && !(v >> d & 1);
      hadamard.block<3, 3>(3 * p, 3 * v) = Eigen::Matrix3d::Identity() * (minus % 2 ? -1 : 1);
    }
  const Matrix modes = hadamard * quadrature(1, 0.3, 1) * hadamard.transpose();
  CHECK((modes.cwiseAbs().array() > 1e-12 * modes.norm()).count() == 45);

  // and the transforms are that matrix and its transpose
  Matrix forth = Matrix::Identity(), back = Matrix::Identity();
  for (int j = 0; j < 24; ++j)
    for (int c = 0; c < 3; ++c) {
      detail::transform_vertices(forth.col(j).data() + c);
      detail::transform_modes(back.col(j).data() + c);
    }
  CHECK(forth == hadamard);
  CHECK(back == Matrix(hadamard.transpose()));
}

TEST_CASE("The bound of the scaled spectrum is the cube's largest eigenvalue", "[voxel_element]") {
  for (double poisson : {-0.9, -0.5, 0.0, 0.1, 0.2, 0.22, 0.25, 0.3, 0.4, 0.49}) {
    const Matrix k = quadrature(1, poisson, 1);
    Matrix blocks = Matrix::Zero();
    for (int v = 0; v < 24; v += 3)
      blocks.block<3, 3>(v, v) = k.block<3, 3>(v, v);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(k, blocks);
    const LamePerModulus lame = lame_per_modulus(poisson);
    INFO("Poisson's ratio " << poisson);
    CHECK(largest_scaled_eigenvalue(lame.lambda, lame.mu) ==
          Approx(solver.eigenvalues().maxCoeff()).epsilon(1e-10));
  }
}

TEST_CASE("The product in single precision loses no more than rounding", "[voxel_element]") {
  const Matrix k = quadrature(2, 0.3, 1);
  const LamePerModulus lame = lame_per_modulus(0.3);
  for (int j = 0; j < 24; ++j) {
    float u[24] = {};
    u[j] = 1;
    apply_voxel_stiffness(float(2 * lame.lambda), float(2 * lame.mu), u);
    for (int i = 0; i < 24; ++i)
      CHECK(std::abs(u[i] - k(i, j)) < 1e-6 * k(0, 0));
  }
}

TEST_CASE("Poisson's ratios outside (-1, 0.5) are rejected", "[voxel_element]") {
  for (double poisson : {-1.0, -2.0, 0.5, 0.7, std::nan("")})
    CHECK_THROWS_AS(lame_per_modulus(poisson), std::invalid_argument);
}

} // namespace
