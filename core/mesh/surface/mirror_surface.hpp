// SPDX-License-Identifier: Apache-2.0
// mirror_surface makes the surface of a whole body from that of its half.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <vector>

namespace ossatura {

struct MirroredSurface {
  TriangleSurface surface;
  std::vector<int> number; ///< that each vertex has there, -1: it has none
};

/// The surface of a body and of its mirror image about the plane x[axis] = place, as one. `half` is
/// closed, oriented and on one side of the plane. Its triangles in the plane, with all corners
/// within `slack` of it, are inside the whole and left out, with the vertices of these alone;
/// vertices that they share with others are moved into the plane, and the image has the same. The
/// first half of the triangles are those of `half`, in order, the second their images, likewise.
/// The result is closed and oriented but where `half` touches the plane along an edge without a
/// triangle there: four triangles meet in this. Throws std::invalid_argument for an axis other than
/// 0, 1, 2 and for triangles of vertices that are not there.
MirroredSurface mirror_surface(const TriangleSurface& half, int axis, double place, double slack);

} // namespace ossatura
