// SPDX-License-Identifier: Apache-2.0
// The generator makes boxes of cubes and cuts each cube into six tetrahedra about its diagonal.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/core/parallel/random_shift.hpp>

#include <cmath>

namespace ossatura {

namespace {

/// Corners by their bits (1: x, 2: y, 4: z), each tetrahedron positive.
constexpr int kuhn[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                            {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

struct Box {
  std::array<int, 3> cells;
  std::array<double, 3> edge;
  std::array<double, 3> origin;
};

std::int64_t num_box_points(const std::array<int, 3>& cells) {
  return std::int64_t(cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1);
}

void check_box(const Box& box) {
  for (int axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(box.cells[axis] > 0 && box.cells[axis] < 10000,
                     "a box of " << box.cells[axis] << " cells along an axis");
    OSSATURA_REQUIRE(box.edge[axis] > 0 && std::isfinite(box.edge[axis]),
                     "a box with edges of " << box.edge[axis] << " mm");
  }
  OSSATURA_REQUIRE(num_box_points(box.cells) <= INT32_MAX,
                   "a box of " << num_box_points(box.cells)
                               << " points; they are numbered with 32 bits");
}

TetraMesh make_box(const Box& box) {
  check_box(box);
  TetraMesh mesh;
  const auto& [nx, ny, nz] = box.cells;
  mesh.point.reserve(3 * std::size_t(num_box_points(box.cells)));
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i)
        mesh.point.insert(mesh.point.end(),
                          {box.origin[0] + box.edge[0] * i, box.origin[1] + box.edge[1] * j,
                           box.origin[2] + box.edge[2] * k});
  const std::size_t num_tetra = 6 * std::size_t(nx) * std::size_t(ny) * std::size_t(nz);
  mesh.tetra.reserve(4 * num_tetra);
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        for (const auto& corners : kuhn)
          for (const int corner : corners) {
            const int x = i + (corner & 1), y = j + (corner >> 1 & 1), z = k + (corner >> 2);
            mesh.tetra.push_back(x + (nx + 1) * (y + (ny + 1) * z));
          }
  mesh.tag.assign(num_tetra, 1);
  return mesh;
}

} // namespace

TetraMesh make_tetra_box(const std::array<int, 3>& cells, double h,
                         const std::array<double, 3>& origin, double jitter, std::uint64_t seed) {
  // The least height of a tetrahedron is h / sqrt(2): two points that move towards each other by
  // half of it would flatten it.
  OSSATURA_REQUIRE(jitter >= 0 && jitter < 0.35,
                   "points moved by " << jitter << " edges; less than 0.35 keeps all tetrahedra");
  TetraMesh mesh = make_box({cells, {h, h, h}, origin});
  if (jitter == 0)
    return mesh;
  const auto& [nx, ny, nz] = cells;
  for (int k = 1; k < nz; ++k)
    for (int j = 1; j < ny; ++j)
      for (int i = 1; i < nx; ++i) {
        const std::size_t point = i + (nx + 1) * (j + (ny + 1) * std::size_t(k));
        const std::array<double, 3> shift = detail::random_shift(seed, point, jitter * h);
        for (int axis = 0; axis < 3; ++axis)
          mesh.point[3 * point + axis] += shift[axis];
      }
  return mesh;
}

TetraMesh make_slab(double h) {
  OSSATURA_REQUIRE(h >= 0.02 && h <= 20,
                   "a slab with edges of " << h << " mm; 0.02 to 20 make sense");
  const std::array<double, 3> length = {20, 7, 3};
  Box box{{}, {}, {0, 0, 0}};
  for (int axis = 0; axis < 3; ++axis) {
    box.cells[axis] = std::max(1, int(std::lround(length[axis] / h)));
    box.edge[axis] = length[axis] / box.cells[axis];
  }
  TetraMesh mesh = make_box(box);
  mesh.fibre.reserve(3 * mesh.num_tetra());
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    mesh.fibre.insert(mesh.fibre.end(), {1, 0, 0});
  return mesh;
}

} // namespace ossatura
