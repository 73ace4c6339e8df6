// SPDX-License-Identifier: Apache-2.0
// Reads the velocities that users write, in m/s = mm/ms.
#pragma once

#include <ossatura/solvers/eikonal/velocities.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// Reads a JSON file: for each tag, and for "default", an object with "vl" along the fibre and,
/// where they are others, "vt" along the sheet and "vn" along the normal of both:
///   {"1": {"vl": 0.6, "vt": 0.4, "vn": 0.2}, "2": {"vl": 0.5}, "3": {"vl": 0}, "default": {...}}
/// Tissue of "vl" 0 or null, or null itself, does not conduct. Throws InputError naming the file
/// and the line or the tag.
VelocityTable read_velocities(const std::string& path);

/// "VL[,VT[,VN]]", for all tags; VT is VL and VN is VT where not given. Throws
/// std::invalid_argument.
ConductionVelocity parse_velocity(const std::string& text);

/// The velocities of the tags that occur: `count` tetrahedra of each. Throws InputError for a tag
/// without one, naming it, `source` (the mesh) and the remedy; tells which tags of the table do not
/// occur, as a warning where the table has a default.
TissueVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count,
                                   const std::string& source);

/// block_tissue() of tags. Throws InputError for a tag that no tetrahedron has, and where nothing
/// conducts.
void block_tags(const TetraMesh& mesh, const std::map<int, std::int64_t>& count,
                const std::vector<int>& non_conducting, const std::string& source,
                MeshVelocities& velocities);

} // namespace ossatura
