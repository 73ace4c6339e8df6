// SPDX-License-Identifier: Apache-2.0
// The metric of a tetrahedron is kept in one of two ways [1]: 18 inner products of its edges, or
// the 6 squared lengths from which the mixed products follow. Gray codes index both.
//
// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
//     meshes. Comput. Vis. Sci. 19 (2018) 3-18, doi:10.1007/s00791-018-0288-z.
#pragma once

#include <ossatura/kernels/eikonal/gray_edges.hpp>
#include <ossatura/kernels/eikonal/local_solver.hpp>

namespace ossatura {

/// Squared edge lengths in the travel-time metric, by slot. All of them are negative where no wave
/// goes through the tetrahedron.
template<class Real>
struct alignas(2 * sizeof(Real)) TetraLengths {
  Real length[6];
  KOKKOS_FORCEINLINE_FUNCTION bool conducts() const { return length[0] >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION const Real* number() const { return length; }
};

/// Products of edges that share a vertex, by gray::product_slot(). The squares are negative where
/// no wave goes through the tetrahedron.
template<class Real>
struct alignas(2 * sizeof(Real)) TetraProducts {
  Real product[18];
  KOKKOS_FORCEINLINE_FUNCTION bool conducts() const { return product[0] >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION const Real* number() const { return product; }
};

/// The tetrahedron turned so that vertex `target` is d, and the three after it are a, b, c: two
/// conditional turns of all slots, without tables. [1, (11)] with local signs: mixed products of
/// edges from a common vertex are (u.u + v.v - |u - v|^2) / 2.
template<class Real>
KOKKOS_FORCEINLINE_FUNCTION FaceProducts<Real> face_products(const TetraLengths<Real>& tetra,
                                                             int target) {
  const bool once = (target & 1) == 0; // by target + 1 vertices
  const bool twice = ((target + 1) & 2) != 0;
  const Real* l = tetra.length;
  const Real l0 = once ? l[2] : l[0], l1 = once ? l[4] : l[1], l2 = once ? l[5] : l[2],
             l3 = once ? l[0] : l[3], l4 = once ? l[1] : l[4], l5 = once ? l[3] : l[5];
  const Real ab = twice ? l5 : l0, ac = l1, bc = twice ? l3 : l2, ad = twice ? l2 : l3, bd = l4,
             cd = twice ? l0 : l5;
  const Real half(0.5);
  return {ac, bc, cd, half * (ac + bc - ab), half * (ac + cd - ad), half * (bc + cd - bd)};
}

/// The products of a face from those of the tetrahedron [1, algorithm 1]. Reference edges are e13,
/// e23, e34 of the paper: -u, -v and w.
template<class Real>
KOKKOS_INLINE_FUNCTION FaceProducts<Real> face_products(const TetraProducts<Real>& tetra,
                                                        int target) {
  const gray::TurnedEdge ac = gray::turn_edge(gray::edge_code(0, 2), target),
                         bc = gray::turn_edge(gray::edge_code(1, 2), target),
                         cd = gray::turn_edge(gray::edge_code(2, 3), target);
  const Real* p = tetra.product;
  const Real uv = p[gray::product_slot(ac.slot, bc.slot)];
  const Real uw = p[gray::product_slot(ac.slot, cd.slot)];
  const Real vw = p[gray::product_slot(bc.slot, cd.slot)];
  return {p[ac.slot],
          p[bc.slot],
          p[cd.slot],
          ac.flipped != bc.flipped ? -uv : uv,
          ac.flipped != cd.flipped ? uw : -uw,
          bc.flipped != cd.flipped ? vw : -vw};
}

/// Local vertex that face_products() takes as a, b, c (which = 0, 1, 2) for a target.
KOKKOS_FORCEINLINE_FUNCTION constexpr int face_vertex(int target, int which) {
  return (target + 1 + which) & 3;
}

} // namespace ossatura
