// SPDX-License-Identifier: BSD-3-Clause
// voxel_solve/<operator>/<backend>/<double|mixed>/<image>:<n>: an axial test from the image to the
// displacements at a relative residual of 1e-6. The time of a row is that of the solve; set-up and
// model are counters. Ends with an error where the peak of Kokkos's allocations is above a bound.
#include "bench/register.hpp"
#include "bench/solve_variant.hpp"
#include "bench/voxel_model.hpp"

namespace femura::bench {

namespace {

template<class Exec>
void run(benchmark::State& state, const Exec& exec, const SolveVariant& variant, ModelImage image,
         int n) {
  for (auto _ : state) {
    release_voxel_models();
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch model_watch;
    VoxelModelOnDevice<Exec> model = make_voxel_model(exec, image, n);
    fence(exec, "femura::bench::model");
    state.counters["model_s"] = model_watch.seconds();

    const Stopwatch setup_watch;
    VoxelSolver<Exec> solver(exec, model.problem, variant.options());
    fence(exec, "femura::bench::setup");
    state.counters["setup_s"] = setup_watch.seconds();
    model.problem.material = {}; // the solver has what it needs of it
    const double setup_work = solver.work();

    const Stopwatch solve_watch;
    const SolveResult result = solver.solve(exec, {}, model.u);
    fence(exec, "femura::bench::solve");
    const double seconds = solve_watch.seconds();
    state.SetIterationTime(seconds);

    const double dofs = double(model.problem.grid.num_dofs());
    const double work = solver.work() - setup_work;
    state.counters["dofs"] = dofs;
    state.counters["pcg_iterations"] = result.iterations;
    state.counters["true_residual"] = result.true_relative_residual;
    state.counters["levels"] = double(solver.level_info().size());
    state.counters["products"] = work; // of the finest level
    state.counters["setup_products"] = setup_work;
    state.counters["dofs/s"] = dofs / seconds;
    state.counters["product_dofs/s"] = dofs * work / seconds;
    if (!result.converged)
      return fail_benchmark(state, "the solve did not converge");
    if (!report_peak(state, before, variant, image, n, dofs))
      return;
  }
}

template<class Exec>
void register_backend(const Options& options) {
  const std::vector<int> own = BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256}
                                                              : std::vector<int>{16, 32, 64, 96};
  for (const SolveVariant& variant : all_variants)
    for (const ModelImage image : all_images)
      for (const int n : options.sizes_or(own))
        benchmark::RegisterBenchmark(
            variant.row_name("voxel_solve", BackendTraits<Exec>::name, name_of(image), n).c_str(),
            [=](benchmark::State& state) {
              guarded(state, [&](benchmark::State& s) { run(s, Exec(), variant, image, n); });
            })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kSecond);
}

} // namespace

void register_voxel_solve(const Options& options) {
#define FEMURA_REGISTER(Exec)                                                                      \
  if (options.has(BackendTraits<Exec>::name))                                                      \
    register_backend<Exec>(options);
  FEMURA_FOR_EACH_BACKEND(FEMURA_REGISTER)
#undef FEMURA_REGISTER
}

} // namespace femura::bench
