// SPDX-License-Identifier: Apache-2.0
// Maps of hexahedra: Jacobians against differences, points and volumes of exact shapes, meshes that
// fit them.
#include "tests/catch.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/pfem/meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace ossatura;

constexpr int cube_corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

double determinant(const double (&j)[9]) {
  return j[0] * (j[4] * j[8] - j[5] * j[7]) - j[1] * (j[3] * j[8] - j[5] * j[6]) +
         j[2] * (j[3] * j[7] - j[4] * j[6]);
}

/// Of central differences and the Jacobian, at random points of all elements.
double largest_difference(const HexaMap& map, std::size_t num_elem) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> inside(-1, 1);
  double largest = 0;
  for (std::size_t elem = 0; elem < num_elem; ++elem)
    for (int sample = 0; sample < 5; ++sample) {
      const double xi[3] = {inside(random), inside(random), inside(random)};
      double x[3], jacobian[9], unused[9];
      map.evaluate(std::int64_t(elem), xi, x, jacobian);
      for (int k = 0; k < 3; ++k) {
        constexpr double step = 1e-5;
        double there[3] = {xi[0], xi[1], xi[2]}, ahead[3], behind[3];
        there[k] = xi[k] + step;
        map.evaluate(std::int64_t(elem), there, ahead, unused);
        there[k] = xi[k] - step;
        map.evaluate(std::int64_t(elem), there, behind, unused);
        for (int i = 0; i < 3; ++i)
          largest = std::max(largest,
                             std::abs((ahead[i] - behind[i]) / (2 * step) - jacobian[3 * i + k]));
      }
    }
  return largest;
}

/// By five Gauss points along each axis.
double volume(const CurvedHexaMesh& curved) {
  const double far = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
  const double near = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3;
  const double at[5] = {-far, -near, 0, near, far};
  const double root = 13 * std::sqrt(70.0);
  const double weight[5] = {(322 - root) / 900, (322 + root) / 900, 128.0 / 225, (322 + root) / 900,
                            (322 - root) / 900};
  double sum = 0;
  for (std::size_t elem = 0; elem < curved.mesh.num_elem(); ++elem)
    for (int i = 0; i < 125; ++i) {
      const double xi[3] = {at[i % 5], at[i / 5 % 5], at[i / 25]};
      double x[3], jacobian[9];
      curved.map->evaluate(std::int64_t(elem), xi, x, jacobian);
      sum += weight[i % 5] * weight[i / 5 % 5] * weight[i / 25] * determinant(jacobian);
    }
  return sum;
}

/// Of the map at corners and the vertices of the mesh.
double largest_gap(const CurvedHexaMesh& curved) {
  double largest = 0;
  for (std::size_t i = 0; i < curved.mesh.node.size(); ++i) {
    double xi[3], x[3], jacobian[9];
    for (int axis = 0; axis < 3; ++axis)
      xi[axis] = cube_corner[i % 8][axis];
    curved.map->evaluate(std::int64_t(i / 8), xi, x, jacobian);
    CHECK(determinant(jacobian) > 0);
    for (std::size_t axis = 0; axis < 3; ++axis)
      largest = std::max(
          largest,
          std::abs(x[axis] - curved.mesh.point[3 * std::size_t(curved.mesh.node[i]) + axis]));
  }
  return largest;
}

TEST_CASE("trilinear maps go through the vertices", "[hexa_maps]") {
  CurvedHexaMesh curved{make_hexa_box({2, 2, 2}, {1, 2, 3}), nullptr};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> move(-0.1, 0.1);
  for (double& x : curved.mesh.point)
    x += move(random);
  curved.map = make_trilinear_map(curved.mesh);
  CHECK(largest_gap(curved) < 1e-15);
  CHECK(largest_difference(*curved.map, 8) < 1e-10);
  curved.mesh.shape = ElementShape::tetra;
  CHECK_THROWS_AS(make_trilinear_map(curved.mesh), std::invalid_argument);
}

TEST_CASE("triquadratic maps reproduce a triquadratic polynomial", "[hexa_maps]") {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> coefficient(-0.1, 0.1), inside(-1, 1);
  double c[2][3][27];
  for (auto& of_elem : c)
    for (auto& of_axis : of_elem)
      for (double& value : of_axis)
        value = coefficient(random);
  const auto polynomial = [&](std::size_t elem, const double(&s)[3], double(&x)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
      x[axis] = s[axis];
      for (int m = 0; m < 27; ++m)
        x[axis] += c[elem][axis][m] * std::pow(s[0], m % 3) * std::pow(s[1], m / 3 % 3) *
                   std::pow(s[2], m / 9);
    }
  };
  // The 27 points as documented: means of the vertices of the part that each is the middle of.
  std::vector<std::array<double, 3>> middle;
  const auto add_middle = [&](const std::vector<int>& vertices) {
    std::array<double, 3> s = {};
    for (const int v : vertices)
      for (std::size_t axis = 0; axis < 3; ++axis)
        s[axis] += cube_corner[v][axis] / double(vertices.size());
    middle.push_back(s);
  };
  for (int v = 0; v < 8; ++v)
    add_middle({v});
  for (const HexaEdge& e : hexa_edge)
    add_middle({e.node[0], e.node[1]});
  for (const HexaFace& f : hexa_face_frame)
    add_middle({f.node[0][0], f.node[0][1], f.node[1][0], f.node[1][1]});
  add_middle({0, 1, 2, 3, 4, 5, 6, 7});
  std::vector<double> point;
  for (std::size_t elem = 0; elem < 2; ++elem)
    for (const auto& s : middle) {
      double x[3];
      polynomial(elem, {s[0], s[1], s[2]}, x);
      point.insert(point.end(), x, x + 3);
    }
  const auto map = make_quadratic_map(point);
  CHECK(largest_difference(*map, 2) < 1e-9);
  for (std::size_t elem = 0; elem < 2; ++elem)
    for (int sample = 0; sample < 20; ++sample) {
      const double s[3] = {inside(random), inside(random), inside(random)};
      double x[3], expected[3], jacobian[9];
      map->evaluate(std::int64_t(elem), s, x, jacobian);
      polynomial(elem, s, expected);
      for (int axis = 0; axis < 3; ++axis)
        CHECK(std::abs(x[axis] - expected[axis]) < 1e-14);
    }
  point.pop_back();
  CHECK_THROWS_AS(make_quadratic_map(point), std::invalid_argument);
}

TEST_CASE("the octant of a sphere is exact", "[hexa_maps]") {
  for (const int along : {1, 2}) {
    const CurvedHexaMesh curved = make_sphere_octant(1, 2, along, 3);
    CHECK(curved.mesh.num_elem() == std::size_t(9 * along * along));
    CHECK(largest_gap(curved) < 1e-15);
    CHECK(largest_difference(*curved.map, curved.mesh.num_elem()) < 1e-9);
    const HexaEntities entities = make_hexa_entities(curved.mesh);
    CHECK(std::int64_t(curved.mesh.num_points()) - entities.num_edges + entities.num_faces -
              std::int64_t(curved.mesh.num_elem()) ==
          1);
    // Gauss points of patches that subtend 45 degrees leave 1e-5 of the volume, of half that 1e-8.
    const double exact = 7 * Kokkos::numbers::pi / 6;
    CHECK(std::abs(volume(curved) - exact) < (along == 1 ? 1e-4 : 1e-7));
    int on_axis[3] = {};
    for (std::size_t p = 0; p < curved.mesh.num_points(); ++p) {
      const double* x = curved.mesh.point.data() + 3 * p;
      const double radius = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
      CHECK(std::abs(3 * radius - std::round(3 * radius)) < 1e-14);
      for (std::size_t axis = 0; axis < 3; ++axis)
        on_axis[axis] += x[axis] == 0 ? 1 : 0;
    }
    for (const int count : on_axis) // those on the planes of symmetry, exactly
      CHECK(count == 4 * (2 * along + 1));
  }
  CHECK_THROWS_AS(make_sphere_octant(0, 1, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere_octant(2, 1, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere_octant(1, 2, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere_octant(1, 2, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(make_sphere_octant(1, 2, 30000, 1), std::invalid_argument);
}

TEST_CASE("the quarter of a cylinder is exact", "[hexa_maps]") {
  const CurvedHexaMesh curved = make_cylinder_quarter(1, 2, 0.5, 3, 2, 2);
  CHECK(curved.mesh.num_elem() == 12);
  CHECK(curved.mesh.num_points() == 36);
  CHECK(largest_gap(curved) < 1e-15);
  CHECK(largest_difference(*curved.map, 12) < 1e-9);
  CHECK(std::abs(volume(curved) - 0.375 * Kokkos::numbers::pi) < 1e-14);
  int on_plane[2] = {};
  for (std::size_t p = 0; p < 36; ++p)
    for (std::size_t axis = 0; axis < 2; ++axis)
      on_plane[axis] += curved.mesh.point[3 * p + axis] == 0 ? 1 : 0;
  CHECK(on_plane[0] == 9);
  CHECK(on_plane[1] == 9);
  CHECK_THROWS_AS(make_cylinder_quarter(1, 2, 0, 1, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_cylinder_quarter(1, 2, 1, 1, 0, 1), std::invalid_argument);
}

TEST_CASE("a sheared box keeps its volume", "[hexa_maps]") {
  CurvedHexaMesh curved{make_hexa_box({2, 1, 1}, {2, 1, 1}), nullptr};
  shear(curved.mesh, {0.3, -0.2, 0.5});
  const double* last = curved.mesh.point.data() + 3 * (curved.mesh.num_points() - 1);
  CHECK(last[0] == Approx(2 + 0.3 - 0.2));
  CHECK(last[1] == Approx(1.5));
  CHECK(last[2] == 1);
  curved.map = make_trilinear_map(curved.mesh);
  CHECK(std::abs(volume(curved) - 2) < 1e-14);
}

} // namespace
