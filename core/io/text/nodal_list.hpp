// SPDX-License-Identifier: Apache-2.0
// read_nodal_list reads displacements or forces of single nodes from a text file.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <array>
#include <string>
#include <vector>

namespace ossatura {

/// Reads rows "x, y, z, component, value" (separated by commas or blanks; component x, y, z or 0,
/// 1, 2; `#` begins a comment) for nodes of an image of `shape` voxels. Throws InputError naming
/// file and line.
std::vector<NodalValue> read_nodal_list(const std::string& path, const std::array<int, 3>& shape);

} // namespace ossatura
