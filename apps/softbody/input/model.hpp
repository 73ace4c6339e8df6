// SPDX-License-Identifier: Apache-2.0
// This file turns a scene as users write it into the scene that is solved: meshes read and placed,
// boxes turned into nodes and elements.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/softbody/input/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// What reports say of an object.
struct SoftObjectInfo {
  std::string name;
  std::string source; ///< file or generator
  std::int64_t unused_points = 0;
  double mass = 0; ///< kg
};

struct SoftbodyModel {
  SoftScene scene;
  SoftOptions options;
  int steps = 0;
  std::vector<SoftObjectInfo> info; ///< of each object

  std::int64_t num_nodes() const;
  std::int64_t num_elem() const;
  std::int64_t num_fixed() const;
};

/// Reads the scene and its meshes, and records them as inputs. Throws InputError, naming file,
/// place and remedy, for what does not fit the meshes: boxes that select nothing, numbers of nodes
/// out of range, laws not made for the elements, bodies without mass that nothing holds.
SoftbodyModel make_softbody_model(const SoftbodyCommandOptions& options, DriverContext& context);

/// The object as it is solved; its mesh is read or made. `unused_points` of the file are left out.
SoftObject make_soft_object(const ObjectChoice& choice, std::int64_t& unused_points);

/// "box.vtu", "cloth of 70 x 70 nodes" and so on.
std::string describe_source(const MeshChoice& mesh);

} // namespace ossatura
