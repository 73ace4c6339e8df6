// SPDX-License-Identifier: Apache-2.0
// EikonalSolver computes activation times on tetrahedra: sqrt(grad t . D grad t) = 1 with D =
// velocity squared, by the fast iterative method. The heavy templates are instantiated in
// solver.cpp, for every backend, with Real = float and double.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ossatura {

/// Velocities of a tissue along its fibres, its sheets and the normal of both, in m/s = mm/ms.
/// Where `fibre` is 0 or no number, no wave goes through the tissue, and the others do not matter.
struct ConductionVelocity {
  double fibre;
  double sheet;
  double normal;

  bool conducts() const { return !(fibre == 0 || std::isnan(fibre)); }
};

/// The velocities of each tag. Where an element has no fibre, it is isotropic with velocity
/// `fibre`; where it has no sheet, `sheet` holds across the fibre.
using TissueVelocities = std::map<int, ConductionVelocity>;

enum class EikonalMethod {
  automatic, ///< the fastest: queue on devices, spread on cores
  queue,     ///< a queue of vertices, each updated from its own tetrahedra
  scan,      ///< the paper's: predicate, scan, gather; a thread for each gathered tetrahedron
  spread,    ///< sub-domains, each spread over several teams (the paper's first decomposition)
  patch      ///< sub-domains, each solved by one team (the paper's second)
};

template<class Exec>
constexpr EikonalMethod default_eikonal_method =
    BackendTraits<Exec>::is_device ? EikonalMethod::queue : EikonalMethod::spread;

constexpr Names<EikonalMethod> names_of(EikonalMethod) {
  return {{EikonalMethod::automatic, "auto"},
          {EikonalMethod::queue, "queue"},
          {EikonalMethod::scan, "scan", is_published},
          {EikonalMethod::spread, "spread"},
          {EikonalMethod::patch, "patch", is_published}};
}
inline constexpr Names<EikonalMethod> all_eikonal_methods =
    name_table<EikonalMethod>.without(EikonalMethod::automatic);

/// The numbers stored of the metric of a tetrahedron.
enum class TetraMetric {
  lengths, ///< 6 squared edge lengths
  products ///< 18 inner products of edges
};

constexpr Names<TetraMetric> names_of(TetraMetric) {
  return {{TetraMetric::lengths, "lengths"}, {TetraMetric::products, "products"}};
}

struct EikonalOptions {
  EikonalMethod method = EikonalMethod::automatic;
  TetraMetric metric = TetraMetric::lengths;
  /// Every iteration reads the times of the one before: bitwise the same result for any number of
  /// threads, any method and any number of sub-domains.
  bool deterministic = false;
  int num_parts = 0; ///< sub-domains of `spread` and `patch`; 0: by the size of the mesh
  /// A time is replaced where the new one is smaller by more than this part of it.
  double tolerance = 1e-7;
  int max_iterations = 1000000;
  std::function<bool()> stop; ///< asked before each iteration; true ends the solve as it is

  bool is_stopped() const { return stop && stop(); }
};

/// Where and when a wave starts.
struct EikonalSite {
  std::int32_t vertex; ///< in [0, num_points)
  double time;         ///< ms, also before 0
};

/// From when on the solver counts the times of a set: from its earliest site, so that they are
/// durations, which the digits of Real, the tolerance and the certificate are of. 0 without a site.
double time_origin(const std::vector<EikonalSite>& sites);

/// The time that results have at a site that nothing reaches before its own `time`, rounded as the
/// solver does.
template<class Real>
Real own_time(double time, double origin) {
  return Real(double(Real(time - origin)) + origin);
}

struct EikonalResult {
  int iterations = 0;
  bool converged = false;
  std::int64_t evaluations = 0;  ///< of a vertex from all its tetrahedra, over all sets of sites
  std::int64_t local_solves = 0; ///< of a tetrahedron for one of its vertices
  double seconds = 0;            ///< of the iterations alone
  /// After the solve, the residual max |t - update(t)| / t over all vertices that are no sites; 1
  /// where a vertex without a time could have one. Computed afresh: whether the iteration is at its
  /// end.
  double residual = 0;
  /// The same with the metric in double, whatever Real is: what times are off by from the solution
  /// of the discrete equations, about, the rounding of the metric included. Not below `residual`.
  double certificate = 0;
  double certificate_ms = 0; ///< the same, not divided by t
  /// Vertices that no site's wave reaches, by set: those of tissue that does not conduct, too.
  std::vector<std::int64_t> num_unreached;
};

/// Set up once for a mesh, solved for any sets of sites and velocities.
template<class Exec, class Real>
class EikonalSolver {
public:
  /// Copies what it needs of the mesh. Throws std::invalid_argument for entries out of range, tags
  /// without velocity, velocities that are negative or not finite where a wave goes, and for
  /// tetrahedra whose travel times Real does not hold (more than 1e6 ms along an edge, or too
  /// little).
  EikonalSolver(const Exec& exec, const TetraMesh& mesh, const TissueVelocities& velocities,
                const EikonalOptions& options = {});
  /// The same with the velocities of each tetrahedron [num_tetra].
  EikonalSolver(const Exec& exec, const TetraMesh& mesh,
                const std::vector<ConductionVelocity>& velocities,
                const EikonalOptions& options = {});
  ~EikonalSolver();

  /// Other velocities for the next solve, from what is on the device, by tag or of each tetrahedron
  /// [num_tetra], whichever it was before. Throws as the constructor; fences.
  void set_velocities(const Exec& exec, const TissueVelocities& velocities);
  void set_velocities(const Exec& exec, const std::vector<ConductionVelocity>& velocities);
  /// Those of each tetrahedron in an array of the backend: rows of one to three numbers, along all
  /// directions, (fibre, across), or (fibre, sheet, normal). Nothing goes through the host.
  void set_velocities(const Exec& exec, const Array<double, Exec>& velocities);

  /// Solves for each set of sites on its own. times [sets, num_points], row-major in the numbering
  /// of the mesh: ms, infinity where no wave arrives before 1e10 ms. A site reached earlier by
  /// another one's wave gets that earlier time. Fences.
  EikonalResult solve(const Exec& exec, const std::vector<std::vector<EikonalSite>>& sets,
                      const Array<Real, Exec>& times);

  /// The derivatives of sum_i weight(i) t_i, times t of one set of `sites` as solve() gave them
  /// with the present velocities: by the velocities of each tetrahedron in by_velocity [num_tetra,
  /// 3] (fibre, sheet, normal; 0 where no wave goes), and by the times of the sites, each at a
  /// vertex of its own, as the result. A site that another one's wave reached earlier has 0. weight
  /// [num_points]; those of vertices without a time do not count. The same bits for any number of
  /// threads. Times that are not converged lose as many digits here as they lack; where two ways
  /// take the same time, this is the slope of one. Throws std::invalid_argument for arrays of other
  /// sizes, InputError for times that are not of these sites and velocities, or off by more than
  /// 1e-3 of their duration (5e-2 in single precision, ten tolerances where that is more). Fences.
  std::vector<double> gradient(const Exec& exec, const std::vector<EikonalSite>& sites,
                               const Array<Real, Exec>& times, const Array<double, Exec>& weight,
                               const Array<double, Exec>& by_velocity) const;

  EikonalMethod method() const; ///< not automatic
  /// Whether times are bitwise the same from run to run for any number of threads: with
  /// EikonalOptions::deterministic; without it by `scan`, and by `queue` and `spread` on devices.
  bool is_deterministic() const;
  std::int64_t num_points() const;
  std::int64_t num_tetra() const;
  /// Bytes of the metric of a tetrahedron, as stored.
  int metric_bytes_per_tetra() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
