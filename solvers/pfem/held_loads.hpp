// SPDX-License-Identifier: Apache-2.0
// These functions count what of a load acts where supports hold the body, and does nothing. Host
// memory.
#pragma once

#include <ossatura/solvers/pfem/loads.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Components of forces on vertices and of tractions on faces that are not zero. A traction is lost
/// where all four vertices of its face are held: what a face has beside a support is not.
struct HeldLoads {
  std::int64_t components = 0, lost = 0;
  std::int32_t first_lost = -1; ///< a vertex; -1: nothing is lost

  bool is_part() const { return lost > 0 && lost < components; }
};

/// Adds a force on a vertex. `held` [num_modes, at least num_points]: bit c is component c.
void add_held_force(std::int32_t vertex, const std::array<double, 3>& force,
                    const std::vector<std::uint8_t>& held, HeldLoads& loads);

/// Adds tractions on faces: the vector `value`, or, as a pressure, along the normal of the plane
/// that is closest to the face.
void add_held_tractions(const CurvedHexaMesh& mesh, const std::vector<ElementFace>& faces,
                        bool is_pressure, const std::array<double, 3>& value,
                        const std::vector<std::uint8_t>& held, HeldLoads& loads);

} // namespace ossatura
