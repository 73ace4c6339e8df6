// SPDX-License-Identifier: BSD-3-Clause
// z = W^T D^-1 W r: two kernels without levels. The first reads W along rows, the second down the
// columns; both read eight entries at a time.
#pragma once

#include "core/array_pointer.hpp"
#include "core/warp_sum.hpp"
#include "kernels/inverse_factor.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace femura {

namespace detail {

inline constexpr int row_task_rows = 8;       ///< rows of W that a warp multiplies
inline constexpr int row_task_columns = 1024; ///< columns at most
inline constexpr int column_tile = 48;        ///< columns of W that a team sums: 16 nodes

/// Rows of a panel times a range of columns; the sum of row i goes to partial(result + i parts).
struct RowTask {
  std::int64_t value; ///< offset of the first row's first column
  int stride, column; ///< column of r
  int rows, length;
  int result, parts;
};

/// The sums of a row over ranges of columns, one after the other.
struct RowParts {
  int first, count;
};

/// A row of W in a tile of columns: offset of the tile's first column / 8 (which may be before the
/// row's own first one), scalar row, and which eights of the tile the row has.
struct ColumnEntry {
  int offset;
  std::uint32_t row_and_range; ///< row | first eight << 24 | last eight << 28
};

template<class Exec, class Real, class Storage>
struct MultiplyRows {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 32 : 1;
  ArrayPointer<RowTask> tasks;
  int num_tasks;
  ArrayPointer<Storage> value;
  ArrayPointer<Real> r;
  ArrayPointer<Real> partial;
  ArrayPointer<int> stop; ///< set: there is nothing to do; or none

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int warps = team.team_size() / lanes;
    const int number = team.league_rank() * warps + team.team_rank() / lanes;
    if (number >= num_tasks || (stop.data && stop(0)))
      return;
    const int lane = team.team_rank() % lanes;
    const RowTask task = tasks(number);
    Real sum[row_task_rows] = {};
    for (int c = 8 * lane; c < task.length; c += 8 * lanes) {
      const EightEntries<Real> x =
          *reinterpret_cast<const EightEntries<Real>*>(&r(task.column + c));
      const Storage* const from = &value(task.value + c);
      for (int i = 0; i < row_task_rows; ++i)
        if (i < task.rows) {
          const EightEntries<Storage> w =
              *reinterpret_cast<const EightEntries<Storage>*>(from + std::int64_t(i) * task.stride);
          for (int q = 0; q < 8; ++q)
            sum[i] += Real(w.entry[q]) * x.entry[q];
        }
    }
    for (int i = 0; i < row_task_rows; ++i)
      if (i < task.rows) { // the same for the whole warp
        const Real whole = warp_sum<lanes>(sum[i]);
        if (lane == 0)
          partial(task.result + i * task.parts) = whole;
      }
  }
};

template<class Exec, class Real, class Storage>
struct SumColumns {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  template<class T>
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int eights = column_tile / 8;
  /// Rows that a team sums at once; a thread has one of them and eight columns.
  static constexpr bool is_device = BackendTraits<Exec>::is_device;
  static constexpr int slots = is_device ? 42 : 1;
  static constexpr int threads = slots * eights;
  int num_columns;
  ArrayPointer<int> tile_begin; ///< [num_tiles + 1]
  ArrayPointer<ColumnEntry> entries;
  ArrayPointer<RowParts> parts; ///< of each entry's row
  ArrayPointer<Storage> value;
  ArrayPointer<double> inverse_pivot;
  ArrayPointer<Real> partial;
  ArrayPointer<double> r;        ///< for r . z, or none
  ArrayPointer<double> rotation; ///< [num_nodes, 9], of z after the product; or none
  ArrayPointer<double> z;
  ArrayPointer<double> dots; ///< [num_tiles], of r . z, or none
  ArrayPointer<int> stop;
  int longest; ///< entries of a tile

  std::size_t scratch_bytes() const {
    return Scratch<Real>::shmem_size(longest) + Scratch<Real>::shmem_size(slots * column_tile) +
           Scratch<double>::shmem_size(column_tile);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (stop.data && stop(0))
      return;
    const int tile = team.league_rank(), begin = tile_begin(tile);
    const int length = tile_begin(tile + 1) - begin, column = tile * column_tile;
    const int width = num_columns - column < column_tile ? num_columns - column : int(column_tile);
    const Scratch<double> dot(team.team_scratch(int(scratch_level<Exec>)), column_tile);
    const Scratch<Real> y(team.team_scratch(int(scratch_level<Exec>)), longest);
    const Scratch<Real> sums(team.team_scratch(int(scratch_level<Exec>)), slots * column_tile);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, length), [&](int k) {
      const int row = int(entries(begin + k).row_and_range & 0xffffffu);
      const RowParts own = parts(begin + k);
      const Real scale = Real(inverse_pivot(row));
      Real sum = 0;
      for (int p = 0; p < own.count; ++p)
        sum += partial(own.first + p);
      y(k) = sum * scale;
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int thread) {
      const int slot = thread / eights, eight = thread % eights;
      constexpr int batch = is_device ? 4 : 1; // rows whose loads are under way at once
      Real sum[8] = {};
      for (int k = slot; k < length; k += batch * slots) {
        ColumnEntry entry[batch];
        EightEntries<Storage> w[batch];
        bool has[batch];
        for (int j = 0; j < batch; ++j)
          entry[j] = entries(begin + (k + j * slots < length ? k + j * slots : k));
        for (int j = 0; j < batch; ++j) {
          const int first = int(entry[j].row_and_range >> 24 & 15u);
          const int last = int(entry[j].row_and_range >> 28);
          has[j] = k + j * slots < length && eight >= first && eight <= last;
          // Loads what is not there from the start of W: every thread takes the same way.
          w[j] = *reinterpret_cast<const EightEntries<Storage>*>(
              &value(has[j] ? 8 * (std::int64_t(entry[j].offset) + eight) : 0));
        }
        for (int j = 0; j < batch; ++j) {
          const Real factor = has[j] ? y(k + j * slots) : Real(0);
          for (int q = 0; q < 8; ++q)
            sum[q] += Real(w[j].entry[q]) * factor;
        }
      }
      for (int q = 0; q < 8; ++q)
        sums(slot * column_tile + 8 * eight + q) = sum[q];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int c) {
      Real sum = 0;
      for (int slot = 0; slot < slots; ++slot)
        sum += sums(slot * column_tile + c);
      sums(c) = sum; // only this thread reads slot 0 of column c
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int c) {
      double own = double(sums(c));
      if (rotation.data) {
        const int node = (column + c) / 3, row = c % 3;
        own = 0;
        for (int k = 0; k < 3; ++k)
          own += rotation(9 * std::int64_t(node) + 3 * row + k) * double(sums(c - row + k));
      }
      z(column + c) = own;
      if (dots.data)
        dot(c) = own * r(column + c);
    });
    if (!dots.data)
      return;
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      double sum = 0;
      for (int c = 0; c < width; ++c)
        sum += dot(c);
      dots(tile) = sum;
    });
  }
};

template<class Exec, class Real>
struct RotateBack {
  ArrayPointer<double> rotation, r;
  ArrayPointer<Real> rotated;

  /// Component i of R^T r.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!rotation.data) {
      rotated(i) = Real(r(i));
      return;
    }
    const std::int64_t node = i / 3;
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += rotation(9 * node + 3 * k + i % 3) * r(3 * node + k);
    rotated(i) = Real(sum);
  }
};

} // namespace detail

/// Sums of r . z that a product gives.
constexpr int num_inverse_tiles(int num_nodes) {
  return (3 * num_nodes + detail::column_tile - 1) / detail::column_tile;
}

/// What the two kernels of a product need beside W, made once for a pattern and a storage.
template<class Exec, class Storage>
class InverseProduct {
public:
  using Real = std::conditional_t<std::is_same_v<Storage, double>, double, float>;

  /// Fences.
  InverseProduct(const Exec& exec, const FactorPattern& pattern, const InverseLayout& layout);

  /// z = M^-1 r, or R M^-1 R^T r with the rotations of the nodes [num_nodes, 9]; r and z
  /// [3 num_nodes], z may be r. Sums are in single for storage in single or half. Reproducible.
  /// Does not fence.
  void apply(const Exec& exec, const InverseFactor<Exec, Storage>& inverse,
             const Array<double, Exec>& r, const Array<double, Exec>& z,
             const Array<double, Exec>& rotation = {}) const {
    Kokkos::parallel_for("femura::inverse_product::rotate", range(exec, num_columns_),
                         detail::RotateBack<Exec, Real>{rotation, r, rotated_});
    apply_rotated(exec, inverse, {}, z, rotation, {}, {});
  }

  /// The same from rotated(), which the caller has filled with R^T r, with sums of r . z by tiles
  /// in `dots` [num_tiles()], and nothing done where stop(0) is set; r, rotation, dots, stop may be
  /// none. Does not fence.
  void apply_rotated(const Exec& exec, const InverseFactor<Exec, Storage>& inverse,
                     const Array<double, Exec>& r, const Array<double, Exec>& z,
                     const Array<double, Exec>& rotation, const Array<double, Exec>& dots,
                     const Array<int, Exec>& stop) const;

  /// R^T r, padded to a multiple of 8, the padding zero.
  const Array<Real, Exec>& rotated() const { return rotated_; }
  int num_tiles() const { return num_tiles_; }

private:
  int num_columns_ = 0, num_tasks_ = 0, num_tiles_ = 0, longest_ = 0;
  Array<detail::RowTask, Exec> tasks_;
  Array<int, Exec> tile_begin_;
  Array<detail::RowParts, Exec> parts_;
  Array<detail::ColumnEntry, Exec> entries_;
  Array<Real, Exec> partial_, rotated_;
};

template<class Exec, class Storage>
InverseProduct<Exec, Storage>::InverseProduct(const Exec& exec, const FactorPattern& pattern,
                                              const InverseLayout& layout)
    : num_columns_(3 * pattern.num_nodes)
    , num_tiles_(num_inverse_tiles(pattern.num_nodes)) {
  FEMURA_REQUIRE(num_columns_ < 1 << 24 && layout.begin.back() / 8 < (std::int64_t(1) << 31),
                 "an inverse factor of " << num_columns_ << " rows and " << layout.begin.back()
                                         << " entries; the product takes 2^24 and 2^34");
  std::vector<detail::RowTask> tasks;
  std::vector<int> part_begin(1, 0);
  std::vector<std::vector<detail::ColumnEntry>> entries(num_tiles_);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int rows = 3 * pattern.width(s), first = 3 * pattern.first[s];
    const int stride = layout.stride[s], origin = layout.origin[s];
    const int parts = (stride + detail::row_task_columns - 1) / detail::row_task_columns;
    for (int part = 0; part < parts; ++part)
      for (int i = 0; i < rows; i += detail::row_task_rows) {
        const int column = part * detail::row_task_columns;
        tasks.push_back({layout.begin[s] + std::int64_t(i) * stride + column, stride,
                         origin + column, std::min(detail::row_task_rows, rows - i),
                         std::min(detail::row_task_columns, stride - column),
                         part_begin.back() + i * parts + part, parts});
      }
    for (int tile = origin / detail::column_tile; tile * detail::column_tile < origin + stride;
         ++tile) {
      const int begin = (origin - tile * detail::column_tile) / 8;
      const std::uint32_t lowest = std::uint32_t(std::max(0, begin));
      const std::uint32_t highest =
          std::uint32_t(std::min(detail::column_tile / 8, begin + stride / 8) - 1);
      for (int i = 0; i < rows; ++i)
        entries[tile].push_back({int((layout.begin[s] + std::int64_t(i) * stride) / 8) - begin,
                                 std::uint32_t(first + i) | lowest << 24 | highest << 28});
    }
    for (int i = 0; i < rows; ++i)
      part_begin.push_back(part_begin.back() + parts);
  }
  // Long tasks first: the short ones fill the gaps.
  std::stable_sort(
      tasks.begin(), tasks.end(),
      [](const detail::RowTask& a, const detail::RowTask& b) { return a.length > b.length; });
  std::vector<int> tile_begin(1, 0);
  std::vector<detail::ColumnEntry> all;
  std::vector<detail::RowParts> parts;
  for (const auto& of_tile : entries) {
    all.insert(all.end(), of_tile.begin(), of_tile.end());
    for (const detail::ColumnEntry& entry : of_tile) {
      const std::size_t row = entry.row_and_range & 0xffffffu;
      parts.push_back({part_begin[row], part_begin[row + 1] - part_begin[row]});
    }
    tile_begin.push_back(int(all.size()));
    longest_ = std::max(longest_, int(of_tile.size()));
  }
  num_tasks_ = int(tasks.size());
  tasks_ = upload(exec, "femura::inverse_product::tasks", tasks);
  parts_ = upload(exec, "femura::inverse_product::parts", parts);
  tile_begin_ = upload(exec, "femura::inverse_product::tile_begin", tile_begin);
  entries_ = upload(exec, "femura::inverse_product::entries", all);
  partial_ = make_zeros<Real>(exec, part_begin.back(), "femura::inverse_product::partial");
  rotated_ = make_zeros<Real>(exec, (num_columns_ + 7) / 8 * 8, "femura::inverse_product::rotated");
}

template<class Exec, class Storage>
void InverseProduct<Exec, Storage>::apply_rotated(
    const Exec& exec, const InverseFactor<Exec, Storage>& inverse, const Array<double, Exec>& r,
    const Array<double, Exec>& z, const Array<double, Exec>& rotation,
    const Array<double, Exec>& dots, const Array<int, Exec>& stop) const {
  using Rows = detail::MultiplyRows<Exec, Real, Storage>;
  using Columns = detail::SumColumns<Exec, Real, Storage>;
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  constexpr int warps = is_device ? 4 : 1;
  if (num_tasks_ == 0)
    return;
  Kokkos::parallel_for(
      "femura::inverse_product::rows",
      Kokkos::TeamPolicy<Exec>(exec, (num_tasks_ + warps - 1) / warps, warps * Rows::lanes),
      Rows{tasks_, num_tasks_, inverse.value, rotated_, partial_, stop});
  const Columns columns{
      num_columns_, tile_begin_, entries_, parts_, inverse.value, inverse.inverse_pivot,
      partial_,     r,           rotation, z,      dots,          stop,
      longest_};
  Kokkos::parallel_for(
      "femura::inverse_product::columns",
      Kokkos::TeamPolicy<Exec>(exec, num_tiles_, is_device ? 256 : 1)
          .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(columns.scratch_bytes())),
      columns);
}

} // namespace femura
