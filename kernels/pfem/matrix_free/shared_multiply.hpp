// SPDX-License-Identifier: Apache-2.0
// The shared product multiplies with elements of few shapes (kernels/pfem/hexa_classes.hpp). All
// elements of a class have one full matrix, and their products are one product of matrices, Y = K
// X, with a column of X and Y for each element. A tile has columns of one class: on devices a team
// has it and some rows, K and X piece by piece on chip; on cores a thread has it, and a column in
// each lane.
#pragma once

#include <ossatura/kernels/pfem/hexa_classes.hpp>
#include <ossatura/kernels/pfem/matrix_free/packed_multiply.hpp>

namespace ossatura {

/// Elements in the order of their classes, cut into tiles.
template<class Exec>
struct SharedTiles {
  static constexpr int width = BackendTraits<Exec>::is_device ? 64 : 16; ///< columns
  int num_tiles = 0;
  Array<int, Exec> elem;  ///< [num_elem]
  Array<int, Exec> begin; ///< [num_tiles + 1] into the elements
  Array<int, Exec> kind;  ///< [num_tiles] class
};

/// Fences.
template<class Exec>
SharedTiles<Exec> make_shared_tiles(const Exec& exec, const HexaClasses<Exec>& classes) {
  const std::vector<int> of_elem = download(exec, classes.of_elem);
  std::vector<int> first(std::size_t(classes.num_classes()) + 1, 0), elem(of_elem.size());
  for (const int kind : of_elem)
    ++first[std::size_t(kind) + 1];
  for (std::size_t k = 1; k < first.size(); ++k)
    first[k] += first[k - 1];
  std::vector<int> next = first;
  for (std::size_t e = 0; e < of_elem.size(); ++e)
    elem[std::size_t(next[std::size_t(of_elem[e])]++)] = int(e);
  std::vector<int> begin, kind;
  for (int k = 0; k < classes.num_classes(); ++k)
    for (int at = first[std::size_t(k)]; at < first[std::size_t(k) + 1];
         at += int(SharedTiles<Exec>::width)) {
      begin.push_back(at);
      kind.push_back(k);
    }
  begin.push_back(int(elem.size()));
  SharedTiles<Exec> tiles;
  tiles.num_tiles = int(kind.size());
  tiles.elem = upload(exec, "ossatura::shared_tiles::elem", elem);
  tiles.begin = upload(exec, "ossatura::shared_tiles::begin", begin);
  tiles.kind = upload(exec, "ossatura::shared_tiles::kind", kind);
  return tiles;
}

namespace detail {

/// `pack`: columns of a pack, on cores.
template<class Exec, int pack>
struct SharedMultiply {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr bool is_device = BackendTraits<Exec>::is_device;
  static constexpr int columns = SharedTiles<Exec>::width;
  /// On devices a thread has `own` rows and as many columns, 16 apart; `depth` columns of K at
  /// once.
  static constexpr int own = 4, depth = 16, thread_rows = 12, thread_columns = columns / own;
  static constexpr int rows = own * thread_rows, threads = thread_rows * thread_columns;

  int n, row_tiles;
  ArrayPointer<const double> matrix; ///< [classes, n, n], symmetric
  ArrayPointer<const int> elem, begin, kind, signed_mode;
  ArrayPointer<const double> x;
  ArrayPointer<double> y; ///< [num_elem, n]

  int scratch_doubles() const {
    return is_device ? int(depth) * int(rows) + int(depth) * (int(columns) + 1) : int(columns) * n;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int tile = team.league_rank() / row_tiles,
              first_row = team.league_rank() % row_tiles * int(rows);
    const int first = begin(tile), left = begin(tile + 1) - first;
    const double* const k = matrix.data + std::int64_t(kind(tile)) * n * n;
    const int doubles =
        is_device ? int(depth) * int(rows) + int(depth) * (int(columns) + 1) : int(columns) * n;
    double* const scratch = static_cast<double*>(
        team.team_scratch(int(scratch_level<Exec>)).get_shmem_aligned(8 * doubles, 64));
    if constexpr (is_device)
      multiply_tile(team, k, first, left, first_row, scratch, scratch + int(depth) * int(rows));
    else
      multiply_columns(k, first, left, scratch);
  }

private:
  KOKKOS_FORCEINLINE_FUNCTION double entry(int e, int i) const {
    return signed_component(x.data, signed_mode(std::int64_t(e) * (n / 3) + i / 3), i % 3);
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply_tile(const Team& team, const double* k, int first,
                                                 int left, int first_row, double* k_tile,
                                                 double* x_tile) const {
    const int rank = team.team_rank();
    const int row = rank / int(thread_columns) * int(own), column = rank % int(thread_columns);
    double sum[own][own];
    for (int r = 0; r < own; ++r)
      for (int c = 0; c < own; ++c)
        sum[r][c] = 0;
    for (int j = 0; j < n; j += int(depth)) {
      team.team_barrier();
      for (int item = rank; item < int(depth) * int(rows); item += int(threads)) {
        const int d = item / int(rows), i = item % int(rows);
        k_tile[item] = j + d < n && first_row + i < n ? k[std::int64_t(j + d) * n + first_row + i]
                                                      : 0; // of column j + d, by symmetry
      }
      for (int item = rank; item < int(depth) * int(columns); item += int(threads)) {
        const int d = item % int(depth), c = item / int(depth);
        x_tile[d * (int(columns) + 1) + c] =
            j + d < n && c < left ? entry(elem(first + c), j + d) : 0;
      }
      team.team_barrier();
      for (int d = 0; d < depth; ++d) {
        double a[own], b[own];
        for (int r = 0; r < own; ++r)
          a[r] = k_tile[d * int(rows) + row + r];
        for (int c = 0; c < own; ++c)
          b[c] = x_tile[d * (int(columns) + 1) + column + c * int(thread_columns)];
        for (int r = 0; r < own; ++r)
          for (int c = 0; c < own; ++c)
            sum[r][c] += a[r] * b[c];
      }
    }
    for (int c = 0; c < own; ++c) {
      const int at = column + c * int(thread_columns);
      if (at >= left)
        continue;
      const std::int64_t to = std::int64_t(elem(first + at)) * n + first_row + row;
      for (int r = 0; r < own; ++r)
        if (first_row + row + r < n)
          y(to + r) = sum[r][c];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply_columns(const double* k, int first, int left,
                                                    double* u) const {
    constexpr int width = columns;
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < width; ++c)
        u[i * width + c] = c < left ? entry(elem(first + c), i) : 0;
    for (int i = 0; i < n; i += own) {
      const double* row[own];
      for (int r = 0; r < own; ++r)
        row[r] = k + std::int64_t(i + r < n ? i + r : n - 1) * n;
      for (int at = 0; at < left; at += pack) {
        Pack<double, pack> sum[own];
        for (int r = 0; r < own; ++r)
          sum[r] = Pack<double, pack>(0.0);
        for (int j = 0; j < n; ++j) {
          const auto b = load_pack<pack>(u + j * width + at);
          for (int r = 0; r < own; ++r)
            sum[r] += Pack<double, pack>(row[r][j]) * b;
        }
        for (int c = 0; c < pack && at + c < left; ++c)
          for (int r = 0; r < own && i + r < n; ++r)
            y(std::int64_t(elem(first + at + c)) * n + i + r) = sum[r].value[c];
      }
    }
  }
};

} // namespace detail

/// Element e of `batch` times its part of x [num_modes, 3], with the signs in which it sees it,
/// into y [num_elem, 3 num_modes] from first_y on; `matrix` [classes, n, n]. Does not fence.
template<class Exec>
void multiply_shared_elements(const Exec& exec, const HexaBatch<Exec>& batch,
                              const SharedTiles<Exec>& tiles, const Array<double, Exec>& matrix,
                              const Array<double, Exec>& x, const Array<double, Exec>& y,
                              std::int64_t first_y = 0) {
  if (tiles.num_tiles == 0)
    return;
  using Kernel = detail::SharedMultiply<Exec, register_lanes>;
  const int n = batch.num_dofs();
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const int row_tiles = is_device ? (n + int(Kernel::rows) - 1) / int(Kernel::rows) : 1;
  Kernel kernel{n, row_tiles, matrix, tiles.elem, tiles.begin, tiles.kind, batch.signed_mode, x, y};
  kernel.y.data += first_y;
  Kokkos::parallel_for("ossatura::multiply_shared",
                       Kokkos::TeamPolicy<Exec>(exec, tiles.num_tiles * row_tiles,
                                                is_device ? int(Kernel::threads) : 1)
                           .set_scratch_size(scratch_level<Exec>,
                                             Kokkos::PerTeam(8 * kernel.scratch_doubles() + 64)),
                       kernel);
}

} // namespace ossatura
