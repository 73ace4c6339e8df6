// SPDX-License-Identifier: Apache-2.0
// smooth_surface takes the steps of elements out of a closed surface, without its volume.
#pragma once

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

struct SmoothedSurface {
  TriangleSurface surface;
  std::int64_t num_held = 0; ///< vertices that are where they were, lest triangles cross
};

/// The surface after `passes` of Taubin's filter [1], which takes out short waves and does not
/// shrink long ones; 0: as it was. It is closed and oriented (every edge of two triangles that pass
/// it in opposite directions), and stays so: vertices move, triangles are the same. Each shell,
/// cavities too, has its volume to 1e-9 of it in the end, by an offset along its normals.
///
/// Flat faces stay flat: vertices in the planes of `body`, a box around all, move in these planes,
/// those on the rims of faces along the rims, and vertices farther than three edges from the rim of
/// a flat face elsewhere in its plane; narrower ones count as steps. Triangles that did not cross
/// before do not in the end, and none in a plane of `body` turns over: where some would, their
/// vertices and those around stay where they were. So do those of `held` [vertices], if it is
/// given, which are not counted. Throws std::invalid_argument for passes below 0, another number of
/// held ones and triangles of vertices that are not there.
///
/// [1] G. Taubin. A signal processing approach to fair surface design. SIGGRAPH 1995, 351-358,
///     doi:10.1145/218380.218473.
SmoothedSurface smooth_surface(TriangleSurface surface, int passes, const Box& body,
                               const std::vector<bool>& held = {});

} // namespace ossatura
