// SPDX-License-Identifier: Apache-2.0
// Every kind of soft element, and its force, stiffness and energy in the memory of the host.
#pragma once

#include <ossatura/kernels/softbody/elements/evaluate.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace ossatura::test {

struct SoftCase {
  ElementShape shape;
  SoftLaw law;
  SoftRotation rotation;

  bool is_hyperelastic() const { return law != SoftLaw::corotational; }
  /// Whether f is the derivative of the energy at every x.
  bool has_energy() const {
    return is_hyperelastic() || (rotation == SoftRotation::polar && shape != ElementShape::hexa);
  }
  std::string name() const {
    return std::string(name_of(shape)) + ' ' + name_of(law) + ' ' + name_of(rotation);
  }
};

inline std::vector<SoftCase> soft_cases() {
  std::vector<SoftCase> cases;
  for (SoftLaw law : name_table<SoftLaw>.without(SoftLaw::corotational))
    cases.push_back({ElementShape::tetra, law, SoftRotation::polar});
  for (ElementShape shape : {ElementShape::triangle, ElementShape::tetra, ElementShape::hexa})
    for (SoftRotation rotation : {SoftRotation::polar, SoftRotation::qr})
      cases.push_back({shape, SoftLaw::corotational, rotation});
  return cases;
}

inline SoftMaterial soft_material(const SoftCase& c) {
  SoftMaterial material;
  material.law = c.law;
  material.rotation = c.rotation;
  material.young = 3;
  material.poisson = 0.35;
  material.c1 = 0.4;
  material.c2 = 0.25;
  material.bulk = 5;
  material.thickness = 0.3;
  return material;
}

/// Numbers in [-scale, scale).
inline std::vector<double> random_numbers(std::size_t n, double scale, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(n);
  for (double& value : x)
    value = scale * (random() / 2147483648.0 - 1);
  return x;
}

inline std::vector<double> sum(const std::vector<double>& a, double scale,
                               const std::vector<double>& b) {
  std::vector<double> c(a);
  for (std::size_t i = 0; i < c.size(); ++i)
    c[i] += scale * b[i];
  return c;
}

inline double largest(const std::vector<double>& a) {
  double m = 0;
  for (double value : a)
    m = std::isfinite(value) ? std::max(m, std::abs(value)) : INFINITY;
  return m;
}

/// A rotation about no axis of coordinates.
inline Matrix3 test_rotation() {
  const Matrix3 x{{{{1, 0, 0}}, {{0, 0.28, -0.96}}, {{0, 0.96, 0.28}}}};
  const Matrix3 z{{{{-0.8, -0.6, 0}}, {{0.6, -0.8, 0}}, {{0, 0, 1}}}};
  return x * z * x;
}

/// f x + shift for all points.
inline std::vector<double> mapped(const Matrix3& f, const std::vector<double>& x,
                                  const Vector3& shift = {{0, 0, 0}}) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const Vector3 to = f * Vector3{{x[i], x[i + 1], x[i + 2]}} + shift;
    for (int c = 0; c < 3; ++c)
      y[i + c] = to[c];
  }
  return y;
}

/// Elements of no regular shape that share no points.
inline ElementMesh scattered_elements(ElementShape shape, int count) {
  static const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  const int n = nodes_per_elem(shape);
  ElementMesh mesh;
  mesh.shape = shape;
  mesh.point = random_numbers(std::size_t(3) * n * count, 0.15, 7);
  for (int i = 0; i < n * count; ++i) {
    const int c = n == 4 && i % n >= 2 ? i % n + 1 : i % n; // the corner cut off by a tetrahedron
    for (int k = 0; k < 3; ++k)
      mesh.point[3 * i + k] += (1 + i / n % 3) * corner[c][k];
    mesh.node.push_back(i);
  }
  return mesh;
}

struct SoftResult {
  int nodes = 0; ///< of an element
  std::vector<double> force, stiffness;
  double energy = 0;
  int inverted = 0;

  /// Entry (i, j) of the matrix of an element.
  double entry(int elem, int i, int j) const {
    if (i / 3 > j / 3)
      std::swap(i, j);
    const int a = i / 3, b = j / 3, pair = a * nodes - a * (a - 1) / 2 + b - a;
    return stiffness[(std::size_t(elem) * (nodes * (nodes + 1) / 2) + pair) * 9 + 3 * (i % 3) +
                     j % 3];
  }

  /// K v of all elements, which share no points.
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> y(v.size());
    const int n = 3 * nodes;
    for (std::size_t i = 0; i < v.size(); ++i)
      for (int j = 0; j < n; ++j)
        y[i] += entry(int(i) / n, int(i) % n, j) * v[i / n * n + j];
    return y;
  }
};

/// evaluate_soft_elements and soft_energy; compiled once for all tests, in soft_cases.cpp.
template<class Exec>
SoftResult evaluate(const Exec& exec, const SoftElements<Exec>& elements,
                    const std::vector<double>& positions,
                    const std::vector<double>& velocities = {}, double force_scale = 0,
                    double stiffness_scale = 1);

/// Those of evaluate().
template<class Exec>
std::vector<double> forces(const Exec& exec, const SoftElements<Exec>& elements,
                           const std::vector<double>& positions) {
  return evaluate(exec, elements, positions).force;
}

} // namespace ossatura::test
