// SPDX-License-Identifier: Apache-2.0
// Rotations of 3 x 3 matrices, singular and inverted ones too, made from their singular values.
#include "tests/catch.hpp"
#include <ossatura/kernels/softbody/elements/polar_rotation.hpp>

#include <Eigen/Geometry>

#include <cmath>
#include <random>

namespace {

using namespace ossatura;

Matrix3 from_eigen(const Eigen::Matrix3d& a) {
  Matrix3 m;
  for (int i = 0; i < 9; ++i)
    m(i / 3, i % 3) = a(i / 3, i % 3);
  return m;
}

double distance(const Matrix3& a, const Matrix3& b) {
  const Matrix3 d = a + (-1) * b;
  return std::sqrt(inner(d, d));
}

const Matrix3 identity = from_eigen(Eigen::Matrix3d::Identity());

/// u diag(s) v^T with random rotations u and v.
struct Stretched {
  Eigen::Matrix3d f, nearest;

  Stretched(std::mt19937& random, double s0, double s1, double s2) {
    Eigen::Matrix3d q[2];
    for (Eigen::Matrix3d& r : q) {
      const auto number = [&] { return random() / 2147483648.0 - 1; };
      r = Eigen::Quaterniond(number(), number(), number(), number()).normalized().matrix();
    }
    f = q[0] * Eigen::Vector3d(s0, s1, s2).asDiagonal() * q[1].transpose();
    nearest = q[0] * q[1].transpose(); // the sign goes to the smallest, s2
  }
};

TEST_CASE("The rotation of a matrix is that of its singular vectors", "[polar_rotation]") {
  std::mt19937 random(1);
  const double stretches[][3] = {{1, 1, 1},          {1.1, 1, 0.9},    {3, 1, 0.1},
                                 {1e-5, 9e-6, 8e-6}, {2e6, 1e6, 1e6},  {1, 1e-2, 1e-4},
                                 {1, 0.5, 1e-9},     {1, 0.5, 0},      {1, 0.7, -1e-3},
                                 {2, 1, -0.5},       {1e5, 5e4, -2e4}, {1, 0.2, -0.199}};
  for (const auto& s : stretches)
    for (int i = 0; i < 20; ++i) {
      const Stretched m(random, s[0], s[1], s[2]);
      INFO(s[0] << ' ' << s[1] << ' ' << s[2]);
      const Matrix3 r = polar_rotation(from_eigen(m.f));
      CHECK(distance(times_transposed(r, r), identity) < 1e-14);
      CHECK(determinant(r) == Approx(1).epsilon(1e-14));
      // The condition number of the nearest rotation is 1 / (s1 + s2).
      CHECK(distance(r, from_eigen(m.nearest)) < 1e-14 * s[0] / (s[1] + s[2]));
    }
}

TEST_CASE("Where several rotations are nearest, one of them is taken", "[polar_rotation]") {
  std::mt19937 random(2);
  const double stretches[][3] = {{1, 0, 0}, {0, 0, 0}, {1, 1, -1}, {2, 1, -1}, {1e-200, 0, 0}};
  for (const auto& s : stretches)
    for (int i = 0; i < 20; ++i) {
      const Stretched m(random, s[0], s[1], s[2]);
      const Matrix3 f = from_eigen(m.f), r = polar_rotation(f);
      CHECK(distance(times_transposed(r, r), identity) < 1e-14);
      CHECK(determinant(r) == Approx(1).epsilon(1e-14));
      CHECK(inner(r, f) == Approx(s[0] + s[1] + s[2]).margin(1e-14));
    }
  CHECK(distance(polar_rotation(zero_matrix()), identity) == 0);
}

TEST_CASE("A frame begins along its first edge, whatever the second", "[polar_rotation]") {
  const Vector3 edges[] = {{{0, 0, 0}}, {{1, 0, 0}}, {{-2, 0, 0}}, {{0, 3, 0}},
                           {{1, 2, 3}}, {{2, 4, 6}}, {{0, 0, -1}}, {{1e-9, 1, 0}}};
  for (const Vector3& a : edges)
    for (const Vector3& b : edges) {
      const Matrix3 q = edge_frame(a, b);
      CHECK(distance(transposed_times(q, q), identity) < 1e-14);
      CHECK(determinant(q) == Approx(1).epsilon(1e-14));
      CHECK(dot(q.column(0), a) == Approx(std::sqrt(dot(a, a))).margin(1e-14));
      CHECK(std::abs(dot(q.column(2), b)) < 1e-14 * (1 + std::sqrt(dot(b, b))));
      CHECK(dot(q.column(1), b) > -1e-14);
    }
}

} // namespace
