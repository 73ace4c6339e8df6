// SPDX-License-Identifier: Apache-2.0
// These checks refuse elements that a soft body cannot have.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// Turns element `elem` if it is inside out, so that tetrahedra and the Jacobian of hexahedra at
/// their corners and Gauss points (2 x 2 x 2) are positive. Returns what is wrong with it and the
/// remedy, or an empty string: repeated nodes, no volume (area) within rounding, a hexahedron in
/// part inside out, or flat at a corner, or whose top is turned against its bottom.
std::string turn_element(ElementMesh& mesh, std::size_t elem);

/// The same of all elements, by all threads: the first that is wrong, with what it is. `turned`:
/// which were turned, if not null.
std::optional<std::pair<std::size_t, std::string>>
turn_elements(ElementMesh& mesh, std::vector<std::uint8_t>* turned = nullptr);

} // namespace ossatura
