// SPDX-License-Identifier: Apache-2.0
// find_loaded_hinge looks for hexahedra that touch others along an edge or in a corner alone, and
// that forces turn about it. Host memory.
#pragma once

#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/core/pfem/numbering.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace ossatura {

/// A vertex of such a hinge; none where nothing turns (core/mesh/mechanics/rigid_blocks.hpp).
/// Elements that faces join are taken for rigid. An edge that is bent holds what it joins; forces
/// count by their vertices, which on bent elements is next to their work. `held` [num_modes]: bit c
/// is component c; `force` [num_modes, 3].
std::optional<std::int32_t> find_loaded_hinge(const CurvedHexaMesh& shape,
                                              const HexaEntities& entities,
                                              const HierarchicNumbering& numbering,
                                              const std::vector<std::uint8_t>& held,
                                              const std::vector<double>& force);

} // namespace ossatura
