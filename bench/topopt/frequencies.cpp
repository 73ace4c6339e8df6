// SPDX-License-Identifier: Apache-2.0
// These rows time the steps of a design whose lowest natural frequency is to be high: the bridge of
// examples/topopt/motor.json, of n x n/12 x n/4 cells, with a filter that shrinks with them and
// four frequencies, its default precision and tolerance; n = 48 is the example:
//   design_frequencies/<grid>/<backend>/steps-<s>:<n>
// The time of a row is that of s steps and the analysis of the last design, set-up not included: 60
// of the example, as long as it takes to get from 147 to 300 Hz, else 4. Its load is gravity, on
// which frequencies do not depend. Counters: iterations of all solves, and those for modes among
// them; seconds of the phases; the lowest frequency of the uniform design and of the last; bytes at
// the peak for a degree of freedom; the ceiling that binds, by bytes and flops of iterations
// (cost_of); and of one more step, kernel by kernel, the parts that products of vectors with each
// other, their combinations and masses are.
#include "bench/harness/groups.hpp"
#include "bench/harness/kernel_times.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/topopt/step_cost.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura::bench {

namespace {

DesignProblem make_bridge(int n) {
  constexpr double length = 1.2, width = 0.1, height = 0.3;
  DesignProblem problem;
  problem.mesh = make_hexa_box({n, n / 12, n / 4}, {length, width, height});
  problem.young = 2.1e11;
  problem.materials = {{"", problem.young, 0.3, 7850}, {"motor", problem.young, 0.3, 40000}};
  problem.material.assign(problem.num_elem(), 0);
  problem.role.assign(problem.num_elem(), DesignRole::free);
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    const std::array<double, 3> at = problem.centre_of(e);
    if (std::fabs(at[0] - length / 2) < 0.05 && std::fabs(at[2] - height / 2) < 0.05) {
      problem.material[e] = 1;
      problem.role[e] = DesignRole::solid;
    }
  }
  problem.cases.resize(1);
  problem.cases[0].loads.body.push_back({{0, 0, -9.81}});
  for (std::size_t i = 0; i < problem.num_nodes(); ++i) {
    const double x = problem.mesh.point[3 * i];
    if (x == 0 || x == length)
      problem.held.push_back({std::int32_t(i), 7});
  }
  return problem;
}

struct Sums {
  double iterations = 0, of_modes = 0, prepare = 0, solve = 0, gradient = 0, update = 0;

  /// Solves are that for the load, then that for modes. False where one did not converge.
  bool add(const DesignStep& step) {
    prepare += step.seconds_prepare;
    solve += step.seconds_solve;
    gradient += step.seconds_gradient;
    update += step.seconds_update;
    of_modes += step.solves.back().iterations;
    bool converged = step.solves.size() == 2;
    for (const SolveResult& one : step.solves) {
      iterations += one.iterations;
      converged = converged && one.converged;
    }
    return converged;
  }
};

/// The least that iterations move, every array from memory once a pass. One for modes has passes
/// over a block of b modes, as many directions, and b new vectors, in double precision, 8 bytes a
/// number (lobpcg.hpp):
///   residuals            7 b     read of K x and M x, written, read and written, two squares
///   preconditioned       4 b     read, written, copied, and a cycle in single precision
///   made orthogonal     14 b     twice: products with modes and directions 3 b, subtracted 4 b
///   K and M times        4 b     and moduli or what an operator reads beside vectors
///   Rayleigh-Ritz       27 b     two products 6 b each; x, K x and M x combined 3 b to 2 b, 5 b
///   each
/// 56 numbers or 448 bytes a mode and degree of freedom, and 70 b^2 + 6 b flops a degree of
/// freedom. Iterations of conjugate gradients for the load are those of voxel_step_cost, and on a
/// mesh, by the bytes of a product, five of these of which four are in single precision. Flops in
/// single precision count half.
Cost cost_of(DesignGrid grid, const OperatorCost& product, double nodes, int block,
             double iterations, double of_modes) {
  const bool on_voxels = grid == DesignGrid::voxels;
  const double single = 0.5 * product.bytes_moved; // on a mesh
  const double cycle = on_voxels ? voxel_cycle_bytes * nodes : 4 * single;
  const double moduli = on_voxels ? 4 * nodes : product.bytes_moved - 48 * nodes;
  const double masses = 8 * nodes;
  const double conjugate =
      on_voxels ? voxel_iteration_bytes * nodes : product.bytes_moved + 4 * single + 5 * 24 * nodes;
  const double of_loads = iterations - of_modes;
  Cost cost;
  cost.dofs = 3 * nodes;
  cost.bytes =
      of_modes * block * (448 * cost.dofs + cycle + moduli + masses) + of_loads * conjugate;
  cost.flops = of_modes * (block * 3 * product.flops + (70 * block + 6) * block * cost.dofs) +
               of_loads * (on_voxels ? 2.5 : 3) * product.flops;
  return cost;
}

/// One more step, kernel by kernel: what blocks of vectors take of it.
template<class Exec>
void report_parts(benchmark::State& state, const Exec& exec, DesignOptimizer<Exec>& optimizer) {
  KernelTimes kernels("");
  kernels.start();
  optimizer.step(exec);
  kernels.stop();
  double products = 0, combined = 0, mass = 0;
  for (const KernelTime& one : kernels.times()) {
    const auto is = [&](const char* label) { return one.label.find(label) != std::string::npos; };
    products += is("row_products") || is("sum_parts") ? one.seconds : 0;
    combined += is("combine_rows") || is("subtract_rows") ? one.seconds : 0;
    mass += is("_mass") ? one.seconds : 0;
  }
  state.counters["products_part"] = products / kernels.seconds();
  state.counters["combined_part"] = combined / kernels.seconds();
  state.counters["mass_part"] = mass / kernels.seconds();
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, DesignGrid grid, int n, int num_steps) {
  const DesignProblem problem = make_bridge(n);
  DesignOptions options;
  options.grid = grid;
  options.objective = DesignObjective::frequency;
  options.method = DesignMethod::mma;
  options.move = move_with_frequency;
  options.frequencies = 4;
  options.volume_fraction = 0.5;
  options.radius = 0.06 * 48 / n;
  options.change_tolerance = 0;
  for (auto _ : state) {
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch setup_watch;
    DesignOptimizer<Exec> optimizer(exec, problem, options);
    state.counters["setup_s"] = setup_watch.seconds();
    Sums sums;
    double first = 0;
    const Stopwatch watch;
    for (int k = 0; k < num_steps; ++k) {
      const DesignStep step = optimizer.step(exec);
      first = k == 0 ? step.frequencies[0] : first;
      if (!sums.add(step))
        return fail_benchmark(state, "a solve did not converge");
    }
    const DesignStep last = optimizer.analyse(exec);
    if (!sums.add(last))
      return fail_benchmark(state, "a solve did not converge");
    const double seconds = watch.seconds();
    state.SetIterationTime(seconds);
    if (!(last.frequencies[0] > (num_steps >= 20 ? 1.2 : 1) * first))
      return fail_benchmark(state, "the lowest frequency did not rise");
    const double dofs = 3 * double(problem.num_nodes());
    report<Exec, double>(state,
                         cost_of(grid, optimizer.body().engine().cost, dofs / 3,
                                 block_of_frequencies(options.frequencies), sums.iterations,
                                 sums.of_modes),
                         seconds);
    state.counters["floor_s"] = seconds * state.counters["of_ceiling"];
    state.counters["iterations"] = sums.iterations;
    state.counters["mode_iterations"] = sums.of_modes;
    state.counters["prepare_s"] = sums.prepare;
    state.counters["solve_s"] = sums.solve;
    state.counters["gradient_s"] = sums.gradient;
    state.counters["update_s"] = sums.update;
    state.counters["first_Hz"] = first;
    state.counters["last_Hz"] = last.frequencies[0];
    state.counters["peak_bytes/dof"] = double(peak_kokkos_bytes() - before) / dofs;
    state.SetLabel(optimizer.body().engine().preconditioner);
    report_parts(state, exec, optimizer);
  }
}

template<class Exec>
void register_bridges(const Options& options) {
  const std::vector<int> own =
      BackendTraits<Exec>::is_device ? std::vector<int>{48, 96, 192} : std::vector<int>{24, 48};
  for (const DesignGrid grid : name_table<DesignGrid>)
    for (const int n : options.sizes_or(own)) {
      const int num_steps = n == 48 ? 60 : 4;
      add_row(options,
              std::string("design_frequencies/") + name_of(grid) + '/' + BackendTraits<Exec>::name +
                  "/steps-" + std::to_string(num_steps) + ':' + std::to_string(n),
              [=](benchmark::State& state) { run(state, Exec(), grid, n, num_steps); },
              {benchmark::kMillisecond});
    }
}

} // namespace

void register_design_frequencies(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_bridges<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
