// SPDX-License-Identifier: Apache-2.0
#include "solvers/eikonal_solver.hpp"

#include "core/timer.hpp"
#include "kernels/gather_rows.hpp"
#include "kernels/tetra_metric.hpp"
#include "solvers/eikonal_method.hpp"

#include <cmath>
#include <unordered_map>

namespace femura {

namespace {

/// The rows of a tag in the tables of tissues.
struct Tissues {
  std::vector<int> tag;    ///< in the order of first appearance
  std::vector<int> tissue; ///< [num_tetra]

  explicit Tissues(const TetraMesh& mesh) {
    std::unordered_map<int, int> row;
    tissue.reserve(mesh.num_tetra());
    int last_tag = 0, last_row = -1;
    for (const int t : mesh.tag) {
      if (last_row < 0 || t != last_tag) {
        const auto [found, fresh] = row.try_emplace(t, int(tag.size()));
        if (fresh)
          tag.push_back(t);
        last_tag = t;
        last_row = found->second;
      }
      tissue.push_back(last_row);
    }
  }
};

void check_mesh(const TetraMesh& mesh) {
  const std::size_t n = mesh.num_tetra();
  FEMURA_REQUIRE(mesh.point.size() % 3 == 0 && mesh.tetra.size() % 4 == 0,
                 "points have 3 coordinates, tetrahedra 4 vertices");
  FEMURA_REQUIRE(mesh.tag.size() == n, mesh.tag.size() << " tags of " << n << " tetrahedra");
  for (const auto* direction : {&mesh.fibre, &mesh.sheet})
    FEMURA_REQUIRE(direction->empty() || direction->size() == 3 * n,
                   direction->size() << " components of directions of " << n << " tetrahedra");
  for (const double x : mesh.point)
    FEMURA_REQUIRE(std::isfinite(x), "a coordinate is not finite");
}

/// Squared slownesses [tags, 3].
std::vector<double> slowness_table(const std::vector<int>& tags,
                                   const TissueVelocities& velocities) {
  std::vector<double> table;
  for (const int tag : tags) {
    const auto found = velocities.find(tag);
    FEMURA_REQUIRE(found != velocities.end(), "tag " << tag << " has no velocity");
    for (const double v : {found->second.fibre, found->second.sheet, found->second.normal}) {
      FEMURA_REQUIRE(v > 0 && std::isfinite(v), "tag " << tag << " has velocity " << v);
      table.push_back(1 / (v * v));
    }
  }
  return table;
}

} // namespace

template<class Exec, class Real>
struct EikonalSolver<Exec, Real>::Implementation {
  EikonalOptions options;
  TetraTopology<Exec> topology;
  std::vector<int> tags;
  TissueArrays<Exec> tissue;
  std::vector<int> place; ///< of each point of the mesh in the order of the topology
  // One of the two, by options.metric.
  Array<TetraLengths<Real>, Exec> lengths;
  Array<TetraProducts<Real>, Exec> products;
  PointStars<Exec> stars;

  Implementation(const Exec& exec, const TetraMesh& mesh, const TissueVelocities& velocities,
                 const EikonalOptions& solver_options)
      : options(solver_options) {
    if (options.method == EikonalMethod::automatic)
      options.method = default_eikonal_method<Exec>;
    FEMURA_REQUIRE(options.tolerance >= 0 && options.tolerance < 1,
                   "tolerance " << options.tolerance);
    FEMURA_REQUIRE(options.num_parts >= 0, options.num_parts << " sub-domains");
    check_mesh(mesh);
    Tissues tissues(mesh);
    tags = tissues.tag;
    const std::vector<double> slowness = slowness_table(tags, velocities);
    Array<double, Exec> point = upload(exec, "femura::eikonal::point", mesh.point);
    topology = make_tetra_topology(exec, mesh, point);
    stars = make_point_stars(exec, topology);
    const auto& tetra_order = topology.tetra_order;
    tissue.point = gather_rows(exec, topology.point_order, 3, point);
    tissue.tissue =
        gather_rows(exec, tetra_order, 1, upload(exec, "femura::eikonal::tissue", tissues.tissue));
    if (!mesh.fibre.empty())
      tissue.fibre =
          gather_rows(exec, tetra_order, 3, upload(exec, "femura::eikonal::fibre", mesh.fibre));
    if (!mesh.sheet.empty())
      tissue.sheet =
          gather_rows(exec, tetra_order, 3, upload(exec, "femura::eikonal::sheet", mesh.sheet));
    if (options.metric == TetraMetric::lengths)
      lengths = Array<TetraLengths<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "femura::eikonal::lengths"),
          mesh.num_tetra());
    else
      products = Array<TetraProducts<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "femura::eikonal::products"),
          mesh.num_tetra());
    fill_metric(exec, slowness);

    const auto order =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), topology.point_order);
    place.resize(order.extent(0));
    for (std::size_t i = 0; i < place.size(); ++i)
      place[order(i)] = int(i);
  }

  void fill_metric(const Exec& exec, const std::vector<double>& slowness) {
    tissue.slowness = upload(exec, "femura::eikonal::slowness", slowness);
    if (options.metric == TetraMetric::lengths)
      fill_metric(exec, lengths);
    else
      fill_metric(exec, products);
  }

  template<class Metric>
  void fill_metric(const Exec& exec, const Array<Metric, Exec>& metric) {
    fill_tetra_metric(exec, tissue, topology.tetra, metric);
    fill_ring_heights(exec, ring_update(metric), 4 * topology.num_tetra());
  }

  template<class Metric>
  RingUpdate<Exec, Metric> ring_update(const Array<Metric, Exec>& metric) const {
    return {topology.tetra,
            metric,
            {topology.ring.begin, topology.ring.member},
            {stars.begin, stars.neighbour, stars.face}};
  }

  std::int64_t num_points() const { return topology.num_points(); }

  template<class Metric>
  EikonalResult solve(const Exec& exec, const Array<Metric, Exec>& metric,
                      const std::vector<std::vector<EikonalSite>>& sets,
                      const Array<Real, Exec>& times) const {
    const RingUpdate<Exec, Metric> update = ring_update(metric);
    std::map<std::uint32_t, Real> site;
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (const EikonalSite& s : sets[set]) {
        const std::uint32_t index = std::uint32_t(set * num_points() + place[s.vertex]);
        const auto [found, fresh] = site.try_emplace(index, Real(s.time));
        if (!fresh && Real(s.time) < found->second)
          found->second = Real(s.time);
      }
    std::vector<std::uint32_t> site_index;
    std::vector<Real> site_time;
    for (const auto& [index, t] : site) {
      site_index.push_back(index);
      site_time.push_back(t);
    }
    const detail::EikonalStart<Exec> start{std::int64_t(sets.size()) * num_points(),
                                           int(num_points()),
                                           upload(exec, "femura::eikonal::site", site_index)};
    const auto start_time = upload(exec, "femura::eikonal::site_time", site_time);
    const auto make_start_times = [&] {
      const auto t = make_uninitialized<Real>(exec, start.num_times, "femura::eikonal::time");
      Kokkos::deep_copy(exec, t, unreached_time<Real>);
      scatter_sites(exec, start.site, start_time, t);
      return t;
    };
    const auto time = make_start_times();

    fence(exec, "femura::eikonal::start");
    detail::EikonalCounts counts;
    const Stopwatch watch;
    {
      const TimedScope scope("femura::eikonal::iterate");
      switch (options.method) {
      case EikonalMethod::automatic: // decided by now
      case EikonalMethod::queue:
        counts = detail::solve_by_queue(exec, update, start, options, time);
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
    const TimedScope scope("femura::eikonal::finish");
    EikonalResult result;
    result.seconds = watch.seconds();
    result.iterations = counts.iterations;
    result.converged = counts.converged;
    result.evaluations = counts.evaluations;
    result.local_solves = counts.local_solves;
    for (std::size_t set = 0; set < sets.size(); ++set)
      result.num_unreached.push_back(
          count_unreached(exec, time, std::int64_t(set) * num_points(), num_points()));
    const EikonalResidual residual =
        eikonal_residual(exec, update, int(num_points()), time, make_start_times());
    result.certificate = residual.relative;
    result.certificate_ms = residual.absolute;
    gather_times(exec, topology.point_order, time, times);
    fence(exec, "femura::EikonalSolver::solve");
    return result;
  }
};

template<class Exec, class Real>
EikonalSolver<Exec, Real>::EikonalSolver(const Exec& exec, const TetraMesh& mesh,
                                         const TissueVelocities& velocities,
                                         const EikonalOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, mesh, velocities, options)) {}

template<class Exec, class Real>
EikonalSolver<Exec, Real>::~EikonalSolver() = default;

template<class Exec, class Real>
void EikonalSolver<Exec, Real>::set_velocities(const Exec& exec,
                                               const TissueVelocities& velocities) {
  implementation_->fill_metric(exec, slowness_table(implementation_->tags, velocities));
}

template<class Exec, class Real>
EikonalResult EikonalSolver<Exec, Real>::solve(const Exec& exec,
                                               const std::vector<std::vector<EikonalSite>>& sets,
                                               const Array<Real, Exec>& times) {
  const std::int64_t n = num_points();
  FEMURA_REQUIRE(!sets.empty(), "no set of sites");
  FEMURA_REQUIRE(std::int64_t(sets.size()) * n < std::int64_t(1) << 31,
                 sets.size() << " sets of " << n << " points: solve fewer at once");
  FEMURA_REQUIRE(std::int64_t(times.extent(0)) == std::int64_t(sets.size()) * n,
                 times.extent(0) << " times for " << sets.size() << " sets of " << n << " points");
  for (const auto& set : sets) {
    FEMURA_REQUIRE(!set.empty(), "a set without a site");
    for (const EikonalSite& site : set) {
      FEMURA_REQUIRE(site.vertex >= 0 && site.vertex < n, "site at vertex " << site.vertex);
      FEMURA_REQUIRE(site.time >= 0 && site.time < double(unreached_time<Real>),
                     "site at time " << site.time);
    }
  }
  const Implementation& implementation = *implementation_;
  return implementation.options.metric == TetraMetric::lengths
             ? implementation.solve(exec, implementation.lengths, sets, times)
             : implementation.solve(exec, implementation.products, sets, times);
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
  return implementation_->topology.num_tetra();
}

template<class Exec, class Real>
int EikonalSolver<Exec, Real>::metric_bytes_per_tetra() const {
  return implementation_->options.metric == TetraMetric::lengths ? int(sizeof(TetraLengths<Real>))
                                                                 : int(sizeof(TetraProducts<Real>));
}

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template class EikonalSolver<Exec, float>;                                                       \
  template class EikonalSolver<Exec, double>;
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura
