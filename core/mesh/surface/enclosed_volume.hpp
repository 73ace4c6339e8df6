// SPDX-License-Identifier: Apache-2.0
// enclosed_volume measures what a closed surface holds.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

namespace ossatura {

/// The volume in a closed surface, cube of its unit: shells that face inward are cavities, and
/// where shells overlap it counts for each.
double enclosed_volume(const TriangleSurface& surface);

} // namespace ossatura
