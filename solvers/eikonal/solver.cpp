// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/eikonal/gather_rows.hpp>
#include <ossatura/kernels/eikonal/point_stars.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>
#include <ossatura/solvers/eikonal/method.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace ossatura {

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
  OSSATURA_REQUIRE(mesh.point.size() % 3 == 0 && mesh.tetra.size() % 4 == 0,
                   "points have 3 coordinates, tetrahedra 4 vertices");
  OSSATURA_REQUIRE(mesh.tag.size() == n, mesh.tag.size() << " tags of " << n << " tetrahedra");
  for (const auto* direction : {&mesh.fibre, &mesh.sheet})
    OSSATURA_REQUIRE(direction->empty() || direction->size() == 3 * n,
                     direction->size() << " components of directions of " << n << " tetrahedra");
  for (const double x : mesh.point)
    OSSATURA_REQUIRE(std::isfinite(x), "a coordinate is not finite");
}

/// Appends the squared slownesses of one tissue; `what` and `number` name it.
void add_slowness(const ConductionVelocity& velocity, const char* what, std::int64_t number,
                  std::vector<double>& table) {
  for (const double v : {velocity.fibre, velocity.sheet, velocity.normal}) {
    if (velocity.conducts() && !(v > 0 && std::isfinite(v)))
      fail<std::invalid_argument>(what, ' ', number, " has velocity ", v);
    table.push_back(velocity.conducts() ? 1 / (v * v) : -1);
  }
}

/// Squared slownesses [tags, 3].
std::vector<double> slowness_table(const std::vector<int>& tags,
                                   const TissueVelocities& velocities) {
  std::vector<double> table;
  for (const int tag : tags) {
    const auto found = velocities.find(tag);
    OSSATURA_REQUIRE(found != velocities.end(), "tag " << tag << " has no velocity");
    add_slowness(found->second, "tag", tag, table);
  }
  return table;
}

/// The same [num_tetra, 3].
std::vector<double> slowness_table(std::int64_t num_tetra,
                                   const std::vector<ConductionVelocity>& velocities) {
  OSSATURA_REQUIRE(std::int64_t(velocities.size()) == num_tetra,
                   velocities.size() << " velocities of " << num_tetra << " tetrahedra");
  std::vector<double> table;
  table.reserve(3 * velocities.size());
  for (std::size_t t = 0; t < velocities.size(); ++t)
    add_slowness(velocities[t], "tetrahedron", std::int64_t(t), table);
  return table;
}

const char* describe(MetricFault fault) {
  switch (fault) {
  case MetricFault::fast:
    return "a wave passes it in less than the precision of times resolves: its velocity is too "
           "large, or the mesh too small";
  case MetricFault::contrast:
    return "its velocities along and across fibres differ by more than double precision resolves";
  default:
    return "a wave takes more than 1e6 ms along one of its edges: its velocity is too small, or "
           "the mesh too large; tissue that does not conduct has velocity 0";
  }
}

} // namespace

double time_origin(const std::vector<EikonalSite>& sites) {
  double origin = 0;
  for (const EikonalSite& site : sites)
    origin = std::min(origin, site.time);
  return origin;
}

template<class Exec, class Real>
struct EikonalSolver<Exec, Real>::Implementation {
  EikonalOptions options;
  TetraTopology<Exec> topology;
  std::vector<int> tags;
  TissueArrays<Exec> tissue;
  Array<int, Exec> tag_row; ///< [num_tetra] in the order of the topology, of tables by tag
  std::vector<int> place;   ///< of each point of the mesh in the order of the topology
  // One of the two, by options.metric.
  Array<TetraLengths<Real>, Exec> lengths;
  Array<TetraProducts<Real>, Exec> products;
  PointStars<Exec> stars;
  detail::QueueStore<Exec, Real> queue_store; ///< empty for other methods

  /// Velocities: TissueVelocities, or those of each tetrahedron.
  template<class Velocities>
  Implementation(const Exec& exec, const TetraMesh& mesh, const Velocities& velocities,
                 const EikonalOptions& solver_options)
      : options(solver_options) {
    if (options.method == EikonalMethod::automatic)
      options.method = default_eikonal_method<Exec>;
    OSSATURA_REQUIRE(options.tolerance >= 0 && options.tolerance < 1,
                     "tolerance " << options.tolerance);
    OSSATURA_REQUIRE(options.num_parts >= 0, options.num_parts << " sub-domains");
    check_mesh(mesh);
    Tissues tissues(mesh);
    tags = tissues.tag;
    Array<double, Exec> point = upload(exec, "ossatura::eikonal::point", mesh.point);
    topology = make_tetra_topology(exec, mesh, point);
    stars = make_point_stars(exec, topology);
    const auto& tetra_order = topology.tetra_order;
    tissue.point = gather_rows(exec, topology.point_order, 3, point);
    tag_row = gather_rows(exec, tetra_order, 1,
                          upload(exec, "ossatura::eikonal::tissue", tissues.tissue));
    if (!mesh.fibre.empty())
      tissue.fibre =
          gather_rows(exec, tetra_order, 3, upload(exec, "ossatura::eikonal::fibre", mesh.fibre));
    if (!mesh.sheet.empty())
      tissue.sheet =
          gather_rows(exec, tetra_order, 3, upload(exec, "ossatura::eikonal::sheet", mesh.sheet));
    if (options.metric == TetraMetric::lengths)
      lengths = Array<TetraLengths<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::eikonal::lengths"),
          mesh.num_tetra());
    else
      products = Array<TetraProducts<Real>, Exec>(
          Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::eikonal::products"),
          mesh.num_tetra());
    set_velocities(exec, velocities);

    const auto order =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), topology.point_order);
    place.resize(order.extent(0));
    for (std::size_t i = 0; i < place.size(); ++i)
      place[order(i)] = int(i);
  }

  void set_velocities(const Exec& exec, const TissueVelocities& velocities) {
    fill_metric(exec, slowness_table(tags, velocities), tag_row);
  }
  void set_velocities(const Exec& exec, const std::vector<ConductionVelocity>& velocities) {
    fill_metric(exec, slowness_table(topology.num_tetra(), velocities), topology.tetra_order);
  }

  /// `row` [num_tetra] of `slowness` for each tetrahedron.
  void fill_metric(const Exec& exec, const std::vector<double>& slowness,
                   const Array<int, Exec>& row) {
    tissue.slowness = {}; // before there is another
    tissue.slowness = upload(exec, "ossatura::eikonal::slowness", slowness);
    tissue.tissue = row;
    if (options.metric == TetraMetric::lengths)
      fill_metric(exec, lengths);
    else
      fill_metric(exec, products);
  }

  template<class Metric>
  void fill_metric(const Exec& exec, const Array<Metric, Exec>& metric) {
    const BadMetric bad = fill_tetra_metric(exec, tissue, topology.tetra, metric);
    if (bad.fault != MetricFault::none)
      refuse(exec, bad);
    fill_ring_heights(exec, ring_update(metric), 4 * topology.num_tetra());
    if (options.method == EikonalMethod::queue)
      detail::prepare_queue(exec, ring_update(metric), num_points(), topology.num_tetra(),
                            queue_store);
  }

  [[noreturn]] void refuse(const Exec& exec, const BadMetric& bad) const {
    const auto entry = [&](const Array<int, Exec>& array) {
      int value = 0;
      Kokkos::deep_copy(exec, Kokkos::View<int, Kokkos::HostSpace>(&value),
                        Kokkos::subview(array, bad.tetra));
      fence(exec, "ossatura::eikonal::refuse");
      return value;
    };
    fail<std::invalid_argument>("tetrahedron ", entry(topology.tetra_order), ", of tag ",
                                tags[std::size_t(entry(tag_row))], ": ", describe(bad.fault));
  }

  template<class Metric>
  RingUpdate<Exec, Metric> ring_update(const Array<Metric, Exec>& metric) const {
    return {{},
            topology.tetra,
            metric,
            {topology.ring.begin, topology.ring.member},
            {stars.begin, stars.neighbour, stars.face}};
  }

  std::int64_t num_points() const { return topology.num_points(); }

  template<class Metric>
  EikonalResult solve(const Exec& exec, const Array<Metric, Exec>& metric,
                      const std::vector<std::vector<EikonalSite>>& sets,
                      const Array<Real, Exec>& times) {
    const RingUpdate<Exec, Metric> update = ring_update(metric);
    std::map<std::uint32_t, Real> site;
    std::vector<double> origin; // of the times of each set, which kernels want not below 0
    for (std::size_t set = 0; set < sets.size(); ++set) {
      origin.push_back(time_origin(sets[set]));
      for (const EikonalSite& s : sets[set]) {
        const std::uint32_t index = std::uint32_t(set * num_points() + place[s.vertex]);
        const Real time = Real(s.time - origin.back());
        const auto [found, fresh] = site.try_emplace(index, time);
        if (!fresh && time < found->second)
          found->second = time;
      }
    }
    std::vector<std::uint32_t> site_index;
    std::vector<Real> site_time;
    std::unordered_set<std::int64_t> site_points;
    for (const auto& [index, t] : site) {
      site_index.push_back(index);
      site_time.push_back(t);
      site_points.insert(index % num_points());
    }
    const detail::EikonalStart<Exec> start{
        std::int64_t(sets.size()) * num_points(), int(num_points()),
        upload(exec, "ossatura::eikonal::site", site_index), int(site_points.size())};
    const auto start_time = upload(exec, "ossatura::eikonal::site_time", site_time);
    const auto make_start_times = [&] {
      const auto t = make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::time");
      Kokkos::deep_copy(exec, t, unreached_time<Real>);
      scatter_sites(exec, start.site, start_time, t);
      return t;
    };
    const auto time = make_start_times();

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
    const EikonalResidual residual =
        eikonal_residual(exec, update, tissue, int(num_points()), time, make_start_times());
    result.residual = residual.relative;
    result.certificate = std::max(residual.relative, residual.exact_relative);
    result.certificate_ms = std::max(residual.absolute, residual.exact_absolute);
    gather_times(exec, topology.point_order, upload(exec, "ossatura::eikonal::origin", origin),
                 time, times);
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
EikonalResult EikonalSolver<Exec, Real>::solve(const Exec& exec,
                                               const std::vector<std::vector<EikonalSite>>& sets,
                                               const Array<Real, Exec>& times) {
  const std::int64_t n = num_points();
  OSSATURA_REQUIRE(!sets.empty(), "no set of sites");
  OSSATURA_REQUIRE(std::int64_t(sets.size()) * n < std::int64_t(1) << 31,
                   sets.size() << " sets of " << n << " points: solve fewer at once");
  OSSATURA_REQUIRE(std::int64_t(times.extent(0)) == std::int64_t(sets.size()) * n,
                   times.extent(0)
                       << " times for " << sets.size() << " sets of " << n << " points");
  for (const auto& set : sets) {
    OSSATURA_REQUIRE(!set.empty(), "a set without a site");
    const double origin = time_origin(set);
    for (const EikonalSite& site : set) {
      OSSATURA_REQUIRE(site.vertex >= 0 && site.vertex < n, "site at vertex " << site.vertex);
      OSSATURA_REQUIRE(std::isfinite(origin) && site.time - origin < double(unreached_time<Real>),
                       "site at time " << site.time);
    }
  }
  Implementation& implementation = *implementation_;
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

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class EikonalSolver<Exec, float>;                                                       \
  template class EikonalSolver<Exec, double>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
