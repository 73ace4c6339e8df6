// SPDX-License-Identifier: Apache-2.0
// These kernels eliminate the fronts of the multifrontal method, panel by panel, for
// kernels/factor/batched.hpp.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/factor/pattern.hpp>
#include <ossatura/kernels/factor/pivot_rule.hpp>

#include <cmath>
#include <cstdint>

namespace ossatura {

/// A panel as the kernels see it; offsets in entries.
struct FrontPanel {
  std::int64_t panel;   ///< of L
  std::int64_t inverse; ///< of the inverse of the diagonal block
  std::int64_t update;  ///< of the update matrix (lower triangle, column-major)
  std::int64_t source;  ///< of the list of blocks of A
  int update_stride;
  int first, width, below; ///< nodes
  int child_begin, child_end;
  int in_place; ///< the update matrix is the trailing part of the only child's
};

/// A child and where the nodes of its parent's front are among its rows, or -1.
struct FrontChild {
  std::int64_t update;
  int update_stride;
  int place; ///< offset in the list of places
};

/// Tasks of the two kernels of each level: a panel and a tile of rows (and columns).
struct FrontTask {
  int panel, row, column;
};

namespace detail {

inline constexpr int front_rows = 32;  ///< rows below the diagonal block that a team handles
inline constexpr int update_tile = 32; ///< rows and columns of an update
inline constexpr int front_threads = 256;

template<class Exec>
struct FrontPointers {
  ArrayPointer<FrontPanel> panels;
  ArrayPointer<FrontChild> children;
  ArrayPointer<int> place, source;
  ArrayPointer<double> matrix, panel, pivot, inverse_pivot, inverse, update;
  ArrayPointer<double> block;    ///< of A on the diagonal of each panel, placed as its inverse is
  ArrayPointer<double> diagonal; ///< [3 num_nodes], of A
  ArrayPointer<int> replaced;
  ArrayPointer<FrontTask> tasks;

  /// Adds what the children give to entries (i, j), i >= j, of a front: those of one row and of the
  /// columns j = first + q step < end. All loads of a child are under way at once.
  template<int Count>
  KOKKOS_FUNCTION void add_children(const FrontPanel& s, int i, int first, int step, int end,
                                    double (&sum)[Count]) const {
    for (int c = s.child_begin; c < s.child_end; ++c) {
      const FrontChild child = children(c);
      const int row = place(child.place + i / 3);
      if (row < 0)
        continue;
      const double* const from = &update(child.update + 3 * row + i % 3);
      for (int q = 0; q < Count; ++q) {
        const int j = first + q * step;
        if (j < end && j <= i) {
          const int column = place(child.place + j / 3);
          if (column >= 0)
            sum[q] += from[std::int64_t(3 * column + j % 3) * child.update_stride];
        }
      }
    }
  }
  /// The same for a panel whose front is its only child's update matrix.
  template<int Count>
  KOKKOS_FUNCTION void add_only_child(const FrontPanel& s, int i, int first, int step, int end,
                                      double (&sum)[Count]) const {
    const FrontChild child = children(s.child_begin);
    const double* const from = &update(child.update + i);
    for (int q = 0; q < Count; ++q) {
      const int j = first + q * step;
      if (j < end && j <= i)
        sum[q] += from[std::int64_t(j) * child.update_stride];
    }
  }
  /// Entries of row i and columns first + q step < n of the panel before its elimination. Those of
  /// the diagonal block lie apart: a team may store its L while others still read them.
  template<int Count>
  KOKKOS_FUNCTION void load_row(const FrontPanel& s, int i, int first, int step, int n,
                                double (&sum)[Count]) const {
    const double* const from = i < n ? &block(s.inverse + i) : &panel(s.panel + i);
    const std::int64_t stride = i < n ? n : 3 * (s.width + s.below);
    for (int q = 0; q < Count; ++q) {
      const int k = first + q * step;
      sum[q] = k < n && k <= i ? from[k * stride] : 0;
    }
    if (s.in_place)
      add_only_child(s, i, first, step, n, sum);
    else
      add_children(s, i, first, step, n, sum);
  }
};

/// The entries of A in the columns of all panels; zero elsewhere.
template<class Exec>
struct ScatterMatrix {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  FrontPointers<Exec> front;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const FrontPanel s = front.panels(team.league_rank());
    const int nodes = s.width + s.below, n = 3 * s.width, height = 3 * nodes;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, nodes * s.width), [&](int item) {
      const int i = item % nodes, k = item / nodes;
      const int source = front.source(s.source + item);
      double* const target = i < s.width
                                 ? &front.block(s.inverse + 3 * k * n + 3 * i)
                                 : &front.panel(s.panel + 3 * std::int64_t(k) * height + 3 * i);
      const int stride = i < s.width ? n : height;
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          target[c * stride + r] =
              source < 0 ? 0 : front.matrix(9 * std::int64_t(source) + 3 * r + c);
      if (i == k)
        for (int c = 0; c < 3; ++c)
          front.diagonal(3 * (s.first + k) + c) = front.matrix(9 * std::int64_t(source) + 4 * c);
    });
  }
};

/// The diagonal block of a panel and up to front_rows rows below it. Every team of a panel factors
/// the diagonal block; the first one stores it.
template<class Exec>
struct EliminatePanel {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int most = 3 * max_panel_nodes;
  static constexpr int pitch = most + 1;
  FrontPointers<Exec> front;
  int first_task;

  static std::size_t scratch_bytes() {
    return Scratch::shmem_size(pitch * most) + 4 * Scratch::shmem_size(most) +
           Scratch::shmem_size(front_rows * most);
  }

  /// The lower triangle of `block` becomes L with columns times their pivots, its upper one the
  /// strict lower triangle of L^-1, transposed: entry (i, c) is first updated as one of the matrix
  /// (steps k < c), then as one of the inverse.
  KOKKOS_FUNCTION void factor(const Team& team, int n, const Scratch& block,
                              const Scratch& diagonal, const Scratch& inverse) const {
    constexpr int side = 16; // threads along rows and along columns
    for (int k = 0; k < n; ++k) {
      const double own = block(k * pitch + k);
      const bool good = own > double(smallest_pivot) * fabs(diagonal(k));
      const double d = 1 / (good ? own : replacement_pivot(diagonal(k)));
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, side * side), [&](int thread) {
        if (thread == 0)
          inverse(k) = d;
        for (int i = k + 1 + thread / side; i < n; i += side) {
          const double l = block(i * pitch + k) * d;
          for (int c = thread % side; c <= i; c += side) {
            if (c > k)
              block(i * pitch + c) -= l * block(c * pitch + k);
            else if (c == k)
              block(c * pitch + i) = -l;
            else
              block(c * pitch + i) -= l * block(c * pitch + k);
          }
        }
      });
      team.team_barrier();
    }
  }

  /// The same on a device: a thread keeps nine entries of the block in registers, 16 x 16 threads
  /// apart. In step k the column below the pivot and the row of the inverse left of it, entry j of
  /// which stands for j > k and for j < k, are handed round through `line`.
  KOKKOS_FUNCTION void factor_in_registers(const Team& team, int n, const Scratch& block,
                                           const Scratch& diagonal, const Scratch& inverse,
                                           const Scratch& line) const {
    constexpr int side = 16, count = most / side;
    const int row = team.team_rank() / side, column = team.team_rank() % side;
    double entry[count][count];
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count; ++b) {
        const int i = row + side * a, c = column + side * b;
        entry[a][b] = i < n && c <= i ? block(i * pitch + c) : 0;
      }
    team.team_barrier();
    for (int k = 0; k < n; ++k) {
      const int buffer = (k & 1) * most;
      for (int b = 0; b < count; ++b)
        if (column + side * b == k)
          for (int a = 0; a < count; ++a) {
            const int i = row + side * a;
            if (i >= k && i < n) {
              line(buffer + i) = entry[a][b];
              block(i * pitch + k) = entry[a][b]; // final
              entry[a][b] = 0;
            }
          }
      for (int a = 0; a < count; ++a)
        if (row + side * a == k)
          for (int b = 0; b < count; ++b) {
            const int c = column + side * b;
            if (c < k) {
              line(buffer + c) = entry[a][b];
              block(c * pitch + k) = entry[a][b]; // final
            }
          }
      team.team_barrier();
      const double own = line(buffer + k), of_a = diagonal(k);
      const bool good = own > double(smallest_pivot) * fabs(of_a);
      const double d = 1 / (good ? own : replacement_pivot(of_a));
      double right[count];
      for (int b = 0; b < count; ++b) {
        const int c = column + side * b;
        right[b] = c == k ? 1 : line(buffer + c);
      }
      for (int a = 0; a < count; ++a) {
        const int i = row + side * a;
        const double l = i > k ? line(buffer + i) * d : 0;
        for (int b = 0; b < count; ++b)
          entry[a][b] -= l * right[b];
      }
      if (team.team_rank() == 0)
        inverse(k) = d;
    }
    team.team_barrier();
  }

  /// L, L^-1 and D of the diagonal block, from the form that `factor` leaves it in.
  KOKKOS_FUNCTION void store(const Team& team, const FrontPanel& s, int n, int height,
                             const Scratch& block, const Scratch& diagonal,
                             const Scratch& inverse) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * most), [&](int item) {
      const int i = item % most, k = item / most;
      if (i >= n)
        return;
      const double unit = i == k ? 1.0 : 0.0;
      front.panel(s.panel + std::int64_t(k) * height + i) =
          i > k ? block(i * pitch + k) * inverse(k) : unit;
      front.inverse(s.inverse + k * n + i) = i > k ? block(k * pitch + i) : unit;
      if (i != k)
        return;
      const double own = block(k * pitch + k);
      const bool good = own > double(smallest_pivot) * fabs(diagonal(k));
      front.pivot(3 * s.first + k) = good ? own : replacement_pivot(diagonal(k));
      front.inverse_pivot(3 * s.first + k) = inverse(k);
      if (!good)
        Kokkos::atomic_add(&front.replaced(0), 1);
    });
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    constexpr int per_row = front_threads / front_rows, columns = (most + per_row - 1) / per_row;
    constexpr int per_block_row = front_threads / most,
                  block_columns = (most + per_block_row - 1) / per_block_row;
    const FrontTask task = front.tasks(first_task + team.league_rank());
    const FrontPanel s = front.panels(task.panel);
    const int n = 3 * s.width, height = n + 3 * s.below, first_row = n + task.row;
    const int rows = first_row + front_rows < height ? int(front_rows) : height - first_row;
    const Scratch block(team.team_scratch(int(scratch_level<Exec>)), pitch * most);
    const Scratch diagonal(team.team_scratch(int(scratch_level<Exec>)), most);
    const Scratch inverse(team.team_scratch(int(scratch_level<Exec>)), most);
    const Scratch line(team.team_scratch(int(scratch_level<Exec>)), 2 * most);
    const Scratch tile(team.team_scratch(int(scratch_level<Exec>)),
                       front_rows * most); // by columns
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, most * per_block_row), [&](int thread) {
      const int i = thread % most, first = thread / most;
      if (i >= n)
        return;
      double entry[block_columns];
      front.load_row(s, i, first, int(per_block_row), n, entry);
      for (int q = 0; q < block_columns; ++q)
        if (first + q * per_block_row <= i)
          block(i * pitch + first + q * per_block_row) = entry[q];
      if (first == 0)
        diagonal(i) = front.diagonal(3 * s.first + i);
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(front_threads)), [&](int thread) {
      const int i = thread % front_rows, first = thread / front_rows;
      if (i >= rows)
        return;
      double entry[columns];
      front.load_row(s, first_row + i, first, int(per_row), n, entry);
      for (int q = 0; q < columns; ++q)
        if (first + q * per_row < n)
          tile((first + q * per_row) * front_rows + i) = entry[q];
    });
    team.team_barrier();
    if constexpr (BackendTraits<Exec>::is_device)
      factor_in_registers(team, n, block, diagonal, inverse, line);
    else
      factor(team, n, block, diagonal, inverse);

    // L_Rs = F_Rs L_ss^-T D^-1.
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(front_threads)), [&](int thread) {
      const int i = thread % front_rows, first = thread / front_rows;
      if (i >= rows)
        return;
      double sum[columns];
      for (int q = 0; q < columns; ++q)
        sum[q] = 0;
      for (int l = 0; l < n; ++l) {
        const double entry = tile(l * front_rows + i);
        for (int q = 0; q < columns; ++q) {
          const int k = first + q * per_row;
          if (l < k && k < n)
            sum[q] += entry * block(l * pitch + k);
          else if (l == k)
            sum[q] += entry;
        }
      }
      for (int q = 0; q < columns; ++q) {
        const int k = first + q * per_row;
        if (k < n)
          front.panel(s.panel + std::int64_t(k) * height + first_row + i) = sum[q] * inverse(k);
      }
    });
    if (task.row > 0)
      return;
    store(team, s, n, height, block, diagonal, inverse);
  }
};

/// A tile of the update matrix: the children's, less L D L^T of the rows below.
template<class Exec>
struct UpdateFront {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  FrontPointers<Exec> front;
  int first_task;

  static std::size_t scratch_bytes() {
    return 2 * Scratch::shmem_size(update_tile * 3 * max_panel_nodes);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    constexpr int per_row = front_threads / update_tile, columns = update_tile / per_row;
    const FrontTask task = front.tasks(first_task + team.league_rank());
    const FrontPanel s = front.panels(task.panel);
    const int n = 3 * s.width, below = 3 * s.below;
    const std::int64_t stride = n + below;
    const Scratch left(team.team_scratch(int(scratch_level<Exec>)),
                       update_tile * 3 * max_panel_nodes);
    const Scratch right(team.team_scratch(int(scratch_level<Exec>)),
                        update_tile * 3 * max_panel_nodes);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(front_threads)), [&](int thread) {
      constexpr int count = 3 * max_panel_nodes * update_tile / front_threads;
      const int i = thread % update_tile, first_k = thread / update_tile;
      const int row = task.row + i, column = task.column + i;
      double l[count], r[count]; // all loads before the stores
      for (int q = 0; q < count; ++q) {
        const int k = first_k + q * per_row;
        const std::int64_t at = s.panel + k * stride + n;
        l[q] = k < n && row < below ? front.panel(at + row) : 0;
        r[q] =
            k < n && column < below ? front.panel(at + column) * front.pivot(3 * s.first + k) : 0;
      }
      for (int q = 0; q < count; ++q) {
        left((first_k + q * per_row) * update_tile + i) = l[q];
        right((first_k + q * per_row) * update_tile + i) = r[q];
      }
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(front_threads)), [&](int thread) {
      const int i = thread % update_tile, first = thread / update_tile;
      const int row = task.row + i;
      if (row >= below)
        return;
      double* const target = &front.update(s.update + std::int64_t(task.column) * s.update_stride);
      double sum[columns];
      for (int q = 0; q < columns; ++q) {
        const int j = first + q * per_row;
        sum[q] = s.in_place && task.column + j <= row
                     ? target[std::int64_t(j) * s.update_stride + row]
                     : 0;
      }
      if (!s.in_place)
        front.add_children(s, n + row, n + task.column + first, int(per_row), int(stride), sum);
      for (int k = 0; k < n; ++k) {
        const double l = left(k * update_tile + i);
        for (int q = 0; q < columns; ++q)
          sum[q] -= l * right(k * update_tile + first + q * per_row);
      }
      for (int q = 0; q < columns; ++q) {
        const int j = first + q * per_row;
        if (task.column + j <= row)
          target[std::int64_t(j) * s.update_stride + row] = sum[q];
      }
    });
  }
};

} // namespace detail
} // namespace ossatura
