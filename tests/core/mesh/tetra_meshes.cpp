// SPDX-License-Identifier: Apache-2.0
// Generated tetrahedral meshes: they fill what they should, conforming, without bad elements.
#include "tests/catch.hpp"
#include "tests/space_vectors.hpp"
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace {

using namespace ossatura;
using namespace ossatura_test;

Vector point_of(const TetraMesh& mesh, std::size_t n) {
  return {mesh.point[3 * n], mesh.point[3 * n + 1], mesh.point[3 * n + 2]};
}
std::array<Vector, 4> corners_of(const TetraMesh& mesh, std::size_t e) {
  std::array<Vector, 4> corner;
  for (int n = 0; n < 4; ++n)
    corner[n] = point_of(mesh, mesh.tetra[4 * e + n]);
  return corner;
}

double volume_of(const std::array<Vector, 4>& x) {
  return dot(x[1] - x[0], cross(x[2] - x[0], x[3] - x[0])) / 6;
}

/// The least and the greatest angle between two faces, in degrees.
std::pair<double, double> angles_of(const std::array<Vector, 4>& x) {
  double least = 180, greatest = 0;
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) {
      const int c = a == 0 ? (b == 1 ? 2 : 1) : 0, d = 6 - a - b - c;
      const Vector along = x[b] - x[a];
      const Vector u = cross(along, x[c] - x[a]), v = cross(along, x[d] - x[a]);
      const double cosine = dot(u, v) / std::sqrt(dot(u, u) * dot(v, v));
      const double angle = std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / Kokkos::numbers::pi;
      least = std::min(least, angle);
      greatest = std::max(greatest, angle);
    }
  return {least, greatest};
}

double total_volume(const TetraMesh& mesh) {
  double sum = 0, least = 1e300;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const double volume = volume_of(corners_of(mesh, e));
    least = std::min(least, volume);
    sum += volume;
  }
  CHECK(least > 0);
  return sum;
}

/// All points used, one piece, faces of one or two tetrahedra, edges of the boundary between two
/// faces. Returns Euler's number of the boundary.
long check_topology(const TetraMesh& mesh) {
  std::vector<int> root(mesh.num_points());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int n) {
    while (root[n] != n)
      n = root[n] = root[root[n]];
    return n;
  };
  std::vector<std::array<int, 3>> faces;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    for (int without = 0; without < 4; ++without) {
      std::array<int, 3> face;
      for (int n = 0; n < 3; ++n)
        face[n] = mesh.tetra[4 * e + (without + 1 + n) % 4];
      std::sort(face.begin(), face.end());
      faces.push_back(face);
      root[find(mesh.tetra[4 * e + without])] = find(face[0]);
    }
  int pieces = 0; // an unused point is one
  for (int n = 0; n < int(root.size()); ++n)
    pieces += root[n] == n;
  CHECK(pieces == 1);

  std::sort(faces.begin(), faces.end());
  std::map<std::pair<int, int>, int> edges;
  std::map<int, int> points;
  long num_faces = 0;
  std::size_t most = 0;
  for (std::size_t f = 0, next; f < faces.size(); f = next) {
    next = std::upper_bound(faces.begin() + f, faces.end(), faces[f]) - faces.begin();
    most = std::max(most, next - f);
    if (next - f != 1)
      continue;
    ++num_faces;
    const auto& [a, b, c] = faces[f];
    for (const auto& edge : {std::pair(a, b), std::pair(a, c), std::pair(b, c)})
      ++edges[edge];
    for (const int n : {a, b, c})
      ++points[n];
  }
  CHECK(most == 2);
  CHECK(std::all_of(edges.begin(), edges.end(), [](const auto& e) { return e.second == 2; }));
  return long(points.size()) - long(edges.size()) + num_faces;
}

TEST_CASE("a box of tetrahedra fills it, jittered or not", "[tetra]") {
  for (const double jitter : {0.0, 0.3}) {
    const TetraMesh mesh = make_tetra_box({4, 3, 5}, 0.5, {1, -2, 3}, jitter, 7);
    CHECK(mesh.num_points() == 5 * 4 * 6);
    CHECK(mesh.num_tetra() == 6 * 4 * 3 * 5);
    CHECK(mesh.tag == std::vector<std::int32_t>(mesh.num_tetra(), 1));
    CHECK(mesh.fibre.empty());
    CHECK(point_of(mesh, 0) == Vector{1, -2, 3});
    CHECK(point_of(mesh, 1) == Vector{1.5, -2, 3});
    CHECK(total_volume(mesh) == Approx(4 * 3 * 5 * 0.125).epsilon(1e-12));
    CHECK(check_topology(mesh) == 2);
  }
  const TetraMesh regular = make_tetra_box({4, 4, 4}, 1);
  const TetraMesh one = make_tetra_box({4, 4, 4}, 1, {0, 0, 0}, 0.2, 1);
  const TetraMesh same = make_tetra_box({4, 4, 4}, 1, {0, 0, 0}, 0.2, 1);
  const TetraMesh other = make_tetra_box({4, 4, 4}, 1, {0, 0, 0}, 0.2, 2);
  CHECK(one.point == same.point);
  CHECK(one.point != other.point);
  double longest = 0;
  for (std::size_t n = 0; n < one.num_points(); ++n) {
    const Vector shift = point_of(one, n) - point_of(regular, n);
    longest = std::max(longest, std::sqrt(dot(shift, shift)));
  }
  CHECK(longest <= 0.2);
  CHECK(longest > 0.1);
}

TEST_CASE("the slab has its size and fibres for any edge", "[tetra]") {
  for (const double h : {0.5, 0.7, 3.0}) {
    const TetraMesh mesh = make_slab(h);
    CHECK(total_volume(mesh) == Approx(20 * 7 * 3).epsilon(1e-12));
    CHECK(point_of(mesh, mesh.num_points() - 1) == Vector{20, 7, 3});
    REQUIRE(mesh.fibre.size() == 3 * mesh.num_tetra());
    CHECK(mesh.fibre[3] == 1);
    CHECK(mesh.fibre[4] == 0);
    CHECK(mesh.sheet.empty());
  }
  CHECK(make_slab(0.5).num_tetra() == 6 * 40 * 14 * 6);
}

TEST_CASE("ventricles are one sound piece of muscle", "[tetra]") {
  for (const double h : {2.0, 1.5}) {
    const TetraMesh mesh = make_ventricles(h);
    const double volume = total_volume(mesh);
    CHECK(volume == Approx(188e3).epsilon(0.01)); // cubic millimetres
    CHECK(mesh.num_tetra() == Approx(6 * volume / (h * h * h)).epsilon(0.12));
    CHECK(check_topology(mesh) == 2); // a sphere with two dents
    double least = 180, greatest = 0;
    for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
      const auto [low, high] = angles_of(corners_of(mesh, e));
      least = std::min(least, low);
      greatest = std::max(greatest, high);
    }
    CHECK(least > 10);
    CHECK(greatest < 160);
  }
}

TEST_CASE("fibres of ventricles turn by 120 degrees through the wall", "[tetra]") {
  const TetraMesh mesh = make_ventricles(1.5);
  REQUIRE(mesh.fibre.size() == 3 * mesh.num_tetra());
  REQUIRE(mesh.sheet.size() == 3 * mesh.num_tetra());
  double length_error = 0, product = 0;
  // of the free wall of the left ventricle about half-way up: distance from the axis, angle
  std::vector<std::pair<double, double>> wall;
  std::int64_t with_tag[3] = {};
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const float* f = &mesh.fibre[3 * e];
    const float* s = &mesh.sheet[3 * e];
    length_error = std::max({length_error, std::abs(std::hypot(f[0], f[1], f[2]) - 1.0),
                             std::abs(std::hypot(s[0], s[1], s[2]) - 1.0)});
    product = std::max(product,
                       std::abs(double(f[0]) * s[0] + double(f[1]) * s[1] + double(f[2]) * s[2]));
    REQUIRE((mesh.tag[e] == 1 || mesh.tag[e] == 2));
    ++with_tag[mesh.tag[e]];
    Vector centre = {0, 0, 0};
    for (const Vector& corner : corners_of(mesh, e))
      for (int axis = 0; axis < 3; ++axis)
        centre[axis] += corner[axis] / 4;
    if (mesh.tag[e] == 1 && std::abs(centre[2]) < 3 && centre[0] < -20) {
      const double radius = std::hypot(centre[0], centre[1]);
      const double around = (-centre[1] * f[0] + centre[0] * f[1]) / radius;
      wall.push_back({radius, std::atan2(double(f[2]), around) * 180 / Kokkos::numbers::pi});
    }
  }
  CHECK(length_error < 1e-6);
  CHECK(product < 1e-6);
  CHECK(with_tag[2] > 0.2 * mesh.num_tetra());
  CHECK(with_tag[1] > 0.6 * mesh.num_tetra());
  REQUIRE(wall.size() > 100);
  for (const auto& [radius, angle] : wall) // from 22 to 33 mm
    CHECK(angle == Approx(60 - 120 * (radius - 22) / 11).margin(2));
}

TEST_CASE("sites of ventricles are near points of the mesh", "[tetra]") {
  const TetraMesh mesh = make_ventricles(1.5);
  const std::vector<TimedPoint> sites = ventricle_sites();
  REQUIRE(sites.size() == 5);
  const double starts[5] = {0, 0, 5, 5, 10};
  for (int s = 0; s < 5; ++s) {
    CHECK(sites[s].time == starts[s]);
    double nearest = 1e300;
    for (std::size_t n = 0; n < mesh.num_points(); ++n) {
      const Vector way = point_of(mesh, n) - sites[s].point;
      nearest = std::min(nearest, std::sqrt(dot(way, way)));
    }
    CHECK(nearest < 1.5);
  }
}

TEST_CASE("meshes that make no sense are refused", "[tetra]") {
  CHECK_THROWS_AS(make_tetra_box({0, 1, 1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_box({1, 1, 1}, -1), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_box({3, 3, 3}, 1, {0, 0, 0}, 0.5), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_box({2000, 2000, 2000}, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_slab(0), std::invalid_argument);
  CHECK_THROWS_AS(make_slab(std::nan("")), std::invalid_argument);
  CHECK_THROWS_AS(make_ventricles(0.05), std::invalid_argument);
  CHECK_THROWS_AS(make_ventricles(10), std::invalid_argument);
}

TEST_CASE("the first tetrahedron with a point that is not there is named", "[tetra]") {
  TetraMesh mesh = make_tetra_box({40, 40, 40}, 1);
  CHECK_NOTHROW(check_points_of_tetra(mesh));
  mesh.tetra[mesh.tetra.size() - 2] = 68921; // looked at by another thread than the first
  const std::string last = "tetrahedron " + std::to_string(mesh.num_tetra() - 1);
  CHECK_THROWS_WITH(check_points_of_tetra(mesh),
                    ContainsSubstring(last + " has point 68921 of 68921"));
  mesh.tetra[4 * 100] = -1;
  CHECK_THROWS_WITH(check_points_of_tetra(mesh),
                    ContainsSubstring("tetrahedron 100 has point -1 of 68921"));
}

} // namespace
