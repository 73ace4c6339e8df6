// SPDX-License-Identifier: Apache-2.0
// Oracle: distance from a point to triangles, over all of them; of each, the foot of the normal if
// that is inside and else the nearest of the three edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace reference {

struct Vector3 {
  double x, y, z;
};
inline Vector3 operator-(Vector3 a, Vector3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline double dot(Vector3 a, Vector3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vector3 cross(Vector3 a, Vector3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline double distance_to_edge(Vector3 p, Vector3 a, Vector3 b) {
  const Vector3 ab = b - a, ap = p - a;
  const double s = std::clamp(dot(ap, ab) / dot(ab, ab), 0., 1.);
  const Vector3 rest = {ap.x - s * ab.x, ap.y - s * ab.y, ap.z - s * ab.z};
  return std::sqrt(dot(rest, rest));
}

inline double distance_to_triangle(Vector3 p, Vector3 a, Vector3 b, Vector3 c) {
  const Vector3 n = cross(b - a, c - a);
  if (dot(cross(b - a, p - a), n) >= 0 && dot(cross(c - b, p - b), n) >= 0 &&
      dot(cross(a - c, p - c), n) >= 0)
    return std::abs(dot(p - a, n)) / std::sqrt(dot(n, n));
  return std::min(
      {distance_to_edge(p, a, b), distance_to_edge(p, b, c), distance_to_edge(p, c, a)});
}

/// triangle [num, 3] of points x [num_points, 3].
inline double distance_to_triangles(const std::vector<double>& x, int i,
                                    const std::vector<int>& triangle) {
  const auto at = [&](int k) { return Vector3{x[3 * k], x[3 * k + 1], x[3 * k + 2]}; };
  double least = INFINITY;
  for (std::size_t t = 0; t < triangle.size(); t += 3)
    least = std::min(least, distance_to_triangle(at(i), at(triangle[t]), at(triangle[t + 1]),
                                                 at(triangle[t + 2])));
  return least;
}

} // namespace reference
