// SPDX-License-Identifier: Apache-2.0
// NearSurface tells which points are near triangles, for supports and loads on faces of a part.
#pragma once

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/triangle_surface.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace ossatura {

/// The place of the triangle of corners a, b, c, which may be flat, that is nearest to x.
std::array<double, 3> nearest_on_triangle(const std::array<double, 3>& x,
                                          const std::array<double, 3>& a,
                                          const std::array<double, 3>& b,
                                          const std::array<double, 3>& c);
/// How far away that is.
double distance_to_triangle(const std::array<double, 3>& x, const std::array<double, 3>& a,
                            const std::array<double, 3>& b, const std::array<double, 3>& c);

class NearSurface {
public:
  /// Points at most `within` (not negative) from one of the triangles, in the surface's unit. The
  /// surface, which need not be closed, must outlive this. Throws std::invalid_argument for one
  /// without triangles.
  NearSurface(const TriangleSurface& surface, double within);

  bool has(const double* x) const;
  /// Around all such points.
  const Box& bounds() const { return bounds_; }

private:
  struct Entry {
    double lower; ///< along the axis
    std::size_t triangle;
    Box box; ///< of the triangle, wider by the distance
  };

  const TriangleSurface& surface_;
  double within_;
  Box bounds_;
  std::size_t axis_ = 0; ///< the longest one
  double widest_ = 0;    ///< of the boxes, along the axis
  std::vector<Entry> sorted_;
};

} // namespace ossatura
