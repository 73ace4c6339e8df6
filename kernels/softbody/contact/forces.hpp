// SPDX-License-Identifier: Apache-2.0
// These kernels take the free motion of nodes to the pairs in contact, and the contact forces H^T
// lambda back to the nodes.
#pragma once

#include <ossatura/kernels/softbody/contact/pairs.hpp>

namespace ossatura {

/// The triangles' corners among the pairs by node, so that forces are summed by each node and in
/// one order.
template<class Exec>
struct CornerMap {
  InverseMap<Exec> pairs; ///< of node i: 4 pair + k, ascending; k > 0
};

namespace detail {

/// free_motion(3 p) = gap of pair p at x_free, then the tangential motion from x to x_free; and the
/// multipliers of the last step in the directions of this one, where there was the same pair.
template<class Exec>
struct MeasureFreeMotion {
  ContactPairs<Exec> pairs, last;
  Array<double, Exec> x, x_free;
  Array<double, Exec> free_motion;
  bool start; ///< take multipliers over from the last step

  KOKKOS_FUNCTION void operator()(int p) const {
    const ContactPair& pair = pairs.pair(p);
    double motion[3] = {0, 0, 0};
    for (int k = 0; k < 4; ++k)
      if (pair.node[k] >= 0)
        for (int d = 0; d < 3; ++d) {
          const std::int64_t i = 3 * std::int64_t(pair.node[k]) + d;
          motion[d] += pair.weight[k] * (x_free(i) - x(i));
        }
    free_motion(3 * p) = gap_of(pair, x_free.data());
    free_motion(3 * p + 1) = dot3(pair.frame + 3, motion);
    free_motion(3 * p + 2) = dot3(pair.frame + 6, motion);
    if (!start)
      return;
    double force[3] = {0, 0, 0};
    const int before = find_pair(last, pair.slot);
    if (before >= 0)
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < 3; ++d)
          force[d] += last.multiplier(3 * before + c) * last.pair(before).frame[3 * c + d];
    for (int c = 0; c < 3; ++c)
      pairs.multiplier(3 * p + c) = dot3(pair.frame + 3 * c, force);
    if (pairs.multiplier(3 * p) < 0)
      pairs.multiplier(3 * p) = 0;
  }
};

template<class Exec>
struct CountCorners {
  ContactPairs<Exec> pairs;
  Array<int, Exec> begin;
  KOKKOS_FUNCTION void operator()(int p) const {
    for (int k = 1; k < 4; ++k)
      if (pairs.pair(p).node[k] >= 0)
        Kokkos::atomic_add(&begin(pairs.pair(p).node[k]), 1);
  }
};

template<class Exec>
struct PlaceCorners {
  ContactPairs<Exec> pairs;
  InverseMap<Exec> map;
  KOKKOS_FUNCTION void operator()(int p) const {
    for (int k = 1; k < 4; ++k) {
      const int node = pairs.pair(p).node[k];
      if (node >= 0)
        map.member(Kokkos::atomic_fetch_add(&map.begin(node), -1) - 1) = 4 * p + k;
    }
  }
};

template<class Exec>
struct GatherContactForces {
  ContactPairs<Exec> pairs;
  Array<int, Exec> begin; ///< first pair of a node
  CornerMap<Exec> corners;
  bool has_corners;
  Array<double, Exec> force;

  KOKKOS_FUNCTION void add(int p, int k, double* sum) const {
    const ContactPair& pair = pairs.pair(p);
    if ((pair.free >> k & 1) == 0)
      return;
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        sum[d] += pair.weight[k] * pairs.multiplier(3 * p + c) * pair.frame[3 * c + d];
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum[3] = {0, 0, 0};
    for (int p = begin(i); p < begin(i + 1); ++p)
      add(p, 0, sum);
    if (has_corners)
      for (int m = corners.pairs.begin(i); m < corners.pairs.begin(i + 1); ++m)
        add(corners.pairs.member(m) / 4, corners.pairs.member(m) % 4, sum);
    for (int d = 0; d < 3; ++d)
      force(3 * i + d) = sum[d];
  }
};

template<class Exec>
struct SumTargetForce {
  ContactPairs<Exec> pairs;
  int target, num_targets;
  KOKKOS_FUNCTION void operator()(int p, double& x, double& y, double& z) const {
    const ContactPair& pair = pairs.pair(p);
    if (int(pair.slot % num_targets) != target)
      return;
    for (int c = 0; c < 3; ++c) {
      x -= pairs.multiplier(3 * p + c) * pair.frame[3 * c];
      y -= pairs.multiplier(3 * p + c) * pair.frame[3 * c + 1];
      z -= pairs.multiplier(3 * p + c) * pair.frame[3 * c + 2];
    }
  }
};

} // namespace detail

/// Fills free_motion [3 num_pairs], m: the gap at x_free and the tangential motion from x of each
/// pair. With `start`, also the multipliers, from those of the pairs `last`. Does not fence.
template<class Exec>
void measure_free_motion(const Exec& exec, const ContactPairs<Exec>& pairs,
                         const ContactPairs<Exec>& last, const Array<double, Exec>& x,
                         const Array<double, Exec>& x_free, bool start,
                         const Array<double, Exec>& free_motion) {
  Kokkos::parallel_for("ossatura::measure_free_motion",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, pairs.num_pairs),
                       detail::MeasureFreeMotion<Exec>{pairs, last, x, x_free, free_motion, start});
}

/// Lists the corners by node. Allocates only where there are more pairs than ever. Does not fence.
template<class Exec>
void fill_corner_map(const Exec& exec, const ContactPairs<Exec>& pairs, int num_nodes,
                     CornerMap<Exec>& corners) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  InverseMap<Exec>& map = corners.pairs;
  if (map.begin.extent(0) == 0)
    map.begin = make_zeros<int>(exec, num_nodes + 1, "ossatura::corner_map::begin");
  else
    Kokkos::deep_copy(exec, map.begin, 0);
  if (map.member.extent(0) < 3 * pairs.pair.extent(0))
    map.member = make_uninitialized<int>(exec, 3 * pairs.pair.extent(0), "ossatura::corner_map");
  Kokkos::parallel_for("ossatura::fill_corner_map::count", Range(exec, 0, pairs.num_pairs),
                       detail::CountCorners<Exec>{pairs, map.begin});
  Kokkos::parallel_scan("ossatura::fill_corner_map::end", range(exec, num_nodes + 1),
                        detail::EndOfTarget<Exec>{map.begin});
  Kokkos::parallel_for("ossatura::fill_corner_map::place", Range(exec, 0, pairs.num_pairs),
                       detail::PlaceCorners<Exec>{pairs, map});
  Kokkos::parallel_for("ossatura::fill_corner_map::sort", range(exec, num_nodes),
                       detail::SortMembers<Exec>{map});
}

/// force [num_nodes, 3] = H^T multiplier, N, in an order that does not depend on the threads; zero
/// at nodes that are fixed. `begin` is the first pair of each node; `corners` are read where the
/// pairs have triangles. Does not fence.
template<class Exec>
void gather_contact_forces(const Exec& exec, const ContactPairs<Exec>& pairs,
                           const Array<int, Exec>& begin, const CornerMap<Exec>& corners,
                           bool has_corners, const Array<double, Exec>& force) {
  Kokkos::parallel_for(
      "ossatura::gather_contact_forces", range(exec, std::int64_t(begin.extent(0)) - 1),
      detail::GatherContactForces<Exec>{pairs, begin, corners, has_corners, force});
}

/// The force on a target of the pairs, N. Fences.
template<class Exec>
void sum_target_force(const Exec& exec, const ContactPairs<Exec>& pairs, int target,
                      int num_targets, double (&force)[3]) {
  using Sum = Kokkos::Sum<double>;
  Kokkos::parallel_reduce(
      "ossatura::sum_target_force",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, pairs.num_pairs),
      detail::SumTargetForce<Exec>{pairs, target, num_targets}, Sum(force[0]), Sum(force[1]),
      Sum(force[2]));
  fence(exec, "ossatura::sum_target_force");
}

} // namespace ossatura
