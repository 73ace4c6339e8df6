// SPDX-License-Identifier: Apache-2.0
// Bodies of cubes whose faces go back to the surface that the cubes filled: a sphere, and a plate
// with a hole.
#include "tests/catch.hpp"
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/surface/enclosed_volume.hpp>
#include <ossatura/core/mesh/surface/fit_surface.hpp>
#include <ossatura/core/mesh/surface/near_surface.hpp>
#include <ossatura/core/mesh/surface/self_crossings.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace {

using namespace ossatura;
using Point = std::array<double, 3>;

constexpr double pi = 3.14159265358979323846;

LatticeBody cubes_where(const std::array<int, 3>& shape,
                        const std::function<bool(const Point&)>& chosen) {
  VoxelImage image;
  image.shape = shape;
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x)
        image.value.push_back(chosen({x + 0.5, y + 0.5, z + 0.5}) ? 1.0f : 0.0f);
  return make_lattice_body(image);
}

TriangleSurface surface_of(const LatticeBody& body) {
  const ElementMesh mesh = body.mesh();
  return iso_surface(mesh, std::vector<double>(mesh.num_points(), 1), 0.5);
}

std::vector<std::uint8_t> faces_of(const LatticeBody& body, const TriangleSurface& surface) {
  std::vector<std::uint8_t> faces;
  for (const Point& vertex : surface.vertex)
    faces.push_back(body.faces_at(vertex));
  return faces;
}

/// Triangles between rows of `around` points each, of a torus if `rows` close; place(row, point).
void add_rows(TriangleSurface& surface, int rows, int around,
              const std::function<Point(int, int)>& place) {
  const int first = int(surface.vertex.size());
  for (int row = 0; row <= rows; ++row)
    for (int k = 0; k < around; ++k)
      surface.vertex.push_back(place(row, k));
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < around; ++k) {
      const int a = first + row * around + k, b = first + row * around + (k + 1) % around;
      surface.triangle.push_back({a, b, b + around});
      surface.triangle.push_back({a, b + around, a + around});
    }
}

TEST_CASE("a ball of cubes becomes round", "[fit_surface]") {
  const double radius = 5.3, centre = 7;
  const auto from_centre = [&](const Point& x) {
    return std::hypot(x[0] - centre, x[1] - centre, x[2] - centre);
  };
  const LatticeBody body =
      cubes_where({14, 14, 14}, [&](const Point& x) { return from_centre(x) < radius; });
  TriangleSurface ball; // from the south to the north, seen from outside counter-clockwise
  add_rows(ball, 90, 180, [&](int row, int k) {
    const double polar = pi * (row - 45) / 90, turn = 2 * pi * k / 180;
    return Point{centre + radius * std::cos(polar) * std::cos(turn),
                 centre + radius * std::cos(polar) * std::sin(turn),
                 centre + radius * std::sin(polar)};
  });
  const TriangleSurface stepped = surface_of(body);
  const FittedSurface fitted = fit_surface(stepped, faces_of(body, stepped), ball, 1);
  CHECK(fitted.surface.triangle == stepped.triangle);
  CHECK(find_self_crossings(fitted.surface).empty());
  CHECK(describe_first_open_edge(fitted.surface).empty());
  const double volume = 4 * pi / 3 * radius * radius * radius;
  CHECK(std::fabs(enclosed_volume(fitted.surface) / volume - 1) < 0.02);
  std::size_t apart = 0;
  for (std::size_t v = 0; v < stepped.vertex.size(); ++v)
    if (fitted.is_fitted[v])
      CHECK(std::fabs(from_centre(fitted.surface.vertex[v]) - radius) < 2e-3 * radius); // chords
    else {
      CHECK(fitted.surface.vertex[v] == stepped.vertex[v]);
      ++apart;
    }
  CHECK(double(apart) < 0.02 * double(stepped.vertex.size()));
}

TEST_CASE("a hole of cubes becomes round, and its rims stay in their planes", "[fit_surface]") {
  const double radius = 3.2, centre = 6;
  const LatticeBody body = cubes_where({12, 12, 4}, [&](const Point& x) {
    return std::hypot(x[0] - centre, x[1] - centre) > radius;
  });
  TriangleSurface plate;
  add_rows(plate, 1, 64, [&](int row, int k) { // seen from within the hole
    const double turn = -2 * pi * k / 64;
    return Point{centre + radius * std::cos(turn), centre + radius * std::sin(turn), 4.0 * row};
  });
  const auto add_plane = [&](double z, bool up) {
    const int n = int(plate.vertex.size());
    for (const auto& [x, y] : {std::pair{0., 0.}, {12., 0.}, {12., 12.}, {0., 12.}})
      plate.vertex.push_back({x, y, z});
    plate.triangle.push_back(up ? std::array<int, 3>{n, n + 1, n + 2}
                                : std::array{n, n + 2, n + 1});
    plate.triangle.push_back(up ? std::array<int, 3>{n, n + 2, n + 3}
                                : std::array{n, n + 3, n + 2});
  };
  add_plane(0, false);
  add_plane(4, true);
  const TriangleSurface stepped = surface_of(body);
  const std::vector<std::uint8_t> faces = faces_of(body, stepped);
  const FittedSurface fitted = fit_surface(stepped, faces, plate, 1);
  CHECK(find_self_crossings(fitted.surface).empty());
  int rims = 0, walls = 0;
  for (std::size_t v = 0; v < faces.size(); ++v) {
    const Point &x = stepped.vertex[v], &y = fitted.surface.vertex[v];
    const double from_axis = std::hypot(x[0] - centre, x[1] - centre);
    if ((faces[v] & 0x30) != 0)
      CHECK(std::fabs(y[2] - x[2]) < 1e-6);
    if ((faces[v] & 0xf) == 0 || from_axis > radius + 1.5)
      continue;
    CHECK(fitted.is_fitted[v]);
    const double off = std::hypot(y[0] - centre, y[1] - centre) - radius;
    CHECK(off < 1e-6);
    CHECK(off > -radius * (1 - std::cos(pi / 64)) - 1e-6); // of chords
    ++((faces[v] & 0x30) != 0 ? rims : walls);
  }
  CHECK(rims > 40);
  CHECK(walls > 100);
}

TEST_CASE("faces at places of cubes are those that show", "[fit_surface]") {
  const LatticeBody body = cubes_where({2, 1, 1}, [](const Point&) { return true; });
  CHECK(body.faces_at({0, 0.5, 0.5}) == 1);
  CHECK(body.faces_at({1, 0.5, 0.5}) == 0);
  CHECK(body.faces_at({2, 1, 0.3}) == (1 << 1 | 1 << 3));
  CHECK(body.faces_at({1, 0, 0}) == (1 << 2 | 1 << 4));
  CHECK(body.faces_at({0.7, 0.2, 1}) == 1 << 5);
}

TEST_CASE("what fits no surface is refused", "[fit_surface]") {
  const TriangleSurface one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  CHECK_THROWS_AS(fit_surface(one, {1, 1}, one, 1), std::invalid_argument);
  CHECK_THROWS_AS(fit_surface(one, {1, 1, 1}, one, 0), std::invalid_argument);
  const FittedSurface far =
      fit_surface(one, {16, 16, 16}, {{{0, 0, 9}, {1, 0, 9}, {0, 1, 9}}, {{0, 1, 2}}}, 1);
  CHECK(far.surface.vertex == one.vertex);
  CHECK(std::count(far.is_fitted.begin(), far.is_fitted.end(), true) == 0);
}

} // namespace
