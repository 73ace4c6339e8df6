// SPDX-License-Identifier: Apache-2.0
// The statistics say when a mesh and its tissues are activated.
#pragma once

#include <ossatura/core/base/result_check.hpp>
#include <ossatura/core/io/text/const_span.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/solvers/eikonal/conducting_parts.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace ossatura {

/// Over vertices; ms. Times are 0 where no vertex is reached.
struct ActivationStatistics {
  std::int64_t num_vertices = 0, num_reached = 0;
  double earliest = 0, mean = 0, latest = 0; ///< of those reached
};

/// Which vertices belong to a tetrahedron of which tag. Tetrahedra that do not conduct do not
/// count, nor do vertices that only they have.
class TaggedVertices {
public:
  /// blocked [num_tetra]: who does not conduct; or empty: all do.
  explicit TaggedVertices(const TetraMesh& mesh, const std::vector<bool>& blocked = {});

  /// The tags that occur, ascending.
  const std::vector<int>& tags() const { return tags_; }

  /// The statistics of each tag, in the order of tags(); a vertex between tissues counts in each.
  /// time [num_points], infinity where unreached.
  template<class Real>
  std::vector<ActivationStatistics> summarise(ConstSpan<Real> time) const;

  /// The same for all vertices.
  template<class Real>
  ActivationStatistics summarise_all(ConstSpan<Real> time) const;

private:
  struct Other {
    std::int32_t vertex, tag; ///< number in tags_
  };
  std::vector<int> tags_;
  std::vector<std::int32_t> first_; ///< [num_points] number of one tag of each vertex, or -1
  std::vector<Other> others_;       ///< the other tags, of vertices between tissues
};

/// How many of the vertices of a site, which starts at `start`, have an earlier time: the wave of
/// another site was there before. `origin`: time_origin() of the set. time [num_points].
template<class Real>
std::int64_t count_swallowed(const std::vector<std::int32_t>& vertices, double start, double origin,
                             ConstSpan<Real> time);

/// How many vertices that were not reached lie in parts without a site. sites: the vertices of
/// each; time [num_points].
template<class Real>
std::int64_t count_apart(const ConductingParts& parts,
                         const std::vector<std::vector<std::int32_t>>& sites, ConstSpan<Real> time);

/// Vertices of the tissue that conducts which a set of sites does not reach.
struct UnreachedVertices {
  std::int64_t num_vertices = 0; ///< of the tissue that conducts
  std::int64_t num_apart = 0;    ///< see count_apart()
  std::int64_t num_late = 0;     ///< others: later than all times, or the iteration ended early
};

template<class Real>
UnreachedVertices find_unreached(const ConductingParts& parts,
                                 const std::vector<std::vector<std::int32_t>>& sites,
                                 ConstSpan<Real> time);

/// By how much times between these are rounded in single precision, ms, where that is more than
/// 1e-5 of the duration, so that digits of it are lost; else 0.
double coarse_rounding(double earliest, double latest);

/// Certificates from here on are of errors that single precision is not chosen for.
inline constexpr double coarse_certificate = 1e-4;

/// What is known of times of this precision. The residual is worked out from rounded times, which
/// may be off by some ulp themselves. What the rounded metric loses depends on the mesh: flat
/// tetrahedra lose digits (warnings say from when on); with 1 % of a time there is no result.
template<class Real>
std::vector<ResultCheck> check_activation(const EikonalResult& solved, double tolerance) {
  constexpr double most_lost = std::is_same_v<Real, double> ? 1e-6 : 1e-2;
  return {
      {"residual", solved.residual, tolerance + 8 * double(std::numeric_limits<Real>::epsilon())},
      {"certificate", solved.certificate, std::max(most_lost, 2 * tolerance)}};
}

} // namespace ossatura
