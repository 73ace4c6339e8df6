// SPDX-License-Identifier: Apache-2.0
// This file turns options into supports and loads on the grid.
#pragma once

#include "apps/bone/input/model.hpp"
#include <ossatura/solvers/bone/load.hpp>

namespace ossatura {

/// The load asked for: a standard test between plates, the nodes of the input and of --fix and
/// --force, or held sides for a homogenisation, but none of a unit cell. Sets problem.held. Throws
/// UsageError and InputError for loads that hold nothing or lie in the void. Fences.
template<class Exec>
BoneLoad<Exec> make_bone_load(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model, VoxelProblem<Exec>& problem);

/// Finds the parts of the specimen, connected by nodes, that no held component touches, or of a
/// unit cell those that do not lead through it; their equations have no unique solution. They are
/// taken out of model.modulus with a warning, or are an InputError, as --islands says; always an
/// error if they are most of the specimen. Returns whether voxels went, so that problem and load
/// must be made anew. Fences.
template<class Exec>
bool drop_islands(const Exec& exec, const BoneOptions& options, const VoxelProblem<Exec>& problem,
                  BoneModel<Exec>& model);

/// The same for crumbs beyond the two ends of the bone, before caps are put on it. Returns whether
/// voxels went, and a problem made anew is to be asked again. Fences.
template<class Exec>
bool drop_crumbs(const Exec& exec, const BoneOptions& options, const VoxelProblem<Exec>& problem,
                 BoneModel<Exec>& model);

/// Whether --test file is meant: asked for, or implied by supports or forces that were given.
template<class Exec>
bool has_listed_load(const BoneOptions& options, const BoneModel<Exec>& model) {
  const LoadTest test = test_of_options(options);
  return test == LoadTest::prescribed ||
         (test == LoadTest::by_input && !(model.displacements.empty() && model.forces.empty()));
}

} // namespace ossatura
