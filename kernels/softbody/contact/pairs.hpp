// SPDX-License-Identifier: Apache-2.0
// ContactPairs list the nodes that are near an obstacle or another object, or come near in the
// step; the list does not depend on the order of threads.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/softbody/contact/triangle_grid.hpp>
#include <ossatura/kernels/softbody/contact/triangle_pair.hpp>

namespace ossatura {

/// Pairs of a step, and the forces found for them.
template<class Exec>
struct ContactPairs {
  int num_pairs = 0;
  Array<ContactPair, Exec> pair;  ///< ascending by slot, with room for more
  Array<double, Exec> multiplier; ///< 3 for each, N: along normal and tangents
};

/// The place of a slot among pairs, or -1.
template<class Exec>
KOKKOS_INLINE_FUNCTION int find_pair(const ContactPairs<Exec>& pairs, std::int64_t slot) {
  int low = 0, high = pairs.num_pairs;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (pairs.pair(middle).slot < slot)
      low = middle + 1;
    else
      high = middle;
  }
  return low < pairs.num_pairs && pairs.pair(low).slot == slot ? low : -1;
}

namespace detail {

/// The pair of a node and a target, at `which` triangle of it.
template<class Exec>
struct MakePair {
  ContactSurfaces<Exec> surfaces;
  ContactPairs<Exec> last;
  ArrayPointer<const double> x, x_free;

  KOKKOS_FUNCTION ContactPair pair(int slot, int which) const {
    const int i = slot / surfaces.num_targets(), target = slot % surfaces.num_targets();
    if (target < surfaces.num_obstacles)
      return pair_with_obstacle(surfaces, i, target, x.data);
    const int object = target - surfaces.num_obstacles;
    const int before = surfaces.two_sided(object) ? find_pair(last, slot) : -1;
    return pair_with_triangle(surfaces, i, object, which, x.data, x_free.data,
                              before < 0 ? nullptr : last.pair(before).frame);
  }
};

/// found(slot) = the triangle, 0 for obstacles; -1 where no pair is watched.
template<class Exec>
struct FindPairs {
  MakePair<Exec> make;
  TriangleGrid<Exec> grid;
  Array<int, Exec> found;

  KOKKOS_FUNCTION void operator()(int slot) const {
    const ContactSurfaces<Exec>& surfaces = make.surfaces;
    const int i = slot / surfaces.num_targets(), target = slot % surfaces.num_targets();
    const int object = target - surfaces.num_obstacles;
    int which = 0;
    if (object >= 0) {
      const int own = surfaces.object_of(i);
      which =
          own < 0 || own == object ? -1 : nearest_triangle(surfaces, grid, make.x.data, i, object);
    }
    if (which >= 0) {
      const ContactPair pair = make.pair(slot, which);
      const bool watched = pair.free != 0 && (gap_of(pair, make.x.data) < surfaces.distance ||
                                              gap_of(pair, make.x_free.data) < 0);
      const bool meets = watched && (object < 0 || can_press(surfaces, i, make.x.data, pair.frame));
      which = meets ? which : -1;
    }
    found(slot) = which;
  }
};

/// begin(i) = number of pairs of nodes before i; the first `room` pairs get their slots.
template<class Exec>
struct ListPairs {
  int num_targets, num_slots, room;
  Array<int, Exec> found, begin, slot_of;

  KOKKOS_FUNCTION void operator()(int slot, int& place, bool final) const {
    if (final && slot % num_targets == 0)
      begin(slot / num_targets) = place;
    if (found(slot) >= 0) {
      if (final && place < room)
        slot_of(place) = slot;
      ++place;
    }
    if (final && slot == num_slots - 1)
      begin(num_slots / num_targets) = place;
  }
};

template<class Exec>
struct WritePairs {
  MakePair<Exec> make;
  Array<int, Exec> found, slot_of;
  Array<ContactPair, Exec> out;

  KOKKOS_FUNCTION void operator()(int p) const {
    const int slot = slot_of(p);
    out(p) = make.pair(slot, found(slot));
  }
};

} // namespace detail

/// Lists between steps, with room that grows when it must.
template<class Exec>
struct PairLists {
  Array<int, Exec> found;   ///< [num_slots]
  Array<int, Exec> begin;   ///< [num_nodes + 1] first pair of each node
  Array<int, Exec> slot_of; ///< [pairs]
};

template<class Exec>
PairLists<Exec> make_pair_lists(const Exec& exec, const ContactSurfaces<Exec>& surfaces) {
  OSSATURA_REQUIRE(std::int64_t(surfaces.num_nodes) * surfaces.num_targets() < std::int64_t(1)
                                                                                   << 31,
                   surfaces.num_nodes << " nodes and " << surfaces.num_targets()
                                      << " obstacles and objects are too many for contact");
  PairLists<Exec> lists;
  const int slots = surfaces.num_nodes * surfaces.num_targets();
  lists.found = make_uninitialized<int>(exec, slots, "ossatura::pair_lists::found");
  lists.begin = make_zeros<int>(exec, surfaces.num_nodes + 1, "ossatura::pair_lists::begin");
  return lists;
}

/// Lists the pairs that are nearer than the contact distance at x or through each other at x_free,
/// both [num_nodes, 3]: every node that can move with every obstacle, every node of a surface with
/// the nearest triangle of every other object, where the two can press each other. `last` are the
/// pairs of the step before. Allocates only where there are more pairs than ever. Fences.
template<class Exec>
void find_contact_pairs(const Exec& exec, const ContactSurfaces<Exec>& surfaces,
                        const TriangleGrid<Exec>& grid, const Array<double, Exec>& x,
                        const Array<double, Exec>& x_free, const ContactPairs<Exec>& last,
                        PairLists<Exec>& lists, ContactPairs<Exec>& pairs) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  const int slots = int(lists.found.extent(0));
  pairs.num_pairs = 0;
  if (slots == 0)
    return;
  if (surfaces.num_objects > 0)
    fill_triangle_grid(exec, surfaces, x, x_free, grid);
  const detail::MakePair<Exec> make{surfaces, last, x, x_free};
  Kokkos::parallel_for("ossatura::find_contact_pairs", Range(exec, 0, slots),
                       detail::FindPairs<Exec>{make, grid, lists.found});
  while (true) {
    const int room = int(lists.slot_of.extent(0));
    Kokkos::parallel_scan("ossatura::find_contact_pairs::list", Range(exec, 0, slots),
                          detail::ListPairs<Exec>{surfaces.num_targets(), slots, room, lists.found,
                                                  lists.begin, lists.slot_of},
                          pairs.num_pairs);
    fence(exec, "ossatura::find_contact_pairs");
    if (pairs.num_pairs <= room)
      break;
    lists.slot_of = make_uninitialized<int>(exec, pairs.num_pairs + pairs.num_pairs / 2 + 64,
                                            "ossatura::pair_lists::slot_of");
  }
  if (pairs.num_pairs > int(pairs.pair.extent(0))) {
    const std::int64_t room = lists.slot_of.extent(0);
    pairs.pair = Array<ContactPair, Exec>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::contact_pairs"), room);
    pairs.multiplier = make_zeros<double>(exec, 3 * room, "ossatura::contact_pairs::multiplier");
  }
  Kokkos::parallel_for("ossatura::find_contact_pairs::write", Range(exec, 0, pairs.num_pairs),
                       detail::WritePairs<Exec>{make, lists.found, lists.slot_of, pairs.pair});
}

} // namespace ossatura
