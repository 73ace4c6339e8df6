// SPDX-License-Identifier: Apache-2.0
// A thread of sized planes has the modes of one component and one first index, sums them along xi_2
// and xi_1 in registers, and writes what the points need; lines along xi_0 are as in
// sized_points.hpp, and the way back is the transposed one. Half the traffic on chip of sized lines
// and a third of their barriers, but (order + 1)^2 values in registers and 3 (order + 1) threads an
// element: for low orders.
#pragma once

#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>
#include <ossatura/kernels/pfem/matrix_free/sized_points.hpp>

namespace ossatura::detail {

template<int order, bool by_targets>
struct SizedPlanes : SizedPoints<order, by_targets> {
  using Points = SizedPoints<order, by_targets>;
  using Place = typename Points::Place;
  static constexpr int N = Points::N, elems = Points::elems, lines = Points::lines;
  static constexpr int planes = 3 * N;
  static constexpr int max_threads = (elems * (lines > planes ? lines : planes) + 31) / 32 * 32;
  static_assert(Points::parts == 1);

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    const Place plane = place_of(team, planes), line = place_of(team, lines);
    // Neighbours have the components of a mode.
    const int c = plane.line % 3, i0 = plane.line / 3;
    if (plane.inside) {
      this->load(plane, plane.line, planes);
      sum_modes(plane, c, i0);
    }
    wait_for_copies<0>();
    team.barrier();
    this->multiply_lines(team, line);
    team.barrier();
    if (plane.inside)
      sum_points(plane, c, i0);
  }

private:
  /// Of the thread where an element takes `threads`.
  KOKKOS_FORCEINLINE_FUNCTION Place place_of(const WideTeam& team, int threads) const {
    const int own = team.rank / threads;
    const std::int64_t elem = team.league_rank * int(elems) + own;
    return {elem, 0, team.rank % threads,
            team.scratch + Kokkos::min(own, elems - 1) * int(Points::per_elem),
            own < int(elems) && elem < this->num_elem};
  }

  /// The first of the modes of a pair of first indices, and their number.
  struct Run {
    int mode, count;
  };
  KOKKOS_FORCEINLINE_FUNCTION Run run_of(int i0, int i1) const {
    const int pair = 2 * (i0 * int(N) + i1);
    return {this->line_of_pair(pair), this->line_of_pair(pair + 1)};
  }

  /// Values, and derivatives along xi_1 and along xi_2, at the points of the plane.
  KOKKOS_FORCEINLINE_FUNCTION void sum_modes(const Place& at, int c, int i0) const {
    double u[N][N];
    for (int i1 = 0; i1 < int(N); ++i1) {
      const Run run = run_of(i0, i1);
      for (int k = 0; k < int(N); ++k)
        u[i1][k] =
            k < run.count
                ? signed_component(this->x.data,
                                   this->signed_mode(at.elem * this->num_modes + run.mode + k), c)
                : 0.0;
    }
    double* const to = at.array(0, c) + i0 * int(Points::first);
    for (int q2 = 0; q2 < int(N); ++q2) {
      double v[N], d[N]; // along xi_2
      for (int i1 = 0; i1 < int(N); ++i1) {
        v[i1] = this->value[q2][0] * u[i1][0];
        d[i1] = this->derivative[q2][0] * u[i1][0];
        for (int k = 1; k < int(N); ++k) {
          v[i1] += this->value[q2][k] * u[i1][k];
          d[i1] += this->derivative[q2][k] * u[i1][k];
        }
      }
      for (int q1 = 0; q1 < int(N); ++q1) {
        double values = this->value[q1][0] * v[0], along_second = this->derivative[q1][0] * v[0],
               along_third = this->value[q1][0] * d[0];
        for (int i1 = 1; i1 < int(N); ++i1) {
          values += this->value[q1][i1] * v[i1];
          along_second += this->derivative[q1][i1] * v[i1];
          along_third += this->value[q1][i1] * d[i1];
        }
        double* const here = to + q1 * int(Points::second) + q2;
        here[0] = values;
        here[3 * int(Points::field)] = along_second;
        here[6 * int(Points::field)] = along_third;
      }
    }
  }

  /// sum_modes, transposed.
  KOKKOS_FORCEINLINE_FUNCTION void sum_points(const Place& at, int c, int i0) const {
    double sum[N][N];
    for (int i1 = 0; i1 < int(N); ++i1)
      for (int k = 0; k < int(N); ++k)
        sum[i1][k] = 0;
    const double* const from = at.array(0, c) + i0 * int(Points::first);
    for (int q2 = 0; q2 < int(N); ++q2) {
      double v[N], d[N];
      for (int i1 = 0; i1 < int(N); ++i1)
        v[i1] = d[i1] = 0;
      for (int q1 = 0; q1 < int(N); ++q1) {
        const double* const here = from + q1 * int(Points::second) + q2;
        const double values = here[0], along_second = here[3 * int(Points::field)],
                     along_third = here[6 * int(Points::field)];
        for (int i1 = 0; i1 < int(N); ++i1) {
          v[i1] += this->value[q1][i1] * values + this->derivative[q1][i1] * along_second;
          d[i1] += this->value[q1][i1] * along_third;
        }
      }
      for (int i1 = 0; i1 < int(N); ++i1)
        for (int k = 0; k < int(N); ++k)
          sum[i1][k] += this->value[q2][k] * v[i1] + this->derivative[q2][k] * d[i1];
    }
    for (int i1 = 0; i1 < int(N); ++i1) {
      const Run run = run_of(i0, i1);
      for (int k = 0; k < int(N); ++k)
        if (k < run.count)
          this->store(at, run.mode + k, c, sum[i1][k]);
    }
  }
};

} // namespace ossatura::detail
