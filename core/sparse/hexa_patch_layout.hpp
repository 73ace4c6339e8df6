// SPDX-License-Identifier: Apache-2.0
// A patch is a group of hexahedra that a team of threads takes at a time. The elements of a patch
// lie near one another, so that most nodes of a patch are read once and summed on chip, and are of
// one kind where the caller tells kinds apart. Host memory.
//
// Patches come of recursive bisection of the centres of elements along the longer side.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Where a patch is in the arrays of a HexaPatchLayout. Of its nodes the first are its own, which
/// no element of another patch has; it leaves a partial sum for each of the others.
struct HexaPatch {
  int elem_begin, num_elem;
  int node_begin, num_nodes, num_own;
  int partial_begin;
  int kind;
};

struct HexaPatchLayout {
  int patch_size = 0; ///< elements of a patch, at most; of nodes 4 times as many
  int max_nodes = 0;  ///< of the patches
  std::vector<HexaPatch> patch;
  std::vector<int> elem;            ///< [num_elem] by patch: the element of the mesh
  std::vector<std::uint16_t> local; ///< [num_elem, 8] by patch: node of an element in its patch
  std::vector<int> node;            ///< by patch
  /// Of node n of patch p: entries of `slot` from 8 elem_begin + slot_begin[node_begin + p + n] on,
  /// up to that of the next.
  std::vector<std::uint16_t> slot_begin;
  std::vector<std::uint16_t> slot;    ///< [8 num_elem] (node of the element) patch_size + element
  std::vector<int> shared;            ///< nodes with partial sums
  std::vector<int> partial_of_shared; ///< [num_shared + 1] into the next
  std::vector<int> partial;           ///< partial sums of each, ascending

  int num_partials() const { return int(partial.size()); }
};

/// `node` [num_elem, 8] in the local order that the caller wants; `kind` [num_elem], numbered
/// from 0, or empty. The same for the same mesh. patch_size <= 4096.
HexaPatchLayout make_hexa_patch_layout(const ElementMesh& mesh,
                                       const std::vector<std::int32_t>& node,
                                       const std::vector<int>& kind, int patch_size);

} // namespace ossatura
