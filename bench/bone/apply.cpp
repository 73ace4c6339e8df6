// SPDX-License-Identifier: Apache-2.0
// These rows time products without a stored matrix, for every operator of
// kernels/bone/operator_list.hpp:
//   voxel_apply/<operator>/<backend>/<f64|f32>/<image>:<n>           y = A x
//   voxel_residual/<operator>/<backend>/<f64|f32>/<image>:<n>        r = b - A x, 0 where held
//   voxel_smoothing_step/<operator>/<backend>/<f64|f32>/<image>:<n>  y = x + omega D^-1 (b - A x)
#include "bench/bone/cost.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/compare_vectors.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>
#include <ossatura/kernels/bone/diagonal.hpp>

namespace ossatura::bench {

namespace {

/// What an operator is verified against.
template<class Operator, class Exec>
using Other = std::conditional_t<std::is_same_v<Operator, GatherOperator<Exec>>,
                                 OffsetOperator<Exec>, GatherOperator<Exec>>;

/// Vectors of the updates; what a form does not use stays empty.
template<class Exec, class Scalar>
struct Vectors {
  Array<Scalar, Exec> x, result, scratch, b, inverse_diagonal;
};

template<class Exec, class Scalar>
Array<Scalar, Exec> vector(const Exec& exec, std::int64_t n) {
  return make_uninitialized<Scalar>(exec, n, "ossatura::bench::vector");
}

struct Apply {
  static constexpr const char* group = "voxel_apply/";
  static constexpr bool updates = false;

  template<class Scalar, class Exec, class Operator>
  static Cost cost(const VoxelProblem<Exec>& problem, const Operator& matrix) {
    return apply_cost<Scalar>(problem, matrix);
  }
  template<class Operator, class Exec, class Scalar>
  static void run(const Exec& exec, const Operator& matrix, const VoxelProblem<Exec>&,
                  const Vectors<Exec, Scalar>& v) {
    matrix.apply(exec, v.x, v.result);
  }
};

struct Residual {
  static constexpr const char* group = "voxel_residual/";
  static constexpr bool updates = true;

  /// b read; a subtraction.
  template<class Scalar, class Exec, class Operator>
  static Cost cost(const VoxelProblem<Exec>& problem, const Operator& matrix) {
    return update_cost<Scalar>(problem, matrix, 1, 0, 1);
  }
  template<class Operator, class Exec, class Scalar>
  static void run(const Exec& exec, const Operator& matrix, const VoxelProblem<Exec>& problem,
                  const Vectors<Exec, Scalar>& v) {
    apply_then(exec, matrix, v.x, v.scratch,
               StoreResidual<Exec, Scalar>{problem.held.mask, v.b, v.result});
  }
};

struct Smooth {
  static constexpr const char* group = "voxel_smoothing_step/";
  static constexpr bool updates = true;

  /// b and a diagonal entry for each node read; a subtraction and a multiply-add, and the product
  /// of omega and the diagonal for each node.
  template<class Scalar, class Exec, class Operator>
  static Cost cost(const VoxelProblem<Exec>& problem, const Operator& matrix) {
    return update_cost<Scalar>(problem, matrix, 1, 1, 3);
  }
  template<class Operator, class Exec, class Scalar>
  static void run(const Exec& exec, const Operator& matrix, const VoxelProblem<Exec>& problem,
                  const Vectors<Exec, Scalar>& v) {
    apply_then(exec, matrix, v.x, v.scratch,
               SmoothingStep<Exec, Scalar>{Scalar(0.5), v.inverse_diagonal, problem.held.mask, v.b,
                                           v.result});
  }
};

template<class Form, class Operator, class Scalar, class Exec>
void run(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  const std::int64_t dofs = problem.grid.num_dofs();
  Vectors<Exec, Scalar> v{
      vector<Exec, Scalar>(exec, dofs), vector<Exec, Scalar>(exec, dofs), {}, {}, {}};
  fill_random(exec, 1, v.x);
  if (Form::updates) {
    v.b = vector<Exec, Scalar>(exec, dofs);
    fill_random(exec, 2, v.b);
    v.inverse_diagonal =
        make_inverse_diagonal<Scalar>(exec, problem.grid, problem.lame, problem.edge);
  }
  {
    // The other operator, each of its steps by itself.
    Vectors<Exec, Scalar> expected = v;
    expected.result = vector<Exec, Scalar>(exec, dofs);
    expected.scratch = vector<Exec, Scalar>(exec, Form::updates ? dofs : 0);
    const Other<Operator, Exec> other(exec, problem.grid, problem.lame, problem.edge);
    Form::run(exec, other, problem, expected);
    expected.scratch = {};
    const Operator matrix(exec, problem.grid, problem.lame, problem.edge);
    v.scratch = vector<Exec, Scalar>(exec, Form::updates && !Operator::fuses_updates ? dofs : 0);
    Form::run(exec, matrix, problem, v);
    const double difference = relative_difference(exec, v.result, expected.result);
    if (!(difference <= rounding_bound<Scalar>))
      return fail_benchmark(state, "the operators differ by " + std::to_string(difference));
  }
  const Operator matrix(exec, problem.grid, problem.lame, problem.edge);
  const double seconds = time_iterations(state, exec, [&] { Form::run(exec, matrix, problem, v); });
  report<Exec, Scalar>(state, Form::template cost<Scalar>(problem, matrix), seconds);
}

template<class Form, class Operator, class Scalar, class Exec>
void register_rows(const Options& options) {
  for (const ModelImage image : name_table<ModelImage>)
    for (const int n : options.sizes_or(kernel_sizes<Exec>(image)))
      add_row(
          options,
          row_name<Exec, Scalar>(std::string(Form::group) + Operator::name, name_of(image), n),
          [=](benchmark::State& state) { run<Form, Operator, Scalar>(state, Exec(), image, n); });
}

template<class Form>
void register_form(const Options& options) {
  for_each_backend(options, [&](auto backend) {
    using Exec = BackendOf<decltype(backend)>;
    VoxelOperators<Exec>::for_each([&](auto entry) {
      using Operator = typename decltype(entry)::type;
      register_rows<Form, Operator, double, Exec>(options);
      register_rows<Form, Operator, float, Exec>(options);
    });
  });
}

} // namespace

void register_voxel_apply(const Options& options) {
  register_form<Apply>(options);
}

void register_voxel_residual(const Options& options) {
  register_form<Residual>(options);
}

void register_voxel_smoothing_step(const Options& options) {
  register_form<Smooth>(options);
}

} // namespace ossatura::bench
