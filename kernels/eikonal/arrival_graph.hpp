// SPDX-License-Identifier: Apache-2.0
// Who hands weights to whom, when they go back along arrivals (back_flow.hpp): a point to the
// vertices of the face that its wave came through, in parts that are the barycentric weights there.
//
// Along bent fibres a wave comes through faces with a vertex that is later than the point, and
// points may hand to each other in circles: a few, of a tetrahedron or two. Such a group is solved
// by itself before all else. Then each of its points has from everybody outside what comes to it in
// the end, around the circle any number of times, and nothing from within.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/scratch_memory.hpp>
#include <ossatura/kernels/algebra/union_find.hpp>
#include <ossatura/kernels/eikonal/arrival.hpp>

#include <cstdint>
#include <stdexcept>

namespace ossatura {

/// Arrivals as a graph. Arrays in the order of the topology.
template<class Exec>
struct ArrivalGraph {
  Array<TetraPoints, Exec> tetra;
  Array<int, Exec> ring_begin, ring_member;
  Array<Arrival, Exec> arrival; ///< [num_points]

  /// visit(p, part) for each point p that hands a part > 0 to i, in the order of the ring.
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

  /// visit(f, part) for each point f that i hands a part > 0 to.
  template<class Visit>
  KOKKOS_FUNCTION void each_taker(int i, const Visit& visit) const {
    const Arrival& from = arrival(i);
    for (int k = 0, c = 0; from.tetra >= 0 && k < 4; ++k) {
      if (k == from.corner)
        continue;
      const double part = from.weight[c++];
      if (part > 0)
        visit(tetra(from.tetra).point[k], part);
    }
  }
};

/// Groups of points that hand to each other in circles.
template<class Exec>
struct ArrivalCircles {
  static constexpr int most = 16; ///< points of a group; more are in none

  Array<int, Exec> next; ///< [num_points] of its group, around it by time; itself if it is in none

  /// visit(j) for the points of i's group, i first.
  template<class Visit>
  KOKKOS_FUNCTION void each(int i, const Visit& visit) const {
    int j = i;
    do {
      visit(j);
      j = next(j);
    } while (j != i);
  }

  /// Are the two of one group?
  KOKKOS_FUNCTION bool join(int i, int j) const {
    bool found = false;
    each(i, [&](int k) { found = found || k == j; });
    return found;
  }
};

/// What comes to point i: weight(i), and the parts part(k) of what has come to point(k), of all k
/// from begin(i) to begin(i + 1). A level has few points, and takes as long as the reads of one of
/// them that wait for each other; therefore these lists.
template<class Exec>
struct GiverLists {
  Array<int, Exec> begin, point;
  Array<double, Exec> part;
  Array<double, Exec> weight; ///< [num_points]

  template<class Visit>
  KOKKOS_FUNCTION void each(int i, const Visit& visit) const {
    for (int k = begin(i); k < begin(i + 1); ++k)
      visit(point(k), part(k));
  }
};

namespace detail {

[[noreturn]] inline void fail_endless() {
  fail<std::runtime_error>("the gradient of activation times does not end: are these the times of "
                           "these sites and velocities, solved to the tolerance?");
}

KOKKOS_INLINE_FUNCTION int place_in(const int* list, int count, int value) {
  for (int k = 0; k < count; ++k)
    if (list[k] == value)
      return k;
  return count;
}

/// The order of points by their times.
template<class Exec>
struct LaterPoint {
  Array<double, Exec> time;
  KOKKOS_FUNCTION bool operator()(int a, int b) const {
    return time(a) > time(b) || (time(a) == time(b) && a > b);
  }
};

/// Unites the points of each circle. Every one has an earliest point, which hands to a later one,
/// and is found from there among the points later than it: few, as these two are neighbours.
template<class Exec>
struct UniteCircles {
  static constexpr int most_searched = 32; ///< a group that is missed is left to later passes
  ArrivalGraph<Exec> graph;
  LaterPoint<Exec> is_later;
  Array<int, Exec> parent; ///< [num_points]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int earliest = int(i);
    graph.each_taker(earliest, [&](int taker, double) {
      if (is_later(taker, earliest))
        search(earliest, taker);
    });
  }

  KOKKOS_FUNCTION void search(int earliest, int start) const {
    int reached[most_searched] = {start};
    int count = 1;
    bool returns = false;
    for (int k = 0; k < count; ++k)
      graph.each_taker(reached[k], [&](int taker, double) {
        if (taker == earliest)
          returns = true;
        else if (count < most_searched && is_later(taker, earliest) &&
                 place_in(reached, count, taker) == count)
          reached[count++] = taker;
      });
    std::uint32_t on_circle = 0;
    while (returns) {
      returns = false;
      for (int k = 0; k < count; ++k) {
        bool gets_back = false;
        graph.each_taker(reached[k], [&](int taker, double) {
          const int place = place_in(reached, count, taker);
          gets_back =
              gets_back || taker == earliest || (place < count && (on_circle >> place & 1) != 0);
        });
        if (!gets_back || (on_circle >> k & 1) != 0)
          continue;
        on_circle |= std::uint32_t(1) << k;
        unite(parent.data(), earliest, reached[k]);
        returns = true;
      }
    }
  }
};

/// Makes a ring of each group, in any order.
template<class Exec>
struct ChainMembers {
  Array<int, Exec> parent, next; ///< next(i): i before

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int root = find_root(parent.data(), int(i));
    if (root != i)
      next(i) = Kokkos::atomic_exchange(&next(root), int(i));
  }
};

/// Puts rings in order of time, and dissolves those of too many.
template<class Exec>
struct OrderRings {
  ArrivalCircles<Exec> circles;
  LaterPoint<Exec> is_later;
  Array<int, Exec> parent;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (parent(i) != i || circles.next(i) == i)
      return;
    int member[ArrivalCircles<Exec>::most] = {};
    int count = 0;
    circles.each(int(i), [&](int j) {
      int place = count++;
      if (place >= ArrivalCircles<Exec>::most)
        return;
      for (; place > 0 && is_later(member[place - 1], j); --place)
        member[place] = member[place - 1];
      member[place] = j;
    });
    if (count <= ArrivalCircles<Exec>::most)
      for (int k = 0; k < count; ++k)
        circles.next(member[k]) = member[k + 1 < count ? k + 1 : 0];
    else
      dissolve(int(i));
  }

  KOKKOS_FUNCTION void dissolve(int i) const {
    while (circles.next(i) != i) {
      const int after = circles.next(i);
      circles.next(i) = i;
      i = after;
    }
  }
};

template<class Exec>
struct CountGivers {
  ArrivalGraph<Exec> graph;
  ArrivalCircles<Exec> circles;
  Array<int, Exec> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int found = 0;
    circles.each(int(i), [&](int j) {
      graph.each_giver(j, [&](int p, double) { found += circles.join(j, p) ? 0 : 1; });
    });
    count(i) = found;
  }
};

template<class Exec>
struct ListGivers {
  static constexpr int most_rounds = 1000;
  ArrivalGraph<Exec> graph;
  ArrivalCircles<Exec> circles;
  Array<double, Exec> weight;
  GiverLists<Exec> givers;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& endless) const {
    int member[ArrivalCircles<Exec>::most] = {}, count = 0;
    circles.each(int(i), [&](int j) { member[count++] = j; });
    double comes[ArrivalCircles<Exec>::most] = {1};
    if (count > 1 && !go_round(member, count, comes))
      ++endless;
    int place = givers.begin(i);
    double own = 0;
    for (int c = 0; c < count; ++c) {
      own += comes[c] * weight(member[c]);
      graph.each_giver(member[c], [&](int p, double part) {
        if (place_in(member, count, p) < count)
          return;
        givers.point(place) = p;
        givers.part(place++) = comes[c] * part;
      });
    }
    givers.weight(i) = own;
  }

  /// How much of what comes to each member comes to member[0] in the end. Members take in the order
  /// of the ring, by time but for its start, so that each round goes along the circle as far as
  /// points hand to earlier ones. False if it does not end.
  KOKKOS_FUNCTION bool go_round(const int* member, int count, double* comes) const {
    constexpr double negligible = 1e-16;
    double change = 1;
    for (int round = 0; round < most_rounds && change > negligible * comes[0]; ++round) {
      change = 0;
      for (int c = 0; c < count; ++c) {
        double sum = c == 0 ? 1 : 0;
        graph.each_taker(member[c], [&](int taker, double part) {
          const int place = place_in(member, count, taker);
          if (place < count)
            sum += part * comes[place];
        });
        change = Kokkos::max(change, sum - comes[c]);
        comes[c] = sum;
      }
    }
    return change <= negligible * comes[0];
  }
};

} // namespace detail

/// The groups of arrivals by `time` [num_points]. Does not fence.
template<class Exec>
ArrivalCircles<Exec> find_circles(const Exec& exec, const ArrivalGraph<Exec>& graph,
                                  const Array<double, Exec>& time, ScratchMemory<Exec>& scratch) {
  const std::int64_t n = time.extent(0);
  const auto parent = scratch.template take<int>(n);
  const ArrivalCircles<Exec> circles{scratch.template take<int>(n)};
  fill_singletons(exec, parent);
  fill_singletons(exec, circles.next);
  Kokkos::parallel_for("ossatura::unite_circles", range(exec, n),
                       detail::UniteCircles<Exec>{graph, {time}, parent});
  Kokkos::parallel_for("ossatura::chain_members", range(exec, n),
                       detail::ChainMembers<Exec>{parent, circles.next});
  Kokkos::parallel_for("ossatura::order_rings", range(exec, n),
                       detail::OrderRings<Exec>{circles, {time}, parent});
  return circles;
}

/// From whom comes what to each point, its own `weight` [num_points] with it. Throws
/// std::runtime_error where weights go in circles for ever, as they do not where times are
/// converged. Fences.
template<class Exec>
GiverLists<Exec> list_givers(const Exec& exec, const ArrivalGraph<Exec>& graph,
                             const ArrivalCircles<Exec>& circles, const Array<double, Exec>& weight,
                             ScratchMemory<Exec>& scratch) {
  const std::int64_t n = weight.extent(0);
  GiverLists<Exec> givers;
  givers.begin = scratch.template take_zeros<int>(n + 1);
  Kokkos::parallel_for("ossatura::count_givers", range(exec, n),
                       detail::CountGivers<Exec>{graph, circles, givers.begin});
  const std::int64_t total = lengths_to_begins(exec, givers.begin, "arrivals");
  givers.point = scratch.template take<int>(total);
  givers.part = scratch.template take<double>(total);
  givers.weight = scratch.template take<double>(n);
  std::int64_t endless = 0;
  Kokkos::parallel_reduce("ossatura::list_givers", range(exec, n),
                          detail::ListGivers<Exec>{graph, circles, weight, givers}, endless);
  if (endless > 0)
    detail::fail_endless();
  return givers;
}

} // namespace ossatura
