// SPDX-License-Identifier: Apache-2.0
// Doubts are warnings about a mesh and its velocities that can be solved but are hardly what the
// user meant.
#pragma once

#include <ossatura/solvers/eikonal/velocities.hpp>

#include <string>

namespace ossatura {

/// Logs `odd-size`, `odd-velocity` and `missing-directions` where they apply to the mesh of
/// `source`; `tags`: the velocities that were given by tag.
void warn_of_mesh(const TetraMesh& mesh, const MeshVelocities& velocities,
                  const TissueVelocities& tags, const std::string& source);

/// Logs `split-mesh` where tetrahedra that conduct touch without sharing vertices.
void warn_of_split_mesh(const TetraMesh& mesh, const MeshVelocities& velocities,
                        const std::string& source);

/// Logs `folded-mesh` where tetrahedra that conduct lie in their neighbours.
void warn_of_folds(const TetraMesh& mesh, const MeshVelocities& velocities,
                   const std::string& source);

/// Logs `scars-conduct` where `file` is VTKHDF and has a field `conducts`, as results have, that is
/// 0 for tetrahedra that conduct here.
void warn_of_scars(const std::string& file, const TetraMesh& mesh,
                   const MeshVelocities& velocities);

} // namespace ossatura
