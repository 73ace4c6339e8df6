// SPDX-License-Identifier: Apache-2.0
// This file turns options into supports and loads on the grid.
#pragma once

#include "apps/bone/input/model.hpp"
#include "apps/bone/supports.hpp"
#include <ossatura/kernels/bone/mechanical_test.hpp>

namespace ossatura {

/// A side on which a force acts.
struct SideContact {
  std::string name;
  int normal;
  std::int64_t num_nodes;
  double area; ///< of the bone there, mm2
};

template<class Exec>
struct BoneLoad {
  Constraints<Exec> held;
  Array<double, Exec> u;            ///< [3 num_nodes] prescribed displacements in mm, 0 elsewhere
  Array<double, Exec> force;        ///< [3 num_nodes] nodal forces in N, or empty
  std::vector<NamedRegion> regions; ///< of a standard test; empty where nodes were listed
  std::vector<SideContact> pushed_sides;
};

/// The load asked for: a standard test between plates, or the nodes of the input and of --fix and
/// --force. Throws UsageError and InputError for loads that hold nothing or lie in the void, and
/// for parts of the specimen that nothing holds. Fences.
template<class Exec>
BoneLoad<Exec> make_bone_load(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model, const VoxelGrid<Exec>& grid);

/// One of the six kinematic-uniform loads: unit strain `component` in (xx, yy, zz, xy, yz, zx),
/// with the same held components for each. Sets load.u; makes load.held the first time. Fences.
template<class Exec>
void set_uniform_strain(const Exec& exec, const BoneModel<Exec>& model, const VoxelGrid<Exec>& grid,
                        int component, BoneLoad<Exec>& load);

/// Finds the parts of the specimen, connected by nodes, that no held component touches; their
/// equations have no unique solution. They are taken out of model.modulus with a warning, or are an
/// InputError, as --islands says; always an error if they are most of the specimen. Returns whether
/// voxels went, so that the grid must be made anew. Fences.
template<class Exec>
bool drop_islands(const Exec& exec, const BoneOptions& options, const VoxelGrid<Exec>& grid,
                  const Constraints<Exec>& held, BoneModel<Exec>& model);

/// Whether --test file is meant: asked for, or implied by displacements that were given.
template<class Exec>
bool has_listed_load(const BoneOptions& options, const BoneModel<Exec>& model) {
  return options.test == LoadTest::prescribed ||
         (options.test == LoadTest::by_input &&
          (!model.displacements.empty() || !options.fix.empty() || !options.fix_file.empty()));
}

} // namespace ossatura
