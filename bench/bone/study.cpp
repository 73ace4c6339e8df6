// SPDX-License-Identifier: Apache-2.0
// These rows time what studies do with voxels beside elastic solves:
//   voxel_study/turn/<backend>/f32/cube:<n>
// an image of n^3 voxels at an angle to all of its axes (kernels/image/turn.hpp);
//   voxel_study/laws/<backend>/f32/cube:<n>
// an image of n^3 voxels by a law for each of three labels (kernels/image/label_laws.hpp);
//   voxel_study/remodel/<backend>/f64/<image>:<n>
// the densities and moduli of the next step of remodelling (kernels/bone/remodelling.hpp);
//   voxel_study/soften/<backend>/f64/<image>:<n>
// the moduli that damage leaves at a displacement (kernels/bone/damage/voxels.hpp); and
//   voxel_damage/<backend>/lean/bone:<n>
// five steps of an axial test of bone that breaks, after the elastic solve.
#include "bench/bone/cost.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/kernels/bone/damage/voxels.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/kernels/bone/remodelling.hpp>
#include <ossatura/kernels/image/label_laws.hpp>
#include <ossatura/kernels/image/turn.hpp>
#include <ossatura/solvers/bone/strength.hpp>

namespace ossatura::bench {

namespace {

/// Grey values that are linear in space, of which interpolation makes no error.
template<class Exec>
struct FillLinearGrey {
  VoxelArray<Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / image.shape[0];
    image.value(i) = float(3 * int(i - row * image.shape[0]) + 2 * int(row % image.shape[1]) +
                           int(row / image.shape[1]));
  }
};

/// The largest error of turned voxels whose neighbours all lie in the old image.
template<class Exec>
struct CompareTurned {
  TurnedGrid grid;
  VoxelArray<Exec> turned;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& worst) const {
    const std::int64_t row = i / turned.shape[0];
    const double x = 0.5 + double(int(i - row * turned.shape[0])),
                 y = 0.5 + double(int(row % turned.shape[1])),
                 z = 0.5 + double(int(row / turned.shape[1]));
    double wanted = 0;
    for (int d = 0; d < 3; ++d) {
      const double at = grid.place(d, x, y, z);
      if (!(at >= 0 && at <= grid.old_shape[d] - 1))
        return;
      wanted += (3 - d) * at;
    }
    worst = Kokkos::max(worst, Kokkos::fabs(wanted - double(turned.value(i))));
  }
};

template<class Exec>
void run_turn(benchmark::State& state, const Exec& exec, int n) {
  const VoxelArray<Exec> image = make_voxel_array(exec, {n, n, n});
  Kokkos::parallel_for("ossatura::bench::fill_linear_grey", range(exec, image.num_voxels()),
                       FillLinearGrey<Exec>{image});
  const TurnedGrid grid =
      make_turned_grid(image.shape, {1, 1, 1}, 1, rotation_about({0.6, 0.5, 0.62}, 25));
  double worst = 0;
  const VoxelArray<Exec> once = turn_image(exec, image, grid, Resampling::blend);
  Kokkos::parallel_reduce("ossatura::bench::compare_turned", range(exec, once.num_voxels()),
                          CompareTurned<Exec>{grid, once}, Kokkos::Max<double>(worst));
  if (!(worst <= 1e-6 * 6 * n))
    return fail_benchmark(state, "a turned image is wrong by " + std::to_string(worst));
  const double voxels = double(once.num_voxels());
  // Old voxels read, new ones written; 12 multiply-adds for the place, 8 corners of 4.
  const Cost cost{voxels, 4 * voxels + 4 * double(image.num_voxels()), 96 * voxels};
  const double seconds =
      time_iterations(state, exec, [&] { turn_image(exec, image, grid, Resampling::blend); });
  report<Exec, double>(state, cost, seconds);
}

/// Labels 0 to 3 in turn along x.
template<class Exec>
struct FillLabels {
  VoxelArray<Exec> labels;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    labels.value(i) = float(i % labels.shape[0] % 4);
  }
};

/// The largest relative error of moduli of linear grey values: a constant of label 0, a line of 1,
/// a power of 2, and the grey value itself of 3.
template<class Exec>
struct CompareModuli {
  VoxelArray<Exec> grey, labels, modulus;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& worst) const {
    const double g = double(grey.value(i));
    const int label = int(labels.value(i));
    const double wanted = label == 0   ? 2500
                          : label == 1 ? 50 + 8 * g
                          : label == 2 ? 6850 * Kokkos::pow(0.5 + 0.001 * g, 1.5)
                                       : g;
    worst = Kokkos::max(worst, Kokkos::fabs(double(modulus.value(i)) - wanted) / (1 + wanted));
  }
};

template<class Exec>
void run_laws(benchmark::State& state, const Exec& exec, int n) {
  const VoxelArray<Exec> grey = make_voxel_array(exec, {n, n, n}),
                         labels = make_voxel_array(exec, {n, n, n}),
                         modulus = make_voxel_array(exec, {n, n, n});
  Kokkos::parallel_for("ossatura::bench::fill_linear_grey", range(exec, grey.num_voxels()),
                       FillLinearGrey<Exec>{grey});
  Kokkos::parallel_for("ossatura::bench::fill_labels", range(exec, labels.num_voxels()),
                       FillLabels<Exec>{labels});
  MaterialLaw image, line, power, constant;
  line.kind = MaterialKind::linear;
  line.intercept = 50;
  line.slope = 8;
  power.kind = MaterialKind::power;
  power.density_intercept = 0.5;
  power.density_slope = 0.001;
  power.coefficient = 6850;
  power.exponent = 1.5;
  constant.kind = MaterialKind::constant;
  constant.modulus = 2500;
  const auto apply = [&] {
    Kokkos::deep_copy(exec, modulus.value, grey.value);
    apply_label_laws(exec, image, {{0, constant}, {1, line}, {2, power}}, labels, modulus);
  };
  apply();
  double worst = 0;
  Kokkos::parallel_reduce("ossatura::bench::compare_moduli", range(exec, modulus.num_voxels()),
                          CompareModuli<Exec>{grey, labels, modulus}, Kokkos::Max<double>(worst));
  if (!(worst <= 1e-6))
    return fail_benchmark(state, "moduli of laws are wrong by " + std::to_string(worst));
  const double voxels = double(modulus.num_voxels());
  // Grey values copied; label and grey value read, modulus written; a power for every fourth.
  const Cost cost{voxels, (8 + 12) * voxels, 16 * voxels};
  report<Exec, double>(state, cost, time_iterations(state, exec, apply));
}

template<class Exec>
void run_remodel(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  RemodellingLaw law;
  law.coefficient = 1000;
  law.exponent = 2;
  law.stimulus = 0.004;
  law.lazy = 0.2;
  law.rate = 1;
  law.least = 0.1;
  law.most = 1.5;
  const Array<int, Exec> element = list_elements(exec, problem.grid, problem.lame.mu_value);
  const auto modulus =
      make_uninitialized<float>(exec, problem.grid.num_nodes, "ossatura::bench::modulus");
  Kokkos::deep_copy(exec, modulus, problem.lame.mu_value);
  const Array<double, Exec> density = list_densities(exec, law, element, modulus);
  const auto energy = make_uninitialized<float>(exec, element.extent(0), "ossatura::bench::energy");
  Kokkos::deep_copy(exec, energy, 0.01F);
  const auto change = make_zeros<float>(exec, element.extent(0), "ossatura::bench::change");
  // All voxels have density 1: one step forms 0.01 - 0.0048, two more of 0.01 / density.
  remodel(exec, law, element, energy, true, density, modulus, change);
  const RemodellingState now = remodel(exec, law, element, energy, false, density, modulus, change);
  const double first = 1 + 0.01 - 0.0048, next = 0.01 / first - 0.0048;
  if (!(std::abs(now.mean_density - first) < 1e-6 && std::abs(now.mean_change - next) < 1e-6))
    return fail_benchmark(state, "a density of " + std::to_string(now.mean_density) +
                                     " after a step to " + std::to_string(first));
  const double voxels = double(element.extent(0));
  // Place, energy, density and change read, all but the first two and the modulus written; a power
  // of 40 or so.
  const Cost cost{voxels, (4 + 4 + 8 + 4 + 8 + 4 + 4) * voxels, 60 * voxels};
  const double seconds = time_iterations(
      state, exec, [&] { remodel(exec, law, element, energy, true, density, modulus, change); });
  report<Exec, double>(state, cost, seconds);
}

template<class Exec>
void run_soften(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  YieldLaw yield;
  yield.criterion = YieldCriterion::damage;
  yield.fracture_energy = 5000 * least_fracture_energy(yield, problem.edge, 1000);
  const DamagedVoxels<Exec> voxels = make_damaged_voxels(
      exec, problem.grid, problem.lame, problem.edge, make_damage_law(yield, problem.edge, 1000));
  const auto u = make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bench::u");
  fill_random(exec, 1, u); // of the order of a voxel: nearly all are damaged
  soften_voxels(exec, voxels, u);
  const SharedEntries nodes = share_nodes(exec, problem);
  const double left = summarise_lame(exec, nodes, voxels.damaged).modulus_sum;
  const DamageSums sums = commit_damage(exec, nodes, voxels, u, u);
  const double count = double(problem.grid.num_elem), lost = 1 - left / (1000 * count);
  // A few voxels are under pressure alone.
  if (!(sums.num_damaged > 0.9 * count && std::abs(lost - sums.damage / count) < 1e-6))
    return fail_benchmark(state, "of the moduli " + std::to_string(lost) +
                                     " is lost to a damage of " +
                                     std::to_string(sums.damage / count) + " in " +
                                     std::to_string(sums.num_damaged) + " voxels");
  const double dofs = double(problem.grid.num_dofs());
  // u and the loads so far read, moduli read and written.
  const Cost cost{dofs,
                  8 * dofs + 4 * dofs / 3 + 2 * bytes_of(problem.lame) +
                      16 * double(problem.grid.block.extent(0)),
                  double(72 + 44 + 60) * problem.grid.num_elem};
  const double seconds = time_iterations(state, exec, [&] { soften_voxels(exec, voxels, u); });
  report<Exec, double>(state, cost, seconds);
}

template<class Exec>
void run_damage(benchmark::State& state, const Exec& exec, int n) {
  for (auto _ : state) {
    release_kept();
    VoxelArray<Exec> modulus = make_model_image(exec, ModelImage::bone, n);
    VoxelModelOnDevice<Exec> model = make_voxel_model(exec, modulus);
    model.problem.material = {};
    modulus = {};
    BoneLoad<Exec> load;
    load.u = model.u;
    axpby(exec, 1.5, load.u, 0.0, load.u);
    StrengthOptions options;
    options.law.criterion = YieldCriterion::damage;
    options.law.fracture_energy = 40 * least_fracture_energy(options.law, model.problem.edge, 1000);
    StrengthSolver<Exec> solver(exec, model.problem, load, options, fastest_voxel_options<Exec>());
    if (!solver.solve_elastic(exec).converged)
      return fail_benchmark(state, "the elastic solve did not converge");
    const double elastic_work = solver.linear_solver().work();
    const Stopwatch watch;
    int secant = 0, iterations = 0;
    for (int k = 1; k <= 5; ++k) {
      const StrengthStep step = solver.advance(exec, k / 5.0);
      if (!step.converged || !(step.energy_error() < 1e-4))
        return fail_benchmark(state, "step " + std::to_string(k) + " did not converge");
      secant += step.newton_iterations;
      iterations += step.cg_iterations;
    }
    fence(exec, "ossatura::bench::damage");
    state.SetIterationTime(watch.seconds());
    state.counters["dofs"] = double(model.problem.grid.num_dofs());
    state.counters["secant_iterations"] = secant;
    state.counters["pcg_iterations"] = iterations;
    state.counters["products"] = solver.linear_solver().work() - elastic_work;
    state.counters["damaged_part"] = solver.present().changed_fraction;
    state.counters["energy_error"] = solver.present().energy_error();
  }
}

template<class Exec>
std::vector<int> damage_sizes() {
  return BackendTraits<Exec>::is_device ? std::vector<int>{64, 128} : std::vector<int>{16, 32};
}

} // namespace

void register_voxel_study(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const int n : options.sizes_or(kernel_sizes<Exec>(ModelImage::cube)))
      add_row(options, row_name<Exec, float>("voxel_study/turn", "cube", n),
              [=](benchmark::State& state) { run_turn(state, Exec(), n); });
    for (const int n : options.sizes_or(kernel_sizes<Exec>(ModelImage::cube)))
      add_row(options, row_name<Exec, float>("voxel_study/laws", "cube", n),
              [=](benchmark::State& state) { run_laws(state, Exec(), n); });
    for (const ModelImage image : {ModelImage::cube, ModelImage::bone})
      for (const int n : options.sizes_or(kernel_sizes<Exec>(image))) {
        add_row(options, row_name<Exec, double>("voxel_study/remodel", name_of(image), n),
                [=](benchmark::State& state) { run_remodel(state, Exec(), image, n); });
        add_row(options, row_name<Exec, double>("voxel_study/soften", name_of(image), n),
                [=](benchmark::State& state) { run_soften(state, Exec(), image, n); });
      }
  });
}

void register_voxel_damage(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    for (const int n : options.sizes_or(damage_sizes<Exec>()))
      add_row(options,
              std::string("voxel_damage/") + BackendTraits<Exec>::name +
                  "/lean/bone:" + std::to_string(n),
              [=](benchmark::State& state) { run_damage(state, Exec(), n); },
              {benchmark::kMillisecond});
  });
}

} // namespace ossatura::bench
