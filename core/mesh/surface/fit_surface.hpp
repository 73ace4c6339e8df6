// SPDX-License-Identifier: Apache-2.0
// fit_surface puts the stepped faces of a body of cubes back to the surface that the cubes filled.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

struct FittedSurface {
  TriangleSurface surface;
  std::vector<bool> is_fitted; ///< [vertices] moved to the body's surface, or on it as they were
};

/// Vertices with `faces`, bits 2 d and 2 d + 1 for faces of cubes that face down and up axis d,
/// move to the nearest place of triangles of `body` that face as those do, to within 70 degrees;
/// where its faces face several ways, to where those meet: the rim of a hole stays in the plane
/// that the hole opens in. No vertex moves by more than `within`; `body` is oriented outwards, in
/// the same unit. Vertices whose triangles would turn over, or go through others that they did not,
/// stay, with those around. Throws std::invalid_argument for arrays of other sizes and for `within`
/// not above 0.
FittedSurface fit_surface(TriangleSurface surface, const std::vector<std::uint8_t>& faces,
                          const TriangleSurface& body, double within);

} // namespace ossatura
