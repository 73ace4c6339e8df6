// SPDX-License-Identifier: Apache-2.0
// An eikonal method lowers arrival times until no update lowers any; this file states the interface
// of all methods.
#pragma once

#include <ossatura/kernels/eikonal/times.hpp>
#include <ossatura/solvers/eikonal/queue_store.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

namespace ossatura::detail {

/// Where the iterations start.
template<class Exec>
struct EikonalStart {
  std::int64_t num_times;          ///< sets * num_points, < 2^31
  int num_points;                  ///< of the mesh
  Array<std::uint32_t, Exec> site; ///< indices into times, no two equal
  int num_site_points;             ///< points of the mesh that are sites in some set
};

struct EikonalCounts {
  int iterations = 0;
  bool converged = false;
  std::int64_t evaluations = 0;
  std::int64_t local_solves = 0;
};

/// Whether an iteration reads the times of the one before, and not some that others lower at the
/// same moment: results are then bitwise the same for any number of threads.
template<class Exec>
bool reads_last_times(const EikonalOptions& options) {
  switch (options.method) {
  case EikonalMethod::scan:
    return true;
  case EikonalMethod::patch: // which are to work on their own
    return options.deterministic;
  default:
    // Where many threads at once read new times by chance, that costs evaluations.
    return options.deterministic || BackendTraits<Exec>::is_device;
  }
}

/// The options with a method chosen. Throws std::invalid_argument for values out of range.
template<class Exec>
EikonalOptions checked_options(EikonalOptions options) {
  if (options.method == EikonalMethod::automatic)
    options.method = default_eikonal_method<Exec>;
  OSSATURA_REQUIRE(options.tolerance >= 0 && options.tolerance < 1,
                   "tolerance " << options.tolerance);
  OSSATURA_REQUIRE(options.num_parts >= 0, options.num_parts << " sub-domains");
  return options;
}

/// Lowers `time` [sets * num_points], set at the sites and unreached_time elsewhere, until no
/// update lowers a time by more than options.tolerance of it. Fences. One definition in each of the
/// eikonal_<method>.cpp. `store`: of prepare_queue(), for the same update.
template<class Exec, class Metric, class Real>
EikonalCounts solve_by_queue(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                             const EikonalStart<Exec>& start, const EikonalOptions& options,
                             const Array<Real, Exec>& time, QueueStore<Exec, Real>& store);

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_scan(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                            const EikonalStart<Exec>& start, const EikonalOptions& options,
                            const Array<Real, Exec>& time);

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_parts(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                             const EikonalStart<Exec>& start, const EikonalOptions& options,
                             const Array<Real, Exec>& time);

/// Calls X(Exec, Metric, Real) for all that are instantiated.
#define OSSATURA_FOR_EACH_EIKONAL(X, Exec)                                                         \
  X(Exec, TetraLengths<float>, float)                                                              \
  X(Exec, TetraLengths<double>, double)                                                            \
  X(Exec, TetraProducts<float>, float)                                                             \
  X(Exec, TetraProducts<double>, double)

} // namespace ossatura::detail
