// SPDX-License-Identifier: Apache-2.0
// A checkpoint holds the state of a run, so that another run can go on from there.
#pragma once

#include "apps/driver/output/files/checkpoint.hpp"
#include <ossatura/solvers/softbody/scene.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

struct Checkpoint {
  int step = 0;
  SoftState state;
};

/// What a checkpoint belongs to.
struct SceneIdentity {
  std::string meshes; ///< hash of names, points in place and elements
  std::string scene;  ///< and of materials, masses, what holds and loads them, velocities at the
                      ///< start, obstacles, contact, gravity and damping
  Course course;
};
/// Of the options only the damping counts: time step and solver may change on the way.
SceneIdentity identify(const SoftScene& scene, const SoftOptions& options);

/// Writes the file at `path`, whole or not at all; `run` are facts about the run.
void write_checkpoint(const std::string& path, const Checkpoint& state,
                      const SceneIdentity& identity,
                      const std::vector<std::pair<std::string, std::string>>& run);

/// Throws InputError for a file that is no checkpoint, is damaged or belongs to another scene.
/// Warns of another course.
Checkpoint read_checkpoint(const std::string& path, const SceneIdentity& identity,
                           std::size_t num_nodes);

} // namespace ossatura
