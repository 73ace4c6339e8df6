// SPDX-License-Identifier: Apache-2.0
// These rows time activation times of generated ventricles with n tetrahedra edges in hundredths of
// a millimetre (--edges): 72 has 3.1 million tetrahedra, 36 has 24.7 million:
//   <group>/<method>/<backend>/<precision>/ventricles:<n>
// The time of a row is that of the iterations, without set-up and certificate, except for
// eikonal_setup: from the mesh on the host to a solver that is ready. Groups:
//   eikonal                one set of five sites, squared lengths, the default tolerance
//   eikonal_products       18 products for each tetrahedron
//   eikonal_deterministic
//   eikonal_1e-6, _1e-7    tolerances, by name
//   eikonal_batch          8 sets of sites at once
// Every row is verified before it is timed: against double precision at a tolerance of 1e-10.
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace ossatura::bench {

namespace {

using SiteSets = std::vector<std::vector<EikonalSite>>;

struct Heart {
  TetraMesh mesh;
  std::vector<EikonalSite> sites;
  std::vector<double> times; ///< of these sites, verified; empty before
};

const TissueVelocities velocities = {{1, {0.6, 0.4, 0.2}}, {2, {0.6, 0.4, 0.2}}};

std::int32_t nearest_vertex(const TetraMesh& mesh, const std::array<double, 3>& x) {
  const auto square_distance = [&](std::size_t n) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis)
      sum += std::pow(mesh.point[3 * n + axis] - x[axis], 2);
    return sum;
  };
  std::size_t best = 0;
  double least = square_distance(0);
  for (std::size_t n = 1; n < mesh.num_points(); ++n)
    if (const double distance = square_distance(n); distance < least) {
      least = distance;
      best = n;
    }
  return std::int32_t(best);
}

/// On the host.
Heart& cached_heart(int edge) {
  static Kept<int, Heart> kept;
  return kept.get(edge, [&] {
    auto heart = std::make_unique<Heart>();
    heart->mesh = make_ventricles(0.01 * edge);
    for (const TimedPoint& site : ventricle_sites())
      heart->sites.push_back({nearest_vertex(heart->mesh, site.point), site.time});
    return heart;
  });
}

struct EikonalVariant {
  const char* group;
  TetraMetric metric = TetraMetric::lengths;
  bool deterministic = false;
  double tolerance = EikonalOptions().tolerance;
  int num_sets = 1;

  EikonalOptions options(EikonalMethod method) const {
    EikonalOptions options;
    options.method = method;
    options.metric = metric;
    options.deterministic = deterministic;
    options.tolerance = tolerance;
    return options;
  }
  /// The first set is the heart's; the others have its sites at other times, and some of them.
  SiteSets sets(const Heart& heart) const {
    SiteSets sets(num_sets, heart.sites);
    for (int set = 1; set < num_sets; ++set) {
      sets[set].erase(sets[set].begin() + set % 5);
      for (std::size_t n = 0; n < sets[set].size(); ++n)
        sets[set][n].time = double((set * 3 + n * 7) % 11);
    }
    return sets;
  }
};

const EikonalVariant usual = {"eikonal"};
const EikonalVariant others[] = {
    {"eikonal_products", TetraMetric::products},
    {"eikonal_deterministic", TetraMetric::lengths, true},
    {"eikonal_1e-6", TetraMetric::lengths, false, 1e-6},
    {"eikonal_1e-7", TetraMetric::lengths, false, 1e-7},
    {"eikonal_batch", TetraMetric::lengths, false, EikonalOptions().tolerance, 8}};

template<class Exec, class Real>
Array<Real, Exec> make_times(const Heart& heart, std::size_t num_sets) {
  return Array<Real, Exec>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::bench::eikonal_times"),
      num_sets * heart.mesh.num_points());
}

/// Times in double precision, of the first set.
template<class Exec>
const std::vector<double>& exact_times(const Exec& exec, Heart& heart) {
  if (heart.times.empty()) {
    EikonalOptions options;
    options.tolerance = 1e-10;
    EikonalSolver<Exec, double> solver(exec, heart.mesh, velocities, options);
    const auto times = make_times<Exec, double>(heart, 1);
    const EikonalResult result = solver.solve(exec, {heart.sites}, times);
    if (!result.converged || !(result.certificate <= 1e-9) || result.num_unreached[0] != 0)
      throw std::runtime_error("the solve in double precision is not right");
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), times);
    heart.times.assign(host.data(), host.data() + host.extent(0));
  }
  return heart.times;
}

/// What is wrong with a result, if anything. Tolerances add up over the steps of a path, of which
/// there are about a hundred.
template<class Exec, class Real>
std::optional<std::string> defect(const Exec& exec, Heart& heart, const EikonalVariant& variant,
                                  const EikonalResult& result, const Array<Real, Exec>& times) {
  if (!result.converged)
    return "the solve did not converge";
  for (const std::int64_t unreached : result.num_unreached)
    if (unreached != 0)
      return std::to_string(unreached) + " points were not reached";
  const double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-14;
  if (!(result.residual <= variant.tolerance + rounding))
    return "the residual is " + std::to_string(1e6 * result.residual) + "e-6";
  const std::vector<double>& exact = exact_times(exec, heart);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), times);
  double worst = 0;
  for (std::size_t n = 0; n < exact.size(); ++n) {
    const double error = std::abs(host(n) - exact[n]) / std::max(exact[n], 1.0);
    worst = error <= worst ? worst : error <= 1e300 ? error : 1e300; // NaN too
  }
  if (worst <= 200 * std::max(variant.tolerance, rounding))
    return std::nullopt;
  return "times are off by " + std::to_string(1e6 * worst) + "e-6 of them";
}

template<class Exec, class Real>
void run_solve(benchmark::State& state, const Exec& exec, const EikonalVariant& variant,
               EikonalMethod method, int edge) {
  Heart& heart = cached_heart(edge);
  const SiteSets sets = variant.sets(heart);
  const Stopwatch setup_watch;
  EikonalSolver<Exec, Real> solver(exec, heart.mesh, velocities, variant.options(method));
  fence(exec, "ossatura::bench::setup");
  state.counters["setup_s"] = setup_watch.seconds();

  const auto times = make_times<Exec, Real>(heart, sets.size());
  EikonalResult result = solver.solve(exec, sets, times);
  if (const auto wrong = defect(exec, heart, variant, result, times))
    return fail_benchmark(state, *wrong);
  double whole = 0;
  const double seconds = time_calls(state, [&] {
    whole = timed(exec, [&] { result = solver.solve(exec, sets, times); });
    return result.seconds;
  });
  state.counters["with_certificate_ms"] = 1e3 * whole; // of the last call

  // A local solve reads the metric of a tetrahedron and its four vertices. The floor is to read
  // that once for each vertex of each tetrahedron, at the rate of a copy.
  const double bytes = solver.metric_bytes_per_tetra() + 4 * sizeof(std::int32_t);
  const double solves = double(result.local_solves);
  const double vertices = double(solver.num_points()) * double(sets.size());
  const double copy_rate = ceilings<Exec>().copy_rate;
  state.counters["vertices"] = double(solver.num_points());
  state.counters["tetrahedra"] = double(solver.num_tetra());
  state.counters["last_ms"] = *std::max_element(heart.times.begin(), heart.times.end());
  state.counters["fim_iterations"] = result.iterations;
  state.counters["evaluations/vertex"] = double(result.evaluations) / vertices;
  state.counters["solves/vertex"] = solves / vertices;
  state.counters["ms/set"] = 1e3 * seconds / double(sets.size());
  state.counters["solves/s"] = solves / seconds;
  state.counters["bytes/solve"] = bytes;
  state.counters["GB/s"] = 1e-9 * bytes * solves / seconds;
  state.counters["of_copy"] = state.counters["of_ceiling"] = bytes * solves / seconds / copy_rate;
  state.counters["of_floor"] = bytes * 4 * double(solver.num_tetra()) / copy_rate / seconds;
  state.counters["certificate"] = result.certificate;
}

template<class Exec, class Real>
void run_setup(benchmark::State& state, const Exec& exec, int edge) {
  Heart& heart = cached_heart(edge);
  {
    EikonalSolver<Exec, Real> solver(exec, heart.mesh, velocities);
    const auto times = make_times<Exec, Real>(heart, 1);
    const EikonalResult result = solver.solve(exec, {heart.sites}, times);
    if (const auto wrong = defect(exec, heart, usual, result, times))
      return fail_benchmark(state, *wrong);
  }
  const double seconds = time_calls(state, [&] {
    return timed(exec,
                 [&] { const EikonalSolver<Exec, Real> solver(exec, heart.mesh, velocities); });
  });
  state.counters["tetrahedra/s"] = double(heart.mesh.num_tetra()) / seconds;
}

template<class Exec, class Real>
void register_solve(const Options& options, const EikonalVariant& variant, EikonalMethod method,
                    int edge) {
  add_row(
      options,
      row_name<Exec, Real>(std::string(variant.group) + '/' + name_of(method), "ventricles", edge),
      [&variant, method, edge](benchmark::State& state) {
        run_solve<Exec, Real>(state, Exec(), variant, method, edge);
      },
      {benchmark::kMillisecond});
}

template<class Exec, class Real>
void register_edge(const Options& options, int edge, bool all_rows) {
  constexpr EikonalMethod fastest = default_eikonal_method<Exec>;
  register_solve<Exec, Real>(options, usual, fastest, edge);
  if (!all_rows)
    return;
  for (const EikonalMethod method : all_eikonal_methods)
    if (method != fastest)
      register_solve<Exec, Real>(options, usual, method, edge);
  for (const EikonalVariant& variant : others)
    for (const EikonalMethod method : all_eikonal_methods)
      register_solve<Exec, Real>(options, variant, method, edge);
}

/// Both sizes of the paper [1] on devices; on cores the smaller one for the fastest method alone,
/// and one of 345 thousand tetrahedra for all.
///
/// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
///     meshes. Comput. Vis. Sci. 19 (2018), doi:10.1007/s00791-018-0288-z
template<class Exec>
std::vector<int> edges(const Options& options) {
  const std::vector<int> own = BackendTraits<Exec>::is_device ? std::vector<int>{72, 36} //
                                                              : std::vector<int>{150, 72};
  return options.edges.empty() ? own : options.edges;
}

template<class Exec, class Real>
void register_setup(const Options& options, int edge) {
  add_row(options, row_name<Exec, Real>("eikonal_setup", "ventricles", edge),
          [edge](benchmark::State& state) { run_setup<Exec, Real>(state, Exec(), edge); },
          {benchmark::kMillisecond});
}

} // namespace

void register_eikonal(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const int edge : edges<Exec>(options)) {
      const bool all_rows = BackendTraits<Exec>::is_device || !options.edges.empty() || edge != 72;
      register_edge<Exec, float>(options, edge, all_rows);
      register_edge<Exec, double>(options, edge, all_rows);
    }
  });
}

void register_eikonal_setup(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const int edge : edges<Exec>(options)) {
      register_setup<Exec, float>(options, edge);
      register_setup<Exec, double>(options, edge);
    }
  });
}

} // namespace ossatura::bench
