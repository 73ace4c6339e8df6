// SPDX-License-Identifier: Apache-2.0
// A thread of sized lines reads a line of an array, multiplies it with the tables in registers, and
// writes the result in its place, first lines along xi_2, then along xi_1, then along xi_0. There
// it keeps the derivatives at all points of the line, or of a part of it, turns them into stresses,
// and the same goes back. Functions that the trunk space leaves out count as zeros.
#pragma once

#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>
#include <ossatura/kernels/pfem/matrix_free/sized_points.hpp>

namespace ossatura::detail {

template<int order, bool by_targets>
struct SizedLines : SizedPoints<order, by_targets> {
  using Points = SizedPoints<order, by_targets>;
  using Place = typename Points::Place;
  static constexpr int N = Points::N, parts = Points::parts, elems = Points::elems,
                       lines = Points::lines;
  static constexpr int first = Points::first, second = Points::second;
  static constexpr int max_threads = (elems * parts * lines + 31) / 32 * 32;

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    const std::int64_t begin = team.league_rank * int(elems);
    const int own = team.rank / (parts * lines);
    const Place at{begin + own, team.rank / lines % parts, team.rank % lines,
                   team.scratch + Kokkos::min(own, elems - 1) * int(Points::per_elem),
                   own < int(elems) && begin + own < this->num_elem};
    const int thread = team.rank % (parts * lines);
    if (at.inside) {
      this->load(at, thread, parts * lines);
      each_component(at, [&](int c) { sum_third_index(at, c); });
    }
    wait_for_copies<0>();
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_second_index(at, c); });
    team.barrier();
    this->multiply_lines(team, at);
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_points_along_second(at, c); });
    team.barrier();
    if (at.inside)
      each_component(at, [&](int c) { sum_points_along_third(at, c); });
    team.barrier();
    if (at.inside)
      store_results(at, thread);
  }

private:
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void each_component(const Place& at, const Body& body) {
    for (int c = at.part; c < 3; c += int(parts))
      body(c);
  }

  KOKKOS_FORCEINLINE_FUNCTION void store_results(const Place& at, int thread) const {
    const int num_results = 3 * this->num_modes;
    for (int i = thread; i < num_results; i += int(parts * lines)) {
      const int from = this->place(i / 3);
      this->store(at, i / 3, i % 3, at.array(0, i % 3)[first_of_third(from / N) + from % N]);
    }
  }

  /// The first entry of the line of a pair of indices: along xi_2 and along xi_1.
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_third(int line) {
    return line / N * first + line % N * second;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int first_of_second(int line) {
    return line / N * first + line % N;
  }

  /// Values and derivatives along xi_2, from the modes.
  KOKKOS_FORCEINLINE_FUNCTION void sum_third_index(const Place& at, int c) const {
    const int mode = this->line_of_pair(2 * at.line), count = this->line_of_pair(2 * at.line + 1);
    double u[N], v[N], d[N];
    for (int k = 0; k < int(N); ++k)
      u[k] = k < count
                 ? signed_component(this->x.data,
                                    this->signed_mode(at.elem * this->num_modes + mode + k), c)
                 : 0.0;
    for (int q = 0; q < int(N); ++q) {
      v[q] = this->value[q][0] * u[0];
      d[q] = this->derivative[q][0] * u[0];
      for (int k = 1; k < int(N); ++k) {
        v[q] += this->value[q][k] * u[k];
        d[q] += this->derivative[q][k] * u[k];
      }
    }
    double* const values = at.array(0, c) + first_of_third(at.line);
    double* const derivatives = at.array(1, c) + first_of_third(at.line);
    for (int q = 0; q < int(N); ++q) {
      values[q] = v[q];
      derivatives[q] = d[q];
    }
  }

  /// Of values: values and derivatives along xi_1; of derivatives along xi_2: their values.
  KOKKOS_FORCEINLINE_FUNCTION void sum_second_index(const Place& at, int c) const {
    const int begin = first_of_second(at.line);
    double *const values = at.array(0, c) + begin, *const along_second = at.array(1, c) + begin,
                  *const along_third = at.array(2, c) + begin;
    double u[N], d[N], v[N], d1[N], d2[N];
    for (int k = 0; k < int(N); ++k) {
      u[k] = values[k * int(second)];
      d[k] = along_second[k * int(second)];
    }
    for (int q = 0; q < int(N); ++q) {
      v[q] = this->value[q][0] * u[0];
      d1[q] = this->derivative[q][0] * u[0];
      d2[q] = this->value[q][0] * d[0];
      for (int k = 1; k < int(N); ++k) {
        v[q] += this->value[q][k] * u[k];
        d1[q] += this->derivative[q][k] * u[k];
        d2[q] += this->value[q][k] * d[k];
      }
    }
    for (int q = 0; q < int(N); ++q) {
      values[q * int(second)] = v[q];
      along_second[q * int(second)] = d1[q];
      along_third[q * int(second)] = d2[q];
    }
  }

  /// sum_second_index, transposed.
  KOKKOS_FORCEINLINE_FUNCTION void sum_points_along_second(const Place& at, int c) const {
    const int begin = first_of_second(at.line);
    double *const values = at.array(0, c) + begin, *const along_second = at.array(1, c) + begin;
    const double* const along_third = at.array(2, c) + begin;
    double u[N], u1[N], u2[N], v[N], d[N];
    for (int q = 0; q < int(N); ++q) {
      u[q] = values[q * int(second)];
      u1[q] = along_second[q * int(second)];
      u2[q] = along_third[q * int(second)];
    }
    for (int k = 0; k < int(N); ++k) {
      v[k] = d[k] = 0;
      for (int q = 0; q < int(N); ++q) {
        v[k] += this->value[q][k] * u[q] + this->derivative[q][k] * u1[q];
        d[k] += this->value[q][k] * u2[q];
      }
    }
    for (int k = 0; k < int(N); ++k) {
      values[k * int(second)] = v[k];
      along_second[k * int(second)] = d[k];
    }
  }

  /// sum_third_index, transposed.
  KOKKOS_FORCEINLINE_FUNCTION void sum_points_along_third(const Place& at, int c) const {
    double* const values = at.array(0, c) + first_of_third(at.line);
    const double* const derivatives = at.array(1, c) + first_of_third(at.line);
    double u[N], du[N], v[N];
    for (int q = 0; q < int(N); ++q) {
      u[q] = values[q];
      du[q] = derivatives[q];
    }
    for (int k = 0; k < int(N); ++k) {
      v[k] = 0;
      for (int q = 0; q < int(N); ++q)
        v[k] += this->value[q][k] * u[q] + this->derivative[q][k] * du[q];
    }
    for (int k = 0; k < int(N); ++k)
      values[k] = v[k];
  }
};

} // namespace ossatura::detail
