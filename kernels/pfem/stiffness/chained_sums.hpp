// SPDX-License-Identifier: Apache-2.0
// The second and the third of chained products (kernels/pfem/stiffness/chained_products.hpp), along
// eta and zeta, of three components: the accumulators of the one are left operands of the other.
#pragma once

#include <ossatura/kernels/pfem/stiffness/chained_layout.hpp>
#include <ossatura/kernels/pfem/stiffness/matrix_instructions.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// Fours of a row of the table along eta that a kind of A takes: first .. last, of which the outer
/// ones may belong to it in part. Where what they have of it are different lanes, they are one.
template<int P, int Kind>
struct EtaFours {
  using Layout = ChainedLayout<P>;
  static constexpr int begin = Layout::eta_begin(Kind), end = Layout::eta_end(Kind);
  static constexpr int first = begin / 4, last = (end - 1) / 4;
  static constexpr int missing = begin % 4;                ///< lanes of the first
  static constexpr int taken = end % 4 == 0 ? 4 : end % 4; ///< lanes of the last
  static constexpr bool folds = taken <= missing && last > first;
  static constexpr int count = last - first + 1 - (folds ? 1 : 0);

  double a0, a1; ///< of rows g and g + 8
  int row;       ///< of A, for lane t = 0

  /// `table`: of the rows g and g + 8, the number t of each four.
  __device__ EtaFours(int n, int t, const double (&table)[P + 1][2]) {
    const int q = folds ? first + 1 + n : first + n;
    constexpr int shift = Layout::first_row(Kind) - begin;
    if (folds && n == count - 1) {
      const bool of_last = t < taken, none = !of_last && t < missing;
      a0 = none ? 0 : of_last ? table[last][0] : table[first][0];
      a1 = none ? 0 : of_last ? table[last][1] : table[first][1];
      row = shift + 4 * (of_last ? last : first);
      return;
    }
    const bool none = (q == first && t < missing) || (q == last && t >= taken);
    a0 = none ? 0 : table[q][0];
    a1 = none ? 0 : table[q][1];
    row = shift + 4 * q;
  }
};

/// S of 16 pairs of second indices and three components, as a lane of a warp has it: left operands
/// of the products along zeta.
template<int P>
class ChainedSums {
public:
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1;

  /// Sums along eta. row0, row1: of the table, of the pairs g and g + 8, and as many numbers on as
  /// the lane's number in its four. a_of: of the slot, component and lane. zero: 0, which the
  /// compiler does not know.
  __device__ ChainedSums(const double* row0, const double* row1, const double* a_of, int lane,
                         int zero) {
    double table[N][2];
#pragma unroll
    for (int n = 0; n < N; ++n) {
      table[n][0] = row0[4 * n];
      table[n][1] = row1[4 * n];
    }
    sum_kinds<0>(table, a_of, lane, zero);
  }

  /// x += the sums along zeta for 8 pairs of third indices, by components. table: the row of the
  /// lane's pair g, and 2 t on. swapped: it is that of (j, i) for (i, j).
  __device__ void add_third(const double* table, bool swapped, double (&x)[3][4]) const {
    const int step = swapped ? 16 : 8;
    if constexpr (Layout::has_eight)
#pragma unroll
      for (int kind = 0; kind < 4; ++kind) {
        const double2 b = *reinterpret_cast<const double2*>(table + (kind == 1   ? step
                                                                     : kind == 2 ? 24 - step
                                                                                 : kind * 8));
        multiply(eights_[kind], b, x);
      }
    if constexpr (Layout::has_tail) {
      const auto* const tail = reinterpret_cast<const double2*>(table + 4 * Layout::eight);
      const double2 b = tail[4];
      multiply(tail_[0], tail[0], x);
      multiply(tail_[1], swapped ? make_double2(b.y, b.x) : b, x);
    }
  }

private:
  /// Columns of A, eights: the components, and the tails, of components 0 and 1, and of 2.
  static constexpr int components = Layout::has_eight ? 3 : 0,
                       eights = components + (Layout::has_tail ? 2 : 0);

  double eights_[Layout::has_eight ? 4 : 1][3][4]; ///< by kinds and components
  double tail_[Layout::has_tail ? 2 : 1][3][4];    ///< of two kinds

  __device__ static void multiply(const double (&a)[3][4], const double2& b, double (&x)[3][4]) {
#pragma unroll
    for (int d = 0; d < 3; ++d)
      multiply_16x8x8(a[d][0], a[d][1], a[d][2], a[d][3], b.x, b.y, x[d]);
  }

  template<int Kind>
  __device__ static void sum_kind(const double (&table)[N][2], const double* a_of, int lane,
                                  double (&x)[eights][4]) {
    constexpr int count = EtaFours<P, Kind>::count;
    const int t = lane % 4;
    // Lane g has column g, but of the last tail, which is by itself, column g / 2.
    const double* const last_of = a_of - lane / 4 + lane / 8;
#pragma unroll
    for (int n = 0; n < count; n += 2) {
      const EtaFours<P, Kind> one(n, t, table), two(n + 1 < count ? n + 1 : n, t, table);
#pragma unroll
      for (int d = 0; d < eights; ++d) {
        const double* const from = (d == components + 1 ? last_of : a_of) + Layout::eight_column(d);
        const double b = from[one.row * Layout::a_stride];
        if (n + 1 < count)
          multiply_16x8x8(one.a0, one.a1, two.a0, two.a1, b, from[two.row * Layout::a_stride],
                          x[d]);
        else
          multiply_16x8x4(one.a0, one.a1, b, x[d]);
      }
    }
  }

  /// Of a kind and those behind it. The inner accumulators change places, those of tails go to
  /// their components.
  template<int Kind>
  __device__ void sum_kinds(const double (&table)[N][2], const double* a_of, int lane, int zero) {
    double x[eights][4] = {};
    sum_kind<Kind>(table, a_of, lane, x);
    // Exclusive or is done here and now: moves the compiler would make again for each product.
    const auto moved = [&](double number) {
      return __hiloint2double(__double2hiint(number) ^ zero, __double2loint(number) ^ zero);
    };
    if constexpr (Layout::has_eight)
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        eights_[Kind][d][0] = x[d][0];
        eights_[Kind][d][1] = moved(x[d][2]);
        eights_[Kind][d][2] = moved(x[d][1]);
        eights_[Kind][d][3] = x[d][3];
      }
    if constexpr (Layout::has_tail) {
      double(&tail)[3][4] = tail_[Layout::tail_of(Kind)];
      constexpr int side = 2 * Layout::side_of(Kind);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        tail[0][side + r] = moved(x[components][2 * r]);
        tail[1][side + r] = moved(x[components][2 * r + 1]);
        tail[2][side + r] = moved(x[components + 1][2 * r]);
      }
    }
    if constexpr (Kind < 3)
      sum_kinds<Kind + 1>(table, a_of, lane, zero);
  }
};

#endif

} // namespace ossatura::detail
