// SPDX-License-Identifier: Apache-2.0
// These functions move inner points and renumber a mesh of hexahedra, and leave the body the same.
// Tests and benchmarks make structured meshes as irregular as meshes from files.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/hexa/model.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Moves every point off the boundary by at most `amount` of its shortest edge, any way that `seed`
/// makes; points of elements that this would fold stay where they are. Points of the boundary stay.
/// Throws std::invalid_argument for elements that are no hexahedra or folded before, and for an
/// amount outside [0, 0.5].
void distort(ElementMesh& mesh, double amount, std::uint64_t seed);

/// New numbers by old ones, as renumber() gave them.
struct Renumbering {
  std::vector<std::int32_t> point; ///< [num_points]
  std::vector<std::int32_t> elem;  ///< [num_elem]
};

/// Numbers points and elements anew at random, and turns each element's nodes by one of the 24
/// rotations of a cube. Throws std::invalid_argument for elements that are no hexahedra.
Renumbering renumber(ElementMesh& mesh, std::uint64_t seed);

/// Renumbers a model, whose sets, supports and loads follow.
Renumbering renumber(HexaModel& model, std::uint64_t seed);

} // namespace ossatura
