// SPDX-License-Identifier: Apache-2.0
// The generator makes ellipsoids of tetrahedra as the image of a cube.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ossatura {
namespace {

/// Takes a point of the cube [-1, 1]^3 to the unit ball. Concentric cubes become spheres, evenly
/// divided by angles, towards the surface, and stay cubes, to avoid creases, towards the centre.
void to_ball(double (&x)[3]) {
  const double reach = std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
  if (reach == 0)
    return;
  double direction[3], square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    direction[axis] = std::tan(std::atan(1.0) * x[axis] / reach);
    square += direction[axis] * direction[axis];
  }
  for (int axis = 0; axis < 3; ++axis)
    x[axis] = reach * reach * direction[axis] / std::sqrt(square) + (1 - reach) * 0.75 * x[axis];
}

constexpr int path[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};

} // namespace

ElementMesh make_tetra_ellipsoid(const double (&semi_axes)[3], int cells) {
  OSSATURA_REQUIRE(cells >= 2 && cells <= 1000, "an ellipsoid of " << cells << " cells a side");
  for (const double length : semi_axes)
    OSSATURA_REQUIRE(length > 0 && std::isfinite(length),
                     "an ellipsoid with a semi-axis of " << length << " m");
  ElementMesh mesh;
  mesh.shape = ElementShape::tetra;
  const int side = cells + 1;
  mesh.point.reserve(3 * std::size_t(side) * std::size_t(side) * std::size_t(side));
  for (int k = 0; k < side; ++k)
    for (int j = 0; j < side; ++j)
      for (int i = 0; i < side; ++i) {
        double x[3] = {2.0 * i / cells - 1, 2.0 * j / cells - 1, 2.0 * k / cells - 1};
        to_ball(x);
        for (int axis = 0; axis < 3; ++axis)
          mesh.point.push_back(semi_axes[axis] * x[axis]);
      }

  // Each cell is cut about its diagonal that points away from the centre: no tetrahedron has two
  // faces on the surface, where the edges of the cube are flattened.
  mesh.node.reserve(24 * std::size_t(cells) * std::size_t(cells) * std::size_t(cells));
  const int stride[3] = {1, side, side * side};
  for (int k = 0; k < cells; ++k)
    for (int j = 0; j < cells; ++j)
      for (int i = 0; i < cells; ++i) {
        const int index[3] = {i, j, k};
        int first = 0, step[3];
        bool mirrored = false;
        for (int axis = 0; axis < 3; ++axis) {
          const bool backwards = 2 * index[axis] + 1 < cells;
          first += stride[axis] * (index[axis] + (backwards ? 1 : 0));
          step[axis] = backwards ? -stride[axis] : stride[axis];
          mirrored = mirrored != backwards;
        }
        for (int p = 0; p < 6; ++p) {
          const int a = first + step[path[p][0]], b = a + step[path[p][1]];
          int tetra[4] = {first, a, b, b + step[path[p][2]]};
          if (mirrored != (p >= 3))
            std::swap(tetra[2], tetra[3]);
          mesh.node.insert(mesh.node.end(), tetra, tetra + 4);
        }
      }
  return mesh;
}

} // namespace ossatura
