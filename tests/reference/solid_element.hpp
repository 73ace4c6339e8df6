// SPDX-License-Identifier: Apache-2.0
// Oracle: the stiffness of solid elements, and their forces of temperature, from shape functions
// that are found as polynomials, by inverting the matrix of their monomials at the nodes, and from
// strains in Voigt's notation.
#pragma once

#include "tests/reference/dense_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace reference {

using SolidPoint = std::array<double, 3>;

struct SolidElement {
  std::vector<SolidPoint> node;             ///< of the reference element
  std::vector<std::array<int, 3>> monomial; ///< powers
  std::vector<SolidPoint> at;               ///< quadrature
  std::vector<double> weight;
};

/// Places and weights of Gauss points between -1 and 1.
inline std::vector<std::array<double, 2>> solid_line(int count) {
  if (count == 2)
    return {{-1 / std::sqrt(3.), 1}, {1 / std::sqrt(3.), 1}};
  return {{-std::sqrt(.6), 5. / 9}, {0, 8. / 9}, {std::sqrt(.6), 5. / 9}};
}

inline SolidElement solid_tetrahedron(bool second) {
  SolidElement element;
  element.node = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  element.monomial = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  element.at = {{.25, .25, .25}};
  element.weight = {1. / 6};
  if (!second)
    return element;
  for (const SolidPoint& p :
       {SolidPoint{.5, 0, 0}, {.5, .5, 0}, {0, .5, 0}, {0, 0, .5}, {.5, 0, .5}, {0, .5, .5}})
    element.node.push_back(p);
  for (const auto& m :
       {std::array<int, 3>{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}})
    element.monomial.push_back(m);
  const double a = (5 - std::sqrt(5.)) / 20, b = 1 - 3 * a;
  element.at = {{a, a, a}, {b, a, a}, {a, b, a}, {a, a, b}};
  element.weight.assign(4, 1. / 24);
  return element;
}

inline SolidElement solid_prism(bool second) {
  SolidElement element;
  element.node = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const std::array<int, 2> linear[] = {{0, 0}, {1, 0}, {0, 1}}, square[] = {{2, 0}, {1, 1}, {0, 2}};
  for (int t = 0; t < 2; ++t)
    for (const auto& m : linear)
      element.monomial.push_back({m[0], m[1], t});
  if (!second) {
    for (const auto& t : solid_line(2)) {
      element.at.push_back({1. / 3, 1. / 3, t[0]});
      element.weight.push_back(t[1] / 2);
    }
    return element;
  }
  for (const double t : {-1., 1.})
    for (const auto& p : {std::array<double, 2>{.5, 0}, {.5, .5}, {0, .5}})
      element.node.push_back({p[0], p[1], t});
  for (const auto& m : linear) {
    element.node.push_back({double(m[0]), double(m[1]), 0});
    element.monomial.push_back({m[0], m[1], 2});
  }
  for (int t = 0; t < 2; ++t)
    for (const auto& m : square)
      element.monomial.push_back({m[0], m[1], t});
  for (const auto& t : solid_line(3))
    for (const auto& p :
         {std::array<double, 2>{1. / 6, 1. / 6}, {2. / 3, 1. / 6}, {1. / 6, 2. / 3}}) {
      element.at.push_back({p[0], p[1], t[0]});
      element.weight.push_back(t[1] / 6);
    }
  return element;
}

inline SolidElement solid_hexahedron(bool second, bool reduced) {
  SolidElement element;
  element.node = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                  {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  if (second)
    for (const SolidPoint& p : {SolidPoint{0, -1, -1},
                                {1, 0, -1},
                                {0, 1, -1},
                                {-1, 0, -1},
                                {0, -1, 1},
                                {1, 0, 1},
                                {0, 1, 1},
                                {-1, 0, 1},
                                {-1, -1, 0},
                                {1, -1, 0},
                                {1, 1, 0},
                                {-1, 1, 0}})
      element.node.push_back(p);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        if ((i == 2) + (j == 2) + (k == 2) <= (second ? 1 : 0))
          element.monomial.push_back({i, j, k});
  const auto line = solid_line(second && !reduced ? 3 : 2);
  for (const auto& t : line)
    for (const auto& s : line)
      for (const auto& r : line) {
        element.at.push_back({r[0], s[0], t[0]});
        element.weight.push_back(r[1] * s[1] * t[1]);
      }
  return element;
}

/// The reference element with `nodes` nodes in the order of Abaqus: 4, 10 tetrahedra, 6, 15 prisms,
/// 8, 20 hexahedra.
inline SolidElement solid_element(int nodes, bool reduced = false) {
  return nodes == 4 || nodes == 10   ? solid_tetrahedron(nodes == 10)
         : nodes == 6 || nodes == 15 ? solid_prism(nodes == 15)
                                     : solid_hexahedron(nodes == 20, reduced);
}

/// A quadrature point of an element in space.
struct SolidSample {
  std::vector<double> value; ///< of shape functions, [n]
  std::vector<double> b;     ///< [6, 3 n]: xx, yy, zz, xy, yz, zx
  double weight;
};

/// For nodes at x [n, 3].
inline std::vector<SolidSample> solid_samples(const SolidElement& element,
                                              const std::vector<double>& x) {
  const int n = int(element.node.size());
  const auto power = [](double base, int p) { return p == 0 ? 1. : p == 1 ? base : base * base; };
  std::vector<double> at_nodes(n * n);
  for (int a = 0; a < n; ++a)
    for (int m = 0; m < n; ++m)
      at_nodes[m * n + a] = power(element.node[a][0], element.monomial[m][0]) *
                            power(element.node[a][1], element.monomial[m][1]) *
                            power(element.node[a][2], element.monomial[m][2]);
  const std::vector<double> coefficient = dense_inverse(at_nodes, n); // [function, monomial]
  std::vector<SolidSample> samples;
  for (std::size_t q = 0; q < element.at.size(); ++q) {
    std::vector<SolidPoint> slope(n, SolidPoint{});
    std::vector<double> shape(n, 0.);
    for (int m = 0; m < n; ++m) {
      double monomial = 1;
      for (int e = 0; e < 3; ++e)
        monomial *= power(element.at[q][e], element.monomial[m][e]);
      for (int a = 0; a < n; ++a)
        shape[a] += coefficient[a * n + m] * monomial;
      for (int d = 0; d < 3; ++d) {
        double value = element.monomial[m][d];
        for (int e = 0; e < 3; ++e)
          value *= power(element.at[q][e], std::max(0, element.monomial[m][e] - (e == d)));
        for (int a = 0; a < n; ++a)
          slope[a][d] += coefficient[a * n + m] * value;
      }
    }
    std::vector<double> jacobian(9, 0.); // dx_i / dr_d
    for (int a = 0; a < n; ++a)
      for (int i = 0; i < 3; ++i)
        for (int d = 0; d < 3; ++d)
          jacobian[3 * i + d] += x[3 * a + i] * slope[a][d];
    const std::vector<double> inverse = dense_inverse(jacobian, 3);
    const double det = jacobian[0] * (jacobian[4] * jacobian[8] - jacobian[5] * jacobian[7]) -
                       jacobian[1] * (jacobian[3] * jacobian[8] - jacobian[5] * jacobian[6]) +
                       jacobian[2] * (jacobian[3] * jacobian[7] - jacobian[4] * jacobian[6]);
    std::vector<double> b(6 * 3 * n, 0.);
    for (int a = 0; a < n; ++a) {
      double g[3] = {};
      for (int i = 0; i < 3; ++i)
        for (int d = 0; d < 3; ++d)
          g[i] += slope[a][d] * inverse[3 * d + i];
      for (int i = 0; i < 3; ++i) {
        b[i * 3 * n + 3 * a + i] = g[i];
        b[(3 + i) * 3 * n + 3 * a + i] = g[(i + 1) % 3];
        b[(3 + i) * 3 * n + 3 * a + (i + 1) % 3] = g[i];
      }
    }
    samples.push_back({shape, b, element.weight[q] * det});
  }
  return samples;
}

/// Entry r, s of the law of E = 1.
inline double solid_law(double poisson, int r, int s) {
  const double lambda = poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = .5 / (1 + poisson);
  return r < 3 && s < 3 ? lambda + (r == s ? 2 * mu : 0) : (r == s ? mu : 0);
}

/// The integral of B^T D B [3 n, 3 n] for nodes at x [n, 3], E = 1.
inline std::vector<double> solid_stiffness(const SolidElement& element,
                                           const std::vector<double>& x, double poisson) {
  const int n = int(element.node.size());
  std::vector<double> k(9 * n * n, 0.);
  for (const SolidSample& at : solid_samples(element, x))
    for (int r = 0; r < 6; ++r)
      for (int s = 0; s < 6; ++s)
        if (const double stiffness = solid_law(poisson, r, s); stiffness != 0)
          for (int i = 0; i < 3 * n; ++i)
            for (int j = 0; j < 3 * n; ++j)
              k[i * 3 * n + j] += at.weight * stiffness * at.b[r * 3 * n + i] * at.b[s * 3 * n + j];
  return k;
}

/// The forces [3 n] and the strain energy of displacements u [3 n] where nodes would be longer by
/// `strain` [n] in all directions, E = 1: integrals of B^T D s and of e^T D e / 2, s the strain
/// that temperature asks for and e = B u - s.
struct SolidThermal {
  std::vector<double> force;
  double energy;
};
inline SolidThermal solid_thermal(const SolidElement& element, const std::vector<double>& x,
                                  double poisson, const std::vector<double>& strain,
                                  const std::vector<double>& u) {
  const std::size_t n = element.node.size();
  SolidThermal result{std::vector<double>(3 * n, 0.), 0};
  for (const SolidSample& at : solid_samples(element, x)) {
    double asked = 0, elastic[6];
    for (std::size_t a = 0; a < n; ++a)
      asked += at.value[a] * strain[a];
    for (int r = 0; r < 6; ++r) {
      elastic[r] = r < 3 ? -asked : 0;
      for (std::size_t i = 0; i < 3 * n; ++i)
        elastic[r] += at.b[r * 3 * n + i] * u[i];
    }
    for (int r = 0; r < 6; ++r)
      for (int s = 0; s < 6; ++s) {
        const double law = at.weight * solid_law(poisson, r, s);
        result.energy += .5 * law * elastic[r] * elastic[s];
        for (std::size_t i = 0; s < 3 && i < 3 * n; ++i)
          result.force[i] += law * asked * at.b[r * 3 * n + i];
      }
  }
  return result;
}

} // namespace reference
