// SPDX-License-Identifier: Apache-2.0
// A checkpoint holds the state of a topology optimisation, so that another run can go on from
// there.
#pragma once

#include "apps/driver/output/files/checkpoint.hpp"
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// What a checkpoint belongs to.
struct DesignIdentity {
  std::string mesh;    ///< hash of points and elements
  std::string problem; ///< and of material, supports, loads, passive elements, springs
  std::string options; ///< and of what the steps do, but for the solver and when they end
  Course course;       ///< which may be another
};
DesignIdentity identify(const DesignProblem& problem, const DesignOptions& options);

/// Writes the file at `path`, whole or not at all; `run` are facts about the run.
void write_design_checkpoint(const std::string& path, const DesignState& state,
                             const DesignIdentity& identity,
                             const std::vector<std::pair<std::string, std::string>>& run);

/// The first of `identities` whose mesh the checkpoint is of, or their number. Throws InputError
/// for a file that is no checkpoint or is damaged.
std::size_t find_mesh_of_checkpoint(const std::string& path,
                                    const std::vector<DesignIdentity>& identities);

/// Throws InputError for a file that is no checkpoint, is damaged or belongs to something else.
/// Warns of another course.
DesignState read_design_checkpoint(const std::string& path, const DesignIdentity& identity,
                                   const DesignProblem& problem);

} // namespace ossatura
