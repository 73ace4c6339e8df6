// SPDX-License-Identifier: BSD-3-Clause
// voxel_apply/<operator>/<backend>/<f64|f32>/<image>:<n>: the stiffness product y = A x without a
// stored matrix.
#include "bench/compare_vectors.hpp"
#include "bench/measure.hpp"
#include "bench/register.hpp"
#include "bench/voxel_cost.hpp"
#include "bench/voxel_model.hpp"

namespace femura::bench {

namespace {

template<class Exec>
struct OtherOperator;
template<class Exec>
struct OtherOperator<OffsetOperator<Exec>> {
  using type = GatherOperator<Exec>;
};
template<class Exec>
struct OtherOperator<GatherOperator<Exec>> {
  using type = OffsetOperator<Exec>;
};

template<class Operator, class Scalar, class Exec>
void run(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  const std::int64_t dofs = problem.grid.num_dofs();
  const Array<Scalar, Exec> x = make_uninitialized<Scalar>(exec, dofs, "femura::bench::x");
  const Array<Scalar, Exec> y = make_uninitialized<Scalar>(exec, dofs, "femura::bench::y");
  fill_random(exec, 1, x);
  const Operator matrix(exec, problem.grid, problem.lame, problem.edge);
  matrix.apply(exec, x, y);
  {
    const typename OtherOperator<Operator>::type other(exec, problem.grid, problem.lame,
                                                       problem.edge);
    const Array<Scalar, Exec> expected =
        make_uninitialized<Scalar>(exec, dofs, "femura::bench::expected");
    other.apply(exec, x, expected);
    const double difference = relative_difference(exec, y, expected);
    if (!(difference <= rounding_bound<Scalar>))
      return fail_benchmark(state, "the operators differ by " + std::to_string(difference));
  }
  const double seconds = time_iterations(state, exec, [&] { matrix.apply(exec, x, y); });
  report<Exec, Scalar>(state, apply_cost<Scalar>(problem, matrix), seconds);
}

template<class Operator, class Scalar, class Exec>
void register_rows(const Options& options) {
  for (const ModelImage image : all_images)
    for (const int n : options.sizes_or(kernel_sizes<Exec>()))
      benchmark::RegisterBenchmark(
          row_name<Exec, Scalar>(std::string("voxel_apply/") + Operator::name, name_of(image), n)
              .c_str(),
          [=](benchmark::State& state) {
            guarded(state,
                    [&](benchmark::State& s) { run<Operator, Scalar>(s, Exec(), image, n); });
          })
          ->UseManualTime();
}

template<class Exec>
void register_backend(const Options& options) {
  register_rows<OffsetOperator<Exec>, double, Exec>(options);
  register_rows<OffsetOperator<Exec>, float, Exec>(options);
  register_rows<GatherOperator<Exec>, double, Exec>(options);
  register_rows<GatherOperator<Exec>, float, Exec>(options);
}

} // namespace

void register_voxel_apply(const Options& options) {
#define FEMURA_REGISTER(Exec)                                                                      \
  if (options.has(BackendTraits<Exec>::name))                                                      \
    register_backend<Exec>(options);
  FEMURA_FOR_EACH_BACKEND(FEMURA_REGISTER)
#undef FEMURA_REGISTER
}

} // namespace femura::bench
