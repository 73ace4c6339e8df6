// SPDX-License-Identifier: Apache-2.0
// Tissues have conduction velocities, in m/s = mm/ms.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The velocity of tissue through which no wave goes.
inline constexpr ConductionVelocity no_conduction{0, 0, 0};

/// The velocities of tags from a file or an option.
struct VelocityTable {
  TissueVelocities by_tag;
  std::optional<ConductionVelocity> other; ///< of all other tags
  std::string origin;                      ///< the file or option, for messages
};

/// The velocities of a mesh: of each tag that occurs, or of each tetrahedron.
struct MeshVelocities {
  TissueVelocities by_tag;
  std::vector<ConductionVelocity> by_tetra; ///< [num_tetra], or empty: by tag
  std::vector<bool> blocked;                ///< [num_tetra] who does not conduct; empty: all do
  std::int64_t num_blocked = 0;
  std::string origin; ///< the file or option, for messages

  const ConductionVelocity& of(std::size_t tetra, int tag) const {
    return by_tetra.empty() ? by_tag.at(tag) : by_tetra[tetra];
  }
};

/// Reads a JSON file: for each tag, and for "default", an object with "vl" along the fibre and,
/// where they are others, "vt" along the sheet and "vn" along the normal of both:
///   {"1": {"vl": 0.6, "vt": 0.4, "vn": 0.2}, "2": {"vl": 0.5}, "3": {"vl": 0}, "default": {...}}
/// Tissue of "vl" 0 or null, or null itself, does not conduct. Throws InputError naming the file
/// and the line or the tag.
VelocityTable read_velocities(const std::string& path);

/// "VL[,VT[,VN]]", for all tags; VT is VL and VN is VT where not given. Throws
/// std::invalid_argument.
ConductionVelocity parse_velocity(const std::string& text);

/// Velocities of each of `num_tetra` tetrahedra from rows of one to three numbers, as above:
/// `value` [num_tetra, any]. 0 and NaN of the first do not conduct. Throws InputError that begins
/// with `origin` and names the tetrahedron.
std::vector<ConductionVelocity> tetra_velocities(const std::vector<double>& value,
                                                 std::size_t num_tetra, const std::string& origin);

/// The velocities of the tags that occur: `count` tetrahedra of each. Throws InputError for a tag
/// without one, naming it, `source` (the mesh) and the remedy; says in the log which tags of the
/// table do not occur.
TissueVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count,
                                   const std::string& source);

/// Takes velocities from the tags of `non_conducting`, and finds out who does not conduct. Throws
/// InputError for a tag that no tetrahedron has, and where nothing conducts.
void block_tissue(const TetraMesh& mesh, const std::map<int, std::int64_t>& count,
                  const std::vector<int>& non_conducting, const std::string& source,
                  MeshVelocities& velocities);

/// Warns of velocities that are hardly those of a heart in m/s.
void warn_of_odd_velocities(const TetraMesh& mesh, const MeshVelocities& velocities);

} // namespace ossatura
