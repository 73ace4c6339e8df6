// SPDX-License-Identifier: Apache-2.0
// The generator makes a rectangle of triangles.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <cmath>

namespace ossatura {

ElementMesh make_cloth(int columns, int rows, double width, double height) {
  OSSATURA_REQUIRE(columns >= 2 && rows >= 2 && std::int64_t(columns) * rows <= INT32_MAX,
                   "a cloth of " << columns << " x " << rows << " nodes");
  OSSATURA_REQUIRE(width > 0 && std::isfinite(width) && height > 0 && std::isfinite(height),
                   "a cloth of " << width << " x " << height << " m");
  ElementMesh mesh;
  mesh.shape = ElementShape::triangle;
  mesh.point.reserve(3 * std::size_t(columns) * std::size_t(rows));
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      mesh.point.insert(mesh.point.end(), {width * i / (columns - 1), height * j / (rows - 1), 0});
  mesh.node.reserve(6 * std::size_t(columns - 1) * std::size_t(rows - 1));
  for (int j = 0; j + 1 < rows; ++j)
    for (int i = 0; i + 1 < columns; ++i) {
      const int a = i + columns * j, b = a + 1, c = b + columns, d = a + columns;
      if ((i + j) % 2 == 0)
        mesh.node.insert(mesh.node.end(), {a, b, c, a, c, d});
      else
        mesh.node.insert(mesh.node.end(), {a, b, d, b, c, d});
    }
  return mesh;
}

} // namespace ossatura
