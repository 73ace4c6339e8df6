// SPDX-License-Identifier: Apache-2.0
// These rows show where the time of an iteration of the preconditioned conjugate gradients goes:
//   voxel_profile/<operator>/<backend>/<precision>/<image>:<n>
// The time of the row is that of an iteration as it runs. Then the same iterations are recorded,
// with a wait around each kernel (bench/harness/kernel_times.hpp): counters cg_ms, level<l>_ms; the
// kernels are printed as a table after the rows, unless the rows are JSON or CSV.
#include "bench/bone/model.hpp"
#include "bench/bone/solve_variant.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/kernel_times.hpp"
#include "bench/harness/register.hpp"

#include <cstdio>
#include <map>

namespace ossatura::bench {

namespace {

/// By row; a repetition takes the place of the one before.
std::map<std::string, std::string>& tables() {
  static std::map<std::string, std::string> text;
  return text;
}

constexpr int num_iterations = 3;

/// The table of a row, times per iteration.
std::string format_table(const std::vector<KernelTime>& times, double as_it_runs, double recorded) {
  double sum = 0;
  for (const KernelTime& time : times)
    sum += time.seconds / num_iterations;
  char line[200];
  std::snprintf(line, sizeof line,
                "an iteration: %.3f ms as it runs, %.3f ms recorded, %.3f ms of it in kernels\n",
                1e3 * as_it_runs, 1e3 * recorded, 1e3 * sum);
  std::string text = line;
  std::snprintf(line, sizeof line, "%-10s %-40s %9s %11s %7s\n", "where", "kernel", "calls", "ms",
                "share");
  text += line;
  for (const KernelTime& time : times) {
    const std::string where = time.in_region ? "level " + std::to_string(time.level) : "cg";
    const double seconds = time.seconds / num_iterations;
    std::snprintf(line, sizeof line, "%-10s %-40s %9.1f %11.4f %6.1f%%\n", where.c_str(),
                  time.label.c_str(), double(time.calls) / num_iterations, 1e3 * seconds,
                  100 * seconds / sum);
    text += line;
  }
  return text;
}

template<class Exec>
void time_parts(benchmark::State& state, const Exec& exec, const SolveVariant& variant,
                ModelImage image, int n) {
  release_kept();
  VoxelModelOnDevice<Exec> model = make_voxel_model(exec, make_model_image(exec, image, n));
  VoxelSolverOptions options = variant.options();
  // Iterations 2 .. 1 + num_iterations, converged or not: all take the same steps.
  options.cg.tolerance = 0;
  options.cg.max_iterations = 1 + num_iterations;
  options.multigrid.launch_graphs = false; // a graph hides its kernels
  VoxelSolver<Exec> solver(exec, model.problem, options);
  model.problem.material = {};
  const auto solve = [&](const auto& begin, const auto& end) {
    const Array<double, Exec> u = make_zeros<double>(exec, model.u.extent(0), "ossatura::bench::u");
    copy(exec, model.u, u);
    const SolveResult result = solver.solve(exec, {}, u, [&](int iteration, double) {
      if (iteration == 1)
        begin();
      if (iteration == 1 + num_iterations)
        end();
    });
    return result.iterations == 1 + num_iterations;
  };
  const auto nothing = [] {};
  bool complete = solve(nothing, nothing); // not counted

  double seconds = 0;
  for (auto _ : state) {
    Stopwatch watch;
    complete = complete && solve(
                               [&] {
                                 fence(exec, "ossatura::bench::before");
                                 watch = Stopwatch();
                               },
                               [&] {
                                 fence(exec, "ossatura::bench::after");
                                 seconds = watch.seconds() / num_iterations;
                               });
    state.SetIterationTime(seconds);
  }
  KernelTimes kernels("ossatura::precondition");
  complete = complete && solve([&] { kernels.start(); }, [&] { kernels.stop(); });
  if (!complete)
    return fail_benchmark(state, "the iteration ended before it was to");
  if (kernels.open_levels() != 0)
    return fail_benchmark(state, "restrictions and prolongations do not match");

  double sum = 0;
  std::map<std::string, double> part;
  for (const KernelTime& time : kernels.times()) {
    part[time.in_region ? "level" + std::to_string(time.level) + "_ms" : "cg_ms"] +=
        1e3 * time.seconds / num_iterations;
    sum += time.seconds;
  }
  if (!(sum > 0) || sum > kernels.seconds())
    return fail_benchmark(state, "kernels take " + std::to_string(sum) + " s of " +
                                     std::to_string(kernels.seconds()));
  state.counters["dofs"] = double(model.problem.grid.num_dofs());
  state.counters["recorded_ms"] = 1e3 * kernels.seconds() / num_iterations;
  for (const auto& [name, milliseconds] : part)
    state.counters[name] = milliseconds;
  tables()[variant.row_name("voxel_profile", BackendTraits<Exec>::name, name_of(image), n)] =
      format_table(kernels.times(), seconds, kernels.seconds() / num_iterations);
}

} // namespace

void register_voxel_profile(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    register_variants<Exec>(options, "voxel_profile", solve_sizes<Exec>, time_parts<Exec>);
  });
}

void print_profiles() {
  for (const auto& [row, table] : tables())
    std::printf("\n%s\n%s", row.c_str(), table.c_str());
}

} // namespace ossatura::bench
