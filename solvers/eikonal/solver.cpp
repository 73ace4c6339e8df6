// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/solvers/eikonal/gradient.hpp>
#include <ossatura/solvers/eikonal/method.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>
#include <ossatura/solvers/eikonal/start_sites.hpp>

#include <algorithm>
#include <unordered_set>

namespace ossatura {

double time_origin(const std::vector<EikonalSite>& sites) {
  if (sites.empty())
    return 0;
  double origin = sites.front().time;
  for (const EikonalSite& site : sites)
    origin = std::min(origin, site.time);
  return origin;
}

template<class Exec, class Real>
struct EikonalSolver<Exec, Real>::Implementation {
  EikonalOptions options;
  detail::PreparedMesh<Exec, Real> mesh;
  std::vector<int> place;                     ///< of each point of the mesh in its order
  detail::QueueStore<Exec, Real> queue_store; ///< empty for other methods

  /// Velocities: TissueVelocities, or those of each tetrahedron.
  template<class Velocities>
  Implementation(const Exec& exec, const TetraMesh& tetra_mesh, const Velocities& velocities,
                 const EikonalOptions& solver_options)
      : options(detail::checked_options<Exec>(solver_options))
      , mesh(prepare(exec, tetra_mesh, options.metric)) {
    set_velocities(exec, velocities);
    const auto order =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mesh.topology.point_order);
    place.resize(order.extent(0));
    for (std::size_t i = 0; i < place.size(); ++i)
      place[order(i)] = int(i);
  }

  static detail::PreparedMesh<Exec, Real> prepare(const Exec& exec, const TetraMesh& mesh,
                                                  TetraMetric metric) {
    detail::check_tetra_mesh(mesh);
    OSSATURA_REQUIRE(mesh.num_tetra() > 0, "the mesh has no tetrahedra");
    const auto point = upload(exec, "ossatura::eikonal::point", mesh.point);
    return {exec, mesh, metric, point, space_filling_order(exec, point)};
  }

  template<class Velocities>
  void set_velocities(const Exec& exec, const Velocities& velocities) {
    mesh.set_velocities(exec, velocities);
    if (options.method == EikonalMethod::queue)
      mesh.with_update([&](const auto& update) {
        detail::prepare_queue(exec, update, num_points(), mesh.topology.num_tetra(), queue_store);
      });
  }

  std::int64_t num_points() const { return mesh.topology.num_points(); }

  template<class Metric>
  EikonalResult solve(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                      const std::vector<std::vector<EikonalSite>>& sets,
                      const Array<Real, Exec>& times) {
    const detail::StartSites<Real> sites = detail::list_sites<Real>(
        sets, num_points(), [&](std::int32_t vertex) { return place[std::size_t(vertex)]; });
    std::unordered_set<std::int64_t> site_points;
    for (const std::uint32_t index : sites.index)
      site_points.insert(index % num_points());
    const detail::EikonalStart<Exec> start{
        std::int64_t(sets.size()) * num_points(), int(num_points()),
        upload(exec, "ossatura::eikonal::site", sites.index), int(site_points.size())};
    const auto start_time = upload(exec, "ossatura::eikonal::site_time", sites.time);
    const auto make_times = [&] {
      return detail::make_start_times(exec, start.num_times, start.site, start_time);
    };
    const auto time = make_times();

    fence(exec, "ossatura::eikonal::start");
    detail::EikonalCounts counts;
    const Stopwatch watch;
    {
      const TimedScope scope("ossatura::eikonal::iterate");
      switch (options.method) {
      case EikonalMethod::automatic: // decided by now
      case EikonalMethod::queue:
        counts = detail::solve_by_queue(exec, update, start, options, time, queue_store);
        break;
      case EikonalMethod::scan:
        counts = detail::solve_by_scan(exec, update, start, options, time);
        break;
      case EikonalMethod::spread:
      case EikonalMethod::patch:
        counts = detail::solve_by_parts(exec, update, start, options, time);
        break;
      }
    }
    const TimedScope scope("ossatura::eikonal::finish");
    EikonalResult result;
    result.seconds = watch.seconds();
    result.iterations = counts.iterations;
    result.converged = counts.converged;
    result.evaluations = counts.evaluations;
    result.local_solves = counts.local_solves;
    for (std::size_t set = 0; set < sets.size(); ++set)
      result.num_unreached.push_back(
          count_unreached(exec, time, std::int64_t(set) * num_points(), num_points()));
    const int n = int(num_points());
    const EikonalResidual residual =
        eikonal_residual(exec, update, mesh.tissue, n, 0, n, time, make_times());
    result.residual = residual.relative;
    result.certificate = std::max(residual.relative, residual.exact_relative);
    result.certificate_ms = std::max(residual.absolute, residual.exact_absolute);
    gather_times(exec, mesh.topology.point_order,
                 upload(exec, "ossatura::eikonal::origin", sites.origin), time, times);
    fence(exec, "ossatura::EikonalSolver::solve");
    return result;
  }
};

template<class Exec, class Real>
EikonalSolver<Exec, Real>::EikonalSolver(const Exec& exec, const TetraMesh& mesh,
                                         const TissueVelocities& velocities,
                                         const EikonalOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, mesh, velocities, options)) {}

template<class Exec, class Real>
EikonalSolver<Exec, Real>::EikonalSolver(const Exec& exec, const TetraMesh& mesh,
                                         const std::vector<ConductionVelocity>& velocities,
                                         const EikonalOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, mesh, velocities, options)) {}

template<class Exec, class Real>
EikonalSolver<Exec, Real>::~EikonalSolver() = default;

template<class Exec, class Real>
void EikonalSolver<Exec, Real>::set_velocities(const Exec& exec,
                                               const TissueVelocities& velocities) {
  implementation_->set_velocities(exec, velocities);
}

template<class Exec, class Real>
void EikonalSolver<Exec, Real>::set_velocities(const Exec& exec,
                                               const std::vector<ConductionVelocity>& velocities) {
  implementation_->set_velocities(exec, velocities);
}

template<class Exec, class Real>
void EikonalSolver<Exec, Real>::set_velocities(const Exec& exec,
                                               const Array<double, Exec>& velocities) {
  implementation_->set_velocities(exec, velocities);
}

template<class Exec, class Real>
EikonalResult EikonalSolver<Exec, Real>::solve(const Exec& exec,
                                               const std::vector<std::vector<EikonalSite>>& sets,
                                               const Array<Real, Exec>& times) {
  const std::int64_t n = num_points();
  detail::check_sites<Real>(sets, n);
  OSSATURA_REQUIRE(std::int64_t(times.extent(0)) == std::int64_t(sets.size()) * n,
                   times.extent(0)
                       << " times for " << sets.size() << " sets of " << n << " points");
  Implementation& implementation = *implementation_;
  return implementation.mesh.with_update(
      [&](const auto& update) { return implementation.solve(exec, update, sets, times); });
}

template<class Exec, class Real>
std::vector<double> EikonalSolver<Exec, Real>::gradient(
    const Exec& exec, const std::vector<EikonalSite>& sites, const Array<Real, Exec>& times,
    const Array<double, Exec>& weight, const Array<double, Exec>& by_velocity) const {
  const std::int64_t n = num_points(), m = 3 * num_tetra();
  detail::check_sites<Real>({sites}, n);
  const auto require_size = [](std::int64_t size, std::int64_t wanted, const char* name) {
    OSSATURA_REQUIRE(size == wanted, size << " entries of " << name << ", not " << wanted);
  };
  require_size(std::int64_t(times.extent(0)), n, "times");
  require_size(std::int64_t(weight.extent(0)), n, "weight");
  require_size(std::int64_t(by_velocity.extent(0)), m, "by_velocity");
  return detail::activation_gradient(exec, implementation_->mesh, implementation_->place, sites,
                                     implementation_->options.tolerance, times, weight,
                                     by_velocity);
}

template<class Exec, class Real>
EikonalMethod EikonalSolver<Exec, Real>::method() const {
  return implementation_->options.method;
}

template<class Exec, class Real>
bool EikonalSolver<Exec, Real>::is_deterministic() const {
  return detail::reads_last_times<Exec>(implementation_->options);
}

template<class Exec, class Real>
std::int64_t EikonalSolver<Exec, Real>::num_points() const {
  return implementation_->num_points();
}

template<class Exec, class Real>
std::int64_t EikonalSolver<Exec, Real>::num_tetra() const {
  return implementation_->mesh.topology.num_tetra();
}

template<class Exec, class Real>
int EikonalSolver<Exec, Real>::metric_bytes_per_tetra() const {
  return implementation_->mesh.metric_bytes();
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class EikonalSolver<Exec, float>;                                                       \
  template class EikonalSolver<Exec, double>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
