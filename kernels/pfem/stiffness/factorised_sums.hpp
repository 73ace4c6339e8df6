// SPDX-License-Identifier: Apache-2.0
// Factorised sums [1] form stiffness matrices on the modes that exist, trunk or tensor. With the
// elasticity pulled back to the reference element at its points,
//
//   C_kl^cd = w det J sum_mn dxi_k/dx_m D(voigt(c, m), voigt(d, n)) dxi_l/dx_n,
//   K_ij^cd = sum over points and k, l of  d_k phi_i  C_kl^cd  d_l phi_j,
//
// sums are taken along xi for a pair of first indices (A, 81 numbers at the points of a plane),
// then along eta for pairs of second indices (S: what is left depends on whether zeta is
// differentiated on either side, so 4 times 9 numbers at the points of a line), then along zeta:
// flops grow with p^7, not p^9. Along eta and zeta points are taken in pairs +-s, and functions are
// even or odd (the two linear ones by their sum and difference), which halves these sums.
//
// On devices a team forms a matrix (sum_factorised.hpp), on cores a thread as many as a vector
// register has doubles (batches/). Where the order and the points are constants, tables are
// operands of multiply-adds. The points along zeta must be those of a rule that is symmetric about
// 0. Deterministic.
//
// [1] J. Melenk, K. Gerdes, C. Schwab. Fully discrete hp-finite elements: fast quadrature. Comput.
//     Methods Appl. Mech. Engrg. 190 (2001) 4339-4364, doi:10.1016/S0045-7825(00)00322-4.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/unrolled.hpp>
#include <ossatura/core/pfem/modes.hpp>
#include <ossatura/kernels/pfem/elasticity_entry.hpp>

#include <cstddef>
#include <cstdint>

namespace ossatura::detail {

/// The sizes that an order, a space and a rule alone decide. P, N: order and points, or 0 if they
/// are known at run time only.
template<int P, int N>
struct SumFactors {
  static constexpr bool known = P > 0;
  static constexpr int max_order = known ? P : max_hexa_order;
  static constexpr int max_points = known ? N : max_hexa_points;
  static constexpr int width = max_order + 1;
  static constexpr int max_half = (max_points + 1) / 2;
  static constexpr int max_pairs = width * (width + 1) / 2;

  int order_, points_;
  int num_pairs; ///< of first indices
  /// Products of the even and odd functions (u_0 = 1/2, u_1 = s/2, else psi_n) i and j, and of the
  /// derivative of i with j, and of both, at points from the last one to the middle.
  double bb[width][width][max_half], gb[width][width][max_half], gg[width][width][max_half];
  std::uint8_t pair_i[max_pairs], pair_j[max_pairs]; ///< first indices, i >= j
  std::uint8_t count1[width];                        ///< second indices that go with a first
  std::uint8_t count2[width][width]; ///< third indices that go with a first and a second
  std::int16_t begin[width][width];  ///< mode of these with third index 0

  OSSATURA_FORCEINLINE_FUNCTION constexpr int order() const { return known ? P : order_; }
  OSSATURA_FORCEINLINE_FUNCTION constexpr int points() const { return known ? N : points_; }
  OSSATURA_FORCEINLINE_FUNCTION constexpr int half() const { return (points() + 1) / 2; }
};

/// The sums of one matrix, or of several at once: a `Real` is a double, or Lanes of the matrices of
/// as many elements. `Slots` pairs of first indices at a time; `keeps`: whether a thread keeps its
/// column of A from step to step.
template<int P, int N, int Slots, bool keeps, class Real>
struct FactorisedSums {
  using Factors = SumFactors<P, N>;
  static constexpr bool known = Factors::known;

  Factors f;
  ArrayPointer<const double> value, derivative; ///< [points, order + 1] psi_n and its derivative

  static constexpr int num_coefficients = 45; ///< C(m1, m2), m = 3 c + k, m1 <= m2

  OSSATURA_FORCEINLINE_FUNCTION int plane() const { return f.points() * f.points(); }
  /// Second indices j of a step whose rows i are 0 and 1; other steps have one i and all j.
  static constexpr int linear_width = Factors::width < 4 ? 2 : Factors::width / 2;
  static constexpr int linear_steps = (Factors::max_order + 1 + linear_width - 1) / linear_width;
  static constexpr int max_second_pairs =
      2 * linear_width > Factors::width ? 2 * linear_width : Factors::width;
  OSSATURA_FORCEINLINE_FUNCTION int num_steps() const { return linear_steps + f.order() - 1; }
  OSSATURA_FORCEINLINE_FUNCTION int row_of_step(int step, int pair) const {
    return step < int(linear_steps) ? pair / int(linear_width) : 2 + step - int(linear_steps);
  }
  OSSATURA_FORCEINLINE_FUNCTION int column_of_step(int step, int pair) const {
    return step < int(linear_steps) ? int(linear_width) * step + pair % int(linear_width) : pair;
  }

  static std::size_t a_numbers(int n) { return std::size_t(Slots * 81 * n * n); }
  static std::size_t s_numbers(int n) { return std::size_t(Slots * max_second_pairs * 36 * n); }
  static std::size_t c_numbers(int n) { return std::size_t(num_coefficients * n * n * n); }
  static std::size_t table_numbers(int n) { return std::size_t(Slots * 4 * n); }

  OSSATURA_FORCEINLINE_FUNCTION static void coefficient(int number, int& m1, int& m2) {
    m1 = 0;
    while (number >= 9 - m1) {
      number -= 9 - m1;
      ++m1;
    }
    m2 = m1 + number;
  }

  /// C at point q, spread over `plane() * points` numbers a coefficient: of dxi_k / dx_m at
  /// to_gradient.row[m][k], the weight times det J, and the upper triangle of D.
  template<class Gradient, class Elasticity>
  OSSATURA_FORCEINLINE_FUNCTION void pull_back(int q, const Gradient& to_gradient,
                                               const Real& weight, const Elasticity& d_upper,
                                               Real* c_of) const {
    const int stride = plane(), line = q / stride, place = q - line * stride;
    Real* const to = c_of + std::int64_t(line) * int(num_coefficients) * stride + place;
    const auto& g = to_gradient;
    int number = 0;
    for (int m1 = 0; m1 < 9; ++m1) {
      const int c = m1 / 3, k = m1 % 3;
      Real stress[6]; // w sum_m dxi_k/dx_m D(voigt(c, m), .)
      for (int s = 0; s < 6; ++s)
        stress[s] = weight * (g.row[0][k] * d_upper[elasticity_entry(voigt(c, 0), s)] +
                              g.row[1][k] * d_upper[elasticity_entry(voigt(c, 1), s)] +
                              g.row[2][k] * d_upper[elasticity_entry(voigt(c, 2), s)]);
      for (int m2 = m1; m2 < 9; ++m2, ++number) {
        const int d = m2 / 3, l = m2 % 3;
        to[number * stride] = stress[voigt(d, 0)] * g.row[0][l] +
                              stress[voigt(d, 1)] * g.row[1][l] + stress[voigt(d, 2)] * g.row[2][l];
      }
    }
  }

  /// Products of the functions of a pair of first indices, [4, points]: value and value, derivative
  /// of i, of j, of both.
  template<class Team>
  OSSATURA_FORCEINLINE_FUNCTION void pair_table(const Team& team, int pair, double* table) const {
    const int n = f.points();
    team.each(n, [&](int q) {
      const int row = q * (f.order() + 1), i = f.pair_i[pair], j = f.pair_j[pair];
      const double vi = value(row + i), vj = value(row + j), gi = derivative(row + i),
                   gj = derivative(row + j);
      table[q] = vi * vj;
      table[n + q] = gi * vj;
      table[2 * n + q] = vi * gj;
      table[3 * n + q] = gi * gj;
    });
  }

  /// Sums along xi: A of all slots, [3 k + l, q1, q2, cd].
  template<class Team>
  OSSATURA_FORCEINLINE_FUNCTION void sum_first(const Team& team, int num_slots, const Real* c_of,
                                               const double* tables, Real* a_of) const {
    const int n = f.points(), line = int(num_coefficients) * plane();
    team.each(line, [&](int item) {
      const int number = item / plane(), place = item - number * plane();
      int m1, m2;
      coefficient(number, m1, m2);
      const int c = m1 / 3, k = m1 % 3, d = m2 / 3, l = m2 % 3;
      Real x[Factors::max_points];
      unrolled<known, 0, Factors::max_points>(
          n, [&](auto q) { x[int(q)] = c_of[int(q) * line + item]; });
      const int kind = (k == 0 ? 1 : 0) + (l == 0 ? 2 : 0),
                mirrored = (l == 0 ? 1 : 0) + (k == 0 ? 2 : 0);
      const int to = (3 * k + l) * 9 * plane() + place * 9 + 3 * c + d,
                mirrored_to = (3 * l + k) * 9 * plane() + place * 9 + 3 * d + c;
      for (int slot = 0; slot < num_slots; ++slot) {
        const double* const table = tables + slot * 4 * n;
        Real sum(0);
        unrolled<known, 0, Factors::max_points>(
            n, [&](auto q) { sum += Real(table[kind * n + int(q)]) * x[int(q)]; });
        Real* const a = a_of + slot * 81 * plane();
        a[to] = sum;
        if (m1 == m2)
          continue;
        if (kind != mirrored) {
          sum = Real(0);
          unrolled<known, 0, Factors::max_points>(
              n, [&](auto q) { sum += Real(table[mirrored * n + int(q)]) * x[int(q)]; });
        }
        a[mirrored_to] = sum;
      }
    });
  }

  /// The even and odd parts, over points +-s, of one number at the points of a line.
  struct Parts {
    Real even[Factors::max_half], odd[Factors::max_half];

    template<class Value>
    OSSATURA_FORCEINLINE_FUNCTION void load(const Factors& f, const Value& value) {
      const int n = f.points();
      unrolled<known, 0, Factors::max_points / 2>(n / 2, [&](auto h) {
        const Real upper = value(n - 1 - int(h)), lower = value(int(h));
        even[int(h)] = upper + lower;
        odd[int(h)] = upper - lower;
      });
      if (n % 2 == 1)
        even[n / 2] = value(n / 2);
    }
    /// sum += of the products t, which are odd or even.
    OSSATURA_FORCEINLINE_FUNCTION void add(const Factors& f, bool is_odd, const double* t,
                                           Real& sum) const {
      if (is_odd)
        unrolled<known, 0, Factors::max_points / 2>(
            f.points() / 2, [&](auto h) { sum += Real(t[int(h)]) * odd[int(h)]; });
      else
        unrolled<known, 0, Factors::max_half>(
            f.half(), [&](auto h) { sum += Real(t[int(h)]) * even[int(h)]; });
    }
  };

  /// The part of A that a thread has: at the points of a line along eta, for all k, l.
  struct Column {
    Parts part[9];
  };

  /// Sums along eta for functions i and j, even or odd each: by whether zeta is differentiated.
  template<class I, class J>
  OSSATURA_FORCEINLINE_FUNCTION void sum_second(const Column& a, I i, J j, Real (&s)[4]) const {
    const bool odd = (int(i) + int(j)) % 2 != 0;
    const double *const bb = f.bb[int(i)][int(j)], *const gb = f.gb[int(i)][int(j)],
                        *const bg = f.gb[int(j)][int(i)], *const gg = f.gg[int(i)][int(j)];
    const bool has_i = int(i) != 0, has_j = int(j) != 0; // u_0' = 0
    for (int kind = 0; kind < 4; ++kind)
      s[kind] = Real(0);
    a.part[0].add(f, odd, bb, s[0]);
    a.part[2].add(f, odd, bb, s[2]);
    a.part[6].add(f, odd, bb, s[1]);
    a.part[8].add(f, odd, bb, s[3]);
    if (has_i) {
      a.part[3].add(f, !odd, gb, s[0]);
      a.part[5].add(f, !odd, gb, s[2]);
    }
    if (has_j) {
      a.part[1].add(f, !odd, bg, s[0]);
      a.part[7].add(f, !odd, bg, s[1]);
    }
    if (has_i && has_j)
      a.part[4].add(f, odd, gg, s[0]);
  }

  /// From the sum and the difference to psi_0 and psi_1.
  OSSATURA_FORCEINLINE_FUNCTION static void to_linear(Real& zero, Real& one) {
    const Real sum = zero + one;
    zero = zero - one;
    one = sum;
  }

  OSSATURA_FORCEINLINE_FUNCTION void store_second(const Real (&s)[4], int pair, int column,
                                                  Real* s_of) const {
    const int n9 = 9 * f.points();
    for (int kind = 0; kind < 4; ++kind)
      s_of[(4 * pair + kind) * n9 + column] = s[kind];
  }

  /// A step with rows 0 and 1 and the columns from linear_width Step on.
  template<int Step>
  OSSATURA_FORCEINLINE_FUNCTION void linear_rows(const Column& a, int num_j, int column,
                                                 Real* s_of) const {
    constexpr int first = linear_width * Step, last = first + linear_width < Factors::width
                                                          ? first + linear_width
                                                          : Factors::width;
    const IntConstant<0> zero;
    const IntConstant<1> one;
    if constexpr (Step == 0) {
      Real s[2][2][4];
      sum_second(a, zero, zero, s[0][0]);
      sum_second(a, zero, one, s[0][1]);
      sum_second(a, one, zero, s[1][0]);
      sum_second(a, one, one, s[1][1]);
      for (int kind = 0; kind < 4; ++kind) {
        to_linear(s[0][0][kind], s[1][0][kind]);
        to_linear(s[0][1][kind], s[1][1][kind]);
        to_linear(s[0][0][kind], s[0][1][kind]);
        to_linear(s[1][0][kind], s[1][1][kind]);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          store_second(s[i][j], i * int(linear_width) + j, column, s_of);
    }
    unrolled<known, (first < 2 ? 2 : first), last>(
        last < f.order() + 1 ? last : f.order() + 1, [&](auto j) {
          if (int(j) >= num_j)
            return;
          Real s[2][4];
          sum_second(a, zero, j, s[0]);
          sum_second(a, one, j, s[1]);
          for (int kind = 0; kind < 4; ++kind)
            to_linear(s[0][kind], s[1][kind]);
          for (int i = 0; i < 2; ++i)
            store_second(s[i], i * int(linear_width) + int(j) - first, column, s_of);
        });
  }

  template<class I>
  OSSATURA_FORCEINLINE_FUNCTION void one_row(const Column& a, I i, int num_j, int column,
                                             Real* s_of) const {
    Real s[2][4];
    sum_second(a, i, IntConstant<0>(), s[0]);
    sum_second(a, i, IntConstant<1>(), s[1]);
    for (int kind = 0; kind < 4; ++kind)
      to_linear(s[0][kind], s[1][kind]);
    store_second(s[0], 0, column, s_of);
    store_second(s[1], 1, column, s_of);
    unrolled<known, 2, Factors::width>(f.order() + 1, [&](auto j) {
      if (int(j) >= num_j)
        return;
      Real t[4];
      sum_second(a, i, j, t);
      store_second(t, int(j), column, s_of);
    });
  }

  OSSATURA_FORCEINLINE_FUNCTION void load_column(const Real* a_of, int column, Column& a) const {
    const int n9 = 9 * f.points();
    for (int kl = 0; kl < 9; ++kl)
      a.part[kl].load(f, [&](int q1) { return a_of[(kl * f.points() + q1) * n9 + column]; });
  }

  OSSATURA_FORCEINLINE_FUNCTION void sum_column(const Column& a, int pair, int step, int column,
                                                Real* s_of) const {
    const int num_i = f.count1[f.pair_i[pair]], num_j = f.count1[f.pair_j[pair]];
    unrolled<true, 0, linear_steps>(0, [&](auto number) {
      constexpr int k = decltype(number)::value;
      if (step == k && (k == 0 || linear_width * k < num_j))
        linear_rows<k>(a, num_j, column, s_of);
    });
    unrolled<known, 2, Factors::width>(f.order() + 1, [&](auto i) {
      if (step == int(linear_steps) + int(i) - 2 && int(i) < num_i)
        one_row(a, i, num_j, column, s_of);
    });
  }

  /// Sums along zeta for modes i and j.
  template<class I, class J>
  OSSATURA_FORCEINLINE_FUNCTION Real sum_third(const Parts (&s)[4], I i, J j) const {
    const bool odd = (int(i) + int(j)) % 2 != 0;
    Real sum(0);
    s[0].add(f, odd, f.bb[int(i)][int(j)], sum);
    if (int(i) != 0)
      s[1].add(f, !odd, f.gb[int(i)][int(j)], sum);
    if (int(j) != 0)
      s[2].add(f, !odd, f.gb[int(j)][int(i)], sum);
    if (int(i) != 0 && int(j) != 0)
      s[3].add(f, odd, f.gg[int(i)][int(j)], sum);
    return sum;
  }

  /// The entries of one pair of first and second indices and components c, d.
  template<class SetEntry>
  OSSATURA_FORCEINLINE_FUNCTION void sum_entries(const Real* s_of, int cd, int num_i, int num_j,
                                                 int row, int column, bool diagonal,
                                                 const SetEntry& set_entry) const {
    const int n9 = 9 * f.points();
    Parts s[4];
    for (int kind = 0; kind < 4; ++kind)
      s[kind].load(f, [&](int q2) { return s_of[kind * n9 + q2 * 9 + cd]; });
    const auto set = [&](int i, int j, const Real& x) {
      const int r = row + 3 * i, t = column + 3 * j;
      if (!diagonal || t <= r)
        set_entry(r, t, x);
    };
    const IntConstant<0> zero;
    const IntConstant<1> one;
    {
      Real x00 = sum_third(s, zero, zero), x01 = sum_third(s, zero, one),
           x10 = sum_third(s, one, zero), x11 = sum_third(s, one, one);
      to_linear(x00, x10);
      to_linear(x01, x11);
      to_linear(x00, x01);
      to_linear(x10, x11);
      set(0, 0, x00);
      set(0, 1, x01);
      set(1, 0, x10);
      set(1, 1, x11);
    }
    unrolled<known, 2, Factors::width>(f.order() + 1, [&](auto j) {
      if (int(j) >= num_j)
        return;
      Real x0 = sum_third(s, zero, j), x1 = sum_third(s, one, j);
      to_linear(x0, x1);
      set(0, int(j), x0);
      set(1, int(j), x1);
    });
    unrolled<known, 2, Factors::width>(f.order() + 1, [&](auto i) {
      if (int(i) >= num_i)
        return;
      Real x0 = sum_third(s, i, zero), x1 = sum_third(s, i, one);
      to_linear(x0, x1);
      set(int(i), 0, x0);
      set(int(i), 1, x1);
      unrolled<known, 2, Factors::width>(f.order() + 1, [&](auto j) {
        if (int(j) < num_j)
          set(int(i), int(j), sum_third(s, i, j));
      });
    });
  }

  template<class Team, class SetEntry>
  OSSATURA_FORCEINLINE_FUNCTION void sum_last(const Team& team, int first_pair, int num_slots,
                                              int step, const Real* s_all,
                                              const SetEntry& set_entry) const {
    const int per_slot = 9 * int(max_second_pairs),
              s_stride = int(max_second_pairs) * 36 * f.points();
    team.each(num_slots * per_slot, [&](int item) {
      const int slot = item / per_slot, pair = (item - slot * per_slot) / 9, cd = item % 9;
      const int i1 = f.pair_i[first_pair + slot], j1 = f.pair_j[first_pair + slot];
      if (step < int(linear_steps) && pair >= 2 * int(linear_width))
        return;
      const int i2 = row_of_step(step, pair), j2 = column_of_step(step, pair);
      if (i2 >= f.count1[i1] || j2 >= f.count1[j1] || (i1 == j1 && j2 > i2))
        return;
      sum_entries(s_all + slot * s_stride + pair * 36 * f.points(), cd, f.count2[i1][i2],
                  f.count2[j1][j2], 3 * f.begin[i1][i2] + cd / 3, 3 * f.begin[j1][j2] + cd % 3,
                  i1 == j1 && i2 == j2, set_entry);
    });
  }

  /// Where a team keeps its sums: a_numbers(points) and so on.
  struct Scratch {
    Real *a, *s, *c;
    double* tables;
  };

  /// Forms it: pull_back_point(q, c) calls pull_back, and set_entry(i, j, x) takes entry (i, j), j
  /// <= i.
  template<class Team, class PullBackPoint, class SetEntry>
  OSSATURA_FORCEINLINE_FUNCTION void form(const Team& team, const PullBackPoint& pull_back_point,
                                          const SetEntry& set_entry, const Scratch& scratch) const {
    const int n = f.points(), n9 = 9 * n;
    const int a_stride = 81 * plane(), s_stride = int(max_second_pairs) * 36 * n;
    Real *const a_all = scratch.a, *const s_all = scratch.s, *const c_of = scratch.c;
    double* const tables = scratch.tables;
    team.each(n * plane(), [&](int q) { pull_back_point(q, c_of); });
    for (int first = 0; first < f.num_pairs; first += int(Slots)) {
      const int num_slots = f.num_pairs - first < int(Slots) ? f.num_pairs - first : int(Slots);
      for (int slot = 0; slot < num_slots; ++slot)
        pair_table(team, first + slot, tables + slot * 4 * n);
      team.barrier();
      sum_first(team, num_slots, c_of, tables, a_all);
      team.barrier();
      Column a;
      if (keeps && team.rank < num_slots * n9)
        load_column(a_all + team.rank / n9 * a_stride, team.rank % n9, a);
      for (int step = 0; step < num_steps(); ++step) {
        if constexpr (keeps) {
          if (team.rank < num_slots * n9)
            sum_column(a, first + team.rank / n9, step, team.rank % n9,
                       s_all + team.rank / n9 * s_stride);
        } else {
          team.each(num_slots * n9, [&](int item) {
            const int slot = item / n9;
            load_column(a_all + slot * a_stride, item % n9, a);
            sum_column(a, first + slot, step, item % n9, s_all + slot * s_stride);
          });
        }
        team.barrier();
        sum_last(team, first, num_slots, step, s_all, set_entry);
        team.barrier();
      }
    }
  }
};

} // namespace ossatura::detail
