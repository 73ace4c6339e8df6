// SPDX-License-Identifier: BSD-3-Clause
// voxel_multigrid/<piece>/<backend>/<f64|f32>/<image>:<n>: the parts of a multigrid cycle beside
// the stiffness product, per degree of freedom of the finer level.
#include "bench/compare_vectors.hpp"
#include "bench/measure.hpp"
#include "bench/register.hpp"
#include "bench/voxel_cost.hpp"
#include "bench/voxel_model.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/transfer.hpp"

#include <utility>

namespace femura::bench {

namespace {

/// A level, the next coarser one, and a random vector on each that is zero where held.
template<class Exec, class Scalar>
struct TwoLevels {
  VoxelGrid<Exec> fine_grid, coarse_grid;
  Constraints<Exec> fine_held, coarse_held;
  Array<Scalar, Exec> fine, coarse, fine_result, coarse_result;

  TwoLevels(const Exec& exec, const VoxelProblem<Exec>& problem)
      : fine_grid(problem.grid)
      , coarse_grid(make_voxel_grid(exec, coarsen_material(exec, problem.material).solid()))
      , fine_held(problem.held)
      , coarse_held(coarsen_constraints(exec, fine_grid, fine_held, coarse_grid))
      , fine(make_zeros<Scalar>(exec, fine_grid.num_dofs(), "femura::bench::fine"))
      , coarse(make_zeros<Scalar>(exec, coarse_grid.num_dofs(), "femura::bench::coarse"))
      , fine_result(make_zeros<Scalar>(exec, fine_grid.num_dofs(), "femura::bench::fine_result"))
      , coarse_result(
            make_zeros<Scalar>(exec, coarse_grid.num_dofs(), "femura::bench::coarse_result")) {
    fill_random(exec, 1, fine);
    fill_random(exec, 2, coarse);
    clear(exec, fine_held, fine);
    clear(exec, coarse_held, coarse);
  }

  void prolong_coarse(const Exec& exec) const {
    prolong_add(exec, coarse_grid, coarse, fine_grid, fine_held, fine_result);
  }
  void restrict_fine(const Exec& exec) const {
    restrict_residual(exec, fine_grid, fine, coarse_grid, coarse_held, coarse_result);
  }

  /// |fine . P coarse - P^T fine . coarse| over the size of its terms.
  double adjoint_defect(const Exec& exec) const {
    Kokkos::deep_copy(exec, fine_result, Scalar(0));
    prolong_coarse(exec);
    restrict_fine(exec);
    const double scale = std::sqrt(dot(exec, fine, fine) * dot(exec, fine_result, fine_result));
    const double defect = std::abs(dot(exec, fine, fine_result) - dot(exec, coarse_result, coarse));
    return scale > 0 ? defect / scale : INFINITY;
  }
};

struct Prolong {
  static constexpr const char* name = "prolong_add";

  /// Coarse vector, fine vector read and written, places of the fine nodes, coarse blocks, fine
  /// mask. A node adds 1.5^3 = 27/8 coarse values per component on average, then a multiply-add.
  template<class Exec, class Scalar>
  static Cost cost(const TwoLevels<Exec, Scalar>& levels) {
    const double fine = double(levels.fine_grid.num_nodes),
                 coarse = double(levels.coarse_grid.num_nodes);
    return {3 * fine,
            sizeof(Scalar) * (3 * coarse + 6 * fine) + (8 + 1) * fine +
                sizeof(detail::NodeBlock) * double(levels.coarse_grid.block.extent(0)),
            3 * fine * (27. / 8 + 2)};
  }
  template<class Exec, class Scalar>
  static void run(const Exec& exec, const TwoLevels<Exec, Scalar>& levels) {
    levels.prolong_coarse(exec);
  }
};

struct Restrict {
  static constexpr const char* name = "restrict_residual";

  /// Fine vector read, coarse vector written, places of the coarse nodes, fine blocks, coarse mask.
  /// Each value that prolongation reads is a multiply-add here.
  template<class Exec, class Scalar>
  static Cost cost(const TwoLevels<Exec, Scalar>& levels) {
    const double fine = double(levels.fine_grid.num_nodes),
                 coarse = double(levels.coarse_grid.num_nodes);
    return {3 * fine,
            sizeof(Scalar) * 3 * (coarse + fine) + (8 + 1) * coarse +
                sizeof(detail::NodeBlock) * double(levels.fine_grid.block.extent(0)),
            3 * fine * 2 * 27. / 8};
  }
  template<class Exec, class Scalar>
  static void run(const Exec& exec, const TwoLevels<Exec, Scalar>& levels) {
    levels.restrict_fine(exec);
  }
};

template<class Piece, class Scalar, class Exec>
void run_transfer(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const TwoLevels<Exec, Scalar> levels(exec, cached_voxel_model(exec, image, n).problem);
  const double defect = levels.adjoint_defect(exec);
  if (!(defect <= rounding_bound<Scalar>))
    return fail_benchmark(state, "restriction is not the transpose of prolongation: " +
                                     std::to_string(defect));
  const double seconds = time_iterations(state, exec, [&] { Piece::run(exec, levels); });
  report<Exec, Scalar>(state, Piece::cost(levels), seconds);
}

template<class Scalar, class Exec>
void run_chebyshev_step(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  const std::int64_t dofs = problem.grid.num_dofs();
  const auto random = [&](std::uint64_t seed) {
    const Array<Scalar, Exec> v = make_uninitialized<Scalar>(exec, dofs, "femura::bench::random");
    fill_random(exec, seed, v);
    return v;
  };
  const Array<Scalar, Exec> inverse =
      make_inverse_diagonal<Scalar>(exec, problem.grid, problem.lame, problem.edge);
  const Array<Scalar, Exec> b = random(1), q = random(2), p = random(3), x = random(4);
  // |a| < 1 and q fixed: p and x stay finite however often the step is timed.
  const Scalar a = Scalar(0.25), c = Scalar(0.5);
  {
    // The same by its parts: expected = x + a p + c D^-1 (b - q).
    const Array<Scalar, Exec> difference = random(2), expected = random(5);
    axpby(exec, Scalar(1), b, Scalar(-1), difference);
    apply_inverse_diagonal(exec, inverse, difference, expected);
    axpby(exec, a, p, c, expected);
    axpby(exec, Scalar(1), x, Scalar(1), expected);
    chebyshev_step(exec, inverse, a, c, b, q, p, x);
    const double distance = relative_difference(exec, x, expected);
    if (!(distance <= rounding_bound<Scalar>))
      return fail_benchmark(state,
                            "the step differs from its parts by " + std::to_string(distance));
  }
  const double seconds =
      time_iterations(state, exec, [&] { chebyshev_step(exec, inverse, a, c, b, q, p, x); });
  // Diagonal, b, q read; p, x read and written. A subtraction, two multiply-adds counted as
  // multiply and add, an addition.
  report<Exec, Scalar>(
      state, {double(dofs), sizeof(Scalar) * (6 + 1. / 3) * double(dofs), 5 * double(dofs)},
      seconds);
}

template<class Scalar, class Exec>
void register_rows(const Options& options) {
  using Run = void (*)(benchmark::State&, const Exec&, ModelImage, int);
  const std::pair<const char*, Run> pieces[] = {
      {Prolong::name, run_transfer<Prolong, Scalar, Exec>},
      {Restrict::name, run_transfer<Restrict, Scalar, Exec>},
      {"chebyshev_step", run_chebyshev_step<Scalar, Exec>}};
  for (const auto& [name, run] : pieces)
    for (const ModelImage image : all_images)
      for (const int n : options.sizes_or(kernel_sizes<Exec>(image)))
        benchmark::RegisterBenchmark(
            row_name<Exec, Scalar>(std::string("voxel_multigrid/") + name, name_of(image), n)
                .c_str(),
            [run = run, image, n](benchmark::State& state) {
              guarded(state, [&](benchmark::State& s) { run(s, Exec(), image, n); });
            })
            ->UseManualTime();
}

} // namespace

void register_voxel_multigrid(const Options& options) {
#define FEMURA_REGISTER(Exec)                                                                      \
  if (options.has(BackendTraits<Exec>::name)) {                                                    \
    register_rows<double, Exec>(options);                                                          \
    register_rows<float, Exec>(options);                                                           \
  }
  FEMURA_FOR_EACH_BACKEND(FEMURA_REGISTER)
#undef FEMURA_REGISTER
}

} // namespace femura::bench
