// SPDX-License-Identifier: Apache-2.0
// This file turns sites as users write them into vertices of a mesh.
#pragma once

#include "apps/eikonal/input/site_syntax.hpp"
#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// The vertices of each site of a set, in its order.
struct PlacedSites {
  std::vector<std::vector<std::int32_t>> vertices;
  std::vector<std::int64_t> num_blocked; ///< others, in tissue that does not conduct

  /// As the solver takes them: each vertex once, at its earliest time.
  std::vector<EikonalSite> merged(const SiteSet& set) const;
};

/// Finds the vertices of all sites of `set`. Throws InputError, naming the site, for a vertex that
/// the mesh does not have, a point outside the mesh (farther from all vertices than the longest
/// edge) and a sphere or box without a vertex.
PlacedSites place_sites(const TetraMesh& mesh, const SiteSet& set);

} // namespace ossatura
