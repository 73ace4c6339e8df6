// SPDX-License-Identifier: Apache-2.0
// These functions read the JSON keys that all problems of mechanics share.
#pragma once

#include "apps/driver/problem/json_place.hpp"
#include <ossatura/core/mesh/mesh_selection.hpp>

namespace ossatura {

/// Lower and upper corner in m.
Box read_box(const JsonPlace& place);
inline constexpr const char* box_numbers = "six numbers: lower x, y, z and upper x, y, z in m";

/// The selection of an object: by one of the keys `kinds`, which are some of set, box, plane,
/// sphere and cylinder, or by the key `numbers`. Its other keys are among `more`.
MeshSelection read_selection(const JsonPlace& place, const std::vector<std::string>& kinds,
                             const std::string& numbers, const std::vector<std::string>& more);

/// "xz"; bit c is set for component c.
std::uint8_t read_components(const JsonPlace& place);

/// Poisson's ratio.
double read_poisson(const JsonPlace& place);
inline constexpr const char* poisson_range = "Poisson's ratio, greater than -1 and less than 0.5";

/// Part of an edge by which `what` of a mesh are moved, 0 to 0.5.
double read_distortion(const JsonPlace& place, const std::string& what);

} // namespace ossatura
