// SPDX-License-Identifier: Apache-2.0
// These rows time plasticity:
//   voxel_plastic/<forces|tangent>/<backend>/f64/<image>:<n>
// what plastic strain takes from a product K u or K x, where every voxel yields (kernels/bone/
// plasticity/voxels.hpp), and
//   voxel_strength/<backend>/lean/<image>:<n>
// five steps to an axial strain of -1.5 % with the default law, from a solver that is ready, after
// the elastic solve. A row ends with an error where the peak of Kokkos's allocations is above a
// bound.
#include "bench/bone/cost.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>
#include <ossatura/solvers/bone/strength.hpp>

namespace ossatura::bench {

namespace {

/// What a node or voxel takes at the peak, from the image on, where surfaces weigh little.
constexpr double strength_bytes = 110;

template<class Exec>
struct YieldingVoxels {
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  Array<double, Exec> u, x, y;

  YieldingVoxels(const Exec& exec, const VoxelProblem<Exec>& problem)
      : voxels{problem.grid, problem.lame, problem.edge, make_yield_cone(YieldLaw()),
               make_voxel_colours(exec, problem.grid)}
      , state(make_plastic_state(exec, problem.grid))
      , u(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bench::u"))
      , x(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bench::x"))
      , y(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bench::y")) {
    fill_random(exec, 1, u); // of the order of a voxel: far beyond yield
    fill_random(exec, 2, x);
  }

  /// The difference of forces along x, by that of the tangent.
  double tangent_error(const Exec& exec) const {
    const auto plus = make_zeros<double>(exec, y.extent(0), "ossatura::bench::plus");
    const double change = 1e-6;
    axpby(exec, change, x, 1.0, u);
    subtract_plastic_forces(exec, voxels, state, u, plus);
    axpby(exec, -2 * change, x, 1.0, u);
    axpby(exec, -1.0, plus, 0.0, plus);
    subtract_plastic_forces(exec, voxels, state, u, plus);
    axpby(exec, change, x, 1.0, u);
    axpby(exec, -0.5 / change, plus, 0.0, plus);
    Kokkos::deep_copy(exec, y, 0.0);
    subtract_plastic_tangent(exec, voxels, state, u, 1, x, y);
    const double size = std::sqrt(dot(exec, y, y));
    axpby(exec, -1.0, y, 1.0, plus);
    return std::sqrt(dot(exec, plus, plus)) / size;
  }
};

/// u read, y read and written, and constants and flags of the voxels; to the modes, their forces
/// twice, norm and return, back, and to y.
struct Forces {
  static constexpr const char* name = "forces";
  static constexpr int vectors = 3, flops = 72 + 2 * 44 + 100 + 72 + 24;

  template<class Exec>
  static void run(const Exec& exec, const YieldingVoxels<Exec>& of) {
    subtract_plastic_forces(exec, of.voxels, of.state, of.u, of.y);
  }
};

/// x read, too, and brought to the modes.
struct Tangent {
  static constexpr const char* name = "tangent";
  static constexpr int vectors = 4, flops = Forces::flops + 72 + 100;

  template<class Exec>
  static void run(const Exec& exec, const YieldingVoxels<Exec>& of) {
    subtract_plastic_tangent(exec, of.voxels, of.state, of.u, 1, of.x, of.y);
  }
};

template<class Piece, class Exec>
void run_piece(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  const YieldingVoxels<Exec> voxels(exec, problem);
  const double error = voxels.tangent_error(exec);
  // Of millions of voxels a few pass the edge of the apex along the difference.
  if (!(error <= 1e-2))
    return fail_benchmark(state, "the tangent is not the derivative of the forces: " +
                                     std::to_string(error));
  const double dofs = double(problem.grid.num_dofs());
  const Cost cost{dofs,
                  Piece::vectors * 8 * dofs + bytes_of(problem.lame) + dofs / 3 +
                      16 * double(problem.grid.block.extent(0)),
                  double(Piece::flops) * problem.grid.num_elem};
  const double seconds = time_iterations(state, exec, [&] { Piece::run(exec, voxels); });
  report<Exec, double>(state, cost, seconds);
}

template<class Exec>
void run_strength(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  for (auto _ : state) {
    release_kept();
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    VoxelArray<Exec> modulus = make_model_image(exec, image, n);
    VoxelModelOnDevice<Exec> model = make_voxel_model(exec, modulus);
    model.problem.material = {};
    modulus = {};
    BoneLoad<Exec> load;
    load.u = model.u;
    axpby(exec, 1.5, load.u, 0.0, load.u);
    VoxelSolverOptions linear = fastest_voxel_options<Exec>();
    StrengthSolver<Exec> solver(exec, model.problem, load, StrengthOptions(), linear);
    if (!solver.solve_elastic(exec).converged)
      return fail_benchmark(state, "the elastic solve did not converge");
    const double elastic_work = solver.linear_solver().work();
    const Stopwatch watch;
    int newton = 0, iterations = 0;
    for (int k = 1; k <= 5; ++k) {
      const StrengthStep step = solver.advance(exec, k / 5.0);
      if (!step.converged)
        return fail_benchmark(state, "step " + std::to_string(k) + " did not converge");
      newton += step.newton_iterations;
      iterations += step.cg_iterations;
    }
    fence(exec, "ossatura::bench::strength");
    const double seconds = watch.seconds(), dofs = double(model.problem.grid.num_dofs());
    state.SetIterationTime(seconds);
    state.counters["dofs"] = dofs;
    state.counters["newton_iterations"] = newton;
    state.counters["pcg_iterations"] = iterations;
    state.counters["products"] = solver.linear_solver().work() - elastic_work;
    state.counters["plastic_part"] = solver.present().changed_fraction;
    state.counters["energy_error"] = solver.present().energy_error();
    const double peak = double(peak_kokkos_bytes() - before) / dofs;
    state.counters["peak_bytes/dof"] = peak;
    if (n >= 96 && image != ModelImage::perlin && peak > strength_bytes)
      fail_benchmark(state, std::to_string(peak) +
                                " bytes per degree of freedom at the peak, above " +
                                std::to_string(strength_bytes));
  }
}

template<class Exec>
std::vector<int> strength_sizes() {
  return BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256} : std::vector<int>{16, 48};
}

template<class Piece, class Exec>
void register_piece(const Options& options) {
  for (const ModelImage image : {ModelImage::cube, ModelImage::bone})
    for (const int n : options.sizes_or(kernel_sizes<Exec>(image)))
      add_row(
          options,
          row_name<Exec, double>(std::string("voxel_plastic/") + Piece::name, name_of(image), n),
          [=](benchmark::State& state) { run_piece<Piece>(state, Exec(), image, n); });
}

} // namespace

void register_voxel_plastic(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    register_piece<Forces, Exec>(options);
    register_piece<Tangent, Exec>(options);
  });
}

void register_voxel_strength(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const int n : options.sizes_or(strength_sizes<Exec>()))
      add_row(options,
              std::string("voxel_strength/") + BackendTraits<Exec>::name +
                  "/lean/bone:" + std::to_string(n),
              [=](benchmark::State& state) { run_strength(state, Exec(), ModelImage::bone, n); },
              {benchmark::kMillisecond});
  });
}

} // namespace ossatura::bench
