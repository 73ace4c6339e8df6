// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/ranks/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/comm/together.hpp>
#include <ossatura/solvers/eikonal/prepared_mesh.hpp>
#include <ossatura/solvers/eikonal/ranks/iterate.hpp>
#include <ossatura/solvers/eikonal/ranks/mesh_share.hpp>
#include <ossatura/solvers/eikonal/start_sites.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ossatura {

namespace {

using VelocitiesByTetra = std::vector<ConductionVelocity>;

/// Velocities of rank 0, by tag.
TissueVelocities broadcast_velocities(const Communicator& comm,
                                      const TissueVelocities& velocities) {
  std::vector<int> tag;
  VelocitiesByTetra of_tag;
  for (const auto& [number, velocity] : velocities) {
    tag.push_back(number);
    of_tag.push_back(velocity);
  }
  comm.broadcast(tag);
  comm.broadcast(of_tag);
  TissueVelocities all;
  for (std::size_t i = 0; i < tag.size(); ++i)
    all[tag[i]] = of_tag[i];
  return all;
}

/// Sets of rank 0, at places in the order of its cut in place of vertices.
std::vector<std::vector<EikonalSite>>
broadcast_sites(const Communicator& comm, const detail::PointCut& cut,
                const std::vector<std::vector<EikonalSite>>& sets) {
  std::vector<std::int64_t> size;
  std::vector<EikonalSite> flat;
  if (comm.is_first())
    for (const auto& set : sets) {
      size.push_back(std::int64_t(set.size()));
      for (const EikonalSite& site : set)
        flat.push_back({cut.place[std::size_t(site.vertex)], site.time});
    }
  comm.broadcast(size);
  comm.broadcast(flat);
  std::vector<std::vector<EikonalSite>> all;
  auto next = flat.begin();
  for (const std::int64_t n : size) {
    all.emplace_back(next, next + n);
    next += n;
  }
  return all;
}

/// What is wrong with velocities is told by the numbers of the whole mesh.
void check_velocities(const TetraMesh& mesh, const TissueVelocities& velocities) {
  detail::slowness_table(detail::TissueRows(mesh).tag, velocities);
}
void check_velocities(const TetraMesh& mesh, const VelocitiesByTetra& velocities) {
  detail::slowness_table(std::int64_t(mesh.num_tetra()), velocities);
}

template<class Exec>
EikonalOptions options_over_ranks(const EikonalOptions& options) {
  const std::string reason = why_not_over_ranks(options);
  if (!reason.empty())
    fail<std::invalid_argument>(reason);
  EikonalOptions chosen = options;
  chosen.method = EikonalMethod::spread;
  chosen.deterministic = true;
  return detail::checked_options<Exec>(chosen);
}

} // namespace

std::string why_not_over_ranks(const EikonalOptions& options) {
  if (options.method == EikonalMethod::automatic || options.method == EikonalMethod::spread)
    return {};
  return std::string("method ") + name_of(options.method) +
         ": a mesh that is cut between processes is solved by spread";
}

template<class Exec, class Real>
struct CutEikonalSolver<Exec, Real>::Implementation {
  Communicator comm;
  DeviceComm<Exec> device_comm;
  EikonalOptions options;
  detail::PointCut cut; ///< on rank 0
  detail::MeshShare share;
  detail::PreparedMesh<Exec, Real> mesh;
  EikonalCut size;

  /// Velocities: TissueVelocities, or those of each tetrahedron.
  template<class Velocities>
  Implementation(const Communicator& group, PointPartition partition, const Exec& exec,
                 const TetraMesh& whole, const Velocities& velocities,
                 const EikonalOptions& solver_options)
      : comm(group)
      , device_comm(comm)
      , options(options_over_ranks<Exec>(solver_options))
      , cut(together(comm, [&] { return make_cut(exec, whole, velocities, partition); }))
      , share(deal(whole, velocities))
      , mesh(together(comm, [&] { return prepare(exec); })) {
    set_velocities(exec, velocities);
    size.most_points = comm.max(std::int64_t(share.num_own()));
    size.most_ghosts = comm.max(share.num_ghosts());
    size.num_ghosts = comm.sum(share.num_ghosts());
  }

  template<class Velocities>
  detail::PointCut make_cut(const Exec& exec, const TetraMesh& whole, const Velocities& velocities,
                            PointPartition partition) const {
    if (!comm.is_first())
      return {};
    const TimedScope scope("ossatura::eikonal::cut");
    detail::check_tetra_mesh(whole);
    OSSATURA_REQUIRE(whole.num_tetra() > 0, "the mesh has no tetrahedra");
    OSSATURA_REQUIRE(whole.num_points() < std::size_t(1) << 31 && whole.num_tetra() < std::size_t(1)
                                                                                          << 31,
                     whole.num_tetra() << " tetrahedra, " << whole.num_points()
                                       << " points: too many for 32 bits");
    check_points_of_tetra(whole);
    check_velocities(whole, velocities);
    const std::vector<std::int32_t> curve = download(
        exec, space_filling_order(exec, upload(exec, "ossatura::eikonal::point", whole.point)));
    return partition == PointPartition::curve ? detail::cut_curve(curve, comm.size())
                                              : detail::cut_by_metis(whole, curve, comm.size());
  }

  detail::MeshShare deal(const TetraMesh& whole, const TissueVelocities&) const {
    const TimedScope scope("ossatura::eikonal::deal");
    return detail::deal_mesh(comm, whole, cut, {});
  }
  detail::MeshShare deal(const TetraMesh& whole, const VelocitiesByTetra& velocities) const {
    const TimedScope scope("ossatura::eikonal::deal");
    return detail::deal_mesh(comm, whole, cut, velocities);
  }

  detail::PreparedMesh<Exec, Real> prepare(const Exec& exec) {
    const TimedScope scope("ossatura::eikonal::prepare");
    std::vector<int> order(std::size_t(share.num_points()));
    std::iota(order.begin(), order.end(), 0);
    detail::PreparedMesh<Exec, Real> prepared(
        exec, share.mesh, options.metric,
        upload(exec, "ossatura::eikonal::point", share.mesh.point),
        upload(exec, "ossatura::eikonal::order", order));
    prepared.name = std::move(share.tetra_name);
    share.mesh = {}; // is on the backend now
    return prepared;
  }

  void set_velocities(const Exec& exec, const TissueVelocities& velocities) {
    const TissueVelocities all = broadcast_velocities(comm, velocities);
    together(comm, [&] { mesh.set_velocities(exec, all); });
  }
  void set_velocities(const Exec& exec, const VelocitiesByTetra&) {
    together(comm, [&] { mesh.set_velocities(exec, std::exchange(share.by_tetra, {})); });
  }

  /// Sites at places in the order of the cut.
  template<class Metric>
  EikonalResult solve(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                      const std::vector<std::vector<EikonalSite>>& sets, std::vector<Real>& times) {
    const int n = share.num_points(), first = share.own_begin, num_own = share.num_own();
    const auto num_sets = std::int64_t(sets.size());
    const auto seen = detail::list_sites<Real>(
        sets, n, [&](std::int32_t place) { return share.point_at(place); });
    const auto own = detail::list_sites<Real>(sets, n, [&](std::int32_t place) {
      const int point = share.point_at(place);
      return share.owns(point) ? point : -1;
    });
    const auto seen_site = upload(exec, "ossatura::eikonal::site", seen.index);
    const auto seen_time = upload(exec, "ossatura::eikonal::site_time", seen.time);
    const detail::EikonalStart<Exec> start{
        num_sets * n, n, upload(exec, "ossatura::eikonal::own_site", own.index), 0};
    const auto make_times = [&] {
      return detail::make_start_times(exec, start.num_times, seen_site, seen_time);
    };
    const auto time = make_times();

    fence(exec, "ossatura::eikonal::start");
    const Stopwatch watch;
    EikonalResult result;
    {
      const TimedScope scope("ossatura::eikonal::iterate");
      const detail::EikonalCounts counts =
          detail::iterate_cut(exec, device_comm, share, update, start, options, num_sets, time);
      result.iterations = counts.iterations;
      result.converged = counts.converged;
      result.evaluations = counts.evaluations;
      result.local_solves = counts.local_solves;
    }
    result.seconds = watch.seconds();
    const TimedScope scope("ossatura::eikonal::finish");
    for (std::int64_t set = 0; set < num_sets; ++set)
      result.num_unreached.push_back(
          comm.sum(count_unreached(exec, time, set * n + first, num_own)));
    const EikonalResidual residual =
        eikonal_residual(exec, update, mesh.tissue, n, first, num_own, time, make_times());
    result.residual = comm.max(residual.relative);
    result.certificate = comm.max(std::max(residual.relative, residual.exact_relative));
    result.certificate_ms = comm.max(std::max(residual.absolute, residual.exact_absolute));
    times = gather(exec, time, num_sets, seen.origin);
    return result;
  }

  /// Times of all own points, in the numbers of the whole mesh, on rank 0.
  std::vector<Real> gather(const Exec& exec, const Array<Real, Exec>& time, std::int64_t num_sets,
                           const std::vector<double>& origin) const {
    const auto out = make_uninitialized<Real>(exec, time.extent(0), "ossatura::eikonal::gathered");
    if (share.num_points() > 0)
      gather_times(exec, mesh.topology.point_order,
                   upload(exec, "ossatura::eikonal::origin", origin), time, out);
    const auto mine = host_view(exec, out);
    std::vector<std::vector<Real>> to(std::size_t(comm.size()));
    for (std::int64_t set = 0; set < num_sets; ++set) {
      const Real* begin = mine.data() + set * share.num_points();
      to[0].insert(to[0].end(), begin + share.own_begin, begin + share.own_end);
    }
    const std::vector<std::vector<Real>> parts = comm.exchange(to);
    std::vector<Real> all;
    if (!comm.is_first())
      return all;
    all.resize(std::size_t(num_sets * share.total_points));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      auto next = parts[rank].begin();
      for (std::int64_t set = 0; set < num_sets; ++set)
        for (std::int32_t place = cut.begin[rank]; place < cut.begin[rank + 1]; ++place)
          all[std::size_t(set * share.total_points + cut.order[std::size_t(place)])] = *next++;
    }
    return all;
  }
};

template<class Exec, class Real>
CutEikonalSolver<Exec, Real>::CutEikonalSolver(const Communicator& comm, PointPartition partition,
                                               const Exec& exec, const TetraMesh& mesh,
                                               const TissueVelocities& velocities,
                                               const EikonalOptions& options)
    : implementation_(
          std::make_unique<Implementation>(comm, partition, exec, mesh, velocities, options)) {}

template<class Exec, class Real>
CutEikonalSolver<Exec, Real>::CutEikonalSolver(const Communicator& comm, PointPartition partition,
                                               const Exec& exec, const TetraMesh& mesh,
                                               const std::vector<ConductionVelocity>& velocities,
                                               const EikonalOptions& options)
    : implementation_(
          std::make_unique<Implementation>(comm, partition, exec, mesh, velocities, options)) {}

template<class Exec, class Real>
CutEikonalSolver<Exec, Real>::~CutEikonalSolver() = default;

template<class Exec, class Real>
EikonalResult CutEikonalSolver<Exec, Real>::solve(const Exec& exec,
                                                  const std::vector<std::vector<EikonalSite>>& sets,
                                                  std::vector<Real>& times) {
  Implementation& implementation = *implementation_;
  const Communicator& comm = implementation.comm;
  together(comm, [&] {
    if (comm.is_first())
      detail::check_sites<Real>(sets, num_points());
  });
  const auto all = broadcast_sites(comm, implementation.cut, sets);
  return implementation.mesh.with_update(
      [&](const auto& update) { return implementation.solve(exec, update, all, times); });
}

template<class Exec, class Real>
Transport CutEikonalSolver<Exec, Real>::transport() const {
  return implementation_->device_comm.transport();
}

template<class Exec, class Real>
const EikonalCut& CutEikonalSolver<Exec, Real>::cut() const {
  return implementation_->size;
}

template<class Exec, class Real>
std::int64_t CutEikonalSolver<Exec, Real>::num_points() const {
  return implementation_->share.total_points;
}

template<class Exec, class Real>
std::int64_t CutEikonalSolver<Exec, Real>::num_tetra() const {
  return implementation_->share.total_tetra;
}

template<class Exec, class Real>
int CutEikonalSolver<Exec, Real>::metric_bytes_per_tetra() const {
  return implementation_->mesh.metric_bytes();
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class CutEikonalSolver<Exec, float>;                                                    \
  template class CutEikonalSolver<Exec, double>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
