// SPDX-License-Identifier: Apache-2.0
// Weights of points go back along their arrivals, until they are at sites: the adjoint of
// activation times. A point hands what it has to the face that its wave came through, by the
// barycentric weights there. Levels are an order for that: a point is of the level after that of
// the last one that hands to it, and gathers, in the order of its ring, when all of these are done.
// The numbers are the same for any number of threads.
//
// By time there is no such order: a wave along bent fibres comes through faces with a vertex that
// is later than the point. Where points hand to each other in a circle, none of them is of a level;
// those late ones are then listed that wait for earlier points alone, without what these will hand
// them, which is left for another pass.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/eikonal/arrival.hpp>

#include <limits>

namespace ossatura {

/// Who hands to whom. Arrays in the order of the topology.
template<class Exec>
struct ArrivalGraph {
  Array<TetraPoints, Exec> tetra;
  Array<int, Exec> ring_begin, ring_member;
  Array<Arrival, Exec> arrival; ///< [num_points]

  /// visit(p, l) for each point p that hands a part l > 0 to i, in the order of the ring.
  template<class Visit>
  KOKKOS_FUNCTION void each_giver(int i, const Visit& visit) const {
    for (int k = ring_begin(i); k < ring_begin(i + 1); ++k) {
      const std::int64_t t = ring_member(k) >> 2;
      const int own = ring_member(k) & 3;
      const TetraPoints points = tetra(t);
      for (int c = 0; c < 4; ++c) {
        const Arrival& from = arrival(points.point[c]);
        if (c == own || from.tetra != t)
          continue;
        const double part = from.weight[own < c ? own : own - 1];
        if (part > 0)
          visit(points.point[c], part);
      }
    }
  }

  /// visit(f) for each point f that i hands a part to.
  template<class Visit>
  KOKKOS_FUNCTION void each_taker(int i, const Visit& visit) const {
    const Arrival& from = arrival(i);
    for (int k = 0, c = 0; from.tetra >= 0 && k < 4; ++k)
      if (k != from.corner && from.weight[c++] > 0)
        visit(tetra(from.tetra).point[k]);
  }
};

/// The givers of point i are point(begin(i)) .. point(begin(i + 1) - 1): a level has few points,
/// and takes as long as the reads of one of them that wait for each other.
template<class Exec>
struct GiverLists {
  Array<int, Exec> begin, point;
  Array<double, Exec> part;

  template<class Visit>
  KOKKOS_FUNCTION void each(int i, const Visit& visit) const {
    for (int k = begin(i); k < begin(i + 1); ++k)
      visit(point(k), part(k));
  }
};

/// Points by levels, as they are found.
template<class Exec>
struct PointLevels {
  static constexpr int unlisted = std::numeric_limits<int>::max();
  static constexpr int let_go = 1 << 30; ///< of `pending`: listed before it was 0

  Array<int, Exec> order;   ///< [num_points], level by level
  Array<int, Exec> level;   ///< [num_points], or unlisted
  Array<int, Exec> pending; ///< [num_points] how many are to hand to it yet
  Array<int, Exec> begin;   ///< [levels + 1] in `order`; of a level once the one before it is done
  Array<int, Exec> count;   ///< [levels + 1] points of it that are listed
};

namespace detail {

template<class Exec>
struct CountGivers {
  ArrivalGraph<Exec> graph;
  Array<int, Exec> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int found = 0;
    graph.each_giver(int(i), [&](int, double) { ++found; });
    count(i) = found;
  }
};

template<class Exec>
struct ListGivers {
  ArrivalGraph<Exec> graph;
  GiverLists<Exec> givers;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int k = givers.begin(i);
    graph.each_giver(int(i), [&](int p, double part) {
      givers.point(k) = p;
      givers.part(k++) = part;
    });
  }
};

/// Lists points for a level: those that nobody hands to, or that were let go.
template<class Exec>
struct ListPoints {
  PointLevels<Exec> levels;
  int now, pending;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (levels.level(i) != PointLevels<Exec>::unlisted || levels.pending(i) != pending)
      return;
    const int place = levels.begin(now) + Kokkos::atomic_fetch_add(&levels.count(now), 1);
    levels.order(place) = int(i);
    levels.level(i) = now;
  }
};

/// Lets go the points that wait for earlier ones alone.
template<class Exec>
struct LetGo {
  GiverLists<Exec> givers;
  PointLevels<Exec> levels;
  Array<double, Exec> time;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (levels.level(i) != PointLevels<Exec>::unlisted)
      return;
    bool waits_for_later = false;
    givers.each(int(i), [&](int p, double) {
      const bool is_later = time(p) > time(i) || (time(p) == time(i) && p > i);
      waits_for_later =
          waits_for_later || (is_later && levels.level(p) == PointLevels<Exec>::unlisted);
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
  Array<double, Exec> weight, flow; ///< [num_points]; flow: 0 before

  KOKKOS_FUNCTION void gather(int i, int now) const {
    double sum = weight(i);
    givers.each(i, [&](int p, double part) {
      if (level(p) < now)
        sum += part * flow(p);
    });
    flow(i) = sum;
  }
};

/// Takes the points of a level, and lists those of the next. `stride` threads share them.
template<class Exec>
struct TakeLevel {
  ArrivalGraph<Exec> graph;
  GatherWeights<Exec> weights;
  PointLevels<Exec> levels;
  int now, stride;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    const int begin = levels.begin(now), end = begin + levels.count(now);
    if (thread == 0)
      levels.begin(now + 1) = end;
    for (int k = begin + int(thread); k < end; k += stride) {
      const int i = levels.order(k);
      weights.gather(i, now);
      graph.each_taker(i, [&](int taker) {
        if (Kokkos::atomic_fetch_sub(&levels.pending(taker), 1) != 1)
          return;
        levels.order(end + Kokkos::atomic_fetch_add(&levels.count(now + 1), 1)) = taker;
        levels.level(taker) = now + 1;
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

/// Takes weights back along arrivals; see above. Of `time` [num_points].
template<class Exec>
class BackFlow {
public:
  BackFlow(const Exec& exec, const ArrivalGraph<Exec>& graph, const Array<double, Exec>& time)
      : graph_(graph)
      , time_(time)
      , n_(time.extent(0)) {
    const char* const label = "ossatura::eikonal::levels";
    for (Array<int, Exec>* array : {&levels_.order, &levels_.level, &levels_.pending})
      *array = make_zeros<int>(exec, n_, label);
    Kokkos::deep_copy(exec, levels_.level, PointLevels<Exec>::unlisted);
    for (Array<int, Exec>* array : {&levels_.begin, &levels_.count})
      *array = make_zeros<int>(exec, n_ / 8 + 1024, label);
    givers_.begin = make_zeros<int>(exec, std::int64_t(n_) + 1, label);
    Kokkos::parallel_for("ossatura::count_givers", range(exec, n_),
                         detail::CountGivers<Exec>{graph, givers_.begin});
    Kokkos::deep_copy(exec, levels_.pending, Kokkos::subview(givers_.begin, std::make_pair(0, n_)));
    const std::int64_t total = lengths_to_begins(exec, givers_.begin, "arrivals");
    givers_.point = make_uninitialized<int>(exec, total, label);
    givers_.part = make_uninitialized<double>(exec, total, label);
    Kokkos::parallel_for("ossatura::list_givers", range(exec, n_),
                         detail::ListGivers<Exec>{graph, givers_});
  }

  /// flow [num_points] = what comes to each point from `weight`, its own included. Once. Throws
  /// std::runtime_error where weights go in circles, as they do not where times are converged.
  /// Fences.
  void take_back(const Exec& exec, const Array<double, Exec>& weight,
                 const Array<double, Exec>& flow) {
    Kokkos::deep_copy(exec, flow, 0.0);
    list(exec, 0, 0);
    int now = 0;
    for (Level next = look(exec, now); next.begin < n_; next = look(exec, now)) {
      if (next.count == 0)
        next.count = let_go(exec, now);
      now = take_some(exec, now, next.count, weight, flow);
    }
    if (has_let_go_)
      take_what_is_left(exec, now, weight, flow);
    fence(exec, "ossatura::eikonal::take_back");
  }

private:
  struct Level {
    int begin, count;
  };
  /// A look at a device takes as long as some levels.
  static constexpr int levels_a_look = BackendTraits<Exec>::is_device ? 16 : 1;
  static constexpr int device_threads = 1 << 15;

  ArrivalGraph<Exec> graph_;
  GiverLists<Exec> givers_;
  Array<double, Exec> time_;
  int n_;
  PointLevels<Exec> levels_;
  bool has_let_go_ = false;

  Level look(const Exec& exec, int now) const {
    Level found{};
    const auto read = [&](const Array<int, Exec>& array, int& value) {
      Kokkos::deep_copy(exec, Kokkos::View<int, Kokkos::HostSpace>(&value),
                        Kokkos::subview(array, now));
    };
    read(levels_.begin, found.begin);
    read(levels_.count, found.count);
    fence(exec, "ossatura::eikonal::look");
    return found;
  }

  void list(const Exec& exec, int now, int pending) const {
    Kokkos::parallel_for("ossatura::list_points", range(exec, n_),
                         detail::ListPoints<Exec>{levels_, now, pending});
  }

  int take_some(const Exec& exec, int now, int count, const Array<double, Exec>& weight,
                const Array<double, Exec>& flow) {
    if (now + levels_a_look + 1 >= int(levels_.begin.extent(0)))
      for (Array<int, Exec>* array : {&levels_.begin, &levels_.count})
        Kokkos::resize(*array, 2 * array->extent(0));
    const int threads = BackendTraits<Exec>::is_device ? device_threads : count;
    for (int k = 0; k < levels_a_look; ++k)
      Kokkos::parallel_for(
          "ossatura::take_level", range(exec, threads),
          detail::TakeLevel<Exec>{
              graph_, {givers_, levels_.level, weight, flow}, levels_, now++, threads});
    return now;
  }

  /// Lists points for a level that nobody is of. Returns their number.
  int let_go(const Exec& exec, int now) {
    has_let_go_ = true;
    Kokkos::parallel_for("ossatura::let_go", range(exec, n_),
                         detail::LetGo<Exec>{givers_, levels_, time_});
    list(exec, now, PointLevels<Exec>::let_go);
    const int count = look(exec, now).count;
    OSSATURA_REQUIRE(count > 0, "arrivals that wait for points that are none");
    return count;
  }

  void take_what_is_left(const Exec& exec, int num_levels, const Array<double, Exec>& weight,
                         const Array<double, Exec>& flow) const {
    constexpr int most_passes = 1000;
    constexpr double negligible = 1e-14; // of all weights
    const char* const label = "ossatura::eikonal::left";
    const auto left = make_zeros<double>(exec, n_, label);
    const auto more = make_zeros<double>(exec, n_, label);
    const std::vector<int> begin = download(
        exec, Array<int, Exec>(Kokkos::subview(levels_.begin, std::make_pair(0, num_levels + 1))));
    const auto sum = [&](const auto& terms) {
      return part_sums<1>(exec, "ossatura::eikonal::left", n_, terms)[0];
    };
    const double all = sum(detail::SumOfSizes<Exec>{weight});
    double size = sum(detail::FindLeft<Exec>{givers_, levels_, flow, left});
    const detail::GatherWeights<Exec> weights{givers_, levels_.level, left, more};
    LaunchGraph<Exec> levels;
    for (int pass = 0; pass < most_passes && size > negligible * all; ++pass) {
      levels.run(exec, [&] {
        for (std::size_t now = 0; now + 1 < begin.size(); ++now)
          if (begin[now] < begin[now + 1])
            Kokkos::parallel_for("ossatura::take_level_again",
                                 Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                     exec, begin[now], begin[now + 1]),
                                 detail::TakeLevelAgain<Exec>{weights, levels_.order, int(now)});
      });
      axpby(exec, 1.0, more, 1.0, flow);
      size = sum(detail::FindLeft<Exec>{givers_, levels_, more, left});
    }
    if (size > negligible * all)
      fail<std::runtime_error>(
          "the gradient of activation times does not end: are these the times of "
          "these sites and velocities, solved to the tolerance?");
  }
};

} // namespace ossatura
