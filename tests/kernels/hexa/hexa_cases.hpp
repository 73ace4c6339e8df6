// SPDX-License-Identifier: Apache-2.0
// Meshes of distorted hexahedra in any order, for tests of the operators on them.
#pragma once

#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ossatura::test {

inline std::vector<double> uniform_numbers(std::size_t n, double from, double to, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(n);
  for (double& value : values)
    value = from + (to - from) * (random() / 4294967296.0);
  return values;
}

/// Between 1e-6 and 1.
inline std::vector<double> random_moduli(std::size_t n, unsigned seed) {
  std::vector<double> values = uniform_numbers(n, -6, 0, seed);
  for (double& value : values)
    value = std::pow(10, value);
  return values;
}

/// Points moved by up to a fifth of a cell along each axis, and the whole turned.
inline ElementMesh distorted_box(const std::array<int, 3>& cells, unsigned seed) {
  ElementMesh mesh = make_hexa_box({cells[0], cells[1], cells[2]},
                                   {double(cells[0]), 1.5 * cells[1], 0.8 * cells[2]});
  const std::vector<double> moves = uniform_numbers(mesh.point.size(), -0.2, 0.2, seed);
  const double turn[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    double moved[3];
    for (std::size_t c = 0; c < 3; ++c)
      moved[c] = mesh.point[3 * n + c] + moves[3 * n + c] * (c == 1 ? 1.5 : c == 2 ? 0.8 : 1);
    for (std::size_t c = 0; c < 3; ++c)
      mesh.point[3 * n + c] = turn[c][0] * moved[0] + turn[c][1] * moved[1] + turn[c][2] * moved[2];
  }
  return mesh;
}

/// `spokes` columns of hexahedra around an axis, `layers` high: nodes with any number of elements.
inline ElementMesh wheel(int spokes, int layers) {
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  const double pi = Kokkos::numbers::pi;
  const int per_layer = 1 + 2 * spokes;
  for (int z = 0; z <= layers; ++z) {
    mesh.point.insert(mesh.point.end(), {0.05 * z, 0, 1.0 * z});
    for (int i = 0; i < 2 * spokes; ++i) {
      const double angle = pi * i / spokes, radius = i % 2 == 0 ? 1 : 1.3;
      mesh.point.insert(mesh.point.end(), {radius * std::cos(angle), radius * std::sin(angle),
                                           1.0 * z + 0.1 * angle});
    }
  }
  for (int z = 0; z < layers; ++z)
    for (int i = 0; i < spokes; ++i) {
      const int ring[4] = {0, 1 + 2 * i, 2 + 2 * i, 1 + (2 * i + 2) % (2 * spokes)};
      for (int above = 0; above < 2; ++above)
        for (const int n : ring)
          mesh.node.push_back((z + above) * per_layer + n);
    }
  return mesh;
}

/// The same mesh with nodes and elements in another order and each element numbered from another of
/// its 24 sides.
inline ElementMesh shuffled(const ElementMesh& mesh, unsigned seed) {
  std::mt19937 random(seed);
  const auto permutation = [&](std::size_t n) {
    std::vector<int> p(n);
    std::iota(p.begin(), p.end(), 0);
    for (std::size_t i = n; i > 1; --i)
      std::swap(p[i - 1], p[random() % i]);
    return p;
  };
  const std::vector<int> to = permutation(mesh.num_points()), from = permutation(mesh.num_elem());
  ElementMesh result = mesh;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    for (std::size_t c = 0; c < 3; ++c)
      result.point[3 * std::size_t(to[n]) + c] = mesh.point[3 * n + c];
  const std::array<int, 8> quarter = {1, 2, 3, 0, 5, 6, 7, 4}, // about zeta
      third = {0, 3, 7, 4, 1, 2, 6, 5};                        // about the diagonal of node 0
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    std::array<int, 8> corner = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned turns = random() % 12; turns > 0; --turns) {
      const std::array<int, 8> before = corner;
      const std::array<int, 8>& turn = random() % 2 == 0 ? quarter : third;
      for (std::size_t a = 0; a < 8; ++a)
        corner[a] = before[std::size_t(turn[a])];
    }
    for (std::size_t a = 0; a < 8; ++a)
      result.node[8 * e + a] =
          to[std::size_t(mesh.node[8 * std::size_t(from[e]) + std::size_t(corner[a])])];
  }
  return result;
}

struct HexaCase {
  std::string name;
  ElementMesh mesh;
};

/// One element; a distorted box; five and seven elements around an axis, and a node of none.
inline std::vector<HexaCase> hexa_cases() {
  std::vector<HexaCase> cases = {{"one element", distorted_box({1, 1, 1}, 1)},
                                 {"box", shuffled(distorted_box({4, 3, 3}, 2), 3)},
                                 {"wheel", shuffled(wheel(5, 2), 4)},
                                 {"wheel of seven", wheel(7, 1)}};
  cases.back().mesh.point.insert(cases.back().mesh.point.end(), {9, 9, 9});
  return cases;
}

} // namespace ossatura::test
