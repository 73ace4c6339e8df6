// SPDX-License-Identifier: Apache-2.0
// Chained products form the stiffness by sum factorisation (kernels/pfem/stiffness/
// sum_factorised.hpp) with the fp64 matrix instructions of compute capability 9.0, 16 x 8 x 8. What
// a warp has summed along eta never leaves its registers: the accumulators of that product, rows of
// pairs of second indices and columns of points along zeta, are the left operand of the product
// along zeta as they stand, if the points along zeta are counted 0, 2, 4, 6, 1, 3, 5, 7.
//
//   along xi:   C, 45 numbers at each point, times the functions of pairs of first indices: A
//   along eta:  [16 pairs of second indices] x [points, derivatives] times A: S, of 3 of 9
//               components and 4 kinds of derivatives along zeta
//   along zeta: S times [points, derivatives] x [8 pairs of third indices]
//
// kernels/pfem/stiffness/tensor_cores.hpp, with S in scratch memory, is the form for other orders
// and devices. A team forms a matrix; kernels/pfem/stiffness/chained_schedule.hpp lists what warps
// take from a queue. Deterministic: which warp takes what does not change an entry.
#pragma once

#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ossatura::detail {

/// Layout of scratch memory, and where the blocks (k, l) of derivatives are. By the derivatives
/// along zeta, the rows of A are of four kinds: none, by j, by i, both. A row of the table along
/// eta has the products of values and derivatives in an order in which each kind needs a range of
/// them: (by j, none, by i, both) times points.
template<int P>
struct ChainedLayout {
  static constexpr int N = P + 1, plane = N * N;
  static constexpr int zeta = 8; ///< points along zeta, filled up
  static_assert(N <= zeta, "the points along an axis are columns of an instruction");
  static constexpr ChainedShape shape = chained_shape(P);
  static constexpr int slots = shape.slots, warps = shape.warps;

  /// Rows c of the components one after the other, where scratch does not hold all nine.
  static constexpr bool by_row = shape.by_row;
  static constexpr int sweeps = by_row ? 3 : 1, components = by_row ? 3 : 9;

  KOKKOS_FUNCTION static constexpr int round_up(int n, int to) { return (n + to - 1) / to * to; }
  /// A stride of at least n doubles that is `rest` modulo 16.
  KOKKOS_FUNCTION static constexpr int stride(int n, int rest) {
    return n + (rest + 16 - n % 16) % 16;
  }

  /// Rows of C by the kind of their tables along xi: mixed (one side differentiated), values, both;
  /// of one row of components mixed are those with i and those with j differentiated.
  static constexpr int kinds = by_row ? 4 : 3;
  KOKKOS_FUNCTION static constexpr int kind_begin(int kind) {
    int at = 0;
    for (int k = 0; k < kind; ++k) {
      const int numbers = by_row ? (k < 2 ? 6 : k == 2 ? 12 : 3) : (k == 0 ? 18 : k == 1 ? 21 : 6);
      at += round_up(numbers * plane, 16);
    }
    return at;
  }
  static constexpr int c_rows = kind_begin(kinds);
  static constexpr int c_stride = c_rows + 4; ///< of a point along xi

  /// Groups of tiles along xi that warps take in turns, and the tiles of a group that leave the
  /// fewest warps without one.
  KOKKOS_FUNCTION static constexpr int num_groups(int tiles) {
    int groups = 0;
    for (int kind = 0; kind < kinds; ++kind)
      groups += round_up((kind_begin(kind + 1) - kind_begin(kind)) / 16, tiles) / tiles;
    return groups;
  }
  static constexpr int best_tiles() {
    int best = 4;
    for (int tiles = 3; tiles > 1; --tiles)
      if (round_up(num_groups(tiles), warps) * tiles < round_up(num_groups(best), warps) * best)
        best = tiles;
    return best;
  }
  static constexpr int tiles_at_once = best_tiles();

  /// Place of (c, d), c <= d, among the 6 of a symmetric matrix.
  KOKKOS_FUNCTION static constexpr int symmetric(int c, int d) { return c * (5 - c) / 2 + d; }

  /// First row of C of a coefficient: k <= l, and c <= d where k = l.
  KOKKOS_FUNCTION static constexpr int c_row(int k, int l, int c, int d) {
    return k == l ? kind_begin(k == 0 ? 2 : 1) + ((k == 2 ? 6 : 0) + symmetric(c, d)) * plane
                  : kind_begin(k == 0 ? 0 : 1) +
                        (k == 0 ? 9 * (l - 1) + 3 * c + d : 12 + 3 * c + d) * plane;
  }
  /// The same where C is of one row of components, for all k and l.
  KOKKOS_FUNCTION static constexpr int c_row(int k, int l, int d) {
    return k == 0 ? (l == 0 ? kind_begin(3) + d * plane : (3 * (l - 1) + d) * plane)
                  : (l == 0 ? kind_begin(1) + (3 * (k - 1) + d) * plane
                            : kind_begin(2) + (3 * (2 * (k - 1) + l - 1) + d) * plane);
  }

  /// Of a row of A, whose columns are [components, points along zeta].
  static constexpr int a_width = (components - 1) * N + zeta;
  static constexpr int a_stride =
      stride(a_width, 4) < stride(a_width, 12) ? stride(a_width, 4) : stride(a_width, 12);
  static constexpr int a_size = stride(9 * N * a_stride, 4); ///< of a slot
  static constexpr int unused = 9 * N * a_stride - 1;        ///< a place that is not read

  static constexpr int eta_stride = 4 * N + (N % 2 == 0 ? 4 : 0); ///< 4 or 12 modulo 16
  /// 8 modulo 16 but where scratch memory is short.
  static constexpr int zeta_stride = 4 * zeta + (N == 8 ? 4 : 8);
  /// A place in A, or two, the mirrored one in the upper half.
  using Place = std::conditional_t<by_row, std::uint16_t, std::uint32_t>;

  /// Range of a kind in a row of the table along eta, and its first row of A.
  KOKKOS_FUNCTION static constexpr int eta_begin(int kind) { return kind % 2 == 1 ? N : 0; }
  KOKKOS_FUNCTION static constexpr int eta_end(int kind) {
    return kind == 0 ? 4 * N : kind == 1 ? 3 * N : 2 * N;
  }
  KOKKOS_FUNCTION static constexpr int first_row(int kind) {
    return kind == 0 ? 0 : (2 * kind + 2) * N;
  }

  /// Row of A of the block (k, l) at a point along eta.
  static constexpr int row_of(int k, int l, int q) {
    const int kind = (k == 2 ? 2 : 0) + (l == 2 ? 1 : 0);
    const int part = (k == 1 ? 2 : 0) + (l == 1 ? 1 : 0); // of none, by j, by i, both
    constexpr int place[4] = {1, 0, 2, 3};
    return first_row(kind) + place[part] * N - eta_begin(kind) + q;
  }

  /// Doubles of scratch that a team takes.
  static constexpr std::size_t scratch_doubles =
      std::size_t(slots * a_size + plane * (eta_stride + zeta_stride) + slots * 32 + N * c_stride +
                  warps * (192 + 16) + c_rows * sizeof(Place) / 8 + plane + 1 + 16 + 16);
};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// c += a b: lane 4 g + t has a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4), b(t, g),
/// b(t + 4, g) and c(g, 2 t), c(g, 2 t + 1), c(g + 8, 2 t), c(g + 8, 2 t + 1).
__device__ inline void multiply_16x8x8(double a0, double a1, double a2, double a3, double b0,
                                       double b1, double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#endif
}

/// The same without the second halves of a and b.
__device__ inline void multiply_16x8x4(double a0, double a1, double b, double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a0), "d"(a1), "d"(b));
#endif
}

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

template<int P>
struct FormChainedProducts {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1, plane = N * N;
  static constexpr int warps = Layout::warps, slots = Layout::slots;
  static constexpr bool by_row = Layout::by_row;
  static constexpr int tiles_at_once = Layout::tiles_at_once;
  static constexpr int max_threads = 32 * warps, min_teams = Layout::shape.teams;
  static constexpr int a_size = Layout::a_size, a_stride = Layout::a_stride,
                       c_stride = Layout::c_stride;
  static constexpr int point_batches = (plane * N + 31) / 32;

  HexaBatchPointers batch;
  StiffnessOutput output;
  ArrayPointer<const double> xi_table;   ///< [plane, 4, 8] products, by derivatives of i and j
  ArrayPointer<const double> eta_table;  ///< [plane, eta_stride]
  ArrayPointer<const double> zeta_table; ///< [plane, zeta_stride]
  ArrayPointer<const typename Layout::Place>
      place; ///< [c_rows] in A: of a row of C, and mirrored << 16
  ArrayPointer<const ChainedPass> pass;
  ArrayPointer<const ChainedItem> item;
  ArrayPointer<const ChainedPair> pair;
  ArrayPointer<const ChainedTile> tile;
  int num_passes;
  int zero; ///< 0, which the compiler does not know
  std::int64_t first_elem, num_elem;

  /// A pass of an element, in scratch memory: in registers it would be spilled.
  struct Turn {
    std::int64_t matrix; ///< of this launch
    int number, component, num_slots, first_item;
    int num_batches; ///< of points of the next element, the first tasks
    int num_tasks;
    int next; ///< task
  };

  /// What is where in scratch memory: constants, which take no registers.
  struct Scratch {
    double* base;
    int own; ///< of the warp

    __device__ double* a() const { return base; }
    __device__ double* eta() const { return a() + slots * a_size; }
    __device__ double* zeta() const { return eta() + plane * Layout::eta_stride; }
    __device__ double* xi() const { return zeta() + plane * Layout::zeta_stride; }
    __device__ double* c() const { return xi() + slots * 32; }
    __device__ double* stage() const { return c() + N * c_stride + own; } ///< 8 pairs by 24
    __device__ ChainedPair* pair() const {                                // of the item
      return reinterpret_cast<ChainedPair*>(stage() + 192);
    }
    __device__ typename Layout::Place* place() const {
      return reinterpret_cast<typename Layout::Place*>(c() + N * c_stride + 208 * warps);
    }
    __device__ ChainedEntry* third() const { // [plane + 1], by pairs of third indices, and none
      return reinterpret_cast<ChainedEntry*>(place() + Layout::c_rows);
    }
    __device__ volatile Turn* turn() const { // [2], in turns
      return reinterpret_cast<volatile Turn*>(third() + plane + 1);
    }
    __device__ const volatile unsigned* numbers() const { // [32]: numbers_of the lanes
      return reinterpret_cast<const volatile unsigned*>(turn() + 2);
    }
  };

  /// C at point q, of row `component` of components if they are one after the other.
  __device__ void pull_back(std::int64_t e, int q, int component, double* c_of) const {
    if constexpr (by_row) {
      if (component == 0)
        pull_back<0>(e, q, c_of);
      else if (component == 1)
        pull_back<1>(e, q, c_of);
      else
        pull_back<2>(e, q, c_of);
    } else {
      pull_back<-1>(e, q, c_of);
    }
  }

  /// Row: of components, or -1 for all.
  template<int Row>
  __device__ void pull_back(std::int64_t e, int q, double* c_of) const {
    const double* const from = batch.elasticity(e, q);
    double d_upper[elasticity_entries]; // under way while the map is worked out
#pragma unroll
    for (int i = 0; i < elasticity_entries; ++i)
      d_upper[i] = __ldcs(from + i); // read once: lists are to stay in the cache instead
    const HexaPoint point = batch.point(e, q);
    double* const to = c_of + q / plane * int(c_stride) + q % plane;
    const Matrix3& g = point.to_gradient; // (m, k)
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
      for (int c = Row < 0 ? 0 : Row; c < (Row < 0 ? 3 : Row + 1); ++c) {
        double stress[6];
#pragma unroll
        for (int s = 0; s < 6; ++s)
          stress[s] = point.weight * (g.row[0][k] * d_upper[elasticity_entry(voigt(c, 0), s)] +
                                      g.row[1][k] * d_upper[elasticity_entry(voigt(c, 1), s)] +
                                      g.row[2][k] * d_upper[elasticity_entry(voigt(c, 2), s)]);
#pragma unroll
        for (int l = Row < 0 ? k : 0; l < 3; ++l)
#pragma unroll
          for (int d = 0; d < 3; ++d)
            if (Row >= 0 || k != l || c <= d)
              to[Row < 0 ? Layout::c_row(k, l, c, d) : Layout::c_row(k, l, d)] =
                  stress[voigt(d, 0)] * g.row[0][l] + stress[voigt(d, 1)] * g.row[1][l] +
                  stress[voigt(d, 2)] * g.row[2][l];
      }
  }

  /// Sums along xi of some tiles of 16 rows of C, by the kind of their tables. Columns are (slot,
  /// side) of mixed products, whose sides are different sums, and slots twice of the others, whose
  /// mirror image the other lanes store; slots alone where components come row by row.
  template<int Kind>
  __device__ void sum_first(const Scratch& at, int first, int end, int num_slots, int lane) const {
    const int g = lane / 4, t = lane % 4;
    constexpr bool is_mixed = !by_row && Kind == 0;
    constexpr int kinds_by_row[4] = {2, 1, 0, 3};
    const int slot = by_row     ? g
                     : is_mixed ? g / 2
                                : g % 4,
              kind = by_row      ? kinds_by_row[Kind]
                     : is_mixed  ? 2 - g % 2
                     : Kind == 1 ? 0
                                 : 3;
    const double* const table = at.xi() + 32 * (slot < num_slots ? slot : 0) + 8 * kind + t;
    const double b0 = slot < num_slots ? table[0] : 0, b1 = slot < num_slots ? table[4] : 0;
    // Of points that there are not, others: their factors are 0.
    const int second = t + 4 < N ? 4 * int(c_stride) : 0, row = (t < N ? t : 0) * int(c_stride) + g;
    double *const to0 = at.a() + (is_mixed ? t
                                  : by_row ? 2 * t
                                           : 2 * t % 4) *
                                     a_size,
                  *const to1 = is_mixed ? to0 : to0 + a_size;
    double x[tiles_at_once][4] = {}, a[tiles_at_once][4];
    std::uint32_t place_of[tiles_at_once][2];
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u) {
      const int m = 16 * (first + u < end ? first + u : end - 1);
      const double* const from = at.c() + m + row;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        place_of[u][r] = at.place()[m + g + 8 * r];
        a[u][r] = from[8 * r];
        if (N > 4)
          a[u][2 + r] = from[second + 8 * r];
      }
    }
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u)
      if constexpr (N > 4)
        multiply_16x8x8(a[u][0], a[u][1], a[u][2], a[u][3], b0, b1, x[u]);
      else
        multiply_16x8x4(a[u][0], a[u][1], b0, x[u]);
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u)
      if (first + u < end)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const std::uint32_t one = place_of[u][r] & 0xffff, mirrored = place_of[u][r] >> 16;
          if (!by_row || 2 * t < num_slots)
            to0[is_mixed || by_row || t < 2 ? one : mirrored] = x[u][2 * r];
          if (!by_row || 2 * t + 1 < num_slots)
            to1[by_row || (!is_mixed && t < 2) ? one : mirrored] = x[u][2 * r + 1];
        }
  }

  /// A group of tiles, of those of Kind and beyond.
  template<int Kind>
  __device__ void sum_first_group(const Scratch& at, int group, int num_slots, int lane) const {
    constexpr int begin = Layout::kind_begin(Kind) / 16, end = Layout::kind_begin(Kind + 1) / 16,
                  groups = (end - begin + tiles_at_once - 1) / tiles_at_once;
    if (group < groups)
      sum_first<Kind>(at, begin + group * tiles_at_once, end, num_slots, lane);
    else if constexpr (Kind + 1 < Layout::kinds)
      sum_first_group<Kind + 1>(at, group - groups, num_slots, lane);
  }

  /// Sums along eta of one kind. a_of: of the slot, component and lane.
  template<int Kind>
  __device__ void sum_second(const double (&table)[N][2], const double* a_of, int t,
                             double (&s)[3][4]) const {
    constexpr int count = EtaFours<P, Kind>::count;
#pragma unroll
    for (int n = 0; n < count; n += 2) {
      const EtaFours<P, Kind> one(n, t, table), two(n + 1 < count ? n + 1 : n, t, table);
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        const double b = a_of[one.row * a_stride + d * N];
        if (n + 1 < count)
          multiply_16x8x8(one.a0, one.a1, two.a0, two.a1, b, a_of[two.row * a_stride + d * N],
                          s[d]);
        else
          multiply_16x8x4(one.a0, one.a1, b, s[d]);
      }
    }
  }

  /// Puts accumulators in the order of a left operand: the inner two change places. Exclusive or
  /// with `zero` is done here and now; moves would be made again for each product that has them.
  __device__ void to_left_operand(double (&s)[4][3][4]) const {
    const auto moved = [&](double x) {
      return __hiloint2double(__double2hiint(x) ^ zero, __double2loint(x) ^ zero);
    };
#pragma unroll
    for (int kind = 0; kind < 4; ++kind)
#pragma unroll
      for (int d = 0; d < 3; ++d) {
        const double inner = s[kind][d][1];
        s[kind][d][1] = moved(s[kind][d][2]);
        s[kind][d][2] = moved(inner);
      }
  }

  /// The entries (c, 0 .. 2) of the pairs of second indices of an item.
  __device__ void form_item(const Scratch& at, int number, int c, const volatile Turn& turn,
                            int lane) const {
    const int g = lane / 4, t = lane % 4;
    const ChainedItem& now = item(number);
    const double *const row0 = at.eta() + now.row[g] * int(Layout::eta_stride) + t,
                        *const row1 = at.eta() + now.row[g + 8] * int(Layout::eta_stride) + t;
    const double* const a_of =
        at.a() + now.slot * int(a_size) + t * int(a_stride) + (by_row ? 0 : 3 * N * c) + g;
    const int first_tile = now.first_tile, num_tiles = now.num_tiles, num_pairs = now.num_pairs;
    if (lane < 16)
      at.pair()[lane] = pair(16 * number + lane).from_row(c);
    double s[4][3][4] = {};
    {
      double table[N][2];
#pragma unroll
      for (int n = 0; n < N; ++n) {
        table[n][0] = row0[4 * n];
        table[n][1] = row1[4 * n];
      }
      sum_second<0>(table, a_of, t, s[0]);
      sum_second<1>(table, a_of, t, s[1]);
      sum_second<2>(table, a_of, t, s[2]);
      sum_second<3>(table, a_of, t, s[3]);
    }
    to_left_operand(s);
    const auto* const tiles = reinterpret_cast<const uint2*>(&tile(first_tile));
    uint2 rows = tiles[0];
    for (int n = 0; n < num_tiles; ++n) {
      const uint2 next = tiles[n + 1 < num_tiles ? n + 1 : n];
      const int row = int(__byte_perm(rows.x, rows.y, unsigned(g)) & 0xff);
      const double* const table =
          at.zeta() + (row < plane ? row : 0) * int(Layout::zeta_stride) + 2 * t;
      const unsigned numbers = at.numbers()[lane];
      ChainedEntry entry[3]; // of numbers 32 apart
      int pair_of[3];
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const unsigned number = numbers >> 8 * k;
        entry[k] =
            at.third()[__byte_perm(rows.x, rows.y, number & 7) & 0xff].column(int(number >> 3 & 3));
        pair_of[k] = int(number >> 5 & 3);
      }
      double x[3][4] = {};
#pragma unroll
      for (int kind = 0; kind < 4; ++kind) {
        const double2 b = *reinterpret_cast<const double2*>(table + kind * Layout::zeta);
#pragma unroll
        for (int d = 0; d < 3; ++d)
          multiply_16x8x8(s[kind][d][0], s[kind][d][1], s[kind][d][2], s[kind][d][3], b.x, b.y,
                          x[d]);
      }
      store_tile(at, x, entry, pair_of, num_pairs, turn, lane);
      rows = next;
    }
  }

  /// Of the numbers lane, lane + 32 and lane + 64 of four times 8 third pairs by 3: which third
  /// pair, column and pair that is, 3, 2 and 2 bits of a byte each.
  __device__ static unsigned numbers_of(int lane) {
    unsigned numbers = 0;
    for (int k = 0; k < 3; ++k) {
      const int number = lane + 32 * k, in_row = number % 24;
      numbers |= unsigned(in_row / 3 | in_row % 3 << 3 | number / 24 << 5) << 8 * k;
    }
    return numbers;
  }

  /// Through scratch: a lane has six numbers side by side, runs are as long as third indices go.
  __device__ void store_tile(const Scratch& at, const double (&x)[3][4],
                             const ChainedEntry (&entry)[3], const int (&pair_of)[3], int num_pairs,
                             const volatile Turn& turn, int lane) const {
    double* const matrix = output.matrix.data + turn.matrix * output.entries;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (8 * half >= num_pairs)
        break;
      auto* const stage = reinterpret_cast<double2*>(at.stage()) + 3 * lane;
      stage[0] = make_double2(x[0][2 * half], x[1][2 * half]);
      stage[1] = make_double2(x[2][2 * half], x[0][2 * half + 1]);
      stage[2] = make_double2(x[1][2 * half + 1], x[2][2 * half + 1]);
      __syncwarp();
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        double value[3];
        ChainedPair of[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          of[k] = at.pair()[8 * half + 4 * part + pair_of[k]];
          value[k] = at.stage()[96 * part + 32 * k + lane];
        }
        if (output.packed) {
#pragma unroll
          for (int k = 0; k < 3; ++k) {
            double* const to = matrix + entry[k].place(of[k]);
            if (entry[k].is_in(of[k]))
              *to = value[k];
          }
        } else {
#pragma unroll
          for (int k = 0; k < 3; ++k)
            if (entry[k].is_in(of[k]))
              store_both(matrix, entry[k].row(of[k]), entry[k].column_of(of[k]), value[k]);
        }
      }
      __syncwarp();
    }
  }

  __device__ void store_both(double* to, int i, int j, double x) const {
    to[i * output.num_dofs + j] = x;
    to[j * output.num_dofs + i] = x;
  }

  __device__ void fetch_tables(const WideTeam& team, const Scratch& at, int number) const {
    const ChainedPass& now = pass(number);
    team.each(32 * now.num_slots,
              [&](int i) { at.xi()[i] = xi_table(32 * now.slot[i / 32] + i % 32); });
  }

  /// By one thread.
  __device__ void set_turn(const WideTeam& team, volatile Turn& turn, std::int64_t matrix,
                           int component, int number) const {
    const ChainedPass& now = pass(number);
    const bool makes_next = number + 1 == num_passes && (component + 1 < Layout::sweeps ||
                                                         matrix + team.league_size < num_elem);
    turn.matrix = matrix;
    turn.component = component;
    turn.number = number;
    turn.num_slots = now.num_slots;
    turn.first_item = now.first_item;
    turn.num_batches = makes_next ? point_batches : 0;
    turn.num_tasks = (makes_next ? point_batches : 0) + (by_row ? 1 : 3) * now.num_items;
    turn.next = 0;
  }

  /// By one thread: what comes after `turn`.
  __device__ void set_next(const WideTeam& team, const volatile Turn& turn,
                           volatile Turn& next) const {
    const bool same_c = turn.number + 1 < num_passes,
               same_matrix = same_c || turn.component + 1 < Layout::sweeps;
    set_turn(team, next, turn.matrix + (same_matrix ? 0 : team.league_size),
             same_c        ? turn.component
             : same_matrix ? turn.component + 1
                           : 0,
             same_c ? turn.number + 1 : 0);
  }

  /// What is read before it is written is 0, what the products are not to see is finite.
  __device__ void prepare(const WideTeam& team, const Scratch& at) const {
    team.each(slots * a_size, [&](int i) { at.a()[i] = 0; });
    team.each(N * c_stride, [&](int i) { at.c()[i] = 0; });
    team.each(plane * Layout::eta_stride, [&](int i) { at.eta()[i] = eta_table(i); });
    team.each(plane * Layout::zeta_stride, [&](int i) { at.zeta()[i] = zeta_table(i); });
    team.each(Layout::c_rows, [&](int i) { at.place()[i] = place(i); });
    team.each(plane + 1, [&](int i) { at.third()[i] = ChainedEntry::of(i / N, i % N); });
    team.each(32, [&](int i) { const_cast<unsigned*>(at.numbers())[i] = numbers_of(i); });
    fetch_tables(team, at, 0);
    if (team.rank == 0)
      set_turn(team, at.turn()[0], team.league_rank, 0, 0);
    team.barrier();
    team.each(N * plane, [&](int q) { pull_back(first_elem + team.league_rank, q, 0, at.c()); });
    team.barrier();
  }

  /// The next task, the same for all lanes.
  __device__ static int take(volatile Turn& turn, int lane) {
    int taken = 0;
    if (lane == 0)
      taken = atomicAdd(const_cast<int*>(&turn.next), 1);
    return __shfl_sync(0xffffffffu, taken, 0);
  }

  __device__ void run_task(const WideTeam& team, const Scratch& at, const volatile Turn& turn,
                           int task, int lane) const {
    const int batches = turn.num_batches;
    if (task < batches) {
      const bool same = turn.component + 1 < Layout::sweeps;
      const int q = 32 * task + lane;
      if (q < N * plane)
        pull_back(first_elem + turn.matrix + (same ? 0 : team.league_size), q,
                  same ? turn.component + 1 : 0, at.c());
      __syncwarp();
    } else {
      const int item = task - batches;
      form_item(at, turn.first_item + (by_row ? item : item / 3),
                by_row ? turn.component : item % 3, turn, lane);
    }
  }

  /// A league has no more teams than there are elements.
  __device__ void operator()(const WideTeam& team) const {
    const int lane = team.rank % 32, warp = team.rank / 32;
    const Scratch at{team.scratch, 208 * warp};
    prepare(team, at);
    for (int k = 0; at.turn()[k].matrix < num_elem; k = 1 - k) {
      volatile Turn& turn = at.turn()[k];
      for (int group = warp; group < Layout::num_groups(tiles_at_once); group += warps)
        sum_first_group<0>(at, group, turn.num_slots, lane);
      team.barrier();
      fetch_tables(team, at, turn.number + 1 == num_passes ? 0 : turn.number + 1);
      if (team.rank == 0)
        set_next(team, turn, at.turn()[1 - k]);
      for (int task = take(turn, lane); task < turn.num_tasks; task = take(turn, lane))
        run_task(team, at, turn, task, lane);
      team.barrier();
    }
  }
};

#endif

/// The tables of the products, from those of the basis at order + 1 points.
template<int P>
struct ChainedTables {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1;
  std::vector<double> xi, eta, zeta; ///< as FormChainedProducts takes them
  std::vector<typename Layout::Place> place;

  explicit ChainedTables(const BasisTables& basis) {
    // By derivatives of i (2) and j (1).
    const auto product = [&](int i, int j, int kind, int q) {
      const std::size_t at = std::size_t(q * N);
      return q >= N ? 0
                    : (kind & 2 ? basis.derivative : basis.value)[at + std::size_t(i)] *
                          (kind & 1 ? basis.derivative : basis.value)[at + std::size_t(j)];
    };
    constexpr int kinds[4] = {1, 0, 2, 3}; // along eta
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        for (int kind = 0; kind < 4; ++kind)
          for (int q = 0; q < 8; ++q)
            xi.push_back(product(i, j, kind, q));
        zeta.insert(zeta.end(), xi.end() - 32, xi.end());
        zeta.resize(zeta.size() + Layout::zeta_stride - 32);
        for (int k = 0; k < Layout::eta_stride; ++k)
          eta.push_back(k < 4 * N ? product(i, j, kinds[k / N], k % N) : 0);
      }
    using Place = typename Layout::Place;
    place.assign(Layout::c_rows, Place(std::uint32_t(Layout::unused) << 16 | Layout::unused));
    const auto at = [&](int k, int l, int q, int component) {
      return std::uint32_t(Layout::row_of(k, l, q / N) * Layout::a_stride + component * N + q % N);
    };
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l)
        for (int d = 0; d < 3; ++d)
          for (int q = 0; q < Layout::plane; ++q) {
            if (Layout::by_row)
              place[std::size_t(Layout::c_row(k, l, d) + q)] = Place(at(k, l, q, d));
            else
              for (int c = 0; c < 3; ++c)
                if (k < l || (k == l && c <= d))
                  place[std::size_t(Layout::c_row(k, l, c, d) + q)] =
                      Place(at(k, l, q, 3 * c + d) | at(l, k, q, 3 * d + c) << 16);
          }
  }
};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// The tables of a space and an order, on the device. P: the order.
template<int P>
struct ChainedPlan {
  using Kernel = FormChainedProducts<P>;
  static constexpr std::size_t scratch_bytes = sizeof(double) * ChainedLayout<P>::scratch_doubles;
  static_assert((scratch_bytes + 1024) * Kernel::min_teams <= 228 * 1024,
                "the scratch of the teams of a multiprocessor");

  Array<double, Cuda> xi, eta, zeta;
  Array<typename ChainedLayout<P>::Place, Cuda> place;
  Array<ChainedPass, Cuda> pass;
  Array<ChainedItem, Cuda> item;
  Array<ChainedPair, Cuda> pair;
  Array<ChainedTile, Cuda> tile;

  /// Fences.
  ChainedPlan(const Cuda& exec, HexaSpace space, ModeScaling scaling) {
    const ChainedSchedule schedule =
        make_chained_schedule(space, P, Kernel::slots, ChainedLayout<P>::shape.max_tiles);
    const ChainedTables<P> tables(make_basis_tables(P, P + 1, scaling));
    xi = upload(exec, "ossatura::chained_products::xi", tables.xi);
    eta = upload(exec, "ossatura::chained_products::eta", tables.eta);
    zeta = upload(exec, "ossatura::chained_products::zeta", tables.zeta);
    place = upload(exec, "ossatura::chained_products::place", tables.place);
    pass = upload(exec, "ossatura::chained_products::pass", schedule.pass);
    item = upload(exec, "ossatura::chained_products::item", schedule.item);
    pair = upload(exec, "ossatura::chained_products::pair", schedule.pair);
    tile = upload(exec, "ossatura::chained_products::tile", schedule.tile);
  }

  /// Matrices of the elements begin .. end - 1. Does not fence.
  void form(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
            std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) const {
    const std::int64_t league =
        std::min(end - begin, wide_team_concurrency(exec, Kernel::min_teams));
    const Kernel kernel{HexaBatchPointers(batch),
                        StiffnessOutput(matrix, storage, batch.num_dofs()),
                        xi,
                        eta,
                        zeta,
                        place,
                        pass,
                        item,
                        pair,
                        tile,
                        int(pass.extent(0)),
                        0,
                        begin,
                        end - begin};
    launch_wide_teams("ossatura::form_chained_products", exec, league, Kernel::max_threads,
                      scratch_bytes, kernel);
  }
};

#endif

} // namespace ossatura::detail
