// SPDX-License-Identifier: Apache-2.0
// Points as vectors.
#pragma once

#include <array>
#include <cstddef>

namespace ossatura::surface_points {

using Point = std::array<double, 3>;

inline Point minus(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Six times the volume of a tetrahedron, positive where d is on the side to which a, b, c turn.
inline double six_volumes(const Point& a, const Point& b, const Point& c, const Point& d) {
  return dot(minus(b, a), cross(minus(c, a), minus(d, a)));
}

/// to += factor what
inline void add(Point& to, double factor, const Point& what) {
  for (std::size_t d = 0; d < 3; ++d)
    to[d] += factor * what[d];
}

} // namespace ossatura::surface_points
