// SPDX-License-Identifier: Apache-2.0
// The supernode solve for cores applies M^-1 = L^-T D^-1 L^-1 panel by panel: subtrees of the
// elimination tree side by side, the panels above them one after the other.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/panel_solve.hpp>
#include <ossatura/kernels/factor/subtree_tasks.hpp>

namespace ossatura {

namespace detail {

/// The data that the passes share. `work` is a vector of the nodes, then the tasks' buffers.
template<class Exec>
struct TaskSolve {
  int num_tasks, num_top;
  ArrayPointer<int> panel_first, row_begin, row;
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> first, last, top, target, buffer_begin, buffered;
  ArrayPointer<double> panel, pivot;
  ArrayPointer<double> r, z, work;
  int num_nodes;

  KOKKOS_FORCEINLINE_FUNCTION PanelColumns columns(int s) const {
    const int width = panel_first(s + 1) - panel_first(s);
    const int below = row_begin(s + 1) - row_begin(s);
    return {panel.data + begin(s), 3 * std::ptrdiff_t(width + below), 3 * width};
  }
  KOKKOS_FORCEINLINE_FUNCTION void lower(int s) const {
    solve_panel(columns(s), target.data + row_begin(s), work.data + 3 * panel_first(s), work.data);
  }
  KOKKOS_FORCEINLINE_FUNCTION void upper(int s) const {
    const int begin_row = 3 * panel_first(s), end_row = 3 * panel_first(s + 1);
    for (int i = begin_row; i < end_row; ++i)
      z(i) = work(i) / pivot(i);
    solve_transposed_panel(columns(s), row.data + row_begin(s), z.data, z.data + begin_row);
  }
};

template<class Exec>
struct SolveLowerTasks : TaskSolve<Exec> {
  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const int first = this->first(t), last = this->last(t);
    for (int i = 3 * this->panel_first(first); i < 3 * this->panel_first(last); ++i)
      this->work(i) = this->r(i);
    const int buffers = 3 * this->num_nodes;
    for (int i = 3 * this->buffer_begin(t); i < 3 * this->buffer_begin(t + 1); ++i)
      this->work(buffers + i) = 0;
    for (int s = first; s < last; ++s)
      this->lower(s);
  }
};

/// One index: everything above the tasks, down and up again.
template<class Exec>
struct SolveTop : TaskSolve<Exec> {
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (int n = 0; n < this->num_top; ++n) {
      const int s = this->top(n);
      for (int i = 3 * this->panel_first(s); i < 3 * this->panel_first(s + 1); ++i)
        this->work(i) = this->r(i);
    }
    // In the order of the tasks, whoever ran them.
    const int num_buffered = this->num_tasks > 0 ? this->buffer_begin(this->num_tasks) : 0;
    for (int k = 0; k < num_buffered; ++k)
      for (int c = 0; c < 3; ++c)
        this->work(3 * this->buffered(k) + c) += this->work(3 * (this->num_nodes + k) + c);
    for (int n = 0; n < this->num_top; ++n)
      this->lower(this->top(n));
    for (int n = this->num_top - 1; n >= 0; --n)
      this->upper(this->top(n));
  }
};

template<class Exec>
struct SolveUpperTasks : TaskSolve<Exec> {
  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    for (int s = this->last(t) - 1; s >= this->first(t); --s)
      this->upper(s);
  }
};

} // namespace detail

/// Set up once for a pattern. Results do not depend on the number of threads.
template<class Exec>
class SupernodeTasks {
public:
  /// A task has at most `largest_task` entries of L; 0: by itself. Fences.
  SupernodeTasks(const Exec& exec, const FactorPattern& pattern, std::int64_t largest_task = 0)
      : num_nodes_(pattern.num_nodes) {
    // A thread does less than `least` before a second one has woken up.
    constexpr std::int64_t least = 20000, parts = 6;
    if (largest_task == 0)
      largest_task = std::max(pattern.begin.back() / parts, std::int64_t(least));
    const SubtreeTasks tasks = make_subtree_tasks(pattern, largest_task);
    num_tasks_ = tasks.num_tasks();
    const auto copy_of = [&](const char* name, const auto& values) {
      return upload(exec, std::string("ossatura::supernode_tasks::") + name, values);
    };
    panel_first_ = copy_of("panel_first", pattern.first);
    row_begin_ = copy_of("row_begin", pattern.row_begin);
    row_ = copy_of("row", pattern.row);
    begin_ = copy_of("begin", pattern.begin);
    first_ = copy_of("first", tasks.first);
    last_ = copy_of("last", tasks.last);
    top_ = copy_of("top", tasks.top);
    target_ = copy_of("target", tasks.target);
    buffer_begin_ = copy_of("buffer_begin", tasks.buffer_begin);
    buffered_ = copy_of("buffered", tasks.buffered);
    work_ = make_zeros<double>(
        exec, 3 * (std::int64_t(pattern.num_nodes) + std::int64_t(tasks.buffered.size())),
        "ossatura::supernode_tasks::work");
  }

  /// Keeps the arrays of the factor, and copies nothing: they stay as they are until the next
  /// refresh. Does not fence.
  void refresh(const Exec&, const SupernodalFactor<Exec>& factor) {
    OSSATURA_REQUIRE(factor.pivot.extent(0) == std::size_t(3) * num_nodes_,
                     "a factor of " << factor.pivot.extent(0) / 3 << " nodes, not " << num_nodes_);
    panel_ = factor.panel;
    pivot_ = factor.pivot;
  }

  /// z = M^-1 r; both [3 num_nodes], z may be r. Three launches; does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z) const {
    using Tasks = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>,
                                      Kokkos::Schedule<Kokkos::Dynamic>>;
    const detail::TaskSolve<Exec> solve = {num_tasks_,
                                           int(top_.extent(0)),
                                           panel_first_,
                                           row_begin_,
                                           row_,
                                           begin_,
                                           first_,
                                           last_,
                                           top_,
                                           target_,
                                           buffer_begin_,
                                           buffered_,
                                           panel_,
                                           pivot_,
                                           r,
                                           z,
                                           work_,
                                           num_nodes_};
    Tasks tasks(exec, 0, num_tasks_);
    tasks.set_chunk_size(1);
    if (num_tasks_ > 0)
      Kokkos::parallel_for("ossatura::supernode_tasks::lower", tasks,
                           detail::SolveLowerTasks<Exec>{solve});
    Kokkos::parallel_for("ossatura::supernode_tasks::top", range(exec, 1),
                         detail::SolveTop<Exec>{solve});
    if (num_tasks_ > 0)
      Kokkos::parallel_for("ossatura::supernode_tasks::upper", tasks,
                           detail::SolveUpperTasks<Exec>{solve});
  }

  /// Read and written by an application at the least.
  std::int64_t bytes() const {
    return 2 * (std::int64_t(panel_.extent(0)) * 8 + std::int64_t(row_.extent(0)) * 4) +
           std::int64_t(num_nodes_) * 24 * 5;
  }
  int num_levels() const { return num_tasks_ > 0 ? 2 : 1; }

private:
  int num_nodes_, num_tasks_;
  Array<int, Exec> panel_first_, row_begin_, row_;
  Array<std::int64_t, Exec> begin_;
  Array<int, Exec> first_, last_, top_, target_, buffer_begin_, buffered_;
  Array<double, Exec> panel_, pivot_, work_;
};

} // namespace ossatura
