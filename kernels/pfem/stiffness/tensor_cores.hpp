// SPDX-License-Identifier: Apache-2.0
// Tensor cores form the stiffness by sum factorisation (kernels/pfem/stiffness/sum_factorised.hpp)
// with the fp64 matrix instructions of CUDA devices, 8 x 8 x 4: each sum is a product of a table
// with the data.
//
//   along xi:   [functions of the pairs of first indices] x [points] times C, 45 numbers a point
//   along eta:  [pairs of second indices] x [points, derivatives] times A, 9 numbers a point
//   along zeta: [pairs of third indices] x [points, derivatives] times S, 9 numbers
//
// Which pairs there are, and which of them have the same third indices, is listed by
// kernels/pfem/stiffness/tensor_core_schedule.hpp; a team forms a matrix. Deterministic.
// kernels/pfem/stiffness/chained_products.hpp is for orders from 2 on on later devices.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>
#include <ossatura/kernels/pfem/stiffness/matrix_instructions.hpp>
#include <ossatura/kernels/pfem/stiffness/pulled_back.hpp>
#include <ossatura/kernels/pfem/stiffness/tensor_core_schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

namespace detail {

/// Where the coefficients go in A, and their mirror images. Blocks of A are those of (k, l) = 00,
/// 01, 10, 11, 02, 12, 20, 21, 22, of `block` numbers each.
struct CoefficientTargets {
  std::int16_t to[45], mirrored[45];

  explicit CoefficientTargets(int block) {
    int number = 0;
    const auto add = [&](int k, int mirrored_k, int c, int d) {
      to[number] = std::int16_t(k * block + 3 * c + d);
      mirrored[number++] = std::int16_t(mirrored_k * block + 3 * d + c);
    };
    const auto add_all = [&](int k, int mirrored_k, bool is_symmetric) {
      for (int c = 0; c < 3; ++c)
        for (int d = is_symmetric ? c : 0; d < 3; ++d)
          add(k, mirrored_k, c, d);
    };
    add_all(1, 2, false);
    add_all(4, 6, false);
    add_all(3, 3, true);
    add_all(8, 8, true);
    add_all(5, 7, false);
    add_all(0, 0, true);
  }
};

/// A stride of at least n doubles at which four rows of a table are in different banks.
constexpr int bank_stride(int n) {
  return n + (20 - n % 8) % 8;
}

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

template<int P, int N, int Slots, int Rows, int Threads, int Teams, bool InScratch>
struct FormTensorCores {
  static constexpr int max_threads = Threads, min_teams = Teams;
  static constexpr int plane = N * N, width = 9 * N, num_coefficients = 45;
  static constexpr int c_stride = bank_stride(num_coefficients * plane); ///< of a plane of points
  static constexpr int a_stride = width;                                 ///< of a point along eta
  static constexpr int a_block = N * a_stride;
  static constexpr int a_size = 9 * a_block;
  static constexpr int s_stride = bank_stride(9 * Rows); ///< of a point along zeta
  static constexpr int table_stride = bank_stride(4 * N);
  static constexpr int num_table_rows = (P + 1) * (P + 1);
  static constexpr int steps = (N + 3) / 4; ///< of 4 points
  static constexpr int table_size = num_table_rows * table_stride;
  static constexpr int before_lists = // even: lists are read 16 bytes at a time
      (Slots * a_size + 4 * N * s_stride + table_size + 1) / 2 * 2;
  static constexpr bool c_in_scratch = InScratch;
  static constexpr std::size_t scratch_doubles =
      std::size_t(before_lists) + (c_in_scratch ? std::size_t(N) * c_stride + 8 : 0);
  static constexpr int warps = Threads / 32;

  HexaBatchPointers batch;
  StiffnessOutput output;
  ArrayPointer<double> pulled;         ///< [teams, N c_stride], or none: in scratch
  ArrayPointer<const double> table_of; ///< [num_table_rows, 4 N] products value value, value
                                       ///< derivative, derivative value, derivative derivative
  ArrayPointer<const std::uint8_t> pair;
  ArrayPointer<const TensorCorePass> pass;
  ArrayPointer<const TensorCoreChunk> chunk;
  ArrayPointer<const SecondTile> second;
  ArrayPointer<const std::int16_t> row;
  ArrayPointer<const ThirdTile> third;
  ArrayPointer<const ThirdColumn> column;
  CoefficientTargets targets;
  int num_passes;
  int list_doubles; ///< max_list_doubles
  std::int64_t first_elem, num_elem;

  /// Place of (c, d), c <= d, among the 6 of a symmetric matrix.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int symmetric(int c, int d) {
    return c * (5 - c) / 2 + d;
  }

  /// C at point q: coefficients (0, l) for l = 1, 2 and all c, d; (1, 1), (2, 2) for c <= d; (1,
  /// 2); (0, 0) for c <= d.
  __device__ void pull_back(std::int64_t e, int q, double* c_of) const {
    double* const to = c_of + q / plane * int(c_stride) + q % plane;
    pull_back_elasticity<-1>(
        batch.point(e, q), batch.elasticity(e, q), [&](int k, int l, int c, int d, double x) {
          const int number = k == l ? (k == 0 ? 39 : 18 + 6 * (k - 1)) + symmetric(c, d)
                                    : (k == 0 ? 9 * (l - 1) : 30) + 3 * c + d;
          to[number * plane] = x;
        });
  }

  /// Along xi. Rows of the product are the slots, twice for the coefficients that are
  /// differentiated by xi on one side.
  __device__ void sum_first(const WideTeam& team, int first_pair, int num_slots, const double* c_of,
                            const double* table, double* a_of) const {
    const int lane = team.rank % 32, r = lane / 4, k = lane % 4;
    double mixed[steps], plain[steps], both[steps]; // tables
    const auto table_row = [&](int slot) {
      const int at = 2 * (first_pair + slot);
      return table + (pair(at) * (P + 1) + pair(at + 1)) * int(table_stride);
    };
    const bool has_mixed = r / 2 < num_slots, has_plain = r < num_slots;
    const double* const mixed_row = table_row(has_mixed ? r / 2 : 0) + (r % 2 == 0 ? 2 * N : N);
    const double* const plain_row = table_row(has_plain ? r : 0);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const int q = 4 * step + k;
      mixed[step] = has_mixed && q < N ? mixed_row[q] : 0;
      plain[step] = has_plain && q < N ? plain_row[q] : 0;
      both[step] = has_plain && q < N ? plain_row[3 * N + q] : 0;
    }
    // Of the last step, rows that there are: their factors are 0.
    const int last_row = (4 * (steps - 1) + k < N ? 4 * (steps - 1) : N - 1 - k) * int(c_stride);
    const int from = r + k * int(c_stride);
    double* const mixed_at = a_of + r / 2 * int(a_size) + 18 * k;
    double* const at = a_of + r * int(a_size) + 18 * k;
    for (int number = team.rank / 32; number < num_coefficients; number += warps) {
      const double* const c_at = c_of + number * plane + from;
      const int to = targets.to[number], mirrored = targets.mirrored[number];
      if (number < 18)
        multiply_first<false>(c_at, last_row, mixed, mixed_at + (r % 2 == 0 ? to : mirrored), 0,
                              has_mixed);
      else if (to == mirrored)
        multiply_first<false>(c_at, last_row, number < 39 ? plain : both, at + to, 0, has_plain);
      else
        multiply_first<true>(c_at, last_row, number < 39 ? plain : both, at + to, mirrored - to,
                             has_plain);
    }
  }

  /// One coefficient at all points of a plane; beyond them columns are not used.
  template<bool Twice>
  __device__ void multiply_first(const double* c_at, int last_row, const double (&table)[steps],
                                 double* to, int mirrored, bool stores) const {
    const int k = threadIdx.x % 4;
    constexpr int tiles = (plane + 7) / 8;
    constexpr int at_once = tiles % 5 == 0 ? 5 : tiles < 4 ? tiles : 4;
#pragma unroll
    for (int begin = 0; begin < tiles; begin += at_once) {
      double x[at_once][2] = {};
#pragma unroll
      for (int step = 0; step < steps; ++step)
#pragma unroll
        for (int t = 0; t < at_once; ++t)
          if (begin + t < tiles)
            multiply_8x8x4(
                table[step],
                c_at[8 * (begin + t) + (step + 1 < steps ? 4 * step * int(c_stride) : last_row)],
                x[t][0], x[t][1]);
#pragma unroll
      for (int t = 0; t < at_once; ++t) {
        const int first = 8 * (begin + t);
#pragma unroll
        for (int side = 0; side < 2; ++side)
          if (first < plane && stores && (first + 8 <= plane || first + 2 * k + side < plane)) {
            to[9 * (first + side)] = x[t][side];
            if (Twice)
              to[9 * (first + side) + mirrored] = x[t][side];
          }
      }
      __syncwarp();
    }
  }

  /// Along eta, for one kind of what is left: `Blocks` blocks of A from FirstBlock on, for `Eights`
  /// times 8 pairs and Columns times 8 columns.
  /// Columns beyond the width take what lies behind a row of A, sums of other warps behind the last
  /// one (racecheck says so): they are not stored.
  template<int Blocks, int FirstBlock, bool Skips, int Eights, int Columns>
  __device__ void multiply_second(const double* const (&table)[2], const double* a_of,
                                  double (&x)[Eights][Columns][2]) const {
    const int k = threadIdx.x % 4;
    constexpr int length = Blocks * N, steps_of = (length + 3) / 4;
#pragma unroll
    for (int step = 0; step < steps_of; ++step) {
      // Rows of two steps lie two apart, which are different banks.
      const bool paired = step / 2 * 2 + 1 < steps_of;
      const int first = paired ? step / 2 * 8 + step % 2 : 4 * step, row_of = paired ? 2 * k : k,
                last = first + (paired ? 6 : 3);
      const bool there = last < length || first + row_of < length;
      // The table without the products value derivative.
      const int skipped = !Skips || last < N || (first < N && first + row_of < N) ? 0 : N;
      double a[Eights];
#pragma unroll
      for (int eight = 0; eight < Eights; ++eight)
        a[eight] = table[eight][first + row_of + skipped];
#pragma unroll
      for (int column = 0; column < Columns; ++column) {
        const double b =
            there ? a_of[FirstBlock * a_block + (first + row_of) * a_stride + 8 * column] : 0;
#pragma unroll
        for (int eight = 0; eight < Eights; ++eight)
          multiply_8x8x4(a[eight], b, x[eight][column][0], x[eight][column][1]);
      }
    }
  }

  template<int Eights, int Columns>
  __device__ void multiply_tile(const double* const (&table)[2], const double* a_of, double* s_of,
                                int first_column, int rows_left) const {
    const int k = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    double x[4][Eights][Columns][2] = {};
    multiply_second<4, 0, false>(table, a_of, x[0]);
    multiply_second<2, 4, true>(table, a_of, x[1]);
    multiply_second<2, 6, false>(table, a_of, x[2]);
    multiply_second<1, 8, false>(table, a_of, x[3]);
#pragma unroll
    for (int column = 0; column < Columns; ++column)
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const int at = first_column + 8 * column + 2 * k + side, q = at / 9;
        double* const to = s_of + q * int(s_stride) + at - 9 * q;
        if (at < width)
#pragma unroll
          for (int eight = 0; eight < Eights; ++eight)
            if (8 * eight + r < rows_left)
#pragma unroll
              for (int kind = 0; kind < 4; ++kind)
                to[kind * (N * s_stride) + 72 * eight] = x[kind][eight][column][side];
      }
    __syncwarp();
  }

  __device__ void sum_second(const WideTeam& team, const TensorCoreChunk& now, const double* table,
                             const double* a_all, double* s_of) const {
    const int r = team.rank % 32 / 4;
    constexpr int tiles = (width + 15) / 16;
    const int num_items = (now.last_second - now.first_second) * tiles;
    for (int item = team.rank / 32; item < num_items; item += warps) {
      const int number = now.first_second + item / tiles, first = item % tiles * 16;
      const SecondTile tile = second(number);
      const double* const table_rows[2] = {table + row(16 * number + r) * int(table_stride),
                                           table + row(16 * number + 8 + r) * int(table_stride)};
      const double* const a_of = a_all + tile.slot * int(a_size) + first + r;
      double* const to = s_of + 9 * (tile.first + r);
      if (first + 8 < width) {
        if (tile.num_rows > 8)
          multiply_tile<2, 2>(table_rows, a_of, to, first, tile.num_rows);
        else
          multiply_tile<1, 2>(table_rows, a_of, to, first, tile.num_rows);
      } else {
        if (tile.num_rows > 8)
          multiply_tile<2, 1>(table_rows, a_of, to, first, tile.num_rows);
        else
          multiply_tile<1, 1>(table_rows, a_of, to, first, tile.num_rows);
      }
    }
  }

  template<int Eights, int Columns>
  __device__ void multiply_third(const ThirdTile& tile, const ThirdColumn* columns,
                                 const double* table, const double* s_of, double* to) const {
    const int k = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
    const double* s[Columns];
#pragma unroll
    for (int c = 0; c < Columns; ++c)
      s[c] = s_of + columns[8 * c + r].place + k * int(s_stride);
    const double* table_row[Eights];
    int i3[Eights], j3[Eights], part[Eights], above[Eights];
#pragma unroll
    for (int eight = 0; eight < Eights; ++eight) {
      const bool there = tile.first + 8 * eight + r < tile.end;
      const int entry = there ? tile.first + 8 * eight + r : 0,
                i = int(unsigned(entry) * unsigned(tile.reciprocal) >> 16),
                j = entry - i * tile.num_j;
      table_row[eight] = table + (i * (P + 1) + j) * int(table_stride) + k;
      i3[eight] = 3 * i;
      j3[eight] = 3 * j;
      part[eight] = i3[eight] * (i3[eight] + 1) / 2 + j3[eight];
      above[eight] = there ? j3[eight] - i3[eight] : 30000;
    }
    double x[Eights][Columns][2] = {};
#pragma unroll
    for (int step = 0; step < N; ++step) {
      double a[Eights];
#pragma unroll
      for (int eight = 0; eight < Eights; ++eight)
        a[eight] = table_row[eight][4 * step];
#pragma unroll
      for (int c = 0; c < Columns; ++c) {
        const double b = s[c][4 * step * s_stride];
#pragma unroll
        for (int eight = 0; eight < Eights; ++eight)
          multiply_8x8x4(a[eight], b, x[eight][c][0], x[eight][c][1]);
      }
    }
#pragma unroll
    for (int c = 0; c < Columns; ++c)
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        // Entries above the diagonal, and those that are not there, are not stored.
        const ThirdColumn at = columns[8 * c + 2 * k + side];
#pragma unroll
        for (int eight = 0; eight < Eights; ++eight)
          if (above[eight] <= at.below) {
            if (output.packed) // (a + b) (a + b + 1) / 2 = a (a + 1) / 2 + b (b + 1) / 2 + a b
              to[at.base + part[eight] + at.at_i * i3[eight]] = x[eight][c][side];
            else
              store_both(to, at.at_i + i3[eight], at.at_i - at.below + j3[eight],
                         x[eight][c][side]);
          }
      }
    __syncwarp();
  }

  __device__ void sum_third(const WideTeam& team, const TensorCoreChunk& now, const double* table,
                            const double* s_of, const double* lists, std::int64_t matrix) const {
    double* const to = output.matrix.data + matrix * output.entries;
    const int num_items = now.last_third - now.first_third;
    const auto* const tiles = reinterpret_cast<const ThirdTile*>(lists);
    const auto* const columns = reinterpret_cast<const ThirdColumn*>(lists + 2 * num_items);
    for (int item = team.rank / 32; item < num_items; item += warps) {
      const ThirdTile tile = tiles[item];
      if (tile.end - tile.first > 8) {
        if (tile.num_columns == 2)
          multiply_third<2, 2>(tile, columns + 8 * tile.columns, table, s_of, to);
        else
          multiply_third<2, 1>(tile, columns + 8 * tile.columns, table, s_of, to);
      } else {
        if (tile.num_columns == 3)
          multiply_third<1, 3>(tile, columns + 8 * tile.columns, table, s_of, to);
        else if (tile.num_columns == 2)
          multiply_third<1, 2>(tile, columns + 8 * tile.columns, table, s_of, to);
        else
          multiply_third<1, 1>(tile, columns + 8 * tile.columns, table, s_of, to);
      }
    }
  }

  __device__ void store_both(double* to, int i, int j, double x) const {
    to[i * output.num_dofs + j] = x;
    to[j * output.num_dofs + i] = x;
  }

  /// Third tiles and columns of a chunk, in scratch while they are in use.
  __device__ void fetch_lists(const WideTeam& team, const TensorCoreChunk& now,
                              double* lists) const {
    const auto* const tiles = reinterpret_cast<const double*>(&third(now.first_third));
    const auto* const columns = reinterpret_cast<const double*>(&column(8 * now.first_eight));
    const int num_tiles = 2 * (now.last_third - now.first_third);
    team.each(num_tiles, [&](int i) { lists[i] = tiles[i]; });
    team.each(16 * (now.last_eight - now.first_eight),
              [&](int i) { lists[num_tiles + i] = columns[i]; });
  }

  __device__ void operator()(const WideTeam& team) const {
    double* const a_all = team.scratch;
    double* const s_of = a_all + int(Slots) * a_size;
    double* const table = s_of + 4 * N * int(s_stride);
    double* const lists = a_all + int(before_lists);
    double* const c_of =
        c_in_scratch ? lists + list_doubles : pulled.data + team.league_rank * (N * c_stride);
    team.each(num_table_rows * 4 * N,
              [&](int i) { table[i / (4 * N) * table_stride + i % (4 * N)] = table_of(i); });
    for (std::int64_t k = team.league_rank; k < num_elem; k += team.league_size) {
      team.each(N * plane, [&](int q) { pull_back(first_elem + k, q, c_of); });
      team.barrier();
      for (int number = 0; number < num_passes; ++number) {
        const TensorCorePass now = pass(number);
        sum_first(team, now.first_pair, now.num_slots, c_of, table, a_all);
        team.barrier();
        for (int at = now.first_chunk; at < now.last_chunk; ++at) {
          const TensorCoreChunk part = chunk(at);
          fetch_lists(team, part, lists);
          sum_second(team, part, table, a_all, s_of);
          team.barrier();
          sum_third(team, part, table, s_of, lists, k);
          if (at + 1 < now.last_chunk) // what is next else reads and writes A and C
            team.barrier();
        }
      }
    }
  }
};

/// The tables of a space and an order, on the device. P: the order.
template<int P>
struct TensorCorePlan {
  static constexpr int N = P + 1;
  static constexpr TensorCoreShape shape = tensor_core_shape(P);
  using Kernel =
      FormTensorCores<P, N, shape.slots, shape.rows, shape.threads, shape.teams, shape.in_scratch>;
  static_assert((Kernel::scratch_doubles * 8 + 1024) * shape.teams <= 228 * 1024,
                "the scratch of a team");

  Array<double, Cuda> table;
  Array<std::uint8_t, Cuda> pair;
  Array<TensorCorePass, Cuda> pass;
  Array<TensorCoreChunk, Cuda> chunk;
  Array<SecondTile, Cuda> second;
  Array<std::int16_t, Cuda> row;
  Array<ThirdTile, Cuda> third;
  Array<ThirdColumn, Cuda> column;
  int list_doubles = 0;

  /// Of scratch that a team takes.
  static constexpr std::size_t scratch_bytes(int list_doubles) {
    return sizeof(double) * (Kernel::scratch_doubles + std::size_t(list_doubles));
  }

  /// Fences.
  TensorCorePlan(const Cuda& exec, HexaSpace space, ModeScaling scaling) {
    const TensorCoreSchedule schedule =
        make_tensor_core_schedule(space, P, shape.slots, shape.rows);
    const BasisTables basis = make_basis_tables(P, N, scaling);
    std::vector<double> products;
    for (int i = 0; i <= P; ++i)
      for (int j = 0; j <= P; ++j)
        for (int kind = 0; kind < 4; ++kind)
          for (int q = 0; q < N; ++q) {
            const std::size_t at = std::size_t(q * (P + 1));
            products.push_back((kind & 2 ? basis.derivative : basis.value)[at + std::size_t(i)] *
                               (kind & 1 ? basis.derivative : basis.value)[at + std::size_t(j)]);
          }
    table = upload(exec, "ossatura::tensor_cores::table", products);
    pair = upload(exec, "ossatura::tensor_cores::pair", schedule.pair);
    pass = upload(exec, "ossatura::tensor_cores::pass", schedule.pass);
    chunk = upload(exec, "ossatura::tensor_cores::chunk", schedule.chunk);
    second = upload(exec, "ossatura::tensor_cores::second", schedule.second);
    row = upload(exec, "ossatura::tensor_cores::row", schedule.row);
    third = upload(exec, "ossatura::tensor_cores::third", schedule.third);
    column = upload(exec, "ossatura::tensor_cores::column", schedule.column);
    list_doubles = max_list_doubles(schedule);
  }

  /// Does not fence, except to free C where that is in memory.
  void form(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
            std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix) const {
    const std::int64_t league = std::min(end - begin, wide_team_concurrency(exec, shape.teams));
    Array<double, Cuda> pulled;
    if (!Kernel::c_in_scratch)
      pulled = make_uninitialized<double>(exec, league * (N * std::int64_t(Kernel::c_stride)) + 8,
                                          "ossatura::tensor_cores::c");
    const Kernel kernel{HexaBatchPointers(batch),
                        StiffnessOutput(matrix, storage, batch.num_dofs()),
                        pulled,
                        table,
                        pair,
                        pass,
                        chunk,
                        second,
                        row,
                        third,
                        column,
                        CoefficientTargets(Kernel::a_block),
                        int(pass.extent(0)),
                        list_doubles,
                        begin,
                        end - begin};
    launch_wide_teams("ossatura::form_tensor_cores", exec, league, shape.threads,
                      scratch_bytes(list_doubles), kernel);
  }
};

#endif

} // namespace detail

/// Why these elements cannot have matrix instructions here; empty if they can.
template<class Exec>
std::string tensor_core_obstacle(const Exec&, const HexaBatch<Exec>&) {
  return "this backend has no fp64 matrix instructions";
}

/// Matrices of the elements begin .. end - 1, as `storage` says. Throws std::invalid_argument where
/// there is an obstacle. Fences when an order and a space come up first.
template<class Exec>
void form_tensor_cores(const Exec& exec, const HexaBatch<Exec>& batch, MatrixStorage, std::int64_t,
                       std::int64_t, const Array<double, Exec>&) {
  OSSATURA_REQUIRE(false, "form_tensor_cores: " << tensor_core_obstacle(exec, batch));
}

#if defined(KOKKOS_ENABLE_CUDA)
// In solvers/pfem/tensor_core_stiffness.cpp.
template<>
std::string tensor_core_obstacle(const Cuda& exec, const HexaBatch<Cuda>& batch);
template<>
void form_tensor_cores(const Cuda& exec, const HexaBatch<Cuda>& batch, MatrixStorage storage,
                       std::int64_t begin, std::int64_t end, const Array<double, Cuda>& matrix);
#endif

} // namespace ossatura
