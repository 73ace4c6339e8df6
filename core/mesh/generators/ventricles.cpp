// SPDX-License-Identifier: Apache-2.0
// The generator makes the ventricles of a human heart from ellipsoids with axes along x, y, z, base
// upwards. The left ventricle is a shell about the origin, the right one a shell beside it at
// positive x, cut off where it would overlap the left. One wall, the septum, is between the
// cavities.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/generators/cut_lattice.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using detail::Array3;

struct Ellipsoid {
  Array3 centre, semi_axis; // mm

  /// Distance from the surface to first order, negative inside, and its direction.
  double distance(const Array3& x, Array3* normal = nullptr) const {
    double square = 0, gradient_square = 0;
    Array3 gradient;
    for (int axis = 0; axis < 3; ++axis) {
      const double scaled = (x[axis] - centre[axis]) / semi_axis[axis];
      gradient[axis] = scaled / semi_axis[axis];
      square += scaled * scaled;
      gradient_square += gradient[axis] * gradient[axis];
    }
    if (gradient_square == 0) // the centre
      return -*std::min_element(semi_axis.begin(), semi_axis.end());
    const double length = std::sqrt(gradient_square), radius = std::sqrt(square);
    if (normal)
      for (int axis = 0; axis < 3; ++axis)
        (*normal)[axis] = gradient[axis] / length;
    return radius * (radius - 1) / length;
  }
};

constexpr Ellipsoid left_inner = {{0, 0, 0}, {22, 22, 58}};
constexpr Ellipsoid left_outer = {{0, 0, 0}, {33, 33, 69}};
constexpr Ellipsoid right_inner = {{18, 0, 4}, {44, 32, 58}};
constexpr Ellipsoid right_outer = {{18, 0, 4}, {48.5, 36.5, 62.5}};
constexpr double base = 22; // height of the cut through both

/// The maximum of two distances with the edge where they are equal rounded off (Quilez's
/// polynomial), since cavities must not end in wedges that no lattice resolves.
double rounded_max(double a, double b) {
  const double radius = 3; // mm
  const double overlap = std::max(radius - std::abs(a - b), 0.0);
  return std::max(a, b) + overlap * overlap / (4 * radius);
}

double level(const Array3& x) {
  const double left = left_outer.distance(x);
  const double outside = -rounded_max(-left, -right_outer.distance(x));
  const double right_cavity = rounded_max(right_inner.distance(x), -left);
  return std::max({outside, -left_inner.distance(x), -right_cavity, x[2] - base});
}

/// Where a point is in the wall between two ellipsoids: 0 at the inner one, 1 at the outer one, and
/// the direction outwards.
struct WallPlace {
  double depth;
  Array3 outwards;
};

WallPlace place_in_wall(const Ellipsoid& inner, const Ellipsoid& outer, const Array3& x) {
  Array3 inner_normal = {0, 0, 1}, outer_normal = {0, 0, 1};
  const double from_inner = std::max(inner.distance(x, &inner_normal), 0.0);
  const double from_outer = std::max(-outer.distance(x, &outer_normal), 0.0);
  const double thickness = from_inner + from_outer;
  WallPlace place;
  place.depth = thickness > 0 ? from_inner / thickness : 0.5;
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    place.outwards[axis] =
        (1 - place.depth) * inner_normal[axis] + place.depth * outer_normal[axis];
    square += place.outwards[axis] * place.outwards[axis];
  }
  for (double& component : place.outwards)
    component /= std::sqrt(square);
  return place;
}

/// +60 degrees from the circumference at depth 0 to -60 at depth 1, in the plane across `outwards`.
Array3 fibre_at(const WallPlace& place) {
  const Array3& n = place.outwards;
  const double radius = std::sqrt(n[0] * n[0] + n[1] * n[1]);
  // At the very apex there is no circumference; any direction will do.
  const Array3 around = radius > 1e-6 ? Array3{-n[1] / radius, n[0] / radius, 0} : Array3{1, 0, 0};
  const Array3 upwards = {n[1] * around[2] - n[2] * around[1], n[2] * around[0] - n[0] * around[2],
                          n[0] * around[1] - n[1] * around[0]};
  const double angle = Kokkos::numbers::pi / 3 * (1 - 2 * place.depth);
  Array3 fibre;
  for (int axis = 0; axis < 3; ++axis)
    fibre[axis] = std::cos(angle) * around[axis] + std::sin(angle) * upwards[axis];
  return fibre;
}

void add_tissue(TetraMesh& mesh) {
  mesh.tag.resize(mesh.num_tetra());
  mesh.fibre.resize(3 * mesh.num_tetra());
  mesh.sheet.resize(3 * mesh.num_tetra());
  for_parts(mesh.num_tetra(), 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      Array3 centre = {0, 0, 0};
      for (int corner = 0; corner < 4; ++corner)
        for (int axis = 0; axis < 3; ++axis)
          centre[axis] += 0.25 * mesh.point[3 * std::size_t(mesh.tetra[4 * e + corner]) + axis];
      const bool in_left = left_outer.distance(centre) < 0;
      const WallPlace place = in_left ? place_in_wall(left_inner, left_outer, centre)
                                      : place_in_wall(right_inner, right_outer, centre);
      mesh.tag[e] = in_left ? 1 : 2;
      const Array3 fibre = fibre_at(place);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        mesh.fibre[3 * e + axis] = float(fibre[axis]);
        mesh.sheet[3 * e + axis] = float(place.outwards[axis]);
      }
    }
  });
}

} // namespace

TetraMesh make_ventricles(double h) {
  OSSATURA_REQUIRE(h >= 0.1 && h <= 3,
                   "ventricles with edges of " << h << " mm; 0.1 to 3 resolve their walls");
  detail::CutLattice lattice;
  for (int axis = 0; axis < 3; ++axis) {
    lattice.lower[axis] = std::min(left_outer.centre[axis] - left_outer.semi_axis[axis],
                                   right_outer.centre[axis] - right_outer.semi_axis[axis]);
    lattice.upper[axis] = std::max(left_outer.centre[axis] + left_outer.semi_axis[axis],
                                   right_outer.centre[axis] + right_outer.semi_axis[axis]);
  }
  lattice.upper[2] = base;
  lattice.h = h;
  lattice.jitter = 0.05; // else edges have few directions, some of which a fibre may follow
  TetraMesh mesh = detail::cut_lattice(lattice, level);
  add_tissue(mesh);
  return mesh;
}

std::vector<TimedPoint> ventricle_sites() {
  return {{{21.9, 0, -5}, 0},   // septum
          {{-11, 19, 0}, 0},    // left wall, on one side
          {{0, -20.7, -20}, 5}, // and on the other
          {{-14, 0, -45}, 5},   // near the apex
          {{50, 21.9, 6}, 10}}; // right wall
}

} // namespace ossatura
