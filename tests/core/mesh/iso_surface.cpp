// SPDX-License-Identifier: Apache-2.0
// Iso-surfaces of fields on hexahedra: closed manifolds whatever mesh and field, with the volume
// and the genus of what they enclose, also when read back from STL.
#include <ossatura/core/mesh/iso_surface.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/surface/write_stl.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;
using namespace ossatura_test;
using Point = std::array<double, 3>;

double six_volumes(const Point& a, const Point& b, const Point& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

double volume_of(const TriangleSurface& surface) {
  double sum = 0;
  for (const auto& t : surface.triangle)
    sum += six_volumes(surface.vertex[std::size_t(t[0])], surface.vertex[std::size_t(t[1])],
                       surface.vertex[std::size_t(t[2])]);
  return sum / 6;
}

/// Twice the area times the unit normal.
Point normal_of(const TriangleSurface& surface, const std::array<int, 3>& t) {
  const Point &a = surface.vertex[std::size_t(t[0])], &b = surface.vertex[std::size_t(t[1])],
              &c = surface.vertex[std::size_t(t[2])];
  Point normal;
  for (std::size_t x = 0; x < 3; ++x) {
    const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
    normal[x] = (b[y] - a[y]) * (c[z] - a[z]) - (b[z] - a[z]) * (c[y] - a[y]);
  }
  return normal;
}

double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double smallest_area(const TriangleSurface& surface) {
  double least = 1e300;
  for (const auto& t : surface.triangle)
    least = std::min(least, std::sqrt(dot(normal_of(surface, t), normal_of(surface, t))) / 2);
  return least;
}

/// Whether two triangles with a common edge lie on one another.
bool is_folded(const TriangleSurface& surface) {
  std::map<std::pair<int, int>, Point> normal;
  for (const auto& t : surface.triangle)
    for (std::size_t k = 0; k < 3; ++k)
      normal[{t[k], t[(k + 1) % 3]}] = normal_of(surface, t);
  return std::any_of(normal.begin(), normal.end(), [&](const auto& edge) {
    const Point &a = edge.second, &b = normal.at({edge.first.second, edge.first.first});
    return !(dot(a, b) > (-1 + 1e-12) * std::sqrt(dot(a, a) * dot(b, b)));
  });
}

/// Empty, or why the surface is not a closed, oriented manifold that uses all its vertices.
std::string defect_of(const TriangleSurface& surface) {
  std::set<std::array<int, 3>> once;
  std::map<std::pair<int, int>, int> edge;
  std::vector<std::map<int, int>> around(surface.vertex.size()); // neighbour to the next one
  for (std::array<int, 3> t : surface.triangle) {
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      if (a == b)
        return "a triangle with an edge from a vertex to itself";
      ++edge[{a, b}];
      around[std::size_t(a)][b] = t[(k + 2) % 3];
    }
    std::sort(t.begin(), t.end());
    if (!once.insert(t).second)
      return "two triangles with the same vertices";
  }
  for (const auto& [ends, count] : edge)
    if (count != 1 || edge.count({ends.second, ends.first}) == 0)
      return "an edge without its opposite, or passed twice in the same direction";
  for (const auto& next : around) {
    if (next.empty())
      return "a vertex without triangles";
    std::size_t steps = 0;
    int at = next.begin()->first;
    do {
      at = next.at(at);
      ++steps;
    } while (at != next.begin()->first && steps <= next.size());
    if (steps != next.size())
      return "a vertex with two fans";
  }
  return describe_first_open_edge(surface);
}

/// Vertices - edges + faces of a closed surface.
int euler_number(const TriangleSurface& surface) {
  return int(surface.vertex.size()) - int(surface.triangle.size()) / 2;
}

template<class Function>
std::vector<double> sample(const ElementMesh& mesh, const Function& f) {
  std::vector<double> field;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    field.push_back(f(mesh.point[3 * n], mesh.point[3 * n + 1], mesh.point[3 * n + 2]));
  return field;
}

/// A box of n^3 unit cells about the origin.
ElementMesh centred_cube(int n) {
  ElementMesh mesh = make_hexa_box({n, n, n}, {double(n), double(n), double(n)});
  for (double& x : mesh.point)
    x -= 0.5 * n;
  return mesh;
}

std::vector<std::int32_t> random_order(std::size_t count, std::mt19937& random) {
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Moves points by up to a fifth of a unit, numbers points and elements anew and turns the
/// elements' own numbering. `to` [num_points] becomes the new number of each point.
void distort(ElementMesh& mesh, std::mt19937& random, std::vector<std::int32_t>& to) {
  constexpr int turned[3][8] = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 0, 5, 6, 7, 4}, {0, 4, 5, 1, 3, 7, 6, 2}};
  std::uniform_real_distribution<double> shift(-0.2, 0.2);
  to = random_order(mesh.num_points(), random);
  ElementMesh other = mesh;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    for (std::size_t axis = 0; axis < 3; ++axis)
      other.point[3 * std::size_t(to[n]) + axis] = mesh.point[3 * n + axis] + shift(random);
  const std::vector<std::int32_t> order = random_order(mesh.num_elem(), random);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const int* turn = turned[random() % 3];
    for (std::size_t k = 0; k < 8; ++k)
      other.node[8 * std::size_t(order[e]) + k] =
          to[std::size_t(mesh.node[8 * e + std::size_t(turn[k])])];
  }
  mesh = other;
}

/// The volume of the 24 tetrahedra of every element.
double volume_of(const ElementMesh& mesh) {
  return volume_of(iso_surface(mesh, std::vector<double>(mesh.num_points(), 1), 0));
}

} // namespace

TEST_CASE("the iso-surface of a distance field is a sphere", "[iso_surface]") {
  const ElementMesh mesh = centred_cube(16);
  const TriangleSurface sphere = iso_surface(
      mesh, sample(mesh, [](double x, double y, double z) { return -std::hypot(x, y, z); }), -6.2);
  CHECK(defect_of(sphere).empty());
  CHECK(euler_number(sphere) == 2);
  CHECK(volume_of(sphere) == Approx(4 * Kokkos::numbers::pi / 3 * std::pow(6.2, 3)).epsilon(0.015));
  // Linear interpolation of a distance r is off by at most h^2 / (8 r), here for h^2 = 3.
  for (const Point& p : sphere.vertex)
    REQUIRE(std::abs(std::hypot(p[0], p[1], p[2]) - 6.2) < 3 / (8 * 5.));
}

TEST_CASE("the iso-surface of a torus has its hole, that of its complement its volume",
          "[iso_surface]") {
  const ElementMesh mesh = centred_cube(20);
  std::vector<double> field = sample(mesh, [](double x, double y, double z) {
    return 2.7 - std::hypot(std::hypot(x, y) - 6.1, z);
  });
  const TriangleSurface torus = iso_surface(mesh, field, 0);
  CHECK(defect_of(torus).empty());
  CHECK_FALSE(is_folded(torus));
  CHECK(euler_number(torus) == 0);
  CHECK(volume_of(torus) ==
        Approx(2 * Kokkos::numbers::pi * Kokkos::numbers::pi * 6.1 * 2.7 * 2.7).epsilon(0.03));
  for (double& value : field)
    value = -value;
  const TriangleSurface rest = iso_surface(mesh, field, 0);
  CHECK(defect_of(rest).empty());
  CHECK(euler_number(rest) == 2 + 0); // of the box and of the torus in it
  CHECK(volume_of(rest) + volume_of(torus) == Approx(20. * 20 * 20).epsilon(1e-12));
}

TEST_CASE("an iso-surface ends on the body's own surface", "[iso_surface]") {
  const ElementMesh mesh = centred_cube(4);
  const auto plane = sample(mesh, [](double x, double, double) { return -x; });
  const TriangleSurface half = iso_surface(mesh, plane, 0.25);
  CHECK(defect_of(half).empty());
  CHECK_FALSE(is_folded(half));
  CHECK(euler_number(half) == 2);
  CHECK(volume_of(half) == Approx(1.75 * 16).epsilon(1e-12)); // x < -0.25
  // A quarter of a ball about the middle of an edge.
  const ElementMesh fine = centred_cube(12);
  const auto ball =
      sample(fine, [](double x, double y, double z) { return 5.3 - std::hypot(x + 6, y + 6, z); });
  const TriangleSurface quarter = iso_surface(fine, ball, 0);
  CHECK(defect_of(quarter).empty());
  CHECK_FALSE(is_folded(quarter));
  CHECK(euler_number(quarter) == 2);
  CHECK(volume_of(quarter) == Approx(Kokkos::numbers::pi / 3 * std::pow(5.3, 3)).epsilon(0.02));
}

/// A number for each triangle, the same where triangles are joined by vertices.
std::vector<int> shells_of(const TriangleSurface& surface) {
  std::vector<int> root(surface.vertex.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int v) {
    while (root[std::size_t(v)] != v)
      v = root[std::size_t(v)] = root[std::size_t(root[std::size_t(v)])];
    return v;
  };
  for (const auto& t : surface.triangle)
    for (std::size_t k = 1; k < 3; ++k)
      root[std::size_t(find(t[k]))] = find(t[0]);
  std::vector<int> shell;
  for (const auto& t : surface.triangle)
    shell.push_back(find(t[0]));
  return shell;
}

TEST_CASE("a solid has a part for each shell that encloses it, and cavities belong to it",
          "[iso_surface]") {
  const ElementMesh mesh = centred_cube(16);
  // A ball in the cavity of another, and a third beside them.
  const auto balls = sample(mesh, [](double x, double y, double z) {
    const double inner = std::hypot(x + 2, y + 2, z + 2), outer = std::hypot(x - 6, y - 6, z - 6);
    return std::max({1.7 - inner, 1.1 - std::abs(inner - 4.6), 1.6 - outer});
  });
  const SolidParts solid = solid_parts(mesh, balls, 0);
  CHECK(solid.num_parts == 3);
  const std::vector<int> shell = shells_of(solid.surface);
  CHECK(std::set<int>(shell.begin(), shell.end()).size() == 4);
  for (std::size_t n = 0; n < balls.size(); ++n)
    CHECK((solid.part_of_node[n] >= 0) == (balls[n] > 0));

  // Whatever the field: a part is bounded by one shell that encloses volume, and by cavities.
  std::mt19937 random(7);
  ElementMesh box = make_hexa_box({7, 6, 5}, {7, 6, 5});
  for (const double level : {0.4, 0.55, 0.7, 0.85}) {
    std::vector<double> field(box.num_points());
    for (double& value : field)
      value = std::uniform_real_distribution<double>(0, 1)(random);
    const SolidParts parts = solid_parts(box, field, level);
    const std::vector<int> shells = shells_of(parts.surface);
    std::map<int, double> volume;
    std::map<int, std::set<int>> parts_of;
    for (std::size_t t = 0; t < shells.size(); ++t) {
      const auto& triangle = parts.surface.triangle[t];
      const auto corner = [&](std::size_t k) {
        return parts.surface.vertex[std::size_t(triangle[k])];
      };
      volume[shells[t]] += six_volumes(corner(0), corner(1), corner(2));
      parts_of[shells[t]].insert(parts.part_of_triangle[t]);
    }
    std::set<int> enclosed;
    for (const auto& [one, six] : volume) {
      CHECK(parts_of[one].size() == 1);
      if (six > 0)
        CHECK(enclosed.insert(*parts_of[one].begin()).second);
    }
    CHECK(int(enclosed.size()) == parts.num_parts);
    CHECK(parts.num_parts > (level > 0.5 ? 1 : 0));
  }
}

TEST_CASE("a field that is above everywhere gives the body, one that is nowhere nothing",
          "[iso_surface]") {
  const ElementMesh mesh = make_hexa_box({3, 2, 1}, {3, 4, 5});
  const TriangleSurface body = iso_surface(mesh, std::vector<double>(mesh.num_points(), 1), 0.5);
  CHECK(defect_of(body).empty());
  CHECK(volume_of(body) == Approx(60).epsilon(1e-12));
  CHECK(body.triangle.size() == 4 * 2 * (3 * 2 + 2 * 1 + 3 * 1));
  CHECK(iso_surface(mesh, std::vector<double>(mesh.num_points(), 0.5), 0.5).triangle.empty());
}

TEST_CASE("values at the level count as below and leave no triangle without area",
          "[iso_surface]") {
  const ElementMesh mesh = centred_cube(6);
  const auto field = sample(
      mesh, [](double x, double y, double z) { return -std::abs(x) - std::abs(y) - std::abs(z); });
  const TriangleSurface octahedron = iso_surface(mesh, field, -2); // 18 nodes at the level
  CHECK(defect_of(octahedron).empty());
  CHECK_FALSE(is_folded(octahedron));
  CHECK(euler_number(octahedron) == 2);
  CHECK(smallest_area(octahedron) > 1e-6);
  CHECK(volume_of(octahedron) == Approx(4. / 3 * 8).epsilon(0.1));
  std::vector<double> single(mesh.num_points(), 0);
  single[single.size() / 2] = 1; // nothing but this node is above
  const TriangleSurface point = iso_surface(mesh, single, 0);
  CHECK(defect_of(point).empty());
  CHECK_FALSE(is_folded(point));
  CHECK(euler_number(point) == 2);
  CHECK(smallest_area(point) > 1e-6);
}

TEST_CASE("random fields on distorted meshes with gaps have closed iso-surfaces", "[iso_surface]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    ElementMesh mesh = centred_cube(4);
    std::vector<std::int32_t> to;
    distort(mesh, random, to);
    std::vector<double> field(mesh.num_points());
    for (double& value : field)
      value = std::uniform_real_distribution<double>(0, 1000)(random); // no means at the level
    const TriangleSurface above = iso_surface(mesh, field, 500);
    CHECK(defect_of(above).empty());
    CHECK_FALSE(is_folded(above));
    std::vector<double> opposite = field;
    for (double& value : opposite)
      value = -value;
    const TriangleSurface below = iso_surface(mesh, opposite, -500);
    CHECK(defect_of(below).empty());
    CHECK(volume_of(above) > 0);
    CHECK(volume_of(above) + volume_of(below) == Approx(volume_of(mesh)).epsilon(1e-12));

    // Without half of its elements the body touches itself in edges and in nodes.
    const double all = volume_of(mesh);
    mesh.node.resize(mesh.node.size() / 2);
    const TriangleSurface body = iso_surface(mesh, std::vector<double>(mesh.num_points(), 1), 0);
    CHECK(defect_of(body).empty());
    CHECK_FALSE(is_folded(body));
    CHECK(volume_of(body) < 0.6 * all);
    CHECK(volume_of(body) > 0.4 * all);
    CHECK(defect_of(iso_surface(mesh, field, 300)).empty());
  }
}

TEST_CASE("an iso-surface does not depend on the numbering of the mesh", "[iso_surface]") {
  std::mt19937 random(5);
  ElementMesh mesh = centred_cube(4), other = mesh;
  std::vector<std::int32_t> to;
  distort(other, random, to);
  std::vector<double> field(mesh.num_points()), moved = field;
  for (std::size_t n = 0; n < field.size(); ++n) {
    moved[std::size_t(to[n])] = field[n] = double(random() % 100);
    std::copy_n(other.point.data() + 3 * to[n], 3, mesh.point.data() + 3 * n);
  }
  std::vector<Point> a = iso_surface(mesh, field, 50).vertex;
  std::vector<Point> b = iso_surface(other, moved, 50).vertex;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  CHECK(a == b);
}

TEST_CASE("nodal means of element values are weighted by volume", "[iso_surface]") {
  ElementMesh mesh = make_hexa_box({2, 1, 1}, {2, 1, 1});
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (mesh.point[3 * n] == 2)
      mesh.point[3 * n] = 4; // the second element has three times the volume of the first
  const std::vector<double> mean = node_means(mesh, {1, 5});
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    const double x = mesh.point[3 * n];
    CHECK(mean[n] == Approx(x == 0 ? 1 : x == 1 ? 4 : 5).epsilon(1e-12));
  }
  CHECK_THROWS_AS(node_means(mesh, {1}), std::invalid_argument);
}

TEST_CASE("fields and meshes that have no iso-surface are refused", "[iso_surface]") {
  ElementMesh mesh = centred_cube(1);
  CHECK_THROWS_AS(iso_surface(mesh, {1, 2}, 0), std::invalid_argument);
  CHECK_THROWS_AS(iso_surface(mesh, {1, 2, 3, 4, 5, 6, 7, std::nan("")}, 0), std::invalid_argument);
  for (int copy = 0; copy < 2; ++copy)
    mesh.node.insert(mesh.node.end(), mesh.node.begin(), mesh.node.begin() + 8);
  CHECK_THROWS_AS(iso_surface(mesh, std::vector<double>(8, 1), 0), std::invalid_argument);
  CHECK_THROWS_AS(iso_surface(make_tetra_box({1, 1, 1}, {1, 1, 1}), std::vector<double>(8, 1), 0),
                  std::invalid_argument);
}

TEST_CASE("an iso-surface is closed when it is read back from STL", "[iso_surface][surface]") {
  const TestDirectory directory;
  const std::string path = directory / "part.stl";
  std::mt19937 random(3);
  ElementMesh mesh = centred_cube(6);
  std::vector<std::int32_t> to;
  distort(mesh, random, to);
  std::vector<double> field(mesh.num_points());
  for (double& value : field)
    value = double(random() % 7); // some at the level
  // Far from the origin single precision is as coarse as 1/64 of a unit and vertices fall together.
  const double offset = GENERATE(0., 200000.);
  for (double& x : mesh.point)
    x += offset;
  const TriangleSurface surface = iso_surface(mesh, field, 3);
  write_stl(path, surface, "part");
  const TriangleSurface read = read_surface(path);
  CHECK(read.vertex.size() == surface.vertex.size());
  CHECK(read.triangle.size() == surface.triangle.size());
  CHECK(defect_of(read).empty());
  CHECK(read_bytes_of(path).substr(0, 8) == "part    ");
  if (offset == 0)
    CHECK(volume_of(read) == Approx(volume_of(surface)).epsilon(1e-5));
  CHECK(directory.count() == 1);
}

TEST_CASE("STL keeps vertices apart that are at the same position", "[iso_surface][surface]") {
  const TestDirectory directory;
  TriangleSurface two; // tetrahedra that touch in the edge from 0 to 1
  two.vertex = {{0, 0, 0},   {0, 0, 1}, {1, 0, 0},  {0, 1, 0},
                {-0., 0, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}};
  for (int first : {0, 4})
    for (const std::array<int, 3>& t :
         {std::array<int, 3>{0, 3, 2}, {0, 2, 1}, {0, 1, 3}, {1, 2, 3}})
      two.triangle.push_back({t[0] + first, t[1] + first, t[2] + first});
  write_stl(directory / "two.stl", two, "");
  const TriangleSurface read = read_surface(directory / "two.stl");
  CHECK(read.vertex.size() == 8);
  CHECK(defect_of(read).empty());
}

TEST_CASE("surfaces that STL cannot hold are refused", "[iso_surface][surface]") {
  const TestDirectory directory;
  TriangleSurface surface;
  surface.vertex = {{0, 0, 0}, {1, 0, 0}, {0, 1e39, 0}};
  surface.triangle = {{0, 1, 2}};
  CHECK_SAYS(error_of([&] { write_stl(directory / "a.stl", surface, ""); }), "single precision");
  surface.vertex[2] = {0, 1, 0};
  CHECK_THROWS_AS(write_stl(directory / "a.stl", surface, "solid part"), std::invalid_argument);
  surface.triangle = {{0, 1, 3}};
  CHECK_THROWS_AS(write_stl(directory / "a.stl", surface, ""), std::invalid_argument);
  CHECK(directory.count() == 0);
  surface.triangle = {{0, 1, 2}};
  CHECK_SAYS(error_of([&] { write_stl(directory / "none/a.stl", surface, ""); }), "a.stl");
}
