// SPDX-License-Identifier: Apache-2.0
// Weights of points go back along their arrivals, until they are at sites: the adjoint of
// activation times. Levels are an order for that: a point is of the level after that of the last
// one that hands to it, and gathers, in the order of its list, when all of these are done. The
// numbers are the same for any number of threads.
//
// By time there is no such order: a wave along bent fibres comes through faces with a vertex that
// is later than the point. Circles of few points are solved before (arrival_graph.hpp). Where one
// is too large for that, none of its points is of a level; those late ones are then listed that
// wait for earlier points alone, without what these will hand them, which is left for another pass.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/eikonal/arrival_graph.hpp>

#include <limits>

namespace ossatura {

/// Points by levels, as they are found.
template<class Exec>
struct PointLevels {
  static constexpr int unlisted = std::numeric_limits<int>::max();
  static constexpr int let_go = 1 << 30; ///< of `pending`: listed before it was 0

  struct Run {
    int begin = 0; ///< in `order`, once the level before it is done
    int count = 0; ///< points of it that are listed
  };

  Array<int, Exec> order;   ///< [num_points], level by level
  Array<int, Exec> level;   ///< [num_points], or unlisted
  Array<int, Exec> pending; ///< [num_points] how many are to hand to it yet
  Array<Run, Exec> run;     ///< [levels + 1]

  /// Lists a point as the next of a level that begins at `begin`.
  KOKKOS_FUNCTION void list(int i, int of_level, int begin) const {
    order(begin + Kokkos::atomic_fetch_add(&run(of_level).count, 1)) = i;
    level(i) = of_level;
  }
};

namespace detail {

template<class Exec>
struct CountPending {
  Array<int, Exec> begin, pending;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { pending(i) = begin(i + 1) - begin(i); }
};

/// Lists points for a level: those that nobody hands to, or that were let go.
template<class Exec>
struct ListPoints {
  PointLevels<Exec> levels;
  int now, pending;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (levels.level(i) != PointLevels<Exec>::unlisted || levels.pending(i) != pending)
      return;
    levels.list(int(i), now, levels.run(now).begin);
  }
};

/// Lets go the points that wait for earlier ones alone.
template<class Exec>
struct LetGo {
  GiverLists<Exec> givers;
  PointLevels<Exec> levels;
  LaterPoint<Exec> is_later;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (levels.level(i) != PointLevels<Exec>::unlisted)
      return;
    bool waits_for_later = false;
    givers.each(int(i), [&](int p, double) {
      waits_for_later = waits_for_later ||
                        (is_later(p, int(i)) && levels.level(p) == PointLevels<Exec>::unlisted);
    });
    if (!waits_for_later)
      levels.pending(i) = PointLevels<Exec>::let_go;
  }
};

/// What comes to a point: its own weight, and what points of levels before hand to it.
template<class Exec>
struct GatherWeights {
  GiverLists<Exec> givers;
  Array<int, Exec> level;
  Array<double, Exec> flow; ///< [num_points]; 0 before

  KOKKOS_FUNCTION void gather(int i, int now) const {
    double sum = givers.weight(i);
    givers.each(i, [&](int p, double part) {
      if (level(p) < now)
        sum += part * flow(p);
    });
    flow(i) = sum;
  }
};

/// Takes the points of a level, and lists those of the next: who takes from one of a circle waits
/// for it with the whole circle. `stride` threads share them.
template<class Exec>
struct TakeLevel {
  ArrivalGraph<Exec> graph;
  ArrivalCircles<Exec> circles;
  GatherWeights<Exec> weights;
  PointLevels<Exec> levels;
  int now, stride;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    const auto here = levels.run(now);
    const int end = here.begin + here.count;
    if (thread == 0)
      levels.run(now + 1).begin = end;
    for (int k = here.begin + int(thread); k < end; k += stride) {
      const int i = levels.order(k);
      weights.gather(i, now);
      graph.each_taker(i, [&](int taker, double) {
        if (circles.join(i, taker))
          return;
        circles.each(taker, [&](int j) {
          if (Kokkos::atomic_fetch_sub(&levels.pending(j), 1) == 1)
            levels.list(j, now + 1, end);
        });
      });
    }
  }
};

/// The same where levels are known.
template<class Exec>
struct TakeLevelAgain {
  GatherWeights<Exec> weights;
  Array<int, Exec> order;
  int now;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const { weights.gather(order(k), now); }
};

/// What points hand to those that were listed before they were done.
template<class Exec>
struct FindLeft {
  GiverLists<Exec> givers;
  PointLevels<Exec> levels;
  Array<double, Exec> flow, left;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double (&sum)[1]) const {
    const int own = levels.level(i);
    double here = 0;
    if (levels.pending(i) > PointLevels<Exec>::let_go / 2)
      givers.each(int(i), [&](int p, double part) {
        if (levels.level(p) >= own)
          here += part * flow(p);
      });
    left(i) = here;
    sum[0] += Kokkos::fabs(here);
  }
};

template<class Exec>
struct SumOfSizes {
  Array<double, Exec> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double (&sum)[1]) const {
    sum[0] += Kokkos::fabs(x(i));
  }
};

} // namespace detail

/// The way back for one set of weights; see above.
template<class Exec>
class BackFlow {
public:
  /// Of arrivals by `time` and weights [num_points], in memory of `scratch`. Throws
  /// std::runtime_error where weights go in circles for ever, as they do not where times are
  /// converged. Fences.
  BackFlow(const Exec& exec, const ArrivalGraph<Exec>& graph, const Array<double, Exec>& time,
           const Array<double, Exec>& weight, ScratchMemory<Exec>& scratch)
      : graph_(graph)
      , time_(time)
      , n_(int(time.extent(0)))
      , circles_(find_circles(exec, graph, time, scratch))
      , givers_(list_givers(exec, graph, circles_, weight, scratch)) {
    for (Array<int, Exec>* array : {&levels_.order, &levels_.level, &levels_.pending})
      *array = scratch.template take<int>(n_);
    levels_.run = scratch.template take<Run>(room_at_first);
    Kokkos::deep_copy(exec, levels_.run, Run{});
    Kokkos::deep_copy(exec, levels_.level, PointLevels<Exec>::unlisted);
    Kokkos::parallel_for("ossatura::count_pending", range(exec, n_),
                         detail::CountPending<Exec>{givers_.begin, levels_.pending});
  }

  /// flow [num_points] = what comes to each point, its own weight included. Once. Throws as the
  /// constructor. Fences.
  void take_back(const Exec& exec, const Array<double, Exec>& flow) {
    Kokkos::deep_copy(exec, flow, 0.0);
    list(exec, 0, 0);
    int now = 0;
    for (Run next = look(exec, now); next.begin < n_; next = look(exec, now)) {
      if (next.count == 0)
        next.count = let_go(exec, now);
      now = take_some(exec, now, next.count, flow);
    }
    if (has_let_go_)
      take_what_is_left(exec, now, flow);
    fence(exec, "ossatura::eikonal::take_back");
  }

private:
  using Run = typename PointLevels<Exec>::Run;
  /// A look at a device takes as long as some levels.
  static constexpr int levels_a_look = BackendTraits<Exec>::is_device ? 16 : 1;
  static constexpr int device_threads = 1 << 15;
  static constexpr int room_at_first = 1024; ///< levels; twice as many when they are found

  ArrivalGraph<Exec> graph_;
  Array<double, Exec> time_;
  int n_;
  ArrivalCircles<Exec> circles_;
  GiverLists<Exec> givers_;
  PointLevels<Exec> levels_;
  bool has_let_go_ = false;

  Run look(const Exec& exec, int now) const {
    Run found{};
    Kokkos::deep_copy(exec, Kokkos::View<Run, Kokkos::HostSpace>(&found),
                      Kokkos::subview(levels_.run, now));
    fence(exec, "ossatura::eikonal::look");
    return found;
  }

  void list(const Exec& exec, int now, int pending) const {
    Kokkos::parallel_for("ossatura::list_points", range(exec, n_),
                         detail::ListPoints<Exec>{levels_, now, pending});
  }

  int take_some(const Exec& exec, int now, int count, const Array<double, Exec>& flow) {
    if (now + levels_a_look + 1 >= int(levels_.run.extent(0)))
      Kokkos::resize(levels_.run, 2 * levels_.run.extent(0));
    const int threads = BackendTraits<Exec>::is_device ? device_threads : count;
    for (int k = 0; k < levels_a_look; ++k)
      Kokkos::parallel_for(
          "ossatura::take_level", range(exec, threads),
          detail::TakeLevel<Exec>{
              graph_, circles_, {givers_, levels_.level, flow}, levels_, now++, threads});
    return now;
  }

  /// Lists points for a level that nobody is of. Returns their number.
  int let_go(const Exec& exec, int now) {
    has_let_go_ = true;
    Kokkos::parallel_for("ossatura::let_go", range(exec, n_),
                         detail::LetGo<Exec>{givers_, levels_, {time_}});
    list(exec, now, PointLevels<Exec>::let_go);
    const int count = look(exec, now).count;
    OSSATURA_REQUIRE(count > 0, "arrivals that wait for points that are none");
    return count;
  }

  void take_what_is_left(const Exec& exec, int num_levels, const Array<double, Exec>& flow) const {
    constexpr int most_passes = 1000;
    constexpr double negligible = 1e-14; // of all weights
    const char* const label = "ossatura::eikonal::left";
    const auto left = make_zeros<double>(exec, n_, label);
    const auto more = make_zeros<double>(exec, n_, label);
    const std::vector<Run> run = download(
        exec, Array<Run, Exec>(Kokkos::subview(levels_.run, std::make_pair(0, num_levels))));
    const auto sum = [&](const auto& terms) {
      return part_sums<1>(exec, "ossatura::eikonal::left", n_, terms)[0];
    };
    const double all = sum(detail::SumOfSizes<Exec>{givers_.weight});
    double size = sum(detail::FindLeft<Exec>{givers_, levels_, flow, left});
    const detail::GatherWeights<Exec> weights{
        {givers_.begin, givers_.point, givers_.part, left}, levels_.level, more};
    LaunchGraph<Exec> levels;
    for (int pass = 0; pass < most_passes && size > negligible * all; ++pass) {
      levels.run(exec, [&] {
        for (std::size_t now = 0; now < run.size(); ++now)
          if (run[now].count > 0)
            Kokkos::parallel_for("ossatura::take_level_again",
                                 Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                     exec, run[now].begin, run[now].begin + run[now].count),
                                 detail::TakeLevelAgain<Exec>{weights, levels_.order, int(now)});
      });
      axpby(exec, 1.0, more, 1.0, flow);
      size = sum(detail::FindLeft<Exec>{givers_, levels_, more, left});
    }
    if (size > negligible * all)
      detail::fail_endless();
  }
};

} // namespace ossatura
