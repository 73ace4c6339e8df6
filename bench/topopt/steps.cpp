// SPDX-License-Identifier: Apache-2.0
// These rows time steps of a course: the cantilever of 2 : 1 : 1 with a volume of 0.12, density
// filter of 1.5 edges, optimality criteria, solves to 1e-6 from the displacements before;
// n = 64 and 256 are 65 thousand and 4.2 million elements:
//   design_step/<grid>/<backend>/oc:<n>
// The time of a row is that of a step, the mean of those that are timed after the first two.
// Counters: iterations and seconds of the phases of a step, bytes at the peak for a degree of
// freedom; on voxels the ceiling of bandwidth, by the bytes of voxel_step_cost.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/solvers/topopt/generators.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>

namespace ossatura::bench {

namespace {

DesignProblem make_design(int n) {
  const int half = n / 2;
  GeneratedDesign design =
      generate_design("cantilever", {n, half, half}, {double(n), double(half), double(half)});
  DesignProblem problem;
  problem.mesh = std::move(design.model.mesh);
  problem.held = std::move(design.model.held);
  for (NodeLoads& loads : design.model.loads)
    problem.cases.push_back({std::move(loads), 1});
  return problem;
}

/// The least that a step on voxels moves, every array from memory once a pass. By node an iteration
/// has five products of the finest level with their updates (two smoothings of degree 2, of which
/// the first starts from zero, the residual, the direction's), each of two or three vectors of
/// single precision, 12 bytes, read, one written, moduli and scaling, 4 bytes each; the direction,
/// the step of conjugate gradients with displacements in double precision, and a correction: 400
/// bytes, and a seventh of it for coarse levels. By element a step has the energies, four passes of
/// a filter and some 40 over numbers of 8 bytes.
Cost voxel_step_cost(double nodes, double iterations) {
  Cost cost;
  cost.dofs = 3 * nodes;
  cost.flops = 8. / 7 * iterations * 5 * 212 * nodes; // of brick, without the vectors
  cost.bytes = nodes * (8. / 7 * iterations * 400 + 24 + 4 * 16 + 40 * 8);
  return cost;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, DesignGrid grid, int n) {
  const DesignProblem problem = make_design(n);
  DesignOptions options;
  options.grid = grid;
  options.volume_fraction = 0.12;
  options.change_tolerance = 0;
  for (auto _ : state) {
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch setup_watch;
    DesignOptimizer<Exec> optimizer(exec, problem, options);
    state.counters["setup_s"] = setup_watch.seconds();
    for (int k = 0; k < 2; ++k)
      optimizer.step(exec); // of a uniform design, which takes the fewest iterations
    constexpr int timed = 3;
    double iterations = 0, prepare = 0, solve = 0, gradient = 0, update = 0;
    const Stopwatch watch;
    for (int k = 0; k < timed; ++k) {
      const DesignStep step = optimizer.step(exec);
      iterations += step.solves[0].iterations;
      prepare += step.seconds_prepare;
      solve += step.seconds_solve;
      gradient += step.seconds_gradient;
      update += step.seconds_update;
      if (!step.solves[0].converged)
        return fail_benchmark(state, "a solve did not converge");
    }
    const double seconds = watch.seconds() / timed;
    state.SetIterationTime(seconds);
    const double nodes = double(problem.mesh.num_points()), dofs = 3 * nodes;
    state.counters["elements"] = double(problem.mesh.num_elem());
    state.counters["pcg_iterations"] = iterations / timed;
    state.counters["prepare_s"] = prepare / timed;
    state.counters["solve_s"] = solve / timed;
    state.counters["gradient_s"] = gradient / timed;
    state.counters["update_s"] = update / timed;
    state.counters["peak_bytes/dof"] = double(peak_kokkos_bytes() - before) / dofs;
    if (grid == DesignGrid::voxels)
      report<Exec, float>(state, voxel_step_cost(nodes, iterations / timed), seconds);
    else
      state.counters["dofs"] = dofs;
    state.SetLabel(optimizer.body().engine().preconditioner);
  }
}

template<class Exec>
void register_steps(const Options& options) {
  const std::vector<int> own = BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256}
                                                              : std::vector<int>{16, 32, 64};
  for (const DesignGrid grid : name_table<DesignGrid>)
    for (const int n : options.sizes_or(own))
      add_row(options,
              std::string("design_step/") + name_of(grid) + '/' + BackendTraits<Exec>::name +
                  "/oc:" + std::to_string(n),
              [=](benchmark::State& state) { run(state, Exec(), grid, n); },
              {benchmark::kMillisecond});
}

} // namespace

void register_design_step(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_steps<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
