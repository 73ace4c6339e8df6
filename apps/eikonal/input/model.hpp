// SPDX-License-Identifier: Apache-2.0
// This file turns options into a mesh with velocities and sites.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/eikonal/input/options.hpp"
#include "apps/eikonal/input/velocities.hpp"
#include <ossatura/solvers/eikonal/conducting_parts.hpp>
#include <ossatura/solvers/eikonal/sites.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

struct EikonalModel {
  TetraMesh mesh;
  std::string source;                     ///< file or generator
  std::map<int, std::int64_t> num_by_tag; ///< tetrahedra of each tag that occurs
  MeshVelocities velocities;
  std::optional<ConductingParts> parts; ///< always there once made
  std::vector<SiteSet> sets;
  std::vector<PlacedSites> placed; ///< by set

  /// The number in files where no wave arrives: -1; NaN where a wave starts before 0, so that -1
  /// may be a time.
  double unreached_mark() const;
};

/// Reads or makes all of it; files that are read are noted in the provenance. Throws InputError.
EikonalModel make_eikonal_model(const EikonalCommandOptions& options, DriverContext& context);

} // namespace ossatura
