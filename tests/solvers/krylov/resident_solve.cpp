// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients whose scalars stay on the device: against dense solves, and where there is no
// solution.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/solvers/krylov/spd_problem.hpp"
#include <ossatura/solvers/krylov/resident_solve.hpp>
#include <ossatura/solvers/softbody/factor/preconditioner.hpp>
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>

#include <limits>
#include <memory>

namespace {

using namespace ossatura;
using test::random_vector;
using test::SpdProblem;

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x)
    sum += v * v;
  return std::sqrt(sum);
}

std::vector<double> minus(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] -= y[i];
  return x;
}

struct Case {
  SoftPreconditioner preconditioner = SoftPreconditioner::ldlt;
  double tolerance = 1e-10;
  int max_iterations = 500, batch = 0;
};

struct Outcome {
  SolveResult result;
  std::vector<double> x;
};

/// A matrix on a backend, its preconditioners and a solve that is used again and again.
template<class Exec>
class Setup {
public:
  Setup(const Exec& exec, const SpdProblem& problem)
      : exec_(exec) {
    BlockMatrix<Exec> matrix;
    matrix.num_rows = problem.num_rows() / 3;
    matrix.row_begin = upload(exec, "test::row_begin", problem.row_begin);
    matrix.column = upload(exec, "test::column", problem.column);
    matrix.value = upload(exec, "test::value", problem.value);
    cg_ = make_resident_cg(exec, matrix, (matrix.num_rows + 15) / 16);
    MadeFactor<Exec> made = allocate_factor(exec, problem.pattern);
    made.factor = test::upload_factor(exec, problem);
    invert_diagonal_blocks(exec, made.factor, made.diagonal, made.inverse_pivot);
    factor_ = std::make_unique<InversePreconditioner<Exec, float>>(
        exec, problem.pattern, make_inverse_layout(problem.pattern), made.factor.pattern,
        Array<double, Exec>(), false);
    factor_->prepare(exec, made);
  }

  Outcome operator()(const Case& how, const std::vector<double>& b,
                     const std::vector<double>& start = {},
                     const Operator<Exec, double>* product = nullptr) {
    Kokkos::deep_copy(exec_, cg_.b, upload(exec_, "test::b", b));
    Kokkos::deep_copy(exec_, cg_.x, 0.0);
    if (!start.empty())
      Kokkos::deep_copy(exec_, cg_.x, upload(exec_, "test::start", start));
    ResidentSolve<Exec> solver(product);
    NodePreconditioner<Exec> by_node(exec_, cg_.matrix.num_rows, how.preconditioner);
    by_node.update(exec_, cg_.matrix);
    ResidentPreconditioner<Exec>& preconditioner =
        how.preconditioner == SoftPreconditioner::ldlt
            ? static_cast<ResidentPreconditioner<Exec>&>(*factor_)
            : by_node;
    Outcome outcome;
    outcome.result =
        solver.solve(exec_, cg_, preconditioner, how.tolerance, how.max_iterations, how.batch);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cg_.x);
    outcome.x.assign(host.data(), host.data() + host.extent(0));
    return outcome;
  }
  ResidentCg<Exec>& cg() { return cg_; }

private:
  Exec exec_;
  ResidentCg<Exec> cg_;
  std::unique_ptr<InversePreconditioner<Exec, float>> factor_;
};

/// More nodes than a team of any kernel has, and not a multiple; diagonals that differ.
SpdProblem scaled_problem() {
  SpdProblem problem = test::make_spd_problem(test::random_graph(101, 250, 1), 1);
  const auto scale = [](int row) { return 1 + row % 7 * 3.0; };
  for (int i = 0; i < problem.num_rows() / 3; ++i)
    for (int k = problem.row_begin[i]; k < problem.row_begin[i + 1]; ++k)
      for (int e = 0; e < 9; ++e)
        problem.value[std::size_t(9 * k + e)] *=
            scale(3 * i + e / 3) * scale(3 * problem.column[k] + e % 3);
  factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                 problem.factor);
  return problem;
}

const SoftPreconditioner all_kinds[] = {SoftPreconditioner::none, SoftPreconditioner::jacobi,
                                        SoftPreconditioner::block_jacobi, SoftPreconditioner::ldlt};

OSSATURA_BACKEND_TEST("Resident conjugate gradients solve, whatever preconditions them",
                      "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 2);
  const std::vector<double> exact = reference::solve_dense(problem.dense(), b);
  int iterations[4], k = 0;
  for (const SoftPreconditioner kind : all_kinds) {
    INFO(name_of(kind));
    Case how;
    how.preconditioner = kind;
    const Outcome outcome = solve(how, b);
    CHECK(outcome.result.converged);
    CHECK(!outcome.result.broken);
    const double residual = norm(minus(b, problem.multiply(outcome.x))) / norm(b);
    CHECK(residual <= 1.01 * how.tolerance);
    CHECK(outcome.result.residual == Approx(residual).epsilon(1e-3));
    CHECK(outcome.result.recurrent_residual == Approx(residual).epsilon(0.1));
    CHECK(outcome.result.reference == Approx(norm(b)).epsilon(1e-14));
    CHECK(norm(minus(outcome.x, exact)) < 1e-7 * norm(exact));
    iterations[k++] = outcome.result.iterations;
    // Fixed parts in a fixed order.
    const Outcome again = solve(how, b);
    CHECK(again.x == outcome.x);
    CHECK(again.result.iterations == outcome.result.iterations);
  }
  CHECK(iterations[3] <= 4); // single precision gains seven digits in each
  CHECK(iterations[2] <= iterations[1]);
  CHECK(iterations[1] < iterations[0]);
}

/// Products in conjugate gradients: those of the blocks, in two ways.
template<class Exec>
void check_product(const Exec& exec, const Operator<Exec, double>& other, ResidentCg<Exec>& cg,
                   const SpdProblem& problem) {
  const std::vector<double> z = random_vector(problem.num_rows(), 6);
  const std::vector<double> before = random_vector(problem.num_rows(), 7);
  for (const int parity : {0, 1}) { // the first iteration, and one that is not
    upload_to(exec, z, cg.z);
    upload_to(exec, before, cg.p[1 - parity]);
    Kokkos::deep_copy(exec, cg.rz_parts, 0.25);
    Kokkos::deep_copy(exec, cg.numbers, 2.0);
    std::vector<int> flags(num_cg_flags, 0);
    flags[cg_iterations] = parity;
    upload_to(exec, flags, cg.flags);
    cg_product(exec, cg, parity);
    const auto p = download(exec, cg.p[parity]), q = download(exec, cg.q),
               parts = download(exec, cg.pq_parts);
    Kokkos::deep_copy(exec, cg.p[parity], 5.0);
    Kokkos::deep_copy(exec, cg.q, 5.0);
    Kokkos::deep_copy(exec, cg.pq_parts, 5.0);
    cg_product(exec, cg, parity, other);
    CHECK(norm(minus(download(exec, cg.p[parity]), p)) < 1e-15 * norm(p));
    CHECK(norm(minus(download(exec, cg.q), q)) < 1e-14 * norm(q));
    CHECK(norm(minus(download(exec, cg.pq_parts), parts)) < 1e-13 * norm(parts));
    CHECK(norm(minus(problem.multiply(p), q)) < 1e-14 * norm(q));
  }
}

OSSATURA_BACKEND_TEST("Products by Kokkos Kernels are those of the blocks", "[resident_solve]") {
  const TestType exec;
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(exec, problem);
  if (!has_kokkos_kernels()) {
    CHECK_THROWS_AS(make_kokkos_kernels_multiply(exec, solve.cg().matrix), UsageError);
    return;
  }
  BlockMatrix<TestType> matrix = solve.cg().matrix;
  matrix.value = make_zeros<double>(exec, matrix.value.extent(0), "test::others");
  const auto other = make_kokkos_kernels_multiply(exec, matrix);
  other->update(exec, solve.cg().matrix);
  check_product(exec, *other, solve.cg(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 8);
  Case how;
  how.preconditioner = SoftPreconditioner::block_jacobi;
  how.tolerance = 1e-13;
  const Outcome by_blocks = solve(how, b);
  const Outcome by_others = solve(how, b, {}, other.get());
  CHECK(by_others.result.converged);
  CHECK(norm(minus(by_others.x, by_blocks.x)) < 1e-12 * norm(by_blocks.x));
}

OSSATURA_BACKEND_TEST("Looks at the residual change nothing but rounding", "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 3);
  Case how;
  how.preconditioner = SoftPreconditioner::block_jacobi;
  how.batch = 2;
  const Outcome often = solve(how, b);
  REQUIRE(often.result.iterations > 8);
  for (const int batch : {8, 200}) {
    how.batch = batch;
    const Outcome rarely = solve(how, b);
    CHECK(rarely.result.converged);
    CHECK(rarely.result.iterations == often.result.iterations);
    CHECK(norm(minus(rarely.x, often.x)) < 1e-12 * norm(often.x));
  }
}

OSSATURA_BACKEND_TEST("A start near the solution saves iterations, the tolerance stays",
                      "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 4);
  Case how;
  how.preconditioner = SoftPreconditioner::jacobi;
  const Outcome cold = solve(how, b);
  how.tolerance = 1e-5;
  const Outcome rough = solve(how, b);
  CHECK(rough.result.iterations < cold.result.iterations);
  how.tolerance = 1e-10;
  const Outcome warm = solve(how, b, rough.x);
  CHECK(warm.result.converged);
  CHECK(warm.result.iterations < cold.result.iterations);
  CHECK(norm(minus(b, problem.multiply(warm.x))) <= 1.01e-10 * norm(b));
  const Outcome done = solve(how, b, warm.x);
  CHECK(done.result.converged);
  CHECK(done.result.iterations == 0);
  CHECK(done.x == warm.x);
}

OSSATURA_BACKEND_TEST("A tolerance below rounding ends at the residual that rounding allows",
                      "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 7);
  for (const SoftPreconditioner kind : all_kinds)
    for (const int batch : {0, 2, 8}) {
      INFO(name_of(kind) << ", batches of " << batch);
      Case how;
      how.preconditioner = kind;
      how.tolerance = 1e-18;
      how.max_iterations = 2000;
      how.batch = batch;
      const Outcome outcome = solve(how, b);
      CHECK(!outcome.result.converged);
      CHECK(outcome.result.residual < 1e-11);
      CHECK(norm(minus(b, problem.multiply(outcome.x))) < 1e-11 * norm(b));
    }
}

OSSATURA_BACKEND_TEST("Iterations end where they are told to", "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> b = random_vector(problem.num_rows(), 5);
  Case how;
  how.preconditioner = SoftPreconditioner::none;
  for (const int batch : {0, 2, 8})
    for (const int most : {2, 6, 7}) {
      how.batch = batch;
      how.max_iterations = most;
      const Outcome outcome = solve(how, b);
      CAPTURE(batch, most);
      CHECK(outcome.result.iterations == most + most % 2); // they are taken in pairs
      CHECK(!outcome.result.converged);
      CHECK(!outcome.result.broken);
      const double residual = norm(minus(b, problem.multiply(outcome.x))) / norm(b);
      CHECK(outcome.result.residual == Approx(residual).epsilon(1e-6));
    }
  // A tolerance that rounding does not allow is not reported as met.
  how.preconditioner = SoftPreconditioner::jacobi;
  how.batch = 0;
  how.max_iterations = 400;
  how.tolerance = 1e-18;
  const Outcome outcome = solve(how, b);
  CHECK(!outcome.result.converged);
  CHECK(outcome.result.residual < 1e-13);
}

OSSATURA_BACKEND_TEST("Nothing to solve is solved at once", "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  const std::vector<double> zero(std::size_t(problem.num_rows()), 0.0);
  for (const SoftPreconditioner kind : all_kinds) {
    Case how;
    how.preconditioner = kind;
    const Outcome outcome = solve(how, zero);
    CHECK(outcome.result.converged);
    CHECK(outcome.result.iterations == 0);
    CHECK(outcome.result.residual == 0);
    CHECK(outcome.x == zero);
  }
}

OSSATURA_BACKEND_TEST("Matrices that are not positive definite are noticed", "[resident_solve]") {
  SpdProblem problem = scaled_problem();
  const SpdProblem before = problem;
  const int node = 40;
  for (int k = problem.row_begin[node]; k < problem.row_begin[node + 1]; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      if (problem.column[k] == node)
        problem.value[9 * std::size_t(k) + 4 * c] *= -1;
  Setup<TestType> solve(TestType(), problem); // with the factor from before: positive
  std::vector<double> b(std::size_t(problem.num_rows()), 0.0);
  b[3 * node] = 1;
  for (const SoftPreconditioner kind : all_kinds) {
    INFO(name_of(kind));
    Case how;
    how.preconditioner = kind;
    const Outcome outcome = solve(how, b);
    CHECK(outcome.result.broken);
    CHECK(!outcome.result.converged);
    CHECK(outcome.result.iterations < 10);
  }
  Setup<TestType> good(TestType(), before); // and only those
  CHECK(good(Case(), b).result.converged);
}

OSSATURA_BACKEND_TEST("What is not finite never converges", "[resident_solve]") {
  const SpdProblem problem = scaled_problem();
  Setup<TestType> solve(TestType(), problem);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200})
    for (const SoftPreconditioner kind : all_kinds) {
      std::vector<double> b = random_vector(problem.num_rows(), 6);
      b[100] = bad;
      Case how;
      how.preconditioner = kind;
      const Outcome outcome = solve(how, b);
      CAPTURE(bad, name_of(kind));
      CHECK(outcome.result.broken);
      CHECK(!outcome.result.converged);
      CHECK(outcome.result.iterations <= 2);
    }
  SpdProblem damaged = problem;
  damaged.value[9 * std::size_t(damaged.row_begin[50])] = std::nan("");
  Setup<TestType> solve_damaged(TestType(), damaged);
  const Outcome outcome = solve_damaged(Case(), random_vector(problem.num_rows(), 7));
  CHECK(outcome.result.broken);
  CHECK(!outcome.result.converged);
  CHECK(solve(Case(), random_vector(problem.num_rows(), 7)).result.converged);
}

} // namespace
