// SPDX-License-Identifier: Apache-2.0
// The batched factorisation computes A = L D L^T on a device: multifrontal [1], all panels of a
// level of the elimination tree at once. A panel that is its parent's only child leaves its update
// matrix in place for the parent.
//
// [1] J. Liu. The multifrontal method for sparse matrix solution: theory and practice. SIAM Rev. 34
//     (1992) 82-109, doi:10.1137/1034004.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/diagonal_inverse.hpp>
#include <ossatura/kernels/factor/front_elimination.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace ossatura {

/// Made once for a pattern; memory for the update matrices stays.
template<class Exec>
class BatchedFactor {
public:
  /// `row_begin`, `column` of A, numbered as the pattern is. Fences.
  BatchedFactor(const Exec& exec, const FactorPattern& pattern, const std::vector<int>& row_begin,
                const std::vector<int>& column);

  /// Fills L, D, D^-1 [3 num_nodes] and the inverses of the diagonal blocks. Pivots that are not
  /// positive are replaced as on the host and counted in replaced(0), which the caller zeroes.
  /// Does not fence.
  void factor(const Exec& exec, const BlockMatrix<Exec>& matrix,
              const SupernodalFactor<Exec>& factor, const Array<double, Exec>& inverse_pivot,
              const DiagonalInverse<Exec>& diagonal, const Array<int, Exec>& replaced) const;

private:
  void add_tasks(const FactorPattern& pattern, std::vector<FrontTask>& tasks);

  Array<FrontPanel, Exec> panels_;
  Array<FrontChild, Exec> children_;
  Array<int, Exec> place_, source_;
  Array<FrontTask, Exec> tasks_;
  Array<double, Exec> update_, block_, diagonal_;
  std::vector<int> level_begin_; ///< of tasks: eliminate and update of each level in turn
};

template<class Exec>
void BatchedFactor<Exec>::add_tasks(const FactorPattern& pattern, std::vector<FrontTask>& tasks) {
  const int num_levels = pattern.num_panels() == 0
                             ? 0
                             : 1 + *std::max_element(pattern.level.begin(), pattern.level.end());
  std::vector<std::vector<int>> at_level(num_levels);
  for (int s = 0; s < pattern.num_panels(); ++s)
    at_level[pattern.level[s]].push_back(s);
  level_begin_.assign(1, 0);
  for (const std::vector<int>& level : at_level) {
    for (const int s : level) {
      const int below = 3 * pattern.num_below(s);
      for (int row = 0; row == 0 || row < below; row += detail::front_rows)
        tasks.push_back({s, row, 0});
    }
    level_begin_.push_back(int(tasks.size()));
    for (const int s : level)
      for (int row = 0; row < 3 * pattern.num_below(s); row += detail::update_tile)
        for (int column = 0; column <= row; column += detail::update_tile)
          tasks.push_back({s, row, column});
    level_begin_.push_back(int(tasks.size()));
  }
}

template<class Exec>
BatchedFactor<Exec>::BatchedFactor(const Exec& exec, const FactorPattern& pattern,
                                   const std::vector<int>& row_begin,
                                   const std::vector<int>& column) {
  const int num_panels = pattern.num_panels();
  std::vector<std::vector<int>> children_of(num_panels);
  for (int s = 0; s < num_panels; ++s)
    if (pattern.parent[s] >= 0)
      children_of[pattern.parent[s]].push_back(s);

  std::vector<FrontPanel> panels(num_panels);
  std::vector<FrontChild> children;
  std::vector<int> place, source, index(std::size_t(pattern.num_nodes), -1);
  std::int64_t update = 0, inverse = 0;
  const auto rows_of = [&](int s) { return pattern.row.data() + pattern.row_begin[s]; };
  for (int s = 0; s < num_panels; ++s) {
    FrontPanel& own = panels[s];
    own.panel = pattern.begin[s];
    own.inverse = inverse;
    own.first = pattern.first[s];
    own.width = pattern.width(s);
    own.below = pattern.num_below(s);
    inverse += 9 * std::int64_t(own.width) * own.width;
    const std::vector<int>& below_me = children_of[s];
    own.in_place = below_me.size() == 1 && pattern.num_below(below_me[0]) == own.width + own.below;
    if (own.in_place) {
      const FrontPanel& child = panels[below_me[0]];
      own.update_stride = child.update_stride;
      own.update = child.update + 3 * std::int64_t(own.width) * (child.update_stride + 1);
    } else {
      own.update_stride = 3 * own.below;
      own.update = update;
      update += 9 * std::int64_t(own.below) * own.below;
    }
    own.child_begin = int(children.size());
    for (const int c : below_me) {
      for (int k = 0; k < pattern.num_below(c); ++k)
        index[rows_of(c)[k]] = k;
      children.push_back({panels[c].update, panels[c].update_stride, int(place.size())});
      for (int k = 0; k < own.width; ++k)
        place.push_back(index[own.first + k]);
      for (int k = 0; k < own.below; ++k)
        place.push_back(index[rows_of(s)[k]]);
      for (int k = 0; k < pattern.num_below(c); ++k)
        index[rows_of(c)[k]] = -1;
    }
    own.child_end = int(children.size());
    own.source = std::int64_t(source.size());
    for (int j = own.first; j < own.first + own.width; ++j) {
      // The number of block (i, j) of A, by a search in row i; -1: fill.
      const auto block_of = [&](int i) {
        const auto begin = column.begin() + row_begin[i], end = column.begin() + row_begin[i + 1];
        const auto found = std::lower_bound(begin, end, j);
        return found != end && *found == j ? int(found - column.begin()) : -1;
      };
      for (int i = own.first; i < own.first + own.width; ++i)
        source.push_back(i < j ? -1 : block_of(i));
      for (int k = 0; k < own.below; ++k)
        source.push_back(block_of(rows_of(s)[k]));
    }
  }
  std::vector<FrontTask> tasks;
  add_tasks(pattern, tasks);
  panels_ = upload(exec, "ossatura::fronts::panels", panels);
  children_ = upload(exec, "ossatura::fronts::children", children);
  place_ = upload(exec, "ossatura::fronts::place", place);
  source_ = upload(exec, "ossatura::fronts::source", source);
  tasks_ = upload(exec, "ossatura::fronts::tasks", tasks);
  update_ = make_uninitialized<double>(exec, update, "ossatura::fronts::update");
  block_ = make_uninitialized<double>(exec, inverse, "ossatura::fronts::block");
  diagonal_ = make_uninitialized<double>(exec, 3 * std::int64_t(pattern.num_nodes),
                                         "ossatura::fronts::diagonal");
}

template<class Exec>
void BatchedFactor<Exec>::factor(const Exec& exec, const BlockMatrix<Exec>& matrix,
                                 const SupernodalFactor<Exec>& factor,
                                 const Array<double, Exec>& inverse_pivot,
                                 const DiagonalInverse<Exec>& diagonal,
                                 const Array<int, Exec>& replaced) const {
  detail::FrontPointers<Exec> front;
  front.panels = panels_;
  front.children = children_;
  front.place = place_;
  front.source = source_;
  front.matrix = matrix.value;
  front.panel = factor.panel;
  front.pivot = factor.pivot;
  front.inverse_pivot = inverse_pivot;
  front.inverse = diagonal.value;
  front.update = update_;
  front.block = block_;
  front.diagonal = diagonal_;
  front.replaced = replaced;
  front.tasks = tasks_;
  const int team_size = BackendTraits<Exec>::is_device ? detail::front_threads : 1;
  const auto launch = [&](const char* label, int step, const auto& kernel) {
    const int num_tasks = level_begin_[step + 1] - level_begin_[step];
    if (num_tasks > 0)
      Kokkos::parallel_for(
          label,
          Kokkos::TeamPolicy<Exec>(exec, num_tasks, team_size)
              .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(kernel.scratch_bytes())),
          kernel);
  };
  Kokkos::parallel_for("ossatura::batched_factor::scatter",
                       Kokkos::TeamPolicy<Exec>(exec, panels_.extent(0), team_size),
                       detail::ScatterMatrix<Exec>{front});
  for (int step = 0; step + 1 < int(level_begin_.size()); step += 2) {
    launch("ossatura::batched_factor::eliminate", step,
           detail::EliminatePanel<Exec>{front, level_begin_[step]});
    launch("ossatura::batched_factor::update", step + 1,
           detail::UpdateFront<Exec>{front, level_begin_[step + 1]});
  }
}

} // namespace ossatura
