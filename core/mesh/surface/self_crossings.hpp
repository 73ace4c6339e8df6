// SPDX-License-Identifier: Apache-2.0
// find_self_crossings finds where a surface of triangles goes through itself.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <tuple>
#include <vector>

namespace ossatura {

/// An edge, from < to, that goes through a triangle that it shares no corner with.
struct SelfCrossing {
  int from, to, triangle;

  bool operator<(const SelfCrossing& other) const {
    return std::tie(from, to, triangle) < std::tie(other.from, other.to, other.triangle);
  }
};

/// All of them, in order. Edges that merely touch a triangle, to rounding, are not among them.
/// Costs a sort of the triangles by the cells of a grid as wide as their edges, by io_threads()
/// threads.
std::vector<SelfCrossing> find_self_crossings(const TriangleSurface& surface);

} // namespace ossatura
