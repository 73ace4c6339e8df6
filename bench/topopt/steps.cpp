// SPDX-License-Identifier: Apache-2.0
// These rows time steps of a course: the cantilever of 2 : 1 : 1 with a volume of 0.12, density
// filter of 1.5 edges, solves to 1e-4 from the displacements before; n = 64, 160 and 256 are 65
// thousand, 1 million and 4.2 million elements:
//   design_step/<grid>/<backend>/<course>:<n>
// by optimality criteria (`oc`), and on voxels by what else a step may have (StepCourse). Of solid
// elements, a box of as many cells, each five tetrahedra of ten nodes, with optimality criteria:
//   design_step/solids/<backend>/tetra10:<n>
// The time of a row is that of a step, the mean of those that are timed after the first two.
// Counters: iterations of all solves and seconds of the phases of a step, the volume, bytes at the
// peak for a degree of freedom; on voxels and solids the ceiling that binds, by the bytes and
// flops of step_cost.hpp, and its time, floor_s. Gradients are compared with differences
// afterwards.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/topopt/check_gradient.hpp"
#include "bench/topopt/step_cost.hpp"
#include "bench/topopt/step_problems.hpp"
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/memory.hpp>

#include <cmath>

namespace ossatura::bench {

namespace {

/// Sums over the steps that are timed.
struct StepSums {
  int steps = 0;
  double iterations = 0, prepare = 0, solve = 0, gradient = 0, update = 0;
  DesignStep last;

  /// False where a solve did not converge.
  bool add(const DesignStep& step) {
    ++steps;
    bool converged = true;
    for (const SolveResult& one : step.solves) {
      iterations += one.iterations;
      converged = converged && one.converged;
    }
    prepare += step.seconds_prepare;
    solve += step.seconds_solve;
    gradient += step.seconds_gradient;
    update += step.seconds_update;
    last = step;
    return converged;
  }
  double mean_iterations() const { return iterations / steps; }
  void report(benchmark::State& state) const {
    state.counters["pcg_iterations"] = mean_iterations();
    state.counters["prepare_s"] = prepare / steps;
    state.counters["solve_s"] = solve / steps;
    state.counters["gradient_s"] = gradient / steps;
    state.counters["update_s"] = update / steps;
    state.counters["volume"] = last.volume;
    state.counters["objective"] = last.objective;
    if (!last.limits.empty())
      state.counters["beyond_limit"] = last.limits[0].excess;
  }
};

/// Optimality criteria take all of the volume, but of projected densities, which are no linear
/// function of the variables, and printed ones, even less; moving asymptotes, which may leave some,
/// take more where stresses do not fall else.
bool has_volume(const StepDesign& design, double volume) {
  const DesignOptions& options = design.options;
  const double excess = volume / options.volume_fraction - 1;
  if (options.process.shapes())
    return volume > 0;
  if (options.projection)
    return std::fabs(excess) <= 0.2;
  if (options.method == DesignMethod::oc)
    return std::fabs(excess) <= 1e-3;
  return excess <= (design.problem.limits.empty() ? 1e-3 : 1) && volume > 0;
}

/// `cost_of(optimizer, iterations)` is that of a step; without bytes it is not known.
template<class Exec, class CostOf>
void run(benchmark::State& state, const Exec& exec, const StepDesign& design,
         const CostOf& cost_of) {
  const DesignProblem& problem = design.problem;
  for (auto _ : state) {
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch setup_watch;
    DesignOptimizer<Exec> optimizer(exec, problem, design.options);
    state.counters["setup_s"] = setup_watch.seconds();
    for (int k = 0; k < 2; ++k)
      optimizer.step(exec); // of a uniform design, which takes the fewest iterations
    StepSums sums;
    const Stopwatch watch;
    for (int k = 0; k < 3; ++k)
      if (!sums.add(optimizer.step(exec)))
        return fail_benchmark(state, "a solve did not converge");
    const double seconds = watch.seconds() / sums.steps;
    state.SetIterationTime(seconds);
    const double dofs = 3 * double(problem.num_nodes());
    state.counters["elements"] = double(problem.num_elem());
    state.counters["peak_bytes/dof"] = double(peak_kokkos_bytes() - before) / dofs;
    sums.report(state);
    const Cost cost = cost_of(optimizer, sums.mean_iterations());
    if (cost.bytes > 0) {
      report<Exec, float>(state, cost, seconds);
      state.counters["floor_s"] = seconds * state.counters["of_ceiling"];
    }
    state.counters["dofs"] = dofs;
    state.SetLabel(optimizer.body().engine().preconditioner);
    if (!has_volume(design, sums.last.volume))
      return fail_benchmark(state, "the volume is " + std::to_string(sums.last.volume));
    const std::string wrong = describe_wrong_gradient(exec, optimizer, problem);
    if (!wrong.empty())
      return fail_benchmark(state, wrong);
  }
}

template<class Exec>
void run_cubes(benchmark::State& state, const Exec& exec, DesignGrid grid, StepCourse course,
               int n) {
  const StepDesign design = make_cubes_design(grid, course, n);
  run(state, exec, design, [&](const DesignOptimizer<Exec>&, double iterations) {
    return grid == DesignGrid::voxels
               ? voxel_step_cost(course, double(design.problem.num_nodes()), iterations)
               : Cost();
  });
}

template<class Exec>
void run_tetra10(benchmark::State& state, const Exec& exec, int n) {
  const StepDesign design = make_tetra10_design(n);
  run(state, exec, design, [&](const DesignOptimizer<Exec>& optimizer, double iterations) {
    constexpr double gradient_bytes = 4 * (3 * 10 + 1) * 8; // at four points, with their weights
    return solid_step_cost(optimizer.body().engine().cost, double(design.problem.num_nodes()),
                           double(design.problem.num_elem()), gradient_bytes, iterations);
  });
}

template<class Exec>
void register_steps(const Options& options) {
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const std::string backend = std::string("/") + BackendTraits<Exec>::name + '/';
  const auto sizes = [&](const std::vector<int>& device, const std::vector<int>& host) {
    return options.sizes_or(is_device ? device : host);
  };
  for (const DesignGrid grid : name_table<DesignGrid>)
    for (const StepCourse course : name_table<StepCourse>) {
      const bool is_oc = course == StepCourse::oc;
      if (grid == DesignGrid::mesh && !is_oc)
        continue;
      for (const int n : is_oc ? sizes({64, 128, 256}, {16, 32, 64}) : sizes({64, 128}, {16, 32}))
        add_row(options,
                std::string("design_step/") + name_of(grid) + backend + name_of(course) + ':' +
                    std::to_string(n),
                [=](benchmark::State& state) { run_cubes(state, Exec(), grid, course, n); },
                {benchmark::kMillisecond});
    }
  for (const int n : sizes({32, 64}, {16}))
    add_row(options, "design_step/solids" + backend + "tetra10:" + std::to_string(n),
            [=](benchmark::State& state) { run_tetra10(state, Exec(), n); },
            {benchmark::kMillisecond});
}

} // namespace

void register_design_step(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_steps<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
