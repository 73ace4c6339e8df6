// SPDX-License-Identifier: Apache-2.0
// nearest_point finds the point of a triangle that is nearest to a given point, by the regions of
// the triangle's plane [1, section 5.1.5].
//
// [1] C. Ericson. Real-Time Collision Detection. Morgan Kaufmann (2005),
//     doi:10.1201/b14581.
#pragma once

#include <ossatura/kernels/algebra/dense/small_matrix.hpp>

namespace ossatura {

struct NearestPoint {
  double weight[3]; ///< barycentric, none negative, of sum 1
  bool inside;      ///< not on an edge or at a corner
};

namespace detail {

KOKKOS_INLINE_FUNCTION NearestPoint nearest_on_edge(int from, int to, double s) {
  NearestPoint nearest{{0, 0, 0}, false};
  nearest.weight[from] = 1 - s;
  nearest.weight[to] += s;
  return nearest;
}

} // namespace detail

/// Of the triangle a, b, c, which has an area, to p.
KOKKOS_INLINE_FUNCTION NearestPoint nearest_point(const double* a, const double* b, const double* c,
                                                  const double* p) {
  using detail::nearest_on_edge;
  double ab[3], ac[3], ap[3], bp[3], cp[3];
  for (int d = 0; d < 3; ++d) {
    ab[d] = b[d] - a[d];
    ac[d] = c[d] - a[d];
    ap[d] = p[d] - a[d];
    bp[d] = p[d] - b[d];
    cp[d] = p[d] - c[d];
  }
  const double a1 = dot3(ab, ap), a2 = dot3(ac, ap);
  if (a1 <= 0 && a2 <= 0)
    return nearest_on_edge(0, 0, 0);
  const double b1 = dot3(ab, bp), b2 = dot3(ac, bp);
  if (b1 >= 0 && b2 <= b1)
    return nearest_on_edge(1, 1, 0);
  const double vc = a1 * b2 - b1 * a2;
  if (vc <= 0 && a1 >= 0 && b1 <= 0)
    return nearest_on_edge(0, 1, a1 / (a1 - b1));
  const double c1 = dot3(ab, cp), c2 = dot3(ac, cp);
  if (c2 >= 0 && c1 <= c2)
    return nearest_on_edge(2, 2, 0);
  const double vb = c1 * a2 - a1 * c2;
  if (vb <= 0 && a2 >= 0 && c2 <= 0)
    return nearest_on_edge(0, 2, a2 / (a2 - c2));
  const double va = b1 * c2 - c1 * b2;
  if (va <= 0 && b2 - b1 >= 0 && c1 - c2 >= 0)
    return nearest_on_edge(1, 2, (b2 - b1) / ((b2 - b1) + (c1 - c2)));
  const double v = vb / (va + vb + vc), w = vc / (va + vb + vc);
  return {{1 - v - w, v, w}, true};
}

} // namespace ossatura
