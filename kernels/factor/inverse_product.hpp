// SPDX-License-Identifier: Apache-2.0
// The inverse product is z = W^T D^-1 W r, by two kernels without levels. The first reads W along
// rows, the second down the columns; both read eight entries at a time. With K bands both go band
// by band, up the tree and down, z = P_1^T ... P_K^T D^-1 P_K ... P_1 r, and a third kernel hands a
// band the results of the bands below: 3 K - 1 launches in all.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/factor/inverse.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

namespace ossatura {

namespace detail {

inline constexpr int row_task_rows = 8;        ///< rows of W that a warp multiplies
inline constexpr int row_task_columns = 1024;  ///< columns at most
inline constexpr int most_scratch_rows = 2048; ///< of a tile that are summed at once, with bands

/// Rows of a panel times a range of columns; the sum of row i goes to partial(result + i parts).
struct RowTask {
  std::int64_t value; ///< offset of the first row's first column
  int stride, column; ///< column of r
  int rows, length;
  int result, parts;
};

/// The sums of a row over ranges of columns, one after the other. A row of a band above has none:
/// `first` is the column of what is known of it by then.
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

/// What bands need beside the columns of W.
template<class Real>
struct BandColumns {
  ArrayPointer<int> node; ///< [columns / 3]; -1: of no node of the band
  ArrayPointer<Real> x;   ///< [columns], in the columns of bands above the lowest: z before it is
                          ///< turned
  int first_tile;
  bool keeps; ///< whether x is wanted of these tiles
};

/// What a band takes over.
template<class Real>
struct TakeOver {
  ArrayPointer<int> node;        ///< [columns / 3]
  ArrayPointer<int> share_begin; ///< [columns / 3 + 1]
  ArrayPointer<RowParts> share;  ///< of the first of a node's three rows; the others follow
  ArrayPointer<Real> partial, x;
  ArrayPointer<int> stop;
  int first_column;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t column = first_column + i;
    const int place = int(column / 3), c = int(column % 3);
    if (node(place) < 0 || (stop.data && stop(0)))
      return;
    Real sum = x(3 * std::int64_t(node(place)) + c);
    for (int k = share_begin(place); k < share_begin(place + 1); ++k) {
      const RowParts own = share(k);
      for (int p = 0; p < own.count; ++p)
        sum += partial(own.first + c * own.count + p);
    }
    x(column) = sum;
  }
};

/// `banded`: the tiles of one band of several.
template<class Exec, class Real, class Storage, bool banded>
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
  int longest; ///< entries of a tile, or of the part of them that is summed at once
  BandColumns<Real> band;

  std::size_t scratch_bytes() const {
    return Scratch<Real>::shmem_size(longest) + Scratch<Real>::shmem_size(slots * column_tile) +
           Scratch<double>::shmem_size(column_tile);
  }

  /// D^-1 y of the rows of `count` entries.
  KOKKOS_FORCEINLINE_FUNCTION void scale_rows(const Team& team, int begin, int count,
                                              const Scratch<Real>& y) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int k) {
      const int row = int(entries(begin + k).row_and_range & 0xffffffu);
      const RowParts own = parts(begin + k);
      if (banded && own.count == 0) {
        y(k) = band.x(own.first);
        return;
      }
      const Real scale = Real(inverse_pivot(row));
      Real sum = 0;
      for (int p = 0; p < own.count; ++p)
        sum += partial(own.first + p);
      y(k) = sum * scale;
    });
  }

  /// Adds a thread's entries of these rows, in eight columns.
  KOKKOS_FORCEINLINE_FUNCTION void add_rows(int slot, int eight, int begin, int length,
                                            const Scratch<Real>& y, Real (&sum)[8]) const {
    constexpr int batch = is_device ? 4 : 1; // rows whose loads are under way at once
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
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (stop.data && stop(0))
      return;
    const int tile = team.league_rank() + (banded ? band.first_tile : 0);
    const int begin = tile_begin(tile);
    const int length = tile_begin(tile + 1) - begin, column = tile * column_tile;
    const int width = num_columns - column < column_tile ? num_columns - column : int(column_tile);
    const Scratch<double> dot(team.team_scratch(int(scratch_level<Exec>)), column_tile);
    const Scratch<Real> y(team.team_scratch(int(scratch_level<Exec>)), longest);
    const Scratch<Real> sums(team.team_scratch(int(scratch_level<Exec>)), slots * column_tile);
    int done = 0;
    do { // once but for tiles of many rows above the band
      const int now = banded && length - done > longest ? longest : length - done;
      scale_rows(team, begin + done, now, y);
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int thread) {
        const int slot = thread / eights, eight = thread % eights;
        const int place = slot * column_tile + 8 * eight;
        Real sum[8] = {};
        if (banded && done > 0)
          for (int q = 0; q < 8; ++q)
            sum[q] = sums(place + q);
        add_rows(slot, eight, begin + done, now, y, sum);
        for (int q = 0; q < 8; ++q)
          sums(place + q) = sum[q];
      });
      team.team_barrier();
      done += now;
    } while (banded && done < length);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int c) {
      Real sum = 0;
      for (int slot = 0; slot < slots; ++slot)
        sum += sums(slot * column_tile + c);
      sums(c) = sum; // only this thread reads slot 0 of column c
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width), [&](int c) {
      int to = column + c;
      if constexpr (banded) {
        if (dots.data)
          dot(c) = 0;
        const int node = band.node(to / 3);
        if (node < 0)
          return;
        if (band.keeps)
          band.x(to) = sums(c);
        to = 3 * node + c % 3;
      }
      double own = double(sums(c));
      if (rotation.data) {
        const int node = to / 3, row = c % 3;
        own = 0;
        for (int k = 0; k < 3; ++k)
          own += rotation(9 * std::int64_t(node) + 3 * row + k) * double(sums(c - row + k));
      }
      z(to) = own;
      if (dots.data)
        dot(c) = own * r(to);
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

/// The lists and vectors of a product with one band, for kernels elsewhere.
template<class Real>
struct InverseProductArrays {
  ArrayPointer<const RowTask> tasks;
  ArrayPointer<const int> tile_begin;
  ArrayPointer<const ColumnEntry> entries;
  ArrayPointer<const RowParts> parts;
  ArrayPointer<Real> partial, rotated;
  int num_tasks, num_columns, longest; ///< as in SumColumns
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
inline int num_inverse_tiles(const InverseLayout& layout) {
  return (layout.band_column.back() + detail::column_tile - 1) / detail::column_tile;
}

/// What the kernels of a product need beside W, made once for a pattern and a storage.
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
    Kokkos::parallel_for("ossatura::inverse_product::rotate", range(exec, num_columns_),
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
  int num_bands() const { return num_bands_; }
  detail::InverseProductArrays<Real> arrays() const {
    return {tasks_,   tile_begin_,    entries_,     parts_,  partial_,
            rotated_, task_begin_[1], num_columns_, longest_};
  }

private:
  using Rows = detail::MultiplyRows<Exec, Real, Storage>;
  template<bool banded>
  using Columns = detail::SumColumns<Exec, Real, Storage, banded>;

  /// The lists that the host makes.
  struct Lists {
    std::vector<std::vector<detail::RowTask>> tasks;       ///< of each band
    std::vector<std::vector<detail::ColumnEntry>> entries; ///< of each tile
    std::vector<std::vector<detail::RowParts>> parts;      ///< of these
    std::vector<std::pair<int, detail::RowParts>> shares;  ///< and the place that takes them over
    int num_partials = 0;
  };
  /// Rows that are stored together: of a panel, or those above a tree.
  struct Rectangle {
    std::int64_t begin;
    int origin, stride, rows;
  };
  /// `row_of(i)`: the row of W, and `source_of(i)` where its factor is, if not in the partial sums.
  template<class RowOf, class SourceOf>
  static void list(const Rectangle& rectangle, int band, const RowOf& row_of,
                   const SourceOf& source_of, Lists& lists);
  void upload_bands(const Exec& exec, const FactorPattern& pattern, const InverseLayout& layout,
                    const Lists& lists);
  void multiply_rows(const Exec& exec, const InverseFactor<Exec, Storage>& inverse, int band,
                     const Array<int, Exec>& stop) const;
  template<bool banded>
  void sum_columns(const Exec& exec, const Columns<banded>& columns, int num_tiles) const;

  int num_columns_ = 0, num_bands_ = 1, num_tiles_ = 0, longest_ = 0;
  std::vector<int> task_begin_, band_column_; ///< of each band
  Array<detail::RowTask, Exec> tasks_;
  Array<int, Exec> tile_begin_, node_, share_begin_;
  Array<detail::RowParts, Exec> parts_, shares_;
  Array<detail::ColumnEntry, Exec> entries_;
  Array<Real, Exec> partial_, rotated_;
};

template<class Exec, class Storage>
template<class RowOf, class SourceOf>
void InverseProduct<Exec, Storage>::list(const Rectangle& rectangle, int band, const RowOf& row_of,
                                         const SourceOf& source_of, Lists& lists) {
  const auto [begin, origin, stride, rows] = rectangle;
  const int parts = (stride + detail::row_task_columns - 1) / detail::row_task_columns;
  for (int part = 0; part < parts; ++part)
    for (int i = 0; i < rows; i += detail::row_task_rows) {
      const int column = part * detail::row_task_columns;
      lists.tasks[band].push_back({begin + std::int64_t(i) * stride + column, stride,
                                   origin + column, std::min(detail::row_task_rows, rows - i),
                                   std::min(detail::row_task_columns, stride - column),
                                   lists.num_partials + i * parts + part, parts});
    }
  for (int tile = origin / detail::column_tile; tile * detail::column_tile < origin + stride;
       ++tile) {
    const int first = (origin - tile * detail::column_tile) / 8;
    const std::uint32_t lowest = std::uint32_t(std::max(0, first));
    const std::uint32_t highest =
        std::uint32_t(std::min(detail::column_tile / 8, first + stride / 8) - 1);
    for (int i = 0; i < rows; ++i) {
      lists.entries[tile].push_back({int((begin + std::int64_t(i) * stride) / 8) - first,
                                     std::uint32_t(row_of(i)) | lowest << 24 | highest << 28});
      const int source = source_of(i);
      lists.parts[tile].push_back(source < 0
                                      ? detail::RowParts{lists.num_partials + i * parts, parts}
                                      : detail::RowParts{source, 0});
    }
  }
  lists.num_partials += rows * parts;
}

template<class Exec, class Storage>
InverseProduct<Exec, Storage>::InverseProduct(const Exec& exec, const FactorPattern& pattern,
                                              const InverseLayout& layout)
    : num_columns_(3 * pattern.num_nodes)
    , num_bands_(layout.num_bands())
    , num_tiles_(num_inverse_tiles(layout))
    , band_column_(layout.band_column) {
  OSSATURA_REQUIRE(num_columns_ < 1 << 24 && layout.num_entries / 8 < (std::int64_t(1) << 31),
                   "an inverse factor of " << num_columns_ << " rows and " << layout.num_entries
                                           << " entries; the product takes 2^24 and 2^34");
  Lists lists;
  lists.tasks.resize(num_bands_);
  lists.entries.resize(num_tiles_);
  lists.parts.resize(num_tiles_);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int first = 3 * pattern.first[s];
    list(
        {layout.begin[s], layout.origin[s], layout.stride[s], 3 * pattern.width(s)}, layout.band[s],
        [&](int i) { return first + i; }, [](int) { return -1; }, lists);
  }
  for (const InverseUpdate& update : layout.updates) {
    const int s = update.root;
    const int* const below = pattern.row.data() + pattern.row_begin[s];
    const auto column_of = [&](int node) {
      const int panel = pattern.panel_of[node];
      return layout.column[panel] + 3 * (node - pattern.first[panel]);
    };
    const int parts = (update.stride + detail::row_task_columns - 1) / detail::row_task_columns;
    for (int k = 0; k < pattern.num_below(s); ++k)
      lists.shares.push_back(
          {column_of(below[k]) / 3, {lists.num_partials + 3 * k * parts, parts}});
    list(
        {update.begin, update.origin, update.stride, 3 * pattern.num_below(s)}, layout.band[s],
        [](int) { return 0; }, [&](int i) { return column_of(below[i / 3]) + i % 3; }, lists);
  }
  // Long tasks first: the short ones fill the gaps.
  task_begin_.push_back(0);
  std::vector<detail::RowTask> tasks;
  for (auto& of_band : lists.tasks) {
    std::stable_sort(
        of_band.begin(), of_band.end(),
        [](const detail::RowTask& a, const detail::RowTask& b) { return a.length > b.length; });
    tasks.insert(tasks.end(), of_band.begin(), of_band.end());
    task_begin_.push_back(int(tasks.size()));
  }
  std::vector<int> tile_begin(1, 0);
  std::vector<detail::ColumnEntry> entries;
  std::vector<detail::RowParts> parts;
  for (int tile = 0; tile < num_tiles_; ++tile) {
    entries.insert(entries.end(), lists.entries[tile].begin(), lists.entries[tile].end());
    parts.insert(parts.end(), lists.parts[tile].begin(), lists.parts[tile].end());
    tile_begin.push_back(int(entries.size()));
    longest_ = std::max(longest_, int(lists.entries[tile].size()));
  }
  tasks_ = upload(exec, "ossatura::inverse_product::tasks", tasks);
  parts_ = upload(exec, "ossatura::inverse_product::parts", parts);
  tile_begin_ = upload(exec, "ossatura::inverse_product::tile_begin", tile_begin);
  entries_ = upload(exec, "ossatura::inverse_product::entries", entries);
  partial_ = make_zeros<Real>(exec, lists.num_partials, "ossatura::inverse_product::partial");
  rotated_ = make_zeros<Real>(exec, detail::round_up(layout.band_column.back(), 8),
                              "ossatura::inverse_product::rotated");
  if (num_bands_ > 1)
    upload_bands(exec, pattern, layout, lists);
}

template<class Exec, class Storage>
void InverseProduct<Exec, Storage>::upload_bands(const Exec& exec, const FactorPattern& pattern,
                                                 const InverseLayout& layout, const Lists& lists) {
  longest_ = std::min(longest_, int(detail::most_scratch_rows));
  const std::size_t places = std::size_t(layout.band_column.back()) / 3;
  std::vector<int> node(places, -1), begin(places + 1, 0);
  for (int s = 0; s < pattern.num_panels(); ++s)
    for (int k = 0; k < pattern.width(s); ++k)
      node[std::size_t(layout.column[s] / 3 + k)] = pattern.first[s] + k;
  for (const auto& share : lists.shares)
    ++begin[std::size_t(share.first) + 1];
  for (std::size_t place = 0; place < places; ++place)
    begin[place + 1] += begin[place];
  std::vector<int> next = begin;
  std::vector<detail::RowParts> shares(lists.shares.size());
  for (const auto& [place, own] : lists.shares)
    shares[std::size_t(next[std::size_t(place)]++)] = own;
  node_ = upload(exec, "ossatura::inverse_product::node", node);
  share_begin_ = upload(exec, "ossatura::inverse_product::share_begin", begin);
  shares_ = upload(exec, "ossatura::inverse_product::shares", shares);
}

template<class Exec, class Storage>
void InverseProduct<Exec, Storage>::multiply_rows(const Exec& exec,
                                                  const InverseFactor<Exec, Storage>& inverse,
                                                  int band, const Array<int, Exec>& stop) const {
  constexpr int warps = BackendTraits<Exec>::is_device ? 4 : 1;
  const int first = task_begin_[band], num_tasks = task_begin_[band + 1] - first;
  Rows rows{tasks_, num_tasks, inverse.value, rotated_, partial_, stop};
  rows.tasks.data += first;
  Kokkos::parallel_for(
      "ossatura::inverse_product::rows",
      Kokkos::TeamPolicy<Exec>(exec, (num_tasks + warps - 1) / warps, warps * Rows::lanes), rows);
}

template<class Exec, class Storage>
template<bool banded>
void InverseProduct<Exec, Storage>::sum_columns(const Exec& exec, const Columns<banded>& columns,
                                                int num_tiles) const {
  Kokkos::parallel_for(
      "ossatura::inverse_product::columns",
      Kokkos::TeamPolicy<Exec>(exec, num_tiles, BackendTraits<Exec>::is_device ? 256 : 1)
          .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(columns.scratch_bytes())),
      columns);
}

template<class Exec, class Storage>
void InverseProduct<Exec, Storage>::apply_rotated(
    const Exec& exec, const InverseFactor<Exec, Storage>& inverse, const Array<double, Exec>& r,
    const Array<double, Exec>& z, const Array<double, Exec>& rotation,
    const Array<double, Exec>& dots, const Array<int, Exec>& stop) const {
  if (tasks_.extent(0) == 0)
    return;
  if (num_bands_ == 1) {
    multiply_rows(exec, inverse, 0, stop);
    sum_columns<false>(exec,
                       {num_columns_,
                        tile_begin_,
                        entries_,
                        parts_,
                        inverse.value,
                        inverse.inverse_pivot,
                        partial_,
                        r,
                        rotation,
                        z,
                        dots,
                        stop,
                        longest_,
                        {}},
                       num_tiles_);
    return;
  }
  const auto width = [&](int band) { return band_column_[band + 1] - band_column_[band]; };
  multiply_rows(exec, inverse, 0, stop);
  for (int band = 1; band < num_bands_; ++band) {
    Kokkos::parallel_for("ossatura::inverse_product::take_over", range(exec, width(band)),
                         detail::TakeOver<Real>{node_, share_begin_, shares_, partial_, rotated_,
                                                stop, band_column_[band]});
    multiply_rows(exec, inverse, band, stop);
  }
  for (int band = num_bands_ - 1; band >= 0; --band)
    sum_columns<true>(exec,
                      {band_column_.back(),
                       tile_begin_,
                       entries_,
                       parts_,
                       inverse.value,
                       inverse.inverse_pivot,
                       partial_,
                       r,
                       rotation,
                       z,
                       dots,
                       stop,
                       longest_,
                       {node_, rotated_, band_column_[band] / int(detail::column_tile), band > 0}},
                      width(band) / int(detail::column_tile));
}

} // namespace ossatura
