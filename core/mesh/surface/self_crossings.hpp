// SPDX-License-Identifier: Apache-2.0
// find_self_crossings finds where a surface of triangles goes through itself.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <array>
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

/// Whether the edge from one vertex to another goes through a triangle of vertices, of which it has
/// none.
bool is_crossing(const std::vector<std::array<double, 3>>& vertex,
                 const std::array<int, 3>& triangle, int from, int to);

} // namespace ossatura
