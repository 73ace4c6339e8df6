// SPDX-License-Identifier: Apache-2.0
// Displacements that are polynomials of the position, with the body forces that hold them in
// balance, and their coefficients in products of one-dimensional functions. The standard library
// only.
#pragma once

#include "tests/reference/hierarchic_element.hpp"

#include <array>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace reference {

/// Coefficients of x^a y^b z^c at (a size + b) size + c.
struct SpatialPolynomial {
  int size;
  std::vector<double> coefficient;

  explicit SpatialPolynomial(int degree)
      : size(degree + 1)
      , coefficient(std::size_t(size * size * size), 0.0) {}

  double& at(int a, int b, int c) { return coefficient[std::size_t((a * size + b) * size + c)]; }
  double at(int a, int b, int c) const {
    return coefficient[std::size_t((a * size + b) * size + c)];
  }
  double operator()(const double* x) const {
    double in_x = 0;
    for (int a = size; a-- > 0;) {
      double in_y = 0;
      for (int b = size; b-- > 0;) {
        double in_z = 0;
        for (int c = size; c-- > 0;)
          in_z = in_z * x[2] + at(a, b, c);
        in_y = in_y * x[1] + in_z;
      }
      in_x = in_x * x[0] + in_y;
    }
    return in_x;
  }
  SpatialPolynomial derivative(int axis) const {
    SpatialPolynomial d(size - 1);
    for (int a = 0; a < size; ++a)
      for (int b = 0; b < size; ++b)
        for (int c = 0; c < size; ++c) {
          const int n = axis == 0 ? a : axis == 1 ? b : c;
          if (n > 0)
            d.at(a - (axis == 0), b - (axis == 1), c - (axis == 2)) = n * at(a, b, c);
        }
    return d;
  }
};

/// A displacement of an isotropic solid with a modulus of 1.
struct PolynomialField {
  double poisson;
  std::vector<SpatialPolynomial> u; ///< three

  double lambda() const { return poisson / ((1 + poisson) * (1 - 2 * poisson)); }
  double mu() const { return 0.5 / (1 + poisson); }

  /// -div sigma = -(lambda + mu) grad div u - mu Laplace u, three polynomials.
  std::vector<SpatialPolynomial> body_force() const {
    std::vector<SpatialPolynomial> force;
    for (int i = 0; i < 3; ++i) {
      SpatialPolynomial sum(u[0].size - 1);
      for (int k = 0; k < 3; ++k) {
        const SpatialPolynomial mixed = u[std::size_t(k)].derivative(k).derivative(i),
                                second = u[std::size_t(i)].derivative(k).derivative(k);
        for (std::size_t j = 0; j < sum.coefficient.size(); ++j)
          sum.coefficient[j] -=
              (lambda() + mu()) * mixed.coefficient[j] + mu() * second.coefficient[j];
      }
      force.push_back(sum);
    }
    return force;
  }
};

/// All monomials of total degree up to `degree`, with coefficients in [-1, 1].
inline PolynomialField random_field(int degree, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  PolynomialField field{0.3, {}};
  for (int i = 0; i < 3; ++i) {
    SpatialPolynomial u(degree);
    for (int a = 0; a <= degree; ++a)
      for (int b = 0; a + b <= degree; ++b)
        for (int c = 0; a + b + c <= degree; ++c)
          u.at(a, b, c) = uniform(random);
    field.u.push_back(u);
  }
  return field;
}

/// The matrix of which row k are the values of the functions 0 .. order at node k, inverted.
inline std::vector<long double> inverse_of_basis(int order, bool orthonormal,
                                                 const std::vector<double>& node) {
  const std::size_t n = std::size_t(order) + 1;
  std::vector<long double> a(n * n), inverse(n * n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    const Polynomial p = hierarchic_polynomial(int(j), orthonormal);
    for (std::size_t k = 0; k < n; ++k)
      a[k * n + j] = evaluate(p, node[k]);
    inverse[j * n + j] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k]))
        pivot = i;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(inverse[k * n + j], inverse[pivot * n + j]);
    }
    const long double scale = 1 / a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) {
      a[k * n + j] *= scale;
      inverse[k * n + j] *= scale;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i == k ? 0 : a[i * n + k];
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return inverse;
}

/// Coefficients [order + 1, order + 1, order + 1] of a polynomial of the position on the hexahedron
/// with these corners [8, 3] (order of VTK), by interpolation; exact where the map leaves it a
/// polynomial of that order along each axis.
inline std::vector<double> basis_coefficients(int order, bool orthonormal,
                                              const std::vector<double>& corner,
                                              const SpatialPolynomial& u) {
  const std::size_t n = std::size_t(order) + 1;
  std::vector<double> node;
  for (std::size_t k = 0; k < n; ++k)
    node.push_back(-std::cos(3.14159265358979323846 * double(k) / order));
  const std::vector<long double> inverse = inverse_of_basis(order, orthonormal, node);
  std::vector<long double> value(n * n * n);
  for (std::size_t k = 0; k < value.size(); ++k) {
    const double s[3] = {node[k / (n * n)], node[k / n % n], node[k % n]};
    double x[3] = {0, 0, 0};
    for (int a = 0; a < 8; ++a) {
      const double along[3] = {1 + (((a + 1) & 2) != 0 ? s[0] : -s[0]),
                               1 + ((a & 2) != 0 ? s[1] : -s[1]),
                               1 + ((a & 4) != 0 ? s[2] : -s[2])};
      for (std::size_t i = 0; i < 3; ++i)
        x[i] += corner[3 * std::size_t(a) + i] * along[0] * along[1] * along[2] / 8;
    }
    value[k] = u(x);
  }
  for (std::size_t stride : {n * n, n, std::size_t(1)}) {
    std::vector<long double> next(value.size(), 0);
    for (std::size_t k = 0; k < value.size(); ++k) {
      const std::size_t i = k / stride % n, first = k - i * stride;
      for (std::size_t j = 0; j < n; ++j)
        next[k] += inverse[i * n + j] * value[first + j * stride];
    }
    value = next;
  }
  return {value.begin(), value.end()};
}

} // namespace reference
