// SPDX-License-Identifier: Apache-2.0
// Hexahedra and prisms whose top is numbered from another corner are found; those that are
// distorted, but good, are not taken for such ones.
#include <ossatura/core/mesh/turned_top.hpp>

#include "tests/catch.hpp"
#include <ossatura/core/mesh/element_check.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;
using Eight = std::array<std::array<double, 3>, 8>;

constexpr Eight cube{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};
constexpr Eight prism{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};

Eight with_top_turned(const Eight& corner, std::size_t base, std::size_t by) {
  Eight turned = corner;
  for (std::size_t k = 0; k < base; ++k)
    turned[base + (k + by) % base] = corner[base + k];
  return turned;
}

/// One hexahedron.
ElementMesh mesh_of(const Eight& corner) {
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  for (std::size_t k = 0; k < 8; ++k) {
    mesh.point.insert(mesh.point.end(), corner[k].begin(), corner[k].end());
    mesh.node.push_back(std::int32_t(k));
  }
  return mesh;
}

/// Moved by up to `amount` of an edge along each axis, and stretched.
template<class Random>
Eight distorted(const Eight& corner, double amount, const std::array<double, 3>& size,
                Random& random) {
  std::uniform_real_distribution<double> shift(-amount, amount);
  Eight moved = corner;
  for (auto& x : moved)
    for (std::size_t d = 0; d < 3; ++d)
      x[d] = size[d] * (x[d] + shift(random));
  return moved;
}

} // namespace

TEST_CASE("A top that is numbered from another corner is found", "[turned_top]") {
  for (const auto& [corner, base] : {std::pair<Eight, int>{cube, 4}, {prism, 3}}) {
    CHECK(turned_top(corner, base) == 0);
    for (int by = 1; by < base; ++by) {
      const Eight turned = with_top_turned(corner, std::size_t(base), std::size_t(by));
      CHECK(turned_top(turned, base) == by);
      Eight sheared = turned; // by three times its height, and turned in space
      for (auto& x : sheared)
        x = {x[1] + 2 * x[2], 3 * x[2] + x[0], x[2] + 0.1 * x[0]};
      CHECK(turned_top(sheared, base) == by);
    }
  }
  ElementMesh box = make_hexa_box({3, 2, 2}, {3, 1, 1});
  CHECK(describe_turned_top(box).empty());
  std::rotate(&box.node[8 * 7 + 4], &box.node[8 * 7 + 6], &box.node[8 * 7] + 8);
  CHECK(describe_turned_top(box).find("element 7: the top of the hexahedron is turned") == 0);
  CHECK(turn_element(box, 7).find("its node 7 lies over its node 1") != std::string::npos);
  std::swap_ranges(&box.node[8 * 7], &box.node[8 * 7] + 4, &box.node[8 * 7] + 4); // inside out, too
  CHECK(turn_element(box, 7).find("its node 7 lies over its node 1") != std::string::npos);
}

TEST_CASE("Tops of distorted meshes are hardly missed", "[turned_top]") {
  std::mt19937 random(7);
  for (int by = 1; by < 4; ++by) {
    int missed = 0;
    for (int trial = 0; trial < 1000; ++trial)
      missed +=
          turned_top(with_top_turned(distorted(cube, 0.2, {1, 1, 1}, random), 4, std::size_t(by)),
                     4) != by;
    CHECK(missed < 50);
  }
}

TEST_CASE("Good elements are not taken for such ones", "[turned_top]") {
  std::mt19937 random(11);
  int good = 0;
  for (const std::array<double, 3>& size :
       {std::array<double, 3>{1, 1, 1}, {10, 1, 1}, {1, 10, 10}, {1, 1, 10}, {20, 1, 0.3}})
    for (int trial = 0; trial < 20000; ++trial) {
      ElementMesh mesh = mesh_of(distorted(cube, 0.45, size, random));
      const std::string problem = turn_element(mesh, 0);
      CHECK(problem.find("turned") == std::string::npos);
      good += problem.empty();
    }
  CHECK(good > 60000);
  // Sectors of rings, of which the top is the bottom turned about an axis beside it.
  for (const double degrees : {90., 120., 150., 175.}) {
    const double c = std::cos(degrees * M_PI / 180), s = std::sin(degrees * M_PI / 180);
    for (const double height : {0.1, 1., 10.}) {
      Eight sector{};
      for (std::size_t k = 0; k < 4; ++k) {
        const double radius = 1 + cube[k][0], z = height * cube[k][1];
        sector[k] = {radius, 0, z};
        sector[4 + k] = {radius * c, radius * s, z};
      }
      CHECK(turned_top(sector, 4) == 0);
    }
  }
  for (const double degrees : {15., 45., 60.}) { // a twisted column
    const double c = std::cos(degrees * M_PI / 180), s = std::sin(degrees * M_PI / 180);
    Eight twisted = cube;
    for (std::size_t k = 4; k < 8; ++k)
      twisted[k] = {c * (cube[k][0] - 0.5) - s * (cube[k][1] - 0.5),
                    s * (cube[k][0] - 0.5) + c * (cube[k][1] - 0.5), 1};
    for (std::size_t k = 0; k < 4; ++k)
      twisted[k] = {cube[k][0] - 0.5, cube[k][1] - 0.5, 0};
    CHECK(turned_top(twisted, 4) == 0);
  }
}
