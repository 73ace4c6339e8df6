// SPDX-License-Identifier: Apache-2.0
// Conduction velocities of tissues, in m/s = mm/ms.
#pragma once

#include "solvers/eikonal_solver.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace femura {

/// What a file or an option says.
struct VelocityTable {
  TissueVelocities by_tag;
  std::optional<ConductionVelocity> other; ///< of all other tags
  std::string origin;                      ///< the file or option, for messages
};

/// Reads a JSON file: for each tag, and for "default", an object with "vl" along the fibre, "vt"
/// along the sheet and, where it is another one, "vn" along the normal of both:
///   {"1": {"vl": 0.6, "vt": 0.4, "vn": 0.2}, "2": {"vl": 0.5, "vt": 0.3}, "default": {...}}
/// Throws InputError naming the file and the line or the tag.
VelocityTable read_velocities(const std::string& path);

/// "VL[,VT[,VN]]", for all tags; VT is VL and VN is VT where not given. Throws
/// std::invalid_argument.
ConductionVelocity parse_velocity(const std::string& text);

/// The velocities of the tags that occur: `count` tetrahedra of each. Throws InputError for a tag
/// without one, naming it, `source` (the mesh) and the remedy; says in the log which tags of the
/// table do not occur.
TissueVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count,
                                   const std::string& source);

} // namespace femura
