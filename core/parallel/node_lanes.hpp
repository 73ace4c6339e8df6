// SPDX-License-Identifier: Apache-2.0
// NodeLanes move what nodes have, three or four numbers side by side, between memory and vectors
// (lanes.hpp) in which an element is a lane, for batches of eight elements. A batch is eight
// elements for every instruction set, and additions have one order, so that results do not depend
// on the set. All is inlined, so that the linker cannot mix what is compiled with different flags.
#pragma once

#include <ossatura/core/parallel/lane_shuffles.hpp>
#include <ossatura/core/parallel/lanes.hpp>

#include <utility>

namespace ossatura::detail {

/// Vectors of W lanes: those of elements 0 .. W - 1 of a batch, then W .. 2 W - 1, and so on.
/// `Target` is a type of one source with `static constexpr int register_bytes`.
template<class Target, class Scalar>
struct NodeLanes {
  static constexpr int W = Target::register_bytes / int(sizeof(Scalar)) < batch_size
                               ? Target::register_bytes / int(sizeof(Scalar))
                               : batch_size;
  static constexpr int parts = batch_size / W;
  using Values = Lanes<Scalar, W, Target>;
  using Vector = typename Values::Vector;
  using AllLanes = std::make_integer_sequence<int, W>;
  using FourLanes = std::make_integer_sequence<int, 4>;
  typedef Scalar Quad __attribute__((vector_size(4 * sizeof(Scalar)), aligned(sizeof(Scalar)),
                                     may_alias)); ///< a node and what lies behind it
  typedef Scalar Pair
      __attribute__((vector_size(2 * sizeof(Scalar)), aligned(sizeof(Scalar)), may_alias));

  template<int... Pattern>
  OSSATURA_FORCEINLINE_FUNCTION static Vector shuffle(Vector a, Vector b) {
    return shuffle_groups<Pattern...>(a, b, AllLanes());
  }

  /// Lane k of each group of four, as four numbers of a node.
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static Vector load_nodes(const Scalar* x, const Index (*at)[8],
                                                         int corner, int k) {
    const auto quad = [&](int lane) {
      return *reinterpret_cast<const Quad*>(x + at[lane][corner]);
    };
    if constexpr (W == 4)
      return quad(k);
    else
      return join(quad(k), quad(k + 4), AllLanes());
  }

  /// u[c]: component c at a corner of W elements, whose nodes begin at x + at[lane][corner].
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void gather(const Scalar* x, const Index (*at)[8],
                                                   int corner, Values* u) {
    if constexpr (W == 2) {
      for (int c = 0; c < 3; ++c)
        u[c].value = Vector{x[at[0][corner] + c], x[at[1][corner] + c]};
    } else {
      const Vector n0 = load_nodes(x, at, corner, 0), n1 = load_nodes(x, at, corner, 1),
                   n2 = load_nodes(x, at, corner, 2), n3 = load_nodes(x, at, corner, 3);
      // Transposes of four by four numbers, by the instructions for lanes of either width.
      if constexpr (sizeof(Scalar) == 4) {
        const Vector xy01 = shuffle<0, 4, 1, 5>(n0, n1), z01 = shuffle<2, 6, 3, 7>(n0, n1),
                     xy23 = shuffle<0, 4, 1, 5>(n2, n3), z23 = shuffle<2, 6, 3, 7>(n2, n3);
        u[0].value = shuffle<0, 1, 4, 5>(xy01, xy23);
        u[1].value = shuffle<2, 3, 6, 7>(xy01, xy23);
        u[2].value = shuffle<0, 1, 4, 5>(z01, z23);
      } else {
        const Vector xz01 = shuffle<0, 4, 2, 6>(n0, n1), y01 = shuffle<1, 5, 3, 7>(n0, n1),
                     xz23 = shuffle<0, 4, 2, 6>(n2, n3), y23 = shuffle<1, 5, 3, 7>(n2, n3);
        u[0].value = shuffle<0, 1, 4, 5>(xz01, xz23);
        u[1].value = shuffle<0, 1, 4, 5>(y01, y23);
        u[2].value = shuffle<2, 3, 6, 7>(xz01, xz23);
      }
    }
  }

  /// Adds the halves of `force` to two nodes, which differ.
  OSSATURA_FORCEINLINE_FUNCTION static void add_pairs(Quad force, Scalar* a, Scalar* b) {
    Pair& at_a = *reinterpret_cast<Pair*>(a);
    Pair& at_b = *reinterpret_cast<Pair*>(b);
    const Quad sum = select_lanes<0, 1, 2, 3>(at_a, at_b) + force;
    at_a = select_lanes<0, 1>(sum, sum);
    at_b = select_lanes<2, 3>(sum, sum);
  }

  /// Adds the forces u[c] at a corner of W elements, one by one.
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void scatter_each(const Values* u, const Index (*at)[8],
                                                         int corner, Scalar* y) {
    for (int lane = 0; lane < W; ++lane)
      for (int c = 0; c < 3; ++c)
        y[at[lane][corner] + c] += u[c].value[lane];
  }

  /// The same two by two in y with three numbers for a node. Those of a pair have different nodes
  /// there.
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void scatter_three(const Values* u, const Index (*at)[8],
                                                          int corner, Scalar* y) {
    if constexpr (W < 4) {
      scatter_each(u, at, corner, y);
    } else {
      constexpr bool is_float = sizeof(Scalar) == 4;
      const Vector ux = u[0].value, uy = u[1].value;
      // Of which elements of each group of four the x and y lie side by side.
      constexpr int p[4] = {0, is_float ? 1 : 2, is_float ? 2 : 1, 3};
      const Vector first = is_float ? shuffle<0, 4, 1, 5>(ux, uy) : shuffle<0, 4, 2, 6>(ux, uy),
                   second = is_float ? shuffle<2, 6, 3, 7>(ux, uy) : shuffle<1, 5, 3, 7>(ux, uy);
      const auto place = [&](int lane) { return y + at[lane][corner]; };
      add_pairs(group_of<0>(first, FourLanes()), place(p[0]), place(p[1]));
      add_pairs(group_of<0>(second, FourLanes()), place(p[2]), place(p[3]));
      if constexpr (W == 8) {
        add_pairs(group_of<1>(first, FourLanes()), place(4 + p[0]), place(4 + p[1]));
        add_pairs(group_of<1>(second, FourLanes()), place(4 + p[2]), place(4 + p[3]));
      }
      for (int lane = 0; lane < W; ++lane)
        place(lane)[2] += u[2].value[lane];
    }
  }

  /// The same in y with four numbers for a node, of which the last has no meaning; in the order of
  /// the elements, of which several may have one node there.
  template<class Index>
  OSSATURA_FORCEINLINE_FUNCTION static void scatter_four(const Values* u, const Index (*at)[8],
                                                         int corner, Scalar* y) {
    if constexpr (W < 4) {
      scatter_each(u, at, corner, y);
    } else {
      const Vector ux = u[0].value, uy = u[1].value, uz = u[2].value;
      Vector n[4];
      if constexpr (sizeof(Scalar) == 4) {
        const Vector xy01 = shuffle<0, 4, 1, 5>(ux, uy), xy23 = shuffle<2, 6, 3, 7>(ux, uy),
                     z01 = shuffle<0, 4, 1, 5>(uz, uz), z23 = shuffle<2, 6, 3, 7>(uz, uz);
        n[0] = shuffle<0, 1, 4, 5>(xy01, z01);
        n[1] = shuffle<2, 3, 6, 7>(xy01, z01);
        n[2] = shuffle<0, 1, 4, 5>(xy23, z23);
        n[3] = shuffle<2, 3, 6, 7>(xy23, z23);
      } else {
        const Vector xy02 = shuffle<0, 4, 2, 6>(ux, uy), xy13 = shuffle<1, 5, 3, 7>(ux, uy),
                     z02 = shuffle<0, 4, 2, 6>(uz, uz), z13 = shuffle<1, 5, 3, 7>(uz, uz);
        n[0] = shuffle<0, 1, 4, 5>(xy02, z02);
        n[1] = shuffle<0, 1, 4, 5>(xy13, z13);
        n[2] = shuffle<2, 3, 6, 7>(xy02, z02);
        n[3] = shuffle<2, 3, 6, 7>(xy13, z13);
      }
      for (int k = 0; k < 4; ++k)
        *reinterpret_cast<Quad*>(y + at[k][corner]) += group_of<0>(n[k], FourLanes());
      if constexpr (W == 8)
        for (int k = 0; k < 4; ++k)
          *reinterpret_cast<Quad*>(y + at[k + 4][corner]) += group_of<1>(n[k], FourLanes());
    }
  }
};

/// Has a batch's places read from memory one by one: compilers would take the vectors apart in
/// which they were computed, which takes longer.
template<class Elements>
OSSATURA_FORCEINLINE_FUNCTION void keep_in_memory(Elements& elements) {
  asm volatile("" : : "r"(&elements) : "memory");
}

} // namespace ossatura::detail
