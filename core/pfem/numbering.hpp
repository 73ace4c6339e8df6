// SPDX-License-Identifier: Apache-2.0
// The numbering gives global numbers to the modes of hierarchical hexahedra. Elements share the
// modes of an edge or a face, which are defined in the frame of that edge or face, fixed by global
// vertex numbers: an edge runs from its lower to its higher vertex; a face starts at its lowest
// vertex and goes first to the lower one of that vertex's neighbours. An element whose own frame
// lies otherwise sees a shared mode with another sign, or with two indices exchanged: psi_n(-s) =
// (-1)^n psi_n(s). Signs are in the index lists, so that element matrices do not depend on frames.
//
// Elements may have different orders: edges and faces have the lowest order of the elements around
// them (minimum rule), so that functions are continuous.
#pragma once

#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/pfem/modes.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// A global mode and the sign with which an element sees it, in an int.
struct SignedMode {
  static constexpr std::int32_t none = -1; ///< a mode above the order of its edge or face
  static std::int32_t make(std::int32_t mode, bool negative) {
    return 2 * mode + (negative ? 1 : 0);
  }
};

/// Modes are scalar; vectors of displacements have three components a mode, [num_modes, 3]. Modes
/// 0 .. num_points - 1 are the vertices, so numbered; then those of edges, faces and interiors.
struct HierarchicNumbering {
  HexaSpace space = HexaSpace::trunk;
  std::int32_t num_modes = 0;
  std::int32_t edge_begin = 0, face_begin = 0, interior_begin = 0; ///< first modes of each kind
  std::vector<std::uint8_t> order;                                 ///< [num_elem]
  std::vector<std::int64_t> begin;                                 ///< [num_elem + 1] into the next
  std::vector<std::int32_t> signed_mode; ///< modes of each element in the order of
                                         ///< hierarchic_modes: 2 mode, 1 more if its sign is -1,
                                         ///< or SignedMode::none
  std::vector<std::int32_t> edge_mode_begin;     ///< [num_edges + 1] modes of each global edge
  std::vector<std::int32_t> face_mode_begin;     ///< [num_faces + 1]
  std::vector<std::int32_t> interior_mode_begin; ///< [num_elem + 1]
};

/// `order` has one entry for all elements or one for each. Throws std::invalid_argument for orders
/// outside 1 .. max_hexa_order, another number of them, and more than 2^30 modes.
HierarchicNumbering make_hierarchic_numbering(const ElementMesh& mesh, const HexaEntities& entities,
                                              HexaSpace space,
                                              const std::vector<std::uint8_t>& order);

} // namespace ossatura
