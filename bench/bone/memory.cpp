// SPDX-License-Identifier: Apache-2.0
// These rows measure the peak of Kokkos's allocations from the image to a solver that is set up,
// with the bounds of solve_variant.hpp:
//   voxel_memory/<operator>/<backend>/<precision>/<image>:<n>
// A solve takes no more (voxel_solve measures the solve too, and takes longer). The time is that of
// the set-up with few Lanczos steps. To find the largest model that a device holds, run
// --sizes=600,800,1000,... on one variant; sizes that do not fit are skipped.
#include "bench/bone/model.hpp"
#include "bench/bone/solve_variant.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/register.hpp"

namespace ossatura::bench {

namespace {

template<class Exec>
void measure_memory(benchmark::State& state, const Exec& exec, const SolveVariant& variant,
                    ModelImage image, int n) {
  VoxelSolverOptions options = variant.options();
  options.multigrid.lanczos_steps = 2; // takes the memory that more of them take
  for (auto _ : state) {
    release_kept();
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    VoxelModelOnDevice<Exec> model = make_voxel_model(exec, make_model_image(exec, image, n));
    fence(exec, "ossatura::bench::model");
    const Stopwatch watch;
    const VoxelSolver<Exec> solver(exec, model.problem, options);
    fence(exec, "ossatura::bench::setup");
    state.SetIterationTime(watch.seconds());
    state.counters["dofs"] = double(model.problem.grid.num_dofs());
    if (!report_peak<Exec>(state, before, variant, image, n, double(model.problem.grid.num_dofs())))
      return;
  }
}

template<class Exec>
void register_memory(const Options& options) {
  register_variants<Exec>(
      options, "voxel_memory",
      [](ModelImage) { return std::vector<int>{least_bounded_size<Exec>}; }, measure_memory<Exec>);
}

} // namespace

void register_voxel_memory(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_memory<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
