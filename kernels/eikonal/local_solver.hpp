// SPDX-License-Identifier: Apache-2.0
// The local solver computes when a wave that comes through a face of a tetrahedron arrives at the
// opposite vertex, by Fermat's principle.
//
// With times linear on the face and a constant metric G (travel time of a vector e: sqrt(e.Ge)),
//   t = min over the face of t(x) + |d - x|,  x = c + l_a u + l_b v,
// u = a - c, v = b - c, w = d - c. The function is convex and its minimiser is known in closed
// form: with A the Gram matrix of u and v, g = (u.w, v.w), l0 = A^-1 g (the foot of d), q = A^-1
// (t_a - t_c, t_b - t_c), h2 = w.w - g.l0 (the height) and p2 = q.Aq,
//   l = l0 - q sqrt(h2 / (1 - p2)),  t = t_c + (t_a - t_c, t_b - t_c).l0 + sqrt(h2 (1 - p2)).
// There is no minimiser where p2 >= 1: the times differ faster than any wave. Where the minimiser
// lies outside the face, the minimum is on an edge that is visible from the minimiser (from
// infinity along -q where there is none), because t only falls from there to that edge. Edges have
// the same formulas, one dimension lower.
//
// [1] Z. Fu, R. M. Kirby, R. T. Whitaker. A fast iterative method for solving the eikonal
//     equation on tetrahedral domains. SIAM J. Sci. Comput. 35 (2013) C473-C494,
//     doi:10.1137/120881956.
#pragma once

#include <ossatura/kernels/eikonal/approximate.hpp>
#include <ossatura/kernels/eikonal/time_limits.hpp>

namespace ossatura {

/// Inner products, in the travel-time metric, of the edges u, v, w from vertex c to a, b and d.
template<class Real>
struct FaceProducts {
  Real uu, vv, ww, uv, uw, vw;
};

namespace detail {

/// min over l in [0, 1] of (1 - l) t_q + l t_a + |w - l u|, from uu = u.u, uw = u.w, ww = w.w.
template<class Real>
KOKKOS_FORCEINLINE_FUNCTION Real edge_update(Real uu, Real uw, Real ww, Real tq, Real ta) {
  const Real slope = ta - tq;
  const Real open = uu - slope * slope; // uu (1 - p2)
  const Real height = uu * ww - uw * uw;
  // Past the end that is reached first, where waves along the edge are not fast enough.
  const Real step =
      open > 0 ? approximate_root((height > 0 ? height : Real(0)) * approximate_inverse(open))
               : Real(1e10);
  Real l = (uw - slope * step) * approximate_inverse(uu);
  l = l > 0 ? (l < 1 ? l : Real(1)) : Real(0); // 0 for NaN too: an edge without length
  const Real square = ww + l * (l * uu - 2 * uw);
  return (1 - l) * tq + l * ta + approximate_root(square > 0 ? square : Real(0));
}

} // namespace detail

/// The travel time of d from the plane of the face, at most: rounding does not make it more. 0
/// where the face is too flat to say.
template<class Real>
KOKKOS_INLINE_FUNCTION Real face_height(const FaceProducts<Real>& f) {
  const Real det = f.uu * f.vv - f.uv * f.uv;
  const Real height =
      f.ww * det - (f.uw * (f.vv * f.uw - f.uv * f.vw) + f.vw * (f.uu * f.vw - f.uv * f.uw));
  if (!(det > detail::flat_face<Real> * (f.uu * f.vv)) ||
      !(height > Real(1e-3) * (f.ww * det))) // no three digits in single precision
    return 0;
  return Real(0.999) * Real(sqrt(height / det));
}

/// When the wave arrives at d through the face a, b, c with times ta, tb, tc >= 0. Right for any
/// times, equal or not, any tetrahedron, flat ones included (to sqrt(rounding) of an edge), and
/// vertices of unreached_time. Symmetric in a, b, c up to rounding.
template<class Real>
KOKKOS_FORCEINLINE_FUNCTION Real eikonal_update(const FaceProducts<Real>& f, Real ta, Real tb,
                                                Real tc) {
  const Real da = ta - tc, db = tb - tc;
  // All multiplied by det A.
  const Real det = f.uu * f.vv - f.uv * f.uv;
  const Real foot_a = f.vv * f.uw - f.uv * f.vw, foot_b = f.uu * f.vw - f.uv * f.uw;
  const Real q_a = f.vv * da - f.uv * db, q_b = f.uu * db - f.uv * da;
  const Real height = f.ww * det - (f.uw * foot_a + f.vw * foot_b);
  const Real open = det - (da * q_a + db * q_b);
  const bool solid = det > detail::flat_face<Real> * (f.uu * f.vv);
  const bool falls = solid && open > 0;
  const Real step =
      falls ? approximate_root((height > 0 ? height : Real(0)) * approximate_inverse(open))
            : Real(1e10);
  const Real l_a = foot_a - q_a * step, l_b = foot_b - q_b * step, l_c = det - l_a - l_b;
  // Comparisons fail for NaN.
  if (falls && l_a > 0 && l_b > 0 && l_c > 0)
    return tc + (da * foot_a + db * foot_b + open * step) * approximate_inverse(det);

  Real t = 2 * unreached_time<Real>;
  if (!(solid && l_a > 0)) {
    const Real through = detail::edge_update(f.vv, f.vw, f.ww, tc, tb);
    t = Kokkos::min(t, through);
  }
  if (!(solid && l_b > 0)) {
    const Real through = detail::edge_update(f.uu, f.uw, f.ww, tc, ta);
    t = Kokkos::min(t, through);
  }
  if (!(solid && l_c > 0)) {
    const Real through = detail::edge_update(f.uu + f.vv - 2 * f.uv, f.vw - f.uv - f.uw + f.uu,
                                             f.ww + f.uu - 2 * f.uw, ta, tb);
    t = Kokkos::min(t, through);
  }
  return t;
}

} // namespace ossatura
