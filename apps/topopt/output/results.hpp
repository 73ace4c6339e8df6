// SPDX-License-Identifier: Apache-2.0
// These structures hold the results of `ossatura topopt` as numbers on the host. SI units.
#pragma once

#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/part/reanalysis.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Totals of all solves of a step.
int iterations_of(const DesignStep& step);
double residual_of(const DesignStep& step); ///< the largest, relative; NaN is larger than any
double seconds_of(const DesignStep& step);
/// Sum of weight times compliance, whatever the objective is, but of no mechanism.
double compliance_of(const DesignProblem& problem, const DesignStep& step);

/// "half", "quarter", "eighth" or "part": what is modelled of the body that goes on in mirrors;
/// "whole" where there are none.
std::string modelled_share(const std::vector<MirrorPlane>& mirrors);

/// How the linear systems were solved.
struct DesignEngine : DesignEngineInfo {
  double radius = 0; ///< of the filter
  // Peaks of the rank that has most.
  std::int64_t most_host_bytes = 0, most_kokkos_bytes = 0;
};

/// What hangs together above the level of the surface.
struct PartsSummary {
  std::int64_t num_parts = 0, num_loose = 0; ///< loose: joins no load to a support
  double volume = 0, loose_volume = 0;       ///< m^3, of all and of loose ones
  bool joined = false;                       ///< whether a part joins a load to a support
  bool keeps_loose = false;                  ///< in the surface
  std::vector<double> beside;                ///< of LooseParts
};

/// The surface as it was written.
struct SurfaceSummary {
  std::int64_t num_vertices = 0, num_triangles = 0;
  std::int64_t num_held = 0;   ///< vertices that smoothing left where they were
  std::int64_t num_fitted = 0; ///< vertices on the surface that the body was filled from
  int num_copies = 1;          ///< of the model, with images in mirrors
  double volume = 0;           ///< m^3, that it encloses

  /// "whole", or the share that is modelled.
  std::string body(const std::vector<MirrorPlane>& mirrors) const {
    return num_copies > 1 ? "whole" : modelled_share(mirrors);
  }
};

/// The surface as it was solved again.
struct ReanalysisSummary {
  std::string failure;                              ///< why there are no numbers, or empty
  bool is_stopped = false;                          ///< by a signal, which is the failure
  double edge = 0, volume = 0, left_out = 0;        ///< of SurfaceBody
  std::int64_t num_supported = 0, num_supports = 0; ///< likewise
  std::vector<MovedForces> moved;                   ///< likewise
  Reanalysis solution;
  double seconds = 0;
};

/// What the compliance of no design is below.
struct BoundSummary {
  std::string reason;      ///< why there is none, or empty
  bool is_stopped = false; ///< by a signal: another one might be closer
  DesignBound found;
  double seconds = 0;

  bool is_known() const { return std::isfinite(found.value); }
  /// By what part of the bound a compliance is above it, at most.
  double excess_of(double compliance) const {
    return (compliance - found.value) / std::fabs(found.value);
  }
};

/// Steps on one of several grids.
struct GridSteps {
  std::int64_t num_elem = 0;
  double edge = 0, radius = 0; ///< of cubes and the filter, m
  std::size_t num_steps = 0;
  double seconds = 0; ///< of these steps
};

/// The last design is `times` as compliant as that at the start of step `step`.
struct ComplianceRise {
  int step = 0;
  double times = 0;
  bool sharpened = false; ///< since then

  /// What carried the loads has gone; else members have been cut that others stand in for.
  bool is_failure() const { return times > 100; }
};

struct TopoptRunResults {
  int first_step = 0; ///< 0, or that of the checkpoint
  std::vector<DesignStep> steps;
  std::vector<GridSteps> grids;                   ///< with --levels, those that had steps or none
  std::optional<DesignStep> final;                ///< the last design, analysed
  std::vector<DesignBalance> balances;            ///< of its load cases
  std::vector<LargestValues> largest;             ///< of them
  double load_displacement = 0;                   ///< m, largest of loaded nodes of the last design
  double least_density = 0, greatest_density = 0; ///< of the last design
  std::string breakdown;              ///< why there was no other step, empty if there was
  bool converged = false;             ///< by the change of variables or of the objective
  bool stopped = false;               ///< by a signal
  bool within_volume = true;          ///< the last design has no more volume than it may
  std::optional<ComplianceRise> rise; ///< where the last design is far worse than one before
  bool is_nothing = false;            ///< the last design of least volume has no material
  ProcessFaults faults;               ///< where the last design is not made as was asked
  std::optional<BoundSummary> bound;  ///< where it is asked for
  bool has_checkpoint = false;        ///< to go on from, if it can be written

  DesignEngine engine;
  std::optional<PartsSummary> parts; ///< none with --no-stl
  std::optional<SurfaceSummary> surface;
  std::optional<ReanalysisSummary> reanalysis;
  struct {
    double read = 0, setup = 0, steps = 0, final = 0, write = 0; ///< without bound and reanalysis
  } seconds;
  std::int64_t num_frames = 0;
  std::vector<std::string> files; ///< written

  /// By a signal, in steps or after them.
  bool was_stopped() const {
    return stopped || (bound && bound->is_stopped) || (reanalysis && reanalysis->is_stopped);
  }
  bool has_ended() const { return stopped || !breakdown.empty(); } ///< before it was done
  /// Whether its last design is none.
  bool has_failed() const { return is_nothing || (rise && rise->is_failure()); }
  /// Whether the last design has no more volume than it may and keeps all limits.
  bool holds_limits() const;
  int last_step() const { return first_step + int(steps.size()); }
  std::int64_t iterations() const; ///< of all solves
  double step_residual() const;    ///< the largest of the solves of steps
  double residual() const;         ///< of the last analysis; without one, of steps
  bool fell_back() const;          ///< a solve had to do without the mixed preconditioner
};

/// Whether the last design is more than twice as compliant as one before it, of the same penalty,
/// that had no more volume than it may and kept all limits; 100 times, where robust designs or
/// loads of the design, as gravity, have other reasons. Only where the least compliance is the
/// objective, and is positive.
std::optional<ComplianceRise> find_rise(const DesignProblem& problem, const DesignOptions& options,
                                        const TopoptRunResults& results);

} // namespace ossatura
