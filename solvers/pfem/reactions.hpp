// SPDX-License-Identifier: Apache-2.0
// Reactions are what supports take. Forces and supports of vertices alone are doubtful: the exact
// energy of a force on a point is infinite, so that what is found grows with the order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// What a support holds.
struct SupportedVertices {
  std::uint8_t components; ///< bits 0, 1, 2: x, y, z
  const std::vector<std::int32_t>& vertices;
  const std::vector<std::int32_t>& points; ///< of these, ascending, those that no edge joins to
                                           ///< another one
};

struct SupportReactions {
  std::array<double, 3> total_load{}, total_reaction{}; ///< N
  std::vector<std::array<double, 3>> of_support;        ///< N
  std::vector<double> of_points; ///< sizes of those of points, by the sizes of all and of loads
};

/// `force` and `internal` = K u are [num_modes, 3], vertices first, whose functions add up to 1.
/// `held` [num_modes] are components. One that several supports hold is of the last.
SupportReactions find_reactions(const std::vector<SupportedVertices>& supports,
                                const std::vector<double>& force,
                                const std::vector<double>& internal,
                                const std::vector<std::uint8_t>& held, std::size_t num_vertices);

/// u [num_modes, 3] without the mean displacement of vertices, which strains nothing: where a body
/// settles far, u' K u would be the rounding of K u.
std::vector<double> without_settlement(std::vector<double> u, std::size_t num_vertices);

/// Whether forces on `num_points` vertices of their own make a result that grows without a limit.
inline bool has_point_forces(std::size_t num_points, int highest_order) {
  return num_points > 0 && highest_order > 1;
}

/// Likewise supports of points with this part of reactions; those that only keep a body from moving
/// have none.
inline bool has_point_supports(double part, int highest_order) {
  return part > 1e-3 && highest_order > 1;
}

} // namespace ossatura
