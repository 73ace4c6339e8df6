// SPDX-License-Identifier: Apache-2.0
// form_inverse makes W = L^-1 from the panels of L, all panels of a level of the tree at once. The
// rows of panel s are final when the rows of its descendants are, W_s = L_ss^-1 Y_s; then they are
// taken off the rows above, Y_R -= L_Rs W_s. Y lies where W will be. Bands do not depend on each
// other: levels are those within a band, and rows above a band are final when all of a tree's
// panels are.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/factor/inverse.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace ossatura {

namespace detail {

inline constexpr int inverse_columns = 32; ///< of W that a team forms
inline constexpr int inverse_group = 8;    ///< columns of a thread

/// Columns of a panel's rows, counted from its origin.
struct InverseTask {
  int panel, column;
};

/// Where the rows of a node below a panel are in W: the column of the panel's origin in the first
/// of them.
struct InverseTarget {
  std::int64_t begin;
  int stride;
};

/// What the kernel knows of a panel.
struct InversePanel {
  std::int64_t panel, diagonal, begin; ///< offsets in L, the inverses of diagonal blocks, W
  int n, below;                        ///< scalar columns of L, rows below them
  int row_begin;                       ///< of the nodes below
  int stride, least, own; ///< of W; first column of the subtree and of the panel from the origin
};

template<class Exec, class Real, class Storage>
struct FormInverse {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int most = 3 * max_panel_nodes, columns = inverse_columns, group = inverse_group,
                       groups = columns / group;
  static constexpr int tile_rows = std::is_same_v<Real, float> ? 64 : 32;
  static constexpr int threads = tile_rows * groups;
  static constexpr int tile_size = tile_rows * most; ///< rows below, by columns
  static constexpr int first_size = tile_size > most* most ? tile_size : most* most;
  static constexpr int loads = tile_size / threads; ///< of a thread for a tile
  ArrayPointer<InverseTask> tasks;
  ArrayPointer<InversePanel> panels;
  ArrayPointer<InverseTarget> targets;
  ArrayPointer<double> panel, diagonal;
  ArrayPointer<Real> work;     ///< Y and W
  ArrayPointer<Storage> value; ///< W as stored, if that is another array
  int first_task;

  static constexpr int scratch_entries = columns * most + first_size + tile_size;
  static std::size_t scratch_bytes() { return scratch_entries * sizeof(Real) + 16; }

  /// sum[q] = row i of a tile (by columns of `stride`) times columns first + q of `right`.
  KOKKOS_FUNCTION static void multiply(const Real* tile, int stride, int i, int terms,
                                       const Real* right, int first, Real (&sum)[group]) {
    for (int q = 0; q < group; ++q)
      sum[q] = 0;
    for (int k = 0; k < terms; ++k) {
      const Real l = tile[k * stride + i];
      const EightEntries<Real> r =
          *reinterpret_cast<const EightEntries<Real>*>(right + k * columns + first);
      for (int q = 0; q < group; ++q)
        sum[q] += l * r.entry[q];
    }
  }

  /// Whether eight columns are all of the subtree; others are those of another team.
  KOKKOS_FUNCTION static bool whole(int first, int least, int end) {
    return first >= least && first + group <= end;
  }
  KOKKOS_FUNCTION static void load_eight(const Real* from, Real (&values)[group]) {
    const EightEntries<Real> eight = *reinterpret_cast<const EightEntries<Real>*>(from);
    for (int q = 0; q < group; ++q)
      values[q] = eight.entry[q];
  }
  template<class T>
  KOKKOS_FUNCTION static void store_eight(T* to, const Real (&values)[group]) {
    EightEntries<T> eight;
    for (int q = 0; q < group; ++q)
      if constexpr (std::is_same_v<T, Half>) // M stays positive definite, whatever W is
        eight.entry[q] = Half::within_range(values[q]);
      else
        eight.entry[q] = values[q];
    *reinterpret_cast<EightEntries<T>*>(to) = eight;
  }

  /// A thread's part of the tile from `row`; all loads come before what is done with them.
  KOKKOS_FUNCTION void load(const InversePanel& s, int row, int thread, Real (&part)[loads]) const {
    const int i = row + thread % tile_rows;
    const double* const from = panel.data + s.panel + s.n + i;
    for (int q = 0; q < loads; ++q) {
      const int k = thread / tile_rows + q * groups;
      part[q] = i < s.below && k < s.n ? Real(from[std::int64_t(k) * (s.n + s.below)]) : Real(0);
    }
  }
  KOKKOS_FUNCTION static void store(int thread, const Real (&part)[loads], Real* tile) {
    for (int q = 0; q < loads; ++q)
      tile[thread + q * threads] = part[q];
  }

  /// A team forms these columns of a panel's rows.
  struct Columns {
    InversePanel s;
    int first, width; ///< from the panel's origin
    int own, least;   ///< the panel's, from `first`
    std::int64_t at;  ///< of the first row in W
  };
  KOKKOS_FORCEINLINE_FUNCTION Columns columns_of(const InverseTask& task) const {
    const InversePanel s = panels(task.panel);
    return {s,
            task.column,
            Kokkos::min(int(columns), s.stride - task.column),
            s.own - task.column,
            s.least - task.column,
            s.begin + task.column};
  }

  /// Loads a thread's part of Y_s, which is one in the panel's own columns, and of L_ss^-1.
  KOKKOS_FORCEINLINE_FUNCTION void load_rows(const Columns& b, int thread, Real* y,
                                             Real* inverse) const {
    constexpr int per_y = (most * columns + threads - 1) / threads;
    constexpr int per_inverse = (most * most + threads - 1) / threads;
    const int n = b.s.n;
    Real of_y[per_y], of_inverse[per_inverse];
    for (int q = 0; q < per_y; ++q) {
      const int item = thread + q * threads, i = item / columns, c = item % columns;
      of_y[q] = 0;
      if (i < n && c < b.width)
        of_y[q] =
            c - b.own >= 0 ? Real(c - b.own == i) : work(b.at + std::int64_t(i) * b.s.stride + c);
    }
    for (int q = 0; q < per_inverse; ++q) {
      const int item = thread + q * threads;
      of_inverse[q] = item < n * n ? Real(diagonal(b.s.diagonal + item)) : Real(0);
    }
    for (int q = 0; q < per_y; ++q)
      if (thread + q * threads < most * columns)
        y[thread + q * threads] = of_y[q];
    for (int q = 0; q < per_inverse; ++q)
      if (thread + q * threads < most * most)
        inverse[thread + q * threads] = of_inverse[q];
  }

  /// Forms a thread's part of W_s = L_ss^-1 Y_s.
  KOKKOS_FORCEINLINE_FUNCTION void form_rows(const Columns& b, int thread, const Real* y,
                                             const Real* inverse, Real* w) const {
    const int i = thread % most, first = thread / most * group;
    if (i >= b.s.n)
      return;
    Real sum[group];
    multiply(inverse, b.s.n, i, i + 1, y, first, sum);
    for (int q = 0; q < group; ++q)
      w[i * columns + first + q] = sum[q];
    if (first >= b.width)
      return;
    const std::int64_t to = b.at + std::int64_t(i) * b.s.stride + first;
    if constexpr (std::is_same_v<Real, Storage>)
      store_eight(&work(to), sum);
    else
      store_eight(&value(to), sum);
  }

  /// Updates a thread's part of Y_R -= L_Rs W_s, of the tile of rows from `row`, and loads the next
  /// tile.
  KOKKOS_FORCEINLINE_FUNCTION void update_rows_above(const Columns& b, int row, int thread,
                                                     const Real* w, const Real* tile,
                                                     Real* next_tile) const {
    const InversePanel& s = b.s;
    const int i = row + thread % tile_rows, first = thread / tile_rows * group;
    const int end = b.own + s.n;
    const bool inside = i < s.below && first < b.width;
    Real before[group] = {}, sum[group], next[loads];
    Real* to = nullptr;
    if (inside) {
      const InverseTarget target = targets(s.row_begin + i / 3);
      to = work.data + target.begin + std::int64_t(i % 3) * target.stride + b.first + first;
      if (whole(first, b.least, end))
        load_eight(to, before);
      else
        for (int q = 0; q < group; ++q)
          before[q] = first + q >= b.least && first + q < end ? to[q] : Real(0);
    }
    load(s, row + tile_rows, thread, next);
    multiply(tile, int(tile_rows), thread % tile_rows, s.n, w, first, sum);
    for (int q = 0; q < group; ++q)
      sum[q] = before[q] - sum[q];
    if (inside && whole(first, b.least, end))
      store_eight(to, sum);
    else if (inside)
      for (int q = 0; q < group; ++q)
        if (first + q >= b.least && first + q < end)
          to[q] = sum[q];
    if (row + tile_rows < s.below)
      store(thread, next, next_tile);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Columns b = columns_of(tasks(first_task + team.league_rank()));
    Real* const w =
        static_cast<Real*>(team.team_scratch(int(scratch_level<Exec>))
                               .get_shmem_aligned(int(scratch_entries) * int(sizeof(Real)), 16));
    Real* const tiles[2] = {w + columns * most, w + columns * most + first_size};
    Real* const y = tiles[1];
    Real* const inverse = tiles[0];
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)),
                         [&](int thread) { load_rows(b, thread, y, inverse); });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, most * groups),
                         [&](int thread) { form_rows(b, thread, y, inverse, w); });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int thread) {
      Real part[loads];
      load(b.s, 0, thread, part);
      store(thread, part, tiles[0]);
    });
    team.team_barrier();
    for (int row = 0, buffer = 0; row < b.s.below; row += tile_rows, buffer = 1 - buffer) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int thread) {
        update_rows_above(b, row, thread, w, tiles[buffer], tiles[1 - buffer]);
      });
      team.team_barrier();
    }
  }
};

/// Eight entries of the rows above bands, as they are stored.
template<class Real, class Storage>
struct StoreUpdates {
  ArrayPointer<Real> work;
  ArrayPointer<Storage> value;
  std::int64_t begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t at = begin + 8 * i;
    EightEntries<Storage> eight;
    for (int q = 0; q < 8; ++q)
      if constexpr (std::is_same_v<Storage, Half>)
        eight.entry[q] = Half::within_range(work(at + q));
      else
        eight.entry[q] = Storage(work(at + q));
    *reinterpret_cast<EightEntries<Storage>*>(&value(at)) = eight;
  }
};

/// Levels within the bands: 0 without children in the band, else 1 + the highest of these.
inline std::vector<int> levels_in_bands(const FactorPattern& pattern, const InverseLayout& layout) {
  std::vector<int> level(pattern.parent.size(), 0);
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int parent = pattern.parent[s];
    if (parent >= 0 && layout.band[parent] == layout.band[s])
      level[parent] = std::max(level[parent], level[s] + 1);
  }
  return level;
}

/// Where the row of a node below panel s is.
inline InverseTarget target_of(const FactorPattern& pattern, const InverseLayout& layout, int s,
                               int node) {
  const int above = pattern.panel_of[node];
  if (layout.band[above] == layout.band[s])
    return {layout.begin[above] +
                3 * std::int64_t(node - pattern.first[above]) * layout.stride[above] +
                layout.origin[s] - layout.origin[above],
            layout.stride[above]};
  const InverseUpdate& update = layout.updates[layout.update_of[s]];
  const auto first = pattern.row.begin() + pattern.row_begin[update.root];
  const auto last = pattern.row.begin() + pattern.row_begin[update.root + 1];
  const std::int64_t row = std::lower_bound(first, last, node) - first;
  return {update.begin + 3 * row * update.stride + layout.origin[s] - update.origin, update.stride};
}

} // namespace detail

/// Made once for a pattern and a storage.
template<class Exec, class Storage>
class InverseForming {
public:
  using Real = std::conditional_t<std::is_same_v<Storage, double>, double, float>;

  InverseForming(const Exec& exec, const FactorPattern& pattern, const InverseLayout& layout);

  /// Fills `inverse.value` from L and the inverses of its diagonal blocks. The arithmetic is single
  /// for storage in single or half, else double. Does not fence.
  void form(const Exec& exec, const SupernodalFactor<Exec>& factor,
            const DiagonalInverse<Exec>& diagonal,
            const InverseFactor<Exec, Storage>& inverse) const;

private:
  Array<detail::InverseTask, Exec> tasks_;
  Array<detail::InversePanel, Exec> panels_;
  Array<detail::InverseTarget, Exec> targets_;
  Array<Real, Exec> work_; ///< where the storage is not Real
  std::vector<int> level_begin_;
  std::int64_t panel_entries_, num_entries_;
};

template<class Exec, class Storage>
InverseForming<Exec, Storage>::InverseForming(const Exec& exec, const FactorPattern& pattern,
                                              const InverseLayout& layout)
    : panel_entries_(layout.begin.back())
    , num_entries_(layout.num_entries) {
  const std::vector<int> level_of = detail::levels_in_bands(pattern, layout);
  int num_levels = 0;
  for (const int level : level_of)
    num_levels = std::max(num_levels, level + 1);
  std::vector<std::vector<detail::InverseTask>> at_level(num_levels);
  for (int s = 0; s < pattern.num_panels(); ++s)
    for (int column = 0; column < layout.stride[s]; column += detail::inverse_columns)
      at_level[level_of[s]].push_back({s, column});
  std::vector<detail::InverseTask> tasks;
  level_begin_.push_back(0);
  for (const auto& level : at_level) {
    tasks.insert(tasks.end(), level.begin(), level.end());
    level_begin_.push_back(int(tasks.size()));
  }
  std::vector<detail::InversePanel> panels;
  std::vector<detail::InverseTarget> targets;
  std::int64_t diagonal = 0;
  for (int s = 0; s < pattern.num_panels(); ++s) {
    const int n = 3 * pattern.width(s);
    panels.push_back({pattern.begin[s], diagonal, layout.begin[s], n, 3 * pattern.num_below(s),
                      pattern.row_begin[s], layout.stride[s],
                      layout.subtree_column[s] - layout.origin[s],
                      layout.column[s] - layout.origin[s]});
    diagonal += std::int64_t(n) * n;
    for (int k = pattern.row_begin[s]; k < pattern.row_begin[s + 1]; ++k)
      targets.push_back(detail::target_of(pattern, layout, s, pattern.row[k]));
  }
  tasks_ = upload(exec, "ossatura::inverse::tasks", tasks);
  panels_ = upload(exec, "ossatura::inverse::panels", panels);
  targets_ = upload(exec, "ossatura::inverse::targets", targets);
  if constexpr (!std::is_same_v<Storage, Real>)
    work_ = make_uninitialized<Real>(exec, layout.num_entries, "ossatura::inverse::work");
}

template<class Exec, class Storage>
void InverseForming<Exec, Storage>::form(const Exec& exec, const SupernodalFactor<Exec>& factor,
                                         const DiagonalInverse<Exec>& diagonal,
                                         const InverseFactor<Exec, Storage>& inverse) const {
  detail::FormInverse<Exec, Real, Storage> kernel;
  kernel.tasks = tasks_;
  kernel.panels = panels_;
  kernel.targets = targets_;
  kernel.panel = factor.panel;
  kernel.diagonal = diagonal.value;
  kernel.value = inverse.value;
  if constexpr (std::is_same_v<Storage, Real>) {
    kernel.work = inverse.value;
    fill_zeros(exec, inverse.value);
  } else {
    kernel.work = work_;
    fill_zeros(exec, work_);
  }
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    kernel.first_task = level_begin_[level];
    Kokkos::parallel_for(
        "ossatura::form_inverse",
        Kokkos::TeamPolicy<Exec>(exec, level_begin_[level + 1] - level_begin_[level],
                                 BackendTraits<Exec>::is_device ? int(kernel.threads) : 1)
            .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(kernel.scratch_bytes())),
        kernel);
  }
  if constexpr (!std::is_same_v<Storage, Real>)
    if (num_entries_ > panel_entries_)
      Kokkos::parallel_for(
          "ossatura::form_inverse::store", range(exec, (num_entries_ - panel_entries_) / 8),
          detail::StoreUpdates<Real, Storage>{work_, inverse.value, panel_entries_});
}

} // namespace ossatura
