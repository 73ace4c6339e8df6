// SPDX-License-Identifier: Apache-2.0
// The local solver (local_solver.hpp) for several tetrahedra, each a lane: the same operations in
// the same order. Where lanes differ in what they need, all of it is computed and each lane
// selects.
#pragma once

#include <ossatura/core/parallel/lane_choices.hpp>
#include <ossatura/kernels/eikonal/time_limits.hpp>

namespace ossatura::detail {

/// FaceProducts of several faces.
template<class Vector>
struct FaceLanes {
  Vector uu, vv, ww, uv, uw, vw;
};

/// The arguments of edge_update(), whose ends have times tq and ta.
template<class Vector>
struct EdgeLanes {
  Vector uu, uw, ww, tq, ta;
};

template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector edge_arrival(const EdgeLanes<Vector>& e) {
  using Real = LaneOf<Vector>;
  const Vector zero = {}, one = broadcast<Vector>(1), two = broadcast<Vector>(2);
  const Vector slope = e.ta - e.tq;
  const Vector open = e.uu - slope * slope;
  const Vector height = e.uu * e.ww - e.uw * e.uw;
  const Vector step = select(open > zero, square_root(larger(height, zero) * (one / open)),
                             broadcast<Vector>(Real(1e10)));
  const Vector l = smaller(larger((e.uw - slope * step) * (one / e.uu), zero), one);
  const Vector square = e.ww + l * (l * e.uu - two * e.uw);
  return (one - l) * e.tq + l * e.ta + square_root(larger(square, zero));
}

/// The least arrival through the edges that a lane needs: a means bc, b ac and c ab. On a face that
/// is not flat these are two at the most, so that edges of two kinds are one lane's first and
/// second.
template<class Vector, class Mask>
OSSATURA_FORCEINLINE_FUNCTION Vector edges_arrival(const FaceLanes<Vector>& f, Vector ta, Vector tb,
                                                   Vector tc, Mask need_a, Mask need_b,
                                                   Mask need_c) {
  const Vector two = broadcast<Vector>(2);
  const Vector latest = two * broadcast<Vector>(unreached_time<LaneOf<Vector>>);
  const EdgeLanes<Vector> a = {f.vv, f.vw, f.ww, tc, tb}, b = {f.uu, f.uw, f.ww, tc, ta},
                          c = {f.uu + f.vv - two * f.uv, f.vw - f.uv - f.uw + f.uu,
                               f.ww + f.uu - two * f.uw, ta, tb};
  const auto choose = [](Mask mask, const EdgeLanes<Vector>& x, const EdgeLanes<Vector>& y)
      __attribute__((always_inline)) {
    return EdgeLanes<Vector>{select(mask, x.uu, y.uu), select(mask, x.uw, y.uw),
                             select(mask, x.ww, y.ww), select(mask, x.tq, y.tq),
                             select(mask, x.ta, y.ta)};
  };
  Vector t = edge_arrival(choose(need_a, a, choose(need_b, b, c)));
  t = select(need_a | need_b | need_c, smaller(t, latest), latest);
  const Mask both = need_a & need_b, second = both | ((need_a | need_b) & need_c);
  if (any_of(second)) {
    const Vector through = edge_arrival(choose(both, b, c));
    t = select(second, smaller(through, t), t);
  }
  const Mask third = both & need_c;
  if (any_of(third))
    t = select(third, smaller(edge_arrival(c), t), t);
  return t;
}

/// eikonal_update() of each lane.
template<class Vector>
OSSATURA_FORCEINLINE_FUNCTION Vector lane_arrival(const FaceLanes<Vector>& f, Vector ta, Vector tb,
                                                  Vector tc) {
  using Real = LaneOf<Vector>;
  const Vector zero = {}, one = broadcast<Vector>(1);
  const Vector da = ta - tc, db = tb - tc;
  const Vector det = f.uu * f.vv - f.uv * f.uv;
  const Vector foot_a = f.vv * f.uw - f.uv * f.vw, foot_b = f.uu * f.vw - f.uv * f.uw;
  const Vector q_a = f.vv * da - f.uv * db, q_b = f.uu * db - f.uv * da;
  const Vector height = f.ww * det - (f.uw * foot_a + f.vw * foot_b);
  const Vector open = det - (da * q_a + db * q_b);
  const auto solid = det > broadcast<Vector>(flat_face<Real>) * (f.uu * f.vv);
  const auto falls = solid & (open > zero);
  const Vector step = select(falls, square_root(larger(height, zero) * (one / open)),
                             broadcast<Vector>(Real(1e10)));
  const Vector l_a = foot_a - q_a * step, l_b = foot_b - q_b * step, l_c = det - l_a - l_b;
  const auto in_a = solid & (l_a > zero), in_b = solid & (l_b > zero), in_c = solid & (l_c > zero);
  const Vector inner = tc + (da * foot_a + db * foot_b + open * step) * (one / det);
  return select(falls & in_a & in_b & in_c, inner,
                edges_arrival(f, ta, tb, tc, ~in_a, ~in_b, ~in_c));
}

} // namespace ossatura::detail
