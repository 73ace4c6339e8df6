// SPDX-License-Identifier: Apache-2.0
// A vertex star holds the modes around a vertex of a mesh of hierarchical hexahedra: all modes that
// are zero outside of the elements at the vertex, namely those of the vertex itself and of the
// edges, faces and interiors that touch it. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/pfem/numbering.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Modes of an element that belong to the star of one of its vertices.
struct CornerModes {
  std::vector<std::int32_t> begin; ///< [9] of each vertex, in the order of ElementShape::hexa
  std::vector<std::int32_t> mode;  ///< in the order of hierarchic_modes, ascending at a vertex
};

CornerModes corner_modes(HexaSpace space, int order);

/// Vertices without any mode but their own have no star.
struct HierarchicStars {
  std::vector<std::int64_t> mode_begin;   ///< [num_stars + 1] into the next
  std::vector<std::int32_t> mode;         ///< ascending in a star
  std::vector<std::int64_t> corner_begin; ///< [num_stars + 1] into the next
  std::vector<std::uint32_t> corner;      ///< elements around a star's vertex: 8 elem + vertex
  std::vector<std::int64_t> place_begin;  ///< [number of corners + 1] into the next
  std::vector<std::int32_t> place; ///< of the modes of a corner (CornerModes) in their star: twice
                                   ///< the place, 1 more if the element sees the mode with sign
                                   ///< -1; or -1, not there

  std::int64_t num_stars() const { return std::int64_t(mode_begin.size()) - 1; }
};

/// Modes whose three components are all `held` [num_modes] (7) are left out. Throws
/// std::invalid_argument for a numbering of another mesh and lists of other lengths.
HierarchicStars make_hierarchic_stars(const ElementMesh& mesh, const HierarchicNumbering& numbering,
                                      const std::vector<std::uint8_t>& held);

} // namespace ossatura
