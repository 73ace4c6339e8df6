// SPDX-License-Identifier: Apache-2.0
// This file turns the places where waves start into vertices of a mesh.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/solvers/eikonal/conducting_parts.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

enum class SitePlace {
  vertices, ///< by number
  list,     ///< the vertices of a .vtx file
  point,    ///< the nearest vertex
  sphere,   ///< all vertices inside
  box       ///< all vertices inside
};

/// One place of a start.
struct SiteChoice {
  SitePlace place = SitePlace::vertices;
  std::vector<std::int32_t> vertices;
  std::string file;
  std::array<double, 6> number{}; ///< mm: x, y, z; x, y, z, radius; lower and upper corner
  double time = 0;                ///< ms
  std::string text;               ///< as written
};

/// Sites that belong to one solution.
struct SiteSet {
  std::string name;   ///< empty for the only one
  std::string origin; ///< for messages: where it is written
  std::vector<SiteChoice> sites;
};

/// The vertices of each site of a set, in its order.
struct PlacedSites {
  std::vector<std::vector<std::int32_t>> vertices;
  std::vector<std::int64_t> num_blocked; ///< others, in tissue that does not conduct

  /// As the solver takes them: each vertex once, at its earliest time.
  std::vector<EikonalSite> merged(const SiteSet& set) const;
  /// Takes the vertices from which no wave goes out of the sites.
  void leave_blocked_out(const ConductingParts& parts);
};

/// Finds the vertices of all sites of `set`. Throws InputError, naming the site, for a vertex that
/// the mesh does not have, a point outside the mesh (farther from all vertices than the longest
/// edge) and a sphere or box without a vertex.
PlacedSites place_sites(const TetraMesh& mesh, const SiteSet& set);

} // namespace ossatura
