// SPDX-License-Identifier: Apache-2.0
// Velocities that differ by direction have no effect where a mesh has no fibres or sheets.
#pragma once

#include <ossatura/solvers/eikonal/velocities.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Directions that velocities ask for, and that no tetrahedron has, or not all of a tag.
struct MissingDirections {
  enum class Kind { fibres, fibres_of_tag, some_of_tag, sheets };
  Kind kind;
  std::string text; ///< what is missing, and how waves go; remedies are left to who says it
};

/// Which directions the tetrahedra of a mesh have. It keeps no mesh.
class TissueDirections {
public:
  explicit TissueDirections(const TetraMesh& mesh);

  /// Looks at tetrahedra that conduct and whose velocities differ. Where any of them has a
  /// direction, tags without it lack it on purpose, but for those of `own`, velocities that were
  /// given by tag. Within a tag none lacks it on purpose where its velocities are its own, or where
  /// they are fewer than a tenth. `velocities`: of each tag that occurs, or of each tetrahedron.
  std::optional<MissingDirections> find_missing(const MeshVelocities& velocities,
                                                const TissueVelocities& own) const;

  /// Whether there are fibres, and sheets beside them.
  bool has_all() const { return any_ == (fibre | sheet); }

private:
  static constexpr std::uint8_t fibre = 1, sheet = 2;
  bool has_fibres_, has_sheets_;               ///< in the mesh, maybe all of them zero
  std::vector<int> tag_;                       ///< [num_tetra]
  std::vector<std::uint8_t> has_;              ///< [num_tetra] of fibre and sheet
  std::map<int, std::uint8_t> has_by_tag_;     ///< some of its tetrahedra, of those that occur
  std::uint8_t any_ = 0, all_ = fibre | sheet; ///< of the tetrahedra

  template<class Differ>
  bool all_lack(std::uint8_t direction, const MeshVelocities& velocities,
                const Differ& differ) const;
  std::optional<int> find_bare_tag(const MeshVelocities& velocities,
                                   const TissueVelocities& own) const;
  template<class Differ>
  std::string describe_gaps(std::uint8_t direction, const MeshVelocities& velocities,
                            const TissueVelocities& own, const Differ& differ) const;
};

} // namespace ossatura
