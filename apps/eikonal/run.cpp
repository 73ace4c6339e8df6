// SPDX-License-Identifier: Apache-2.0
// An activation runs in these steps: mesh, set-up, solve, statistics, files.
#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/driver/ranks.hpp"
#include "apps/eikonal/command.hpp"
#include "apps/eikonal/input/model.hpp"
#include "apps/eikonal/output/files.hpp"
#include "apps/eikonal/output/report.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/solvers/eikonal/ranks/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ossatura {

namespace {

std::string output_stem(const EikonalCommandOptions& options) {
  return options.generated ? name_of(options.generated->kind) : file_stem(options.input);
}

std::vector<TissueInfo> tissues_by_tag(const EikonalModel& model) {
  std::vector<TissueInfo> tissues;
  for (const auto& [tag, count] : model.num_by_tag) {
    const ConductionVelocity& velocity = model.velocities.by_tag.at(tag);
    tissues.push_back({tag, count, velocity.conducts() ? 0 : count, velocity, velocity});
  }
  return tissues;
}

/// Makes `range` hold `velocity`, too.
void widen(TissueInfo& range, const ConductionVelocity& velocity) {
  const bool is_first = range.least.fibre == 0;
  for (const auto component :
       {&ConductionVelocity::fibre, &ConductionVelocity::sheet, &ConductionVelocity::normal}) {
    const double v = velocity.*component;
    range.least.*component = is_first ? v : std::min(range.least.*component, v);
    range.greatest.*component = is_first ? v : std::max(range.greatest.*component, v);
  }
}

std::vector<TissueInfo> tissues_by_tetra(const EikonalModel& model) {
  std::map<int, TissueInfo> by_tag;
  TissueInfo* tissue = nullptr; // of the tetrahedron before: tags come in runs
  for (std::size_t e = 0; e < model.mesh.num_tetra(); ++e) {
    const int tag = model.mesh.tag[e];
    if (tissue == nullptr || tag != tissue->tag)
      tissue = &by_tag[tag];
    tissue->tag = tag;
    ++tissue->num_tetra;
    const ConductionVelocity& velocity = model.velocities.by_tetra[e];
    if (velocity.conducts())
      widen(*tissue, velocity);
    else
      ++tissue->num_blocked;
  }
  std::vector<TissueInfo> tissues;
  for (const auto& [tag, info] : by_tag)
    tissues.push_back(info);
  return tissues;
}

EikonalMeshInfo describe_mesh(const EikonalModel& model) {
  const TetraMesh& mesh = model.mesh;
  EikonalMeshInfo info;
  info.source = model.source;
  info.num_points = std::int64_t(mesh.num_points());
  info.num_tetra = std::int64_t(mesh.num_tetra());
  info.has_fibres = !mesh.fibre.empty();
  info.has_sheets = !mesh.sheet.empty();
  info.num_isotropic = info.has_fibres ? 0 : info.num_tetra;
  for (std::size_t i = 0; i < mesh.fibre.size(); i += 3)
    info.num_isotropic += mesh.fibre[i] == 0 && mesh.fibre[i + 1] == 0 && mesh.fibre[i + 2] == 0;
  info.bounds = bounding_box(mesh.point);
  info.num_blocked = model.velocities.num_blocked;
  info.num_blocked_points = model.parts->num_blocked();
  info.num_parts = std::int64_t(model.parts->size().size());
  info.by_tetra = !model.velocities.by_tetra.empty();
  info.tissues = info.by_tetra ? tissues_by_tetra(model) : tissues_by_tag(model);
  return info;
}

/// Peak of the backend's memory while the solver is set up or solves. A tetrahedron has its metric,
/// its vertices and its places in the rings of these; a vertex its ring, its times and its marks in
/// the lists. What the metric is made from, directions, tags and coordinates, stays for other
/// velocities.
template<class Exec>
EikonalPrediction predict(const EikonalCommandOptions& options, const EikonalModel& model) {
  const TetraMesh& mesh = model.mesh;
  const double tetra = double(mesh.num_tetra()), points = double(mesh.num_points());
  const double real = options.common.precision == Precision::fp64 ? 8 : 4;
  const double metric = (options.solver.metric == TetraMetric::lengths ? 6 : 18) * real;
  const double directions = (mesh.fibre.empty() ? 0 : 12) + (mesh.sheet.empty() ? 0 : 12);
  const double sets = double(model.sets.size());
  const double slowness = model.velocities.by_tetra.empty() ? 0 : 24;
  // On devices, `queue` keeps the metric once more, in the order of the rings, where there is room
  // (kernels/eikonal/ring_metric.hpp), and its queue in parts.
  const EikonalMethod method = options.solver.method;
  const bool resident = BackendTraits<Exec>::is_device &&
                        (method == EikonalMethod::automatic || method == EikonalMethod::queue);
  const double ring = resident ? tetra * 32 * real + points * (192 + sets * 8) : 0;
  EikonalPrediction prediction;
  prediction.mesh = describe_mesh(model);
  prediction.num_sets = model.sets.size();
  prediction.device_bytes =
      // Vertices, rings and their faces; coordinates, rings and neighbours of points; a queue,
      // stamps and two or three arrays of times.
      tetra * (metric + 16 + 16 + 16 + directions + 4 + slowness) + points * (24 + 12 + 58) +
      points * sets * (12 + 3 * real) + ring;
  prediction.host_growth =
      points * sets * real + (BackendTraits<Exec>::is_device ? 0 : prediction.device_bytes);
  return prediction;
}

/// Statistics of one set, and which of its sites came too late.
template<class Real>
ActivationReport make_activation_report(const EikonalModel& model, const TaggedVertices& tagged,
                                        std::size_t k, ConstSpan<Real> time) {
  ActivationReport report;
  const SiteSet& set = model.sets[k];
  report.set = set.name;
  const double origin = time_origin(model.placed[k].merged(set));
  for (std::size_t i = 0; i < set.sites.size(); ++i) {
    const std::vector<std::int32_t>& vertices = model.placed[k].vertices[i];
    report.sites.push_back({set.sites[i].text, set.sites[i].time, std::int64_t(vertices.size()),
                            model.placed[k].num_blocked[i],
                            count_swallowed(vertices, set.sites[i].time, origin, time)});
  }
  report.all = tagged.summarise_all(time);
  report.tags = tagged.tags();
  report.by_tag = tagged.summarise(time);
  if (report.num_unreached() > 0)
    report.num_apart = count_apart(*model.parts, model.placed[k].vertices, time);
  return report;
}

/// Sets up a Solver, whose first arguments are `first`, and tells what it is. All ranks call it.
template<class Solver, class... First>
std::unique_ptr<Solver> make_solver(const EikonalCommandOptions& options, const EikonalModel& model,
                                    EikonalRunResults& results, const DriverContext& context,
                                    const First&... first) {
  const Stopwatch watch;
  const TimedScope scope("ossatura::eikonal::setup");
  const MeshVelocities& velocities = model.velocities;
  EikonalOptions solver_options = options.solver;
  solver_options.stop = is_interrupted;
  std::unique_ptr<Solver> solver;
  // Where the model is on one rank, it says what its velocities are.
  int by_tetra = velocities.by_tetra.empty() ? 0 : 1;
  context.world().broadcast(by_tetra);
  run_phase(context.world(), [&] {
    try {
      solver =
          by_tetra != 0
              ? std::make_unique<Solver>(first..., model.mesh, velocities.by_tetra, solver_options)
              : std::make_unique<Solver>(first..., model.mesh, velocities.by_tag, solver_options);
    } catch (const std::invalid_argument& error) { // of velocities and lengths that do not fit
      fail<InputError>(model.source, ": ", library_message(error));
    }
  });
  results.seconds.setup = watch.seconds();
  results.metric_bytes = solver->metric_bytes_per_tetra();
  results.method = name_of(solver->method());
  results.deterministic = solver->is_deterministic();
  log_info("set up in ", format_number(results.seconds.setup, 4), " s: ", results.method, ", ",
           results.metric, ", ", format_count(std::int64_t(model.sets.size())),
           model.sets.size() == 1 ? " set of sites" : " sets of sites");
  return solver;
}

std::vector<std::vector<EikonalSite>> merged_sites(const EikonalModel& model) {
  std::vector<std::vector<EikonalSite>> sites;
  for (std::size_t k = 0; k < model.sets.size(); ++k)
    sites.push_back(model.placed[k].merged(model.sets[k]));
  return sites;
}

/// Has solve() iterate, and notes what came of it. All ranks call it.
template<class Real, class Solve>
void note_solve(const EikonalCommandOptions& options, EikonalRunResults& results,
                const DriverContext& context, const Solve& solve) {
  const Stopwatch watch;
  protect_results();
  {
    const TimedScope scope("ossatura::eikonal::solve");
    results.solved = solve();
  }
  results.seconds.solve = watch.seconds();
  results.interrupted = context.world().any(is_interrupted()) && !results.solved.converged;
  results.certificate = {options.solver.tolerance,
                         check_activation<Real>(results.solved, options.solver.tolerance)};
  results.converged = results.solved.converged && results.certificate.checks.front().passed();
}

/// Statistics and files of times [sets, num_points]. Returns the exit code.
template<class Real>
int finish(const EikonalCommandOptions& options, const EikonalModel& model,
           const EikonalFiles& files, ConstSpan<Real> times, EikonalRunResults& results,
           DriverContext& context) {
  const std::size_t num_points = model.mesh.num_points();
  {
    const TimedScope scope("ossatura::eikonal::statistics");
    const TaggedVertices tagged(model.mesh, model.velocities.blocked);
    for (std::size_t k = 0; k < model.sets.size(); ++k)
      results.sets.push_back(make_activation_report<Real>(
          model, tagged, k, ConstSpan<Real>(times.data + k * num_points, num_points)));
  }
  return report_eikonal(results, output_stem(options), context, [&](RunStatus status) {
    const Stopwatch watch;
    results.files = write_eikonal<Real>(files, model, times, name_of(status), context);
    results.seconds.write = watch.seconds();
  });
}

/// The same by the first rank, which has all times, for all.
template<class Real>
int finish_first(const EikonalCommandOptions& options, const EikonalModel& model,
                 const EikonalFiles& files, const std::vector<Real>& times,
                 EikonalRunResults& results, DriverContext& context) {
  context.collect_from_ranks();
  int code = exit_done;
  run_phase(context.world(), [&] {
    if (context.world().is_first())
      code = finish<Real>(options, model, files, ConstSpan<Real>(times.data(), times.size()),
                          results, context);
  });
  return code;
}

template<class Real, class Exec>
int run_in_one(const Exec& exec, const EikonalCommandOptions& options, const EikonalModel& model,
               const EikonalFiles& files, EikonalRunResults& results, DriverContext& context) {
  const auto solver =
      make_solver<EikonalSolver<Exec, Real>>(options, model, results, context, exec);
  const Array<Real, Exec> times(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                                   std::string("ossatura::eikonal::times")),
                                model.sets.size() * model.mesh.num_points());
  fence(exec, "ossatura::eikonal::times");
  const auto sites = merged_sites(model);
  note_solve<Real>(options, results, context, [&] { return solver->solve(exec, sites, times); });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), times);
  return finish<Real>(options, model, files, ConstSpan<Real>(host.data(), host.extent(0)), results,
                      context);
}

/// What the results of the ranks, each of its own sets, are together. `by_rank` in their order.
EikonalResult combined(const std::vector<EikonalResult>& by_rank) {
  const auto keep_worse = [](double& worst, double other) {
    if (other > worst || std::isnan(other))
      worst = other;
  };
  EikonalResult all;
  all.converged = true;
  for (const EikonalResult& part : by_rank) {
    all.iterations = std::max(all.iterations, part.iterations);
    all.converged = all.converged && part.converged;
    all.evaluations += part.evaluations;
    all.local_solves += part.local_solves;
    keep_worse(all.seconds, part.seconds);
    keep_worse(all.residual, part.residual);
    keep_worse(all.certificate, part.certificate);
    keep_worse(all.certificate_ms, part.certificate_ms);
    all.num_unreached.insert(all.num_unreached.end(), part.num_unreached.begin(),
                             part.num_unreached.end());
  }
  return all;
}

/// The results of all ranks, in their order, on each.
std::vector<EikonalResult> gather_results(const Communicator& world, const EikonalResult& mine) {
  struct Numbers { // trivially copyable
    int iterations;
    bool converged;
    std::int64_t evaluations, local_solves, num_sets;
    double seconds, residual, certificate, certificate_ms;
  };
  const std::vector<std::int64_t> unreached = world.gather(mine.num_unreached);
  auto at = unreached.begin();
  std::vector<EikonalResult> all;
  for (const Numbers& n :
       world.gather(Numbers{mine.iterations, mine.converged, mine.evaluations, mine.local_solves,
                            std::int64_t(mine.num_unreached.size()), mine.seconds, mine.residual,
                            mine.certificate, mine.certificate_ms})) {
    all.push_back({n.iterations,
                   n.converged,
                   n.evaluations,
                   n.local_solves,
                   n.seconds,
                   n.residual,
                   n.certificate,
                   n.certificate_ms,
                   {at, at + n.num_sets}});
    at += n.num_sets;
  }
  return all;
}

/// The sets are divided among the ranks, each with the whole model; the first writes.
template<class Real, class Exec>
int run_sets_in_many(const Exec& exec, const EikonalCommandOptions& options,
                     const EikonalModel& model, const EikonalFiles& files,
                     EikonalRunResults& results, DriverContext& context) {
  const Communicator& world = context.world();
  const RankPart part = part_of_rank(world, std::int64_t(model.sets.size()));
  const std::size_t num_points = model.mesh.num_points();
  std::vector<Real> times;
  {
    const auto solver =
        make_solver<EikonalSolver<Exec, Real>>(options, model, results, context, exec);
    auto sites = merged_sites(model);
    sites = {sites.begin() + part.begin, sites.begin() + part.end};
    note_solve<Real>(options, results, context, [&] {
      EikonalResult solved;
      solved.converged = true; // where there is nothing to solve
      together(world, [&] {
        if (sites.empty())
          return;
        const Array<Real, Exec> array(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                                         std::string("ossatura::eikonal::times")),
                                      sites.size() * num_points);
        fence(exec, "ossatura::eikonal::times");
        solved = solver->solve(exec, sites, array);
        const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
        times.assign(host.data(), host.data() + host.extent(0));
      });
      return combined(gather_results(world, solved));
    });
  }
  if (!world.is_first())
    world.send(times, 0);
  else
    for (int rank = 1; rank < world.size(); ++rank) {
      const std::vector<Real> more = world.receive<Real>(rank);
      times.insert(times.end(), more.begin(), more.end());
    }
  results.split = name_of(EikonalSplit::sets);
  return finish_first<Real>(options, model, files, times, results, context);
}

/// The mesh is cut between the ranks; the first has the model, and writes.
template<class Real, class Exec>
int run_mesh_in_many(const Exec& exec, const EikonalCommandOptions& options,
                     const EikonalModel& model, const EikonalFiles& files,
                     EikonalRunResults& results, DriverContext& context) {
  const Communicator& world = context.world();
  std::vector<Real> times;
  {
    const auto solver = make_solver<CutEikonalSolver<Exec, Real>>(options, model, results, context,
                                                                  world, options.partition, exec);
    results.cut = solver->cut();
    results.partition = name_of(options.partition);
    results.transport = name_of(solver->transport());
    const auto sites = merged_sites(model);
    note_solve<Real>(options, results, context, [&] { return solver->solve(exec, sites, times); });
  }
  results.split = name_of(EikonalSplit::mesh);
  return finish_first<Real>(options, model, files, times, results, context);
}

template<class Real, class Exec>
int run_in(const Exec& exec, const EikonalCommandOptions& options, const EikonalModel& model,
           const EikonalFiles& files, EikonalRunResults& results, DriverContext& context) {
  const int num_ranks = context.world().size();
  if (num_ranks == 1)
    return run_in_one<Real>(exec, options, model, files, results, context);
  auto num_sets = std::int64_t(model.sets.size());
  context.world().broadcast(num_sets);
  return divides_sets(options, num_sets, num_ranks)
             ? run_sets_in_many<Real>(exec, options, model, files, results, context)
             : run_mesh_in_many<Real>(exec, options, model, files, results, context);
}

template<class Exec>
int run_on(const Exec& exec, const EikonalCommandOptions& options, const EikonalModel& model,
           double read_seconds, DriverContext& context) {
  EikonalRunResults results;
  results.seconds.read = read_seconds;
  if (options.common.dry_run) // of one process
    return report_eikonal_prediction(predict<Exec>(options, model), output_stem(options), context);
  EikonalFiles files;
  run_phase(context.world(), [&] {
    if (!context.world().is_first())
      return;
    results.mesh = describe_mesh(model);
    results.unreached_mark = model.unreached_mark();
    context.begin_outputs(output_stem(options));
    files = claim_eikonal_files(options, model, output_stem(options), context);
    if (BackendTraits<Exec>::is_device)
      begin_eikonal_files(files, model, context);
  });
  results.metric = name_of(options.solver.metric);
  results.precision = name_of(*options.common.precision);
  if (options.common.precision == Precision::fp64)
    return run_in<double>(exec, options, model, files, results, context);
  return run_in<float>(exec, options, model, files, results, context);
}

} // namespace

int run_eikonal(const EikonalCommandOptions& options, DriverContext& context) {
  const Stopwatch watch;
  const Communicator& world = context.world();
  EikonalModel model; // of the first rank alone where the mesh is divided
  run_phase(world, [&] {
    if (world.is_first() || options.split == EikonalSplit::sets)
      model = make_eikonal_model(options, context);
  });
  auto num_sets = std::int64_t(model.sets.size());
  world.broadcast(num_sets);
  run_phase(world, [&] {
    if (world.size() > 1 && !divides_sets(options, num_sets, world.size()))
      check_mesh_split(options, world.size());
    else if (model.sets.empty())
      model = make_eikonal_model(options, context);
  });
  const double seconds = watch.seconds();
  auto num_times = std::int64_t(model.mesh.num_points() * model.sets.size());
  world.broadcast(num_times);
  return with_backend(context.choose_backend(num_times), [&](const auto& exec) {
    return run_on(exec, options, model, seconds, context);
  });
}

} // namespace ossatura
