// SPDX-License-Identifier: Apache-2.0
// These rows time an axial test from the image in the backend's memory to the displacements at a
// relative residual of 1e-6:
//   voxel_solve/<operator>/<backend>/<precision>/<image>:<n>
// The time of a row is that of the solve; other times are counters: image_s to make the image,
// setup_s from there to a solver that is ready, of which model_s for grid, moduli and load. A row
// ends with an error where the peak of Kokkos's allocations is above a bound.
#include "bench/bone/model.hpp"
#include "bench/bone/solve_variant.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/register.hpp"

namespace ossatura::bench {

namespace {

template<class Exec>
void time_solve(benchmark::State& state, const Exec& exec, const SolveVariant& variant,
                ModelImage image, int n) {
  for (auto _ : state) {
    release_kept();
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch image_watch;
    VoxelArray<Exec> modulus = make_model_image(exec, image, n);
    fence(exec, "ossatura::bench::image");
    state.counters["image_s"] = image_watch.seconds();

    const Stopwatch setup_watch;
    VoxelModelOnDevice<Exec> model = make_voxel_model(exec, modulus);
    fence(exec, "ossatura::bench::model");
    state.counters["model_s"] = setup_watch.seconds();
    VoxelSolver<Exec> solver(exec, model.problem, variant.options());
    fence(exec, "ossatura::bench::setup");
    const double setup_seconds = setup_watch.seconds();
    state.counters["setup_s"] = setup_seconds;
    model.problem.material = {}; // the solver has what it needs of it
    modulus = {};
    const double setup_work = solver.work();

    const Stopwatch solve_watch;
    const SolveResult result = solver.solve(exec, {}, model.u);
    fence(exec, "ossatura::bench::solve");
    const double seconds = solve_watch.seconds();
    state.SetIterationTime(seconds);

    const double dofs = double(model.problem.grid.num_dofs());
    const double work = solver.work() - setup_work;
    state.counters["dofs"] = dofs;
    state.counters["elements"] = double(model.problem.grid.num_elem);
    state.counters["pcg_iterations"] = result.iterations;
    state.counters["true_residual"] = result.residual;
    state.counters["levels"] = double(solver.level_info().size());
    state.counters["products"] = work; // of the finest level
    state.counters["setup_products"] = setup_work;
    state.counters["dofs/s"] = dofs / seconds;
    state.counters["dofs/s_with_setup"] = dofs / (setup_seconds + seconds);
    state.counters["product_dofs/s"] = dofs * work / seconds;
    if (!result.converged)
      return fail_benchmark(state, "the solve did not converge");
    if (!report_peak<Exec>(state, before, variant, image, n, dofs))
      return;
  }
}

} // namespace

void register_voxel_solve(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    register_variants<Exec>(options, "voxel_solve", solve_sizes<Exec>, time_solve<Exec>);
  });
}

} // namespace ossatura::bench
