// SPDX-License-Identifier: Apache-2.0
// Gray codes name the edges of a tetrahedron. Vertex k = 0 .. 3 has the code 2^k, an edge the codes
// of its ends together: 3, 5, 6, 9, 10, 12. The edge's slot is code / 2 - 1 = 0 .. 5. Turning the
// tetrahedron by one vertex turns codes by one bit, and an odd number of bits carried round says
// that the edge, which points to its higher vertex, changed direction.
//
// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
//     meshes. Comput. Vis. Sci. 19 (2018) 3-18, doi:10.1007/s00791-018-0288-z.
#pragma once

#include <ossatura/core/base/function.hpp>

namespace ossatura {

namespace gray {

OSSATURA_INLINE_FUNCTION constexpr int edge_slot(int code) {
  return code / 2 - 1;
}

/// The edge between two local vertices.
OSSATURA_INLINE_FUNCTION constexpr int edge_code(int k, int l) {
  return 1 << k | 1 << l;
}

/// An edge of the turned tetrahedron, and whether it points the other way there.
struct TurnedEdge {
  int slot;
  bool flipped;
};

/// [1, appendix A]: the edge that takes the place of `code` when vertex `target` takes that of 3.
OSSATURA_INLINE_FUNCTION constexpr TurnedEdge turn_edge(int code, int target) {
  const int bits = 3 - target;
  const int carried = code & ((1 << bits) - 1);
  const int turned = (code >> bits | code << (4 - bits)) & 15;
  const int parity = carried ^ carried >> 1 ^ carried >> 2;
  return {edge_slot(turned), (parity & 1) != 0};
}

/// Slot among 18 of the product of two edges that share a vertex: first the squares, then the mixed
/// ones row by row of the upper triangle, without the products of opposite edges (k + l = 5).
OSSATURA_INLINE_FUNCTION constexpr int product_slot(int k, int l) {
  if (k == l)
    return k;
  const int row = k < l ? k : l, column = k < l ? l : k;
  const int begin = int(0x110f0d0a06ull >> 8 * row & 255);
  const int opposite = 5 - row;
  return begin + column - row - 1 - (opposite > row && opposite < column ? 1 : 0);
}

} // namespace gray

} // namespace ossatura
