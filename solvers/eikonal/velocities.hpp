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

/// How many tetrahedra have each tag that occurs.
std::map<int, std::int64_t> count_tags(const TetraMesh& mesh);

/// Velocities of each of `num_tetra` tetrahedra from rows of one to three numbers, as above:
/// `value` [num_tetra, any]. 0 and NaN of the first do not conduct. Throws InputError that begins
/// with `origin` and names the tetrahedron.
std::vector<ConductionVelocity> tetra_velocities(const std::vector<double>& value,
                                                 std::size_t num_tetra, const std::string& origin);

/// The velocities of the tags that occur.
struct ChosenVelocities {
  TissueVelocities by_tag;
  std::vector<int> missing; ///< tags that occur, without a velocity
  std::vector<int> unused;  ///< tags of the table that do not occur
};
ChosenVelocities choose_velocities(const VelocityTable& table,
                                   const std::map<int, std::int64_t>& count);

/// Takes velocities from the tags of `non_conducting`, and finds out who does not conduct: maybe
/// all.
void block_tissue(const TetraMesh& mesh, const std::vector<int>& non_conducting,
                  MeshVelocities& velocities);

} // namespace ossatura
