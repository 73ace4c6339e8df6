// SPDX-License-Identifier: Apache-2.0
// These rows time steps of a soft body that starts to move under a load, with conjugate gradients
// to 1e-9 of the true residual: the table of whole steps of Zeng and Courtecuisse (arXiv
// 2306.05893, Table 5):
//   soft_step/<law>/<refresh>/<backend>/f64/<model>
// Times of a step are means over the steps timed; `median_us`, `p90_us`, and the means of its
// phases from as many steps that wait for each phase. A second group has a fixed number of
// iterations of conjugate gradients without preconditioner (their figures 6 and 7; cg.cpp has
// others' ways to do the same):
//   soft_cg/<law>/<backend>/f64/<model>:<iterations>
// `iterations` are fewer where rounding is reached before. Verified: every step converged in the
// true residual (soft_step), and the energies are finite.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/softbody/problem.hpp"
#include <ossatura/solvers/softbody/solver.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura::bench {

namespace {

template<class Exec>
bool is_sound(const Exec& exec, const SoftSolver<Exec>& solver) {
  const SoftEnergy energy = solver.energy(exec);
  return std::isfinite(energy.kinetic + energy.elastic + energy.potential);
}

struct Policy {
  const char* name;
  FactorRefresh refresh;
  int every;
};
constexpr Policy policies[] = {{"sync", FactorRefresh::sync, 1},
                               {"every2", FactorRefresh::every, 2},
                               {"every4", FactorRefresh::every, 4},
                               {"background", FactorRefresh::background, 0}};

template<class Exec>
void run_step(benchmark::State& state, const Exec& exec, SoftModel model, SoftLaw law,
              const Policy& policy) {
  SoftOptions options = soft_options(model);
  options.refresh = policy.refresh;
  options.refresh_every = std::max(policy.every, 1);
  SoftSolver<Exec> solver(exec, soft_scene(model, law), options);
  const auto step = [&](bool time_phases) {
    const SoftStep report = solver.step(exec, time_phases);
    if (!report.converged)
      throw std::runtime_error("a step did not converge: residual " +
                               std::to_string(report.residual));
    return report;
  };
  for (int k = 0; k < 4; ++k)
    step(false);
  std::vector<double> seconds;
  double iterations = 0, staleness = 0;
  for (auto _ : state) {
    const SoftStep report = step(false);
    state.SetIterationTime(report.total);
    seconds.push_back(report.total);
    iterations += report.iterations;
    staleness += report.staleness;
  }
  SoftStep sums;
  for (std::size_t k = 0; k < seconds.size(); ++k) {
    const SoftStep report = step(true);
    sums.collect += report.collect;
    sums.compress += report.compress;
    sums.factor += report.factor;
    sums.solve += report.solve;
    sums.apply += report.apply;
  }
  if (!is_sound(exec, solver))
    return fail_benchmark(state, "an energy is not finite");
  const double n = double(seconds.size());
  std::sort(seconds.begin(), seconds.end());
  state.counters["median_us"] = 1e6 * seconds[seconds.size() / 2];
  state.counters["p90_us"] = 1e6 * seconds[seconds.size() * 9 / 10];
  state.counters["pcg_iterations"] = iterations / n;
  state.counters["staleness"] = staleness / n;
  state.counters["collect_us"] = 1e6 * sums.collect / n;
  state.counters["compress_us"] = 1e6 * sums.compress / n;
  state.counters["factor_us"] = 1e6 * sums.factor / n;
  state.counters["solve_us"] = 1e6 * sums.solve / n;
  state.counters["apply_us"] = 1e6 * sums.apply / n;
}

template<class Exec>
void run_cg(benchmark::State& state, const Exec& exec, SoftModel model, SoftLaw law,
            int iterations) {
  SoftOptions options = soft_options(model);
  options.preconditioner = SoftPreconditioner::none;
  options.tolerance = 1e-15;
  options.max_iterations = options.batch = iterations;
  SoftSolver<Exec> solver(exec, soft_scene(model, law), options);
  SoftStep report = solver.step(exec);
  for (auto _ : state) {
    report = solver.step(exec);
    state.SetIterationTime(report.total);
  }
  // The norm of the residual may rise on the way: what falls is that of the error.
  if (!is_sound(exec, solver) || !(report.residual < 10))
    return fail_benchmark(state, "the residual is " + std::to_string(report.residual));
  state.counters["residual"] = report.residual;
  state.counters["pcg_iterations"] = report.iterations;
}

template<class Exec>
std::string end_of_name(SoftModel model) {
  return std::string("/") + BackendTraits<Exec>::name + "/f64/" + name_of(model);
}

template<class Exec>
int num_steps(const Options& options) {
  return options.quick ? 2 : BackendTraits<Exec>::is_device ? 60 : 12;
}

template<class Exec>
void register_steps(const Options& options, SoftModel model) {
  for (const SoftLaw law : name_table<SoftLaw>) {
    if (law != SoftLaw::corotational && model > SoftModel::raptor3)
      continue;
    for (const Policy& policy : policies)
      add_row(options,
              std::string("soft_step/") + name_of(law) + '/' + policy.name +
                  end_of_name<Exec>(model),
              [=](benchmark::State& state) { run_step(state, Exec(), model, law, policy); },
              {benchmark::kMicrosecond, num_steps<Exec>(options)});
  }
}

template<class Exec>
void register_cg(const Options& options, SoftModel model, SoftLaw law) {
  const int steps = std::max(2, num_steps<Exec>(options) / 6);
  for (const int iterations : {100, 200, 500, 1000})
    add_row(options,
            std::string("soft_cg/") + name_of(law) + end_of_name<Exec>(model) + ':' +
                std::to_string(iterations),
            [=](benchmark::State& state) { run_cg(state, Exec(), model, law, iterations); },
            {benchmark::kMicrosecond, steps});
}

} // namespace

void register_soft_step(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    for (const SoftModel model : soft_models(options))
      if (model != SoftModel::cloth) // of soft_cg alone
        register_steps<BackendOf<decltype(backend)>>(options, model);
  });
}

void register_soft_cg_solver(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const SoftModel model : soft_models(options)) {
      if (model == SoftModel::raptor1) {
        register_cg<Exec>(options, model, SoftLaw::mooney_rivlin);
        register_cg<Exec>(options, model, SoftLaw::stvk);
      }
      if (model != SoftModel::raptor2 && model != SoftModel::raptor3)
        register_cg<Exec>(options, model, SoftLaw::corotational);
    }
  });
}

} // namespace ossatura::bench
