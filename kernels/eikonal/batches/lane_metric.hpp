// SPDX-License-Identifier: Apache-2.0
// These functions gather the products of the faces of several tetrahedra, each a lane, from either
// metric of gray_code.hpp: the same operations in the same order.
#pragma once

#include <ossatura/core/parallel/lane_choices.hpp>
#include <ossatura/core/parallel/lane_shuffles.hpp>
#include <ossatura/kernels/eikonal/batches/lane_solver.hpp>
#include <ossatura/kernels/eikonal/gray_edges.hpp>

#include <cstdint>
#include <utility>

namespace ossatura::detail {

/// Lane k of the vector is value(k).
template<class Vector, class Value, int... Lane>
OSSATURA_FORCEINLINE_FUNCTION Vector make_lanes(const Value& value,
                                                std::integer_sequence<int, Lane...>) {
  return Vector{LaneOf<Vector>(value(Lane))...};
}
template<class Vector, class Value>
OSSATURA_FORCEINLINE_FUNCTION Vector make_lanes(const Value& value) {
  return make_lanes<Vector>(value, std::make_integer_sequence<int, num_lanes<Vector>>());
}

/// l[0] .. l[5]: the six lengths of each lane.
template<class Vector, class Real>
OSSATURA_FORCEINLINE_FUNCTION void gather_lengths(const Real* const* metric, Vector (&l)[6]) {
  constexpr int W = num_lanes<Vector>;
  if constexpr (sizeof(Real) == 4 && (W == 4 || W == 8)) {
    typedef Real Quad
        __attribute__((vector_size(4 * sizeof(Real)), aligned(sizeof(Real)), may_alias));
    typedef Real Pair
        __attribute__((vector_size(2 * sizeof(Real)), aligned(sizeof(Real)), may_alias));
    using AllLanes = std::make_integer_sequence<int, W>;
    const auto quad = [&](int lane) __attribute__((always_inline)) {
      return *reinterpret_cast<const Quad*>(metric[lane]);
    };
    const auto pairs = [&](int lane, int other) __attribute__((always_inline)) {
      return select_lanes<0, 1, 2, 3>(*reinterpret_cast<const Pair*>(metric[lane] + 4),
                                      *reinterpret_cast<const Pair*>(metric[other] + 4));
    };
    Vector n[4], rest[2];
    for (int k = 0; k < 4; ++k)
      if constexpr (W == 4)
        n[k] = Vector(quad(k));
      else
        n[k] = join(quad(k), quad(k + 4), AllLanes());
    for (int k = 0; k < 2; ++k)
      if constexpr (W == 4)
        rest[k] = pairs(2 * k, 2 * k + 1);
      else
        rest[k] = join(pairs(2 * k, 2 * k + 1), pairs(2 * k + 4, 2 * k + 5), AllLanes());
    const Vector low01 = shuffle_groups<0, 4, 1, 5>(n[0], n[1], AllLanes()),
                 high01 = shuffle_groups<2, 6, 3, 7>(n[0], n[1], AllLanes()),
                 low23 = shuffle_groups<0, 4, 1, 5>(n[2], n[3], AllLanes()),
                 high23 = shuffle_groups<2, 6, 3, 7>(n[2], n[3], AllLanes());
    l[0] = shuffle_groups<0, 1, 4, 5>(low01, low23, AllLanes());
    l[1] = shuffle_groups<2, 3, 6, 7>(low01, low23, AllLanes());
    l[2] = shuffle_groups<0, 1, 4, 5>(high01, high23, AllLanes());
    l[3] = shuffle_groups<2, 3, 6, 7>(high01, high23, AllLanes());
    l[4] = shuffle_groups<0, 2, 4, 6>(rest[0], rest[1], AllLanes());
    l[5] = shuffle_groups<1, 3, 5, 7>(rest[0], rest[1], AllLanes());
  } else {
    for (int k = 0; k < 6; ++k)
      l[k] = make_lanes<Vector>([&](int lane)
                                    __attribute__((always_inline)) { return metric[lane][k]; });
  }
}

/// face_products() of TetraLengths for the ring entries of each lane.
template<class Vector, class Real>
OSSATURA_FORCEINLINE_FUNCTION FaceLanes<Vector> face_of_lengths(const Real* metric,
                                                                const int* entry) {
  using Mask = decltype(Vector() < Vector());
  const Real* tetra[num_lanes<Vector>];
  for (int lane = 0; lane < num_lanes<Vector>; ++lane)
    tetra[lane] = metric + 6 * std::int64_t(entry[lane] >> 2);
  const Mask target =
      make_lanes<Mask>([&](int lane) __attribute__((always_inline)) { return entry[lane]; });
  Vector l[6];
  gather_lengths(tetra, l);
  const Mask once = (target & 1) == 0, twice = ((target + 1) & 2) != 0;
  const Vector l0 = select(once, l[2], l[0]), l1 = select(once, l[4], l[1]),
               l2 = select(once, l[5], l[2]), l3 = select(once, l[0], l[3]),
               l4 = select(once, l[1], l[4]), l5 = select(once, l[3], l[5]);
  const Vector ab = select(twice, l5, l0), bc = select(twice, l3, l2), ad = select(twice, l2, l3),
               cd = select(twice, l0, l5);
  const Vector half = broadcast<Vector>(Real(0.5));
  return {l1, bc, cd, half * (l1 + bc - ab), half * (l1 + cd - ad), half * (bc + cd - l4)};
}

/// Places of FaceProducts among the 18 of a tetrahedron turned to `target`, and whether their signs
/// change, as in face_products() of TetraProducts.
struct ProductPlaces {
  int slot[6];
  bool negative[6];
};

constexpr ProductPlaces product_places(int target) {
  const gray::TurnedEdge ac = gray::turn_edge(gray::edge_code(0, 2), target),
                         bc = gray::turn_edge(gray::edge_code(1, 2), target),
                         cd = gray::turn_edge(gray::edge_code(2, 3), target);
  return {{ac.slot, bc.slot, cd.slot, gray::product_slot(ac.slot, bc.slot),
           gray::product_slot(ac.slot, cd.slot), gray::product_slot(bc.slot, cd.slot)},
          {false, false, false, ac.flipped != bc.flipped, ac.flipped == cd.flipped,
           bc.flipped == cd.flipped}};
}

/// face_products() of TetraProducts for the ring entries of each lane.
template<class Vector, class Real>
OSSATURA_FORCEINLINE_FUNCTION FaceLanes<Vector> face_of_products(const Real* metric,
                                                                 const int* entry) {
  constexpr ProductPlaces places[4] = {product_places(0), product_places(1), product_places(2),
                                       product_places(3)};
  const auto product = [&](int k) __attribute__((always_inline)) {
    return make_lanes<Vector>([&](int lane) __attribute__((always_inline)) {
      const ProductPlaces& place = places[entry[lane] & 3];
      const Real number = metric[18 * std::int64_t(entry[lane] >> 2) + place.slot[k]];
      return place.negative[k] ? -number : number;
    });
  };
  return {product(0), product(1), product(2), product(3), product(4), product(5)};
}

} // namespace ossatura::detail
