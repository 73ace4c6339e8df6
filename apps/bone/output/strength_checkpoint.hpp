// SPDX-License-Identifier: Apache-2.0
// A checkpoint of a test beyond yield holds its last step, the curve so far and what the bone has
// become, so that another run can go on from there.
#pragma once

#include "apps/bone/input/model.hpp"
#include "apps/driver/output/files/checkpoint.hpp"
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/bone/strength.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// What a checkpoint belongs to.
struct StrengthIdentity {
  std::string bone; ///< hash of voxels, their moduli, caps and pads, and of what is held
  std::string law;
  Course course;
};

/// Reads the voxels from the backend. Fences.
template<class Exec>
StrengthIdentity identify(const Exec& exec, const VoxelProblem<Exec>& problem,
                          const Array<std::uint8_t, Exec>& elastic, const StrengthOptions& options);

struct StrengthCheckpoint {
  StrengthState state;
  std::vector<StrengthStep> steps; ///< so far, without their residuals
  SolveResult elastic;             ///< of the solve without yield
};

/// Writes the file at `path`, whole or not at all; `run` are facts about the run.
void write_strength_checkpoint(const std::string& path, const StrengthCheckpoint& checkpoint,
                               const StrengthIdentity& identity,
                               const std::vector<std::pair<std::string, std::string>>& run);

/// Throws InputError for a file that is no checkpoint, is damaged or belongs to something else.
/// Warns of another course.
StrengthCheckpoint read_strength_checkpoint(const std::string& path,
                                            const StrengthIdentity& identity);

} // namespace ossatura
