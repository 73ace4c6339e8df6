// SPDX-License-Identifier: Apache-2.0
// Nodes and elements at round places, near surfaces and around supports and loads, against plain
// loops over all of them, on meshes of any shape and on lattices.
#include "tests/catch.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/solvers/topopt/part/kept_layers.hpp>
#include <ossatura/solvers/topopt/part/selections.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Numbers = std::vector<std::int32_t>;
using Point = std::array<double, 3>;

/// A plate of 12 x 8 x 4 cells of 0.25 m with a hole of 3 x 2 cells all through it.
std::vector<DesignProblem> plates() {
  DesignProblem lattice;
  lattice.lattice = std::make_shared<const LatticeBody>(
      make_lattice_box({12, 8, 4}, {3, 2, 1}, {4, 3, 0}, {7, 5, 4}));
  DesignProblem mesh;
  mesh.mesh = lattice.lattice->mesh();
  HexaModel model;
  model.mesh = mesh.mesh;
  distort(model.mesh, 0.2, 4);
  renumber(model, 7);
  DesignProblem other;
  other.mesh = model.mesh;
  return {lattice, mesh, other};
}

ElementMesh mesh_of(const DesignProblem& problem) {
  return problem.lattice ? problem.lattice->mesh() : problem.mesh;
}

std::vector<Point> points_of(const ElementMesh& mesh) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < mesh.num_points(); ++i)
    points.push_back({mesh.point[3 * i], mesh.point[3 * i + 1], mesh.point[3 * i + 2]});
  return points;
}

std::vector<Point> centres_of(const ElementMesh& mesh) {
  std::vector<Point> centres(mesh.num_elem());
  for (std::size_t a = 0; a < mesh.node.size(); ++a)
    for (std::size_t d = 0; d < 3; ++d)
      centres[a / 8][d] += mesh.point[3 * std::size_t(mesh.node[a]) + d] / 8;
  return centres;
}

Numbers those(const std::vector<Point>& points, const std::function<bool(const Point&)>& chosen) {
  Numbers found;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (chosen(points[i]))
      found.push_back(std::int32_t(i));
  return found;
}

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// From the line through the ends, and along it.
std::array<double, 2> from_axis(const Cylinder& cylinder, const Point& x) {
  const double length = distance(cylinder.from, cylinder.to);
  Point unit{}, at = cylinder.from;
  double along = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    unit[d] = (cylinder.to[d] - cylinder.from[d]) / length;
    along += unit[d] * (x[d] - cylinder.from[d]);
  }
  for (std::size_t d = 0; d < 3; ++d)
    at[d] += along * unit[d];
  return {distance(at, x), along};
}

TEST_CASE("Layers around supports and loads have all elements within the distance",
          "[part_places]") {
  for (DesignProblem problem : plates()) {
    const ElementMesh mesh = mesh_of(problem);
    const std::vector<Point> points = points_of(mesh), centres = centres_of(mesh);
    Numbers supported;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i][0] < 1e-9 && points[i][1] < 0.6)
        supported.push_back(std::int32_t(i));
      problem.held.push_back({std::int32_t(i), std::uint8_t(points[i][2] < 1e-9 ? 4 : 0)});
    }
    problem.cases.resize(1);
    const Numbers loaded =
        those(points, [](const Point& x) { return x[0] > 2.9 && x[2] > 0.9 && x[1] > 1; });
    for (const std::int32_t node : loaded)
      problem.cases[0].loads.forces.push_back({node, {0, 0, 1}});
    Numbers ends = supported;
    ends.insert(ends.end(), loaded.begin(), loaded.end());
    std::sort(ends.begin(), ends.end());
    CHECK(ends_of(problem, supported) == ends);
    for (const double reach : {0.2, 0.25, 0.5, 1.3}) {
      const Numbers expected = those(centres, [&](const Point& centre) {
        return std::any_of(ends.begin(), ends.end(), [&](std::int32_t node) {
          return distance(points[std::size_t(node)], centre) <= reach * (1 + 1e-9);
        });
      });
      CHECK(elements_near(problem, ends, reach) == expected);
      CHECK((expected.empty() == (reach < 0.21) || !problem.lattice));
    }
    CHECK(elements_near(problem, ends, 1e-12).empty());
    CHECK_THROWS_AS(elements_near(problem, ends, 0), std::invalid_argument);
    CHECK(ends_of(problem, {}).size() >= points.size()); // all that are listed as held
  }
}

TEST_CASE("Cylinders have the nodes and elements that a loop over all finds", "[part_places]") {
  constexpr double slack = 1e-9;
  for (const DesignProblem& problem : plates()) {
    const ElementMesh mesh = mesh_of(problem);
    const std::vector<Point> points = points_of(mesh), centres = centres_of(mesh);
    for (const Cylinder& cylinder :
         {Cylinder{{1.4, 1, 0}, {1.4, 1, 1}, 0.6, 0}, Cylinder{{0, 0, 0}, {3, 2, 1}, 0.4, 0.15},
          Cylinder{{2, 1, 0.5}, {-1, 1, 0.5}, 5, 0.5}, Cylinder{{0, 1, 0}, {0, 1, 0.5}, 0.25, 0}}) {
      const auto is_in = [&](const Point& x) {
        const auto [from, along] = from_axis(cylinder, x);
        return along >= -slack && along <= distance(cylinder.from, cylinder.to) + slack &&
               from <= cylinder.radius + slack && from >= cylinder.inner - slack;
      };
      const Numbers nodes = those(points, is_in), elements = those(centres, is_in);
      CHECK(!nodes.empty());
      CHECK(nodes_in(problem, cylinder, slack) == nodes);
      CHECK(elements_in(problem, cylinder, slack) == elements);
    }
    CHECK(nodes_in(problem, {{5, 5, 5}, {6, 5, 5}, 0.5, 0}, slack).empty());
    for (const Cylinder& wrong : {Cylinder{{1, 1, 1}, {1, 1, 1}, 1, 0},
                                  Cylinder{{}, {1, 0, 0}, 0, 0}, Cylinder{{}, {1, 0, 0}, 1, 1}})
      CHECK_THROWS_AS(nodes_in(problem, wrong, slack), std::invalid_argument);
  }
}

TEST_CASE("The wall of a hole is of nodes of the boundary", "[part_places]") {
  const Cylinder hole{{1.375, 1, 0}, {1.375, 1, 1}, 0.32, 0};
  for (const DesignProblem& problem : plates()) {
    const ElementMesh mesh = mesh_of(problem);
    const std::vector<Point> points = points_of(mesh);
    // The rectangle around the hole, 1 to 1.75 and 0.75 to 1.25, on all five planes of nodes.
    const Numbers expected = those(points, [&](const Point& x) {
      const bool is_rim = x[0] > 0.99 && x[0] < 1.76 && x[1] > 0.74 && x[1] < 1.26;
      return is_rim && std::fabs(from_axis(hole, x)[0] - 0.32) <= 0.1;
    });
    CHECK(expected.size() == 5 * 6);
    const Numbers found = nodes_at_wall(problem, hole, 0.1, 1e-9);
    // Top and bottom are boundary, too: there a second ring of nodes may be as near.
    CHECK(std::includes(found.begin(), found.end(), expected.begin(), expected.end()));
    for (const std::int32_t node : found) {
      const Point& x = points[std::size_t(node)];
      CHECK(std::fabs(from_axis(hole, x)[0] - 0.32) <= 0.1 + 1e-9);
      CHECK((std::binary_search(expected.begin(), expected.end(), node) || x[2] < 1e-9 ||
             x[2] > 1 - 1e-9));
    }
  }
}

TEST_CASE("Faces of a drawing have the nodes of the boundary near them", "[part_places]") {
  // Half of the end x = 3, of two triangles; and a triangle amid the body.
  TriangleSurface face;
  face.vertex = {{3, 0, 0}, {3, 1, 0}, {3, 1, 1}, {3, 0, 1}};
  face.triangle = {{0, 1, 2}, {0, 2, 3}};
  const NearSurface near(face, 0.01);
  for (const DesignProblem& problem : plates()) {
    const ElementMesh mesh = mesh_of(problem);
    CHECK(boundary_nodes_near(problem, near) ==
          those(points_of(mesh), [](const Point& x) { return x[0] > 2.99 && x[1] < 1.01; }));
    TriangleSurface inside;
    inside.vertex = {{2.2, 0.3, 0.2}, {2.8, 0.4, 0.3}, {2.3, 0.9, 0.6}};
    inside.triangle = {{0, 1, 2}};
    const NearSurface amid(inside, 0.2);
    const auto is_near = [&](const Point& x) {
      return distance_to_triangle(x, inside.vertex[0], inside.vertex[1], inside.vertex[2]) <= 0.2;
    };
    const Numbers elements = those(centres_of(mesh), is_near);
    CHECK(elements.size() > 3);
    CHECK(elements_near(problem, amid) == elements);
  }
  CHECK_THROWS_AS(NearSurface(TriangleSurface{}, 1), std::invalid_argument);
}

TEST_CASE("Elements have the nodes of those of their faces that are on the boundary",
          "[part_places]") {
  const DesignProblem plate = plates()[0];
  const LatticeBody& body = *plate.lattice;
  const Numbers some = those(centres_of(body.mesh()), [](const Point& x) {
    return x[0] > 1.5 && x[0] < 2.3 && x[2] > 0.25 && x[1] < 1.6;
  });
  REQUIRE(some.size() > 20);
  std::set<std::int32_t> expected; // faces that one element of all has
  const ElementMesh mesh = body.mesh();
  constexpr int faces[6][4] = {{0, 3, 7, 4}, {1, 2, 6, 5}, {0, 1, 5, 4},
                               {3, 2, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
  std::map<std::set<std::int32_t>, int> count;
  const auto face_of = [&](std::size_t e, const int(&corners)[4]) {
    std::set<std::int32_t> nodes;
    for (const int k : corners)
      nodes.insert(mesh.node[8 * e + std::size_t(k)]);
    return nodes;
  };
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (const auto& corners : faces)
      ++count[face_of(e, corners)];
  for (const std::int32_t e : some)
    for (const auto& corners : faces)
      if (const auto face = face_of(std::size_t(e), corners); count[face] == 1)
        expected.insert(face.begin(), face.end());
  CHECK(boundary_nodes_of(body, some) == Numbers(expected.begin(), expected.end()));
  CHECK(boundary_nodes_of(body, {}).empty());
}

TEST_CASE("The distance to a triangle is that of its nearest point", "[part_places]") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto point = [&] { return Point{uniform(random), uniform(random), uniform(random)}; };
  for (int trial = 0; trial < 60; ++trial) {
    const Point a = point(), b = point(), x = point();
    Point c = point();
    if (trial % 10 == 9) // flat
      for (std::size_t d = 0; d < 3; ++d)
        c[d] = 0.3 * a[d] + 0.7 * b[d];
    // Against many points of the triangle.
    constexpr int fine = 120;
    double least = 9;
    for (int i = 0; i <= fine; ++i)
      for (int j = 0; i + j <= fine; ++j) {
        Point at;
        for (std::size_t d = 0; d < 3; ++d)
          at[d] = (i * a[d] + j * b[d] + (fine - i - j) * c[d]) / fine;
        least = std::min(least, distance(at, x));
      }
    const double found = distance_to_triangle(x, a, b, c);
    CHECK(found <= least + 1e-12);
    CHECK(least * least <= found * found + 2e-3);
  }
}

} // namespace
