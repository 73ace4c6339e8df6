// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of stiffness_batches.hpp; the sources beside it alone include them,
// each for a `Target` of its own with
//
//     static constexpr int register_bytes;
//
// A target is a type of one source, so that the linker cannot mix what is compiled with different
// flags.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/hexa/trilinear_modes.hpp>
#include <ossatura/kernels/pfem/batches/stiffness_batches.hpp>

#include <utility>

namespace ossatura::detail {

/// Up to which order sums know it: code of higher ones is long.
inline constexpr int max_known_order = 5;

/// The team of a core.
template<class Target>
struct SingleThread {
  static constexpr int rank = 0;

  OSSATURA_FORCEINLINE_FUNCTION void barrier() const {}
  template<class Body>
  OSSATURA_FORCEINLINE_FUNCTION void each(int n, const Body& body) const {
    for (int i = 0; i < n; ++i)
      body(i);
  }
};

/// Geometry and material of the elements of the lanes.
template<class Target>
struct StiffnessLanes {
  static constexpr int W = Target::register_bytes / int(sizeof(double));
  using Real = Lanes<double, W, Target>;

  /// At a point: J^-T, entry (i, k) is dxi_k / dx_i.
  struct Gradient {
    Real row[3][3];
  };

  const StiffnessBatchInput& in;
  int points;
  std::int64_t elem[W];
  TrilinearModes<Real> modes; ///< of the corners, times 8
  Real d_upper[elasticity_entries];

  /// The lanes' numbers, of which each element has `stride` from `first` on.
  template<int N>
  OSSATURA_FORCEINLINE_FUNCTION void load(const double* first, std::int64_t stride,
                                          Real (&to)[N]) const {
    for (int i = 0; i < N; ++i) {
      Real x(0.0);
      for (int lane = 0; lane < W; ++lane)
        x.value[lane] = first[elem[lane] * stride + i];
      to[i] = x;
    }
  }

  /// Elements first .. first + count - 1. Lanes beyond them take the last once more.
  OSSATURA_FORCEINLINE_FUNCTION void set_elements(std::int64_t first, int count) {
    for (int lane = 0; lane < W; ++lane)
      elem[lane] = first + (lane < count ? lane : count - 1);
    if (in.jacobian.data == nullptr) {
      Real corner[24];
      load(in.corner.data, 24, corner);
      modes = trilinear_modes<false>(corner);
    }
    if (in.point_stride == 0)
      load(in.elasticity.data, in.elem_stride, d_upper);
  }

  /// dx / dxi at point q = (q0 points + q1) points + q2.
  OSSATURA_FORCEINLINE_FUNCTION void find_jacobian(int q, Real (&j)[3][3]) const {
    if (in.jacobian.data != nullptr) {
      Real given[9];
      load(in.jacobian.data + 9 * q, 9 * std::int64_t(points) * points * points, given);
      for (int i = 0; i < 9; ++i)
        j[i / 3][i % 3] = given[i];
      return;
    }
    const double x = in.point(q / (points * points)), y = in.point(q / points % points),
                 z = in.point(q % points);
    const Real eighth(0.125), xi(x), eta(y), zeta(z), xy(x * y), yz(y * z), zx(z * x);
    for (int c = 0; c < 3; ++c) {
      const auto m = [&](int bits) { return modes(bits, c); };
      j[c][0] = eighth * (m(1) + eta * m(3) + zeta * m(5) + yz * m(7));
      j[c][1] = eighth * (m(2) + xi * m(3) + zeta * m(6) + zx * m(7));
      j[c][2] = eighth * (m(4) + xi * m(5) + eta * m(6) + xy * m(7));
    }
  }

  template<class Sums>
  OSSATURA_FORCEINLINE_FUNCTION void pull_back(const Sums& sums, int q, Real* c_of) {
    Real j[3][3];
    Gradient g;
    find_jacobian(q, j);
    cofactors(j, g.row);
    const Real det = j[0][0] * g.row[0][0] + j[0][1] * g.row[0][1] + j[0][2] * g.row[0][2];
    const Real inverse = Real(1.0) / det;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        g.row[i][k] = inverse * g.row[i][k];
    if (in.point_stride != 0)
      load(in.elasticity.data + q * in.point_stride, in.elem_stride, d_upper);
    const double weight =
        in.weight(q / (points * points)) * in.weight(q / points % points) * in.weight(q % points);
    sums.pull_back(q, g, Real(weight) * det, d_upper, c_of);
  }
};

template<class Target, int P, int N>
using LaneSums = FactorisedSums<P, N, 1, false, typename StiffnessLanes<Target>::Real>;

template<class Target>
std::size_t stiffness_scratch_doubles(int points) {
  using Sums = LaneSums<Target, 0, 0>; // as many as with a known order, or more
  return (Sums::a_numbers(points) + Sums::s_numbers(points) + Sums::c_numbers(points)) *
             StiffnessLanes<Target>::W +
         Sums::table_numbers(points);
}

/// What is known of the order and the points of `from` is P and N.
template<class Target, int P, int N>
OSSATURA_FORCEINLINE_FUNCTION void copy_factors(const SumFactors<0, 0>& from,
                                                SumFactors<P, N>& to) {
  using To = SumFactors<P, N>;
  to.order_ = from.order_;
  to.points_ = from.points_;
  to.num_pairs = from.num_pairs;
  for (int i = 0; i < To::width; ++i)
    for (int j = 0; j < To::width; ++j) {
      for (int h = 0; h < To::max_half; ++h) {
        to.bb[i][j][h] = from.bb[i][j][h];
        to.gb[i][j][h] = from.gb[i][j][h];
        to.gg[i][j][h] = from.gg[i][j][h];
      }
      to.count2[i][j] = from.count2[i][j];
      to.begin[i][j] = from.begin[i][j];
    }
  for (int i = 0; i < To::width; ++i)
    to.count1[i] = from.count1[i];
  for (int pair = 0; pair < To::max_pairs; ++pair) {
    to.pair_i[pair] = from.pair_i[pair];
    to.pair_j[pair] = from.pair_j[pair];
  }
}

template<class Target, int P, int N>
void form_with_sums(const StiffnessBatchInput& in, std::int64_t begin, std::int64_t end,
                    double* scratch) {
  using Sums = LaneSums<Target, P, N>;
  using Real = typename StiffnessLanes<Target>::Real;
  constexpr int W = StiffnessLanes<Target>::W;
  Sums sums;
  copy_factors<Target>(*in.factors, sums.f);
  sums.value = in.value;
  sums.derivative = in.derivative;
  const int points = sums.f.points();
  typename Sums::Scratch parts;
  parts.a = reinterpret_cast<Real*>(scratch);
  parts.s = parts.a + Sums::a_numbers(points);
  parts.c = parts.s + Sums::s_numbers(points);
  parts.tables = reinterpret_cast<double*>(parts.c + Sums::c_numbers(points));

  StiffnessLanes<Target> lanes{in, points, {}, {}, {}};
  for (std::int64_t k = begin; k < end; k += W) {
    const int count = end - k < W ? int(end - k) : W;
    lanes.set_elements(in.first_elem + k, count);
    sums.form(
        SingleThread<Target>(), [&](int q, Real* c) { lanes.pull_back(sums, q, c); },
        [&](int i, int j, const Real& x) {
          for (int lane = 0; lane < count; ++lane)
            in.output.set(k + lane, i, j, x.value[lane]);
        },
        parts);
  }
}

/// By sums that know the order and the points of the rule order_plus_1, where there are such.
template<class Target, int... P>
void form_with_known_order(const StiffnessBatchInput& in, std::int64_t begin, std::int64_t end,
                           double* scratch, std::integer_sequence<int, P...>) {
  const int order = in.factors->order(), points = in.factors->points();
  if (!((order == P + 1 && points == P + 2 &&
         (form_with_sums<Target, P + 1, P + 2>(in, begin, end, scratch), true)) ||
        ...))
    form_with_sums<Target, 0, 0>(in, begin, end, scratch);
}

template<class Target>
void form_stiffness_batches(const StiffnessBatchInput& in, std::int64_t begin, std::int64_t end,
                            double* scratch) {
  form_with_known_order<Target>(in, begin, end, scratch,
                                std::make_integer_sequence<int, max_known_order>());
}

template<class Target>
constexpr StiffnessBatches make_stiffness_batches() {
  return {StiffnessLanes<Target>::W, &stiffness_scratch_doubles<Target>,
          &form_stiffness_batches<Target>};
}

} // namespace ossatura::detail
