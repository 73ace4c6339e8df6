// SPDX-License-Identifier: Apache-2.0
// These structures hold the results of `ossatura eikonal` as numbers on the host. Lengths are in
// mm, times in ms, velocities in m/s.
#pragma once

#include "apps/driver/output/certificate.hpp"
#include <ossatura/solvers/eikonal/activation_statistics.hpp>
#include <ossatura/solvers/eikonal/ranks/solver.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// The tetrahedra of a tag.
struct TissueInfo {
  int tag = 0;
  std::int64_t num_tetra = 0;
  std::int64_t num_blocked = 0; ///< which do not conduct
  /// Of those that do; the same where velocities are given by tag.
  ConductionVelocity least{}, greatest{};

  bool conducts() const { return num_blocked < num_tetra; }
};

/// The mesh as it was solved.
struct EikonalMeshInfo {
  std::string source; ///< file or generator
  std::int64_t num_points = 0, num_tetra = 0;
  bool has_fibres = false, has_sheets = false;
  std::int64_t num_isotropic = 0;      ///< tetrahedra without a fibre
  std::array<double, 6> bounds{};      ///< lower and upper corner
  std::int64_t num_blocked = 0;        ///< tetrahedra that do not conduct
  std::int64_t num_blocked_points = 0; ///< that belong to no other
  std::int64_t num_parts = 0;          ///< of what conducts, which share no vertex
  bool by_tetra = false;               ///< velocities are given for each tetrahedron
  std::vector<TissueInfo> tissues;
};

/// One site and what became of it.
struct SiteReport {
  std::string site; ///< as written
  double time = 0;
  std::int64_t num_vertices = 0; ///< that conduct
  std::int64_t num_blocked = 0;  ///< others
  /// Vertices that the wave of another site, or an earlier site, reached before `time`.
  std::int64_t num_swallowed = 0;

  bool is_swallowed() const { return num_swallowed == num_vertices; }
};

struct ActivationReport {
  std::string set; ///< its name, empty for the only one
  std::vector<SiteReport> sites;
  ActivationStatistics all;
  std::vector<int> tags; ///< ascending
  std::vector<ActivationStatistics> by_tag;

  std::int64_t num_apart = 0; ///< unreached vertices in parts of the mesh that have no site

  std::int64_t num_unreached() const { return all.num_vertices - all.num_reached; }
  std::int64_t num_swallowed() const;
  /// From the first vertex to the last.
  double total_time() const { return all.latest - all.earliest; }
};

struct EikonalSeconds {
  double read = 0, setup = 0, solve = 0, write = 0;
};

struct EikonalRunResults {
  EikonalMeshInfo mesh;
  std::string method, metric, precision; ///< as the options name them
  bool deterministic = false;
  std::optional<EikonalCut> cut; ///< of the mesh between ranks
  std::string split;             ///< among ranks, as --split names it; empty for one
  std::string partition, transport;
  int metric_bytes = 0; ///< of a tetrahedron
  EikonalResult solved;
  Certificate certificate;
  bool converged = false;   ///< in the iteration and by its residual
  bool interrupted = false; ///< by a signal
  std::vector<ActivationReport> sets;
  double unreached_mark = -1; ///< in files
  EikonalSeconds seconds;
  std::vector<std::string> files; ///< written

  /// Evaluations or solves by vertices and sets.
  double per_vertex(std::int64_t count) const {
    return double(count) / (double(mesh.num_points) * double(sets.size()));
  }
};

/// The answer to --dry-run.
struct EikonalPrediction {
  EikonalMeshInfo mesh;
  std::size_t num_sets = 0;
  double device_bytes = 0; ///< expected peak in the backend's memory
  double host_growth = 0;  ///< what the process grows by beside the model
};

} // namespace ossatura
