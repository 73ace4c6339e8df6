// SPDX-License-Identifier: Apache-2.0
// Smoothed surfaces: what stays (volume, closedness, flat faces), what gets better (a stepped
// sphere), what is held where triangles would cross, and that threads change nothing.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/surface/self_crossings.hpp>
#include <ossatura/core/mesh/surface/smooth_surface.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace {

using namespace ossatura;
using Point = std::array<double, 3>;

/// The surface of the elements of a box whose centres are chosen, as designs have it.
TriangleSurface surface_of(const ElementMesh& mesh,
                           const std::function<bool(const Point&)>& chosen) {
  std::vector<double> density;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    Point centre{};
    for (std::size_t a = 8 * e; a < 8 * e + 8; ++a)
      for (std::size_t d = 0; d < 3; ++d)
        centre[d] += mesh.point[3 * std::size_t(mesh.node[a]) + d] / 8;
    density.push_back(chosen(centre) ? 1 : 0);
  }
  return iso_surface(mesh, node_means(mesh, density), 0.5);
}

double volume_inside(const TriangleSurface& surface) {
  double sum = 0;
  for (const auto& t : surface.triangle) {
    const Point &a = surface.vertex[std::size_t(t[0])], &b = surface.vertex[std::size_t(t[1])],
                &c = surface.vertex[std::size_t(t[2])];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

/// Root mean square by area of the sine between the normals of triangles with all corners at more
/// than `least` from the centre, and the directions from there.
double slope_of(const TriangleSurface& surface, const TriangleSurface& first, double centre,
                double least) {
  double sum = 0, all = 0;
  for (const auto& t : surface.triangle) {
    Point edge[2], middle{};
    double nearest = 9;
    for (std::size_t k = 0; k < 3; ++k) {
      const Point& x = first.vertex[std::size_t(t[k])];
      nearest = std::min(nearest, std::hypot(x[0] - centre, x[1] - centre, x[2] - centre));
      for (std::size_t d = 0; d < 3; ++d) {
        const double at = surface.vertex[std::size_t(t[k])][d];
        middle[d] += (at - centre) / 3;
        if (k > 0)
          edge[k - 1][d] = at - surface.vertex[std::size_t(t[0])][d];
      }
    }
    if (nearest < least)
      continue;
    double along = 0, area = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
      const double normal = edge[0][e] * edge[1][f] - edge[0][f] * edge[1][e];
      along += normal * middle[d];
      area += normal * normal;
    }
    area = std::sqrt(area);
    const double cosine = along / area / std::hypot(middle[0], middle[1], middle[2]);
    sum += area * (1 - cosine * cosine);
    all += area;
  }
  return std::sqrt(sum / all);
}

TEST_CASE("A stepped sphere gets round and keeps its volume", "[smooth_surface]") {
  const ElementMesh mesh = make_hexa_box({14, 14, 14}, {1.4, 1.4, 1.4});
  const TriangleSurface rough = surface_of(mesh, [](const Point& x) {
    const double r = std::hypot(x[0] - 0.7, x[1] - 0.7, x[2] - 0.7);
    return r < 0.55 && r > 0.22; // and a cavity
  });
  const SmoothedSurface smooth = smooth_surface(rough, 40, bounding_box(mesh.point));
  CHECK(smooth.num_held == 0);
  CHECK(smooth.surface.triangle == rough.triangle);
  CHECK(describe_first_open_edge(smooth.surface).empty());
  CHECK(volume_inside(smooth.surface) == Approx(volume_inside(rough)).epsilon(1e-9));
  CHECK(find_self_crossings(smooth.surface).empty());
  // The outer shell: 0.20 before.
  CHECK(slope_of(smooth.surface, rough, 0.7, 0.4) < 0.8 * slope_of(rough, rough, 0.7, 0.4));
  CHECK(smooth_surface(rough, 0, bounding_box(mesh.point)).surface.vertex == rough.vertex);
  CHECK_THROWS_AS(smooth_surface(rough, -1, Box{}), std::invalid_argument);
}

TEST_CASE("Flat faces, edges and corners of a part stay", "[smooth_surface]") {
  // A plate with a stepped hole; all of its six sides are in planes of the box.
  const ElementMesh mesh = make_hexa_box({12, 10, 3}, {12, 10, 3});
  const TriangleSurface rough =
      surface_of(mesh, [](const Point& x) { return std::hypot(x[0] - 5, x[1] - 5) > 2.6; });
  const TriangleSurface smooth = smooth_surface(rough, 15, bounding_box(mesh.point)).surface;
  const double size[3] = {12, 10, 3};
  double moved = 0;
  for (std::size_t v = 0; v < rough.vertex.size(); ++v)
    for (std::size_t d = 0; d < 3; ++d) {
      const double before = rough.vertex[v][d], after = smooth.vertex[v][d];
      if (before == 0 || before == size[d])
        CHECK(after == before);
      moved = std::max(moved, std::fabs(after - before));
    }
  CHECK(moved > 0.1); // the hole
  CHECK(volume_inside(smooth) == Approx(volume_inside(rough)).epsilon(1e-9));

  // A flat seat inside the box, sixteen elements wide: its middle stays in its plane.
  const ElementMesh pocket =
      make_lattice_box({22, 20, 3}, {22, 20, 3}, {3, 2, 2}, {19, 18, 3}).mesh();
  const TriangleSurface seat = surface_of(pocket, [](const Point&) { return true; });
  const TriangleSurface seated = smooth_surface(seat, 15, bounding_box(pocket.point)).surface;
  int flat = 0;
  double rim_moved = 0;
  for (std::size_t v = 0; v < seat.vertex.size(); ++v) {
    const Point& x = seat.vertex[v];
    if (x[2] != 2)
      continue;
    if (x[0] > 6.9 && x[0] < 15.1 && x[1] > 5.9 && x[1] < 14.1) {
      CHECK(seated.vertex[v][2] == 2);
      ++flat;
    }
    rim_moved = std::max(rim_moved, std::fabs(seated.vertex[v][2] - 2));
  }
  CHECK(flat > 81);
  CHECK(rim_moved > 0.01);
}

TEST_CASE("Triangles that would cross are held, and a shell that is too small",
          "[smooth_surface]") {
  // Two slabs with a gap that waves can close: thin, with a bump.
  const ElementMesh mesh = make_hexa_box({10, 10, 8}, {1, 1, 0.8});
  TriangleSurface rough = surface_of(mesh, [](const Point& x) {
    const bool in_bump = std::hypot(x[0] - 0.5, x[1] - 0.5) < 0.2;
    return (x[2] < 0.3 || (in_bump && x[2] < 0.4)) || (x[2] > 0.5 && !in_bump) || x[2] > 0.7;
  });
  const SmoothedSurface smooth = smooth_surface(rough, 60, bounding_box(mesh.point));
  CHECK(find_self_crossings(smooth.surface).empty());
  CHECK(volume_inside(smooth.surface) == Approx(volume_inside(rough)).epsilon(1e-9));
  // A triangle pushed through the opposite side is found, with both of its edges.
  REQUIRE(find_self_crossings(rough).empty());
  std::size_t below = 0;
  for (std::size_t v = 0; v < rough.vertex.size(); ++v)
    if (rough.vertex[v] == Point{0.35, 0.45, 0})
      below = v;
  REQUIRE(below > 0);
  rough.vertex[below][2] = 2;
  CHECK(find_self_crossings(rough).size() >= 4);
  // Crossings that were there do not keep the rest from being smoothed.
  const SmoothedSurface other = smooth_surface(rough, 3, bounding_box(mesh.point));
  CHECK(other.num_held < std::int64_t(rough.vertex.size()));
  // One element: eight corners and six sides.
  const TriangleSurface grain =
      surface_of(mesh, [](const Point& x) { return x[0] < 0.1 && x[1] < 0.1 && x[2] < 0.1; });
  CHECK(volume_inside(smooth_surface(grain, 40, bounding_box(mesh.point)).surface) ==
        Approx(volume_inside(grain)).epsilon(1e-9));
}

} // namespace

TEST_CASE("Surfaces have the same bits for any number of threads", "[smooth_surface]") {
  const ElementMesh mesh = make_hexa_box({40, 40, 40}, {1, 1, 1});
  std::vector<double> field(mesh.num_points());
  for (std::size_t n = 0; n < field.size(); ++n) // many parts and cavities, at the faces, too
    field[n] = std::sin(9 * mesh.point[3 * n]) * std::sin(8 * mesh.point[3 * n + 1]) *
               std::sin(7 * mesh.point[3 * n + 2]);
  SolidParts before;
  SmoothedSurface smooth_before;
  for (const int threads : {1, 3, 8}) {
    const ossatura_test::IoThreads chosen(threads);
    INFO(threads << " threads");
    const SolidParts parts = solid_parts(mesh, field, 0.1);
    const SmoothedSurface smooth = smooth_surface(parts.surface, 10, bounding_box(mesh.point));
    REQUIRE(parts.num_parts > 1);
    if (threads > 1) {
      CHECK((parts.surface.vertex == before.surface.vertex)); // in parentheses: not printed
      CHECK((parts.surface.triangle == before.surface.triangle));
      CHECK((parts.part_of_node == before.part_of_node));
      CHECK((parts.part_of_triangle == before.part_of_triangle));
      CHECK((smooth.surface.vertex == smooth_before.surface.vertex));
      CHECK(smooth.num_held == smooth_before.num_held);
    }
    before = parts;
    smooth_before = smooth;
  }
}
