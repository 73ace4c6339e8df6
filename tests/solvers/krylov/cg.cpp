// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients on matrices with a known course, and its honesty about the true residual.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/solvers/krylov/diagonal_matrix.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

#include <limits>

namespace {

using namespace ossatura;
using ossatura::test::host_values;
using ossatura::test::multiply_entries;

/// A diagonal matrix, the right-hand side, the preconditioner, and what goes wrong with them.
struct System {
  std::vector<double> matrix, b, preconditioner, x;
  double error_of_apply = 0; ///< the iteration multiplies by (1 + this) A

  explicit System(const std::vector<double>& a)
      : matrix(a)
      , b(a.size())
      , preconditioner(a.size(), 1)
      , x(a.size()) {
    for (std::size_t i = 0; i < a.size(); ++i)
      b[i] = 1 + 0.5 * std::sin(double(i));
  }
};

template<class Exec, class T>
struct Perturb {
  double factor;
  Array<T, Exec> y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = T(factor * y(i)); }
};

/// Solves; `system.x` is the start and becomes the solution. The iteration's vectors are of
/// `Vector`, those of the preconditioner of `Cycle`.
template<class Vector, class Cycle, class Exec>
SolveResult solve_in(const Exec& exec, System& system, const CgOptions& options,
                     const IterationObserver& observe = {}) {
  const std::int64_t n = system.b.size();
  const auto a = upload(exec, "test::a", system.matrix), b = upload(exec, "test::b", system.b),
             m = upload(exec, "test::m", system.preconditioner);
  CgVectors<Exec, double, Vector, Cycle> v{upload(exec, "test::x", system.x),
                                           make_uninitialized<Vector>(exec, n, "test::r"),
                                           make_uninitialized<Vector>(exec, n, "test::p"),
                                           make_uninitialized<Vector>(exec, n, "test::q"),
                                           {}};
  // Scratch is not read before it is written.
  Kokkos::deep_copy(exec, v.p, Vector(std::nan("")));
  Kokkos::deep_copy(exec, v.q, Vector(std::nan("")));
  if constexpr (std::is_same_v<Vector, Cycle>)
    v.b = v.r;
  else
    v.b = make_uninitialized<Cycle>(exec, n, "test::b");
  const auto z = make_uninitialized<Cycle>(exec, n, "test::z");
  const SolveResult result = conjugate_gradients(
      exec, options,
      [&](const auto& p, const auto& q) {
        multiply_entries(exec, a, p, q);
        Kokkos::parallel_for("test::perturb", range(exec, n),
                             Perturb<Exec, Vector>{1 + system.error_of_apply, q});
      },
      [&](const auto& x, double scale, const auto& r) {
        ossatura::test::subtract_entries(exec, b, a, x, scale, r);
      },
      [&](const auto& r) {
        multiply_entries(exec, m, r, z);
        return z;
      },
      v, observe);
  system.x = host_values(v.x);
  return result;
}

template<class Exec>
SolveResult solve(const Exec& exec, System& system, const CgOptions& options,
                  const IterationObserver& observe = {}) {
  return solve_in<double, double>(exec, system, options, observe);
}

double residual_norm(const System& system) {
  double sum = 0;
  for (std::size_t i = 0; i < system.b.size(); ++i) {
    const double r = system.b[i] - system.matrix[i] * system.x[i];
    sum += r * r;
  }
  return std::sqrt(sum);
}

/// Eigenvalues from 1 to `condition`, in equal ratios.
std::vector<double> graded(int n, double condition) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    values.push_back(std::pow(condition, i / (n - 1.0)));
  return values;
}

std::vector<double> eigenvalues(int n, int num_distinct) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    values.push_back(1 + i % num_distinct);
  return values;
}

OSSATURA_BACKEND_TEST("As many iterations as distinct eigenvalues solve the system", "[cg]") {
  for (int distinct : {1, 4, 9}) {
    System system(eigenvalues(600, distinct));
    const SolveResult result = solve(TestType(), system, {1e-12, 100});
    CHECK(result.converged);
    CHECK(result.iterations == distinct);
    CHECK(result.residual <= 1e-12);
    for (std::size_t i = 0; i < system.x.size(); ++i)
      REQUIRE(system.x[i] == Approx(system.b[i] / system.matrix[i]).epsilon(1e-10));
  }
}

OSSATURA_BACKEND_TEST("The exact inverse as preconditioner needs one iteration", "[cg]") {
  System system(eigenvalues(500, 100));
  for (std::size_t i = 0; i < 500; ++i)
    system.preconditioner[i] = 1 / system.matrix[i];
  const SolveResult result = solve(TestType(), system, {1e-13, 100});
  CHECK(result.converged);
  CHECK(result.iterations == 1);
}

OSSATURA_BACKEND_TEST("The reported residuals are the true ones of the returned solution", "[cg]") {
  for (double tolerance : {1e-2, 1e-6, 1e-10}) {
    System system(eigenvalues(300, 80));
    for (double& x : system.x)
      x = 0.3;
    const double start = residual_norm(system);
    std::vector<std::pair<int, double>> history;
    const SolveResult result =
        solve(TestType(), system, {tolerance, 1000},
              [&](int iteration, double residual) { history.emplace_back(iteration, residual); });
    CHECK(result.converged);
    CHECK(result.reference == Approx(start).epsilon(1e-12));
    CHECK(residual_norm(system) <= tolerance * start * (1 + 1e-6));
    CHECK(result.residual == Approx(residual_norm(system) / start).epsilon(1e-6).margin(1e-15));
    REQUIRE(int(history.size()) == result.iterations + 1);
    CHECK(history.front() == std::pair<int, double>(0, 1));
    CHECK(history.back() == std::pair<int, double>(result.iterations, result.recurrent_residual));
  }
}

OSSATURA_BACKEND_TEST("The limit of iterations is kept and reported as not converged", "[cg]") {
  System system(eigenvalues(300, 100));
  const SolveResult result = solve(TestType(), system, {1e-12, 7});
  CHECK_FALSE(result.converged);
  CHECK(result.iterations == 7);
  CHECK(result.residual > 1e-12);
  CHECK(result.residual == Approx(residual_norm(system) / result.reference).epsilon(1e-9));
}

OSSATURA_BACKEND_TEST("A residual of zero at the start is convergence without iteration", "[cg]") {
  System zero(eigenvalues(30, 3));
  zero.b.assign(30, 0);
  const SolveResult nothing = solve(TestType(), zero, {1e-10, 50});
  CHECK(nothing.converged);
  CHECK(nothing.iterations == 0);
  CHECK(nothing.residual == 0);
  CHECK(zero.x == std::vector<double>(30, 0));

  System solved(std::vector<double>(30, 2));
  solved.b.assign(30, 3);
  solved.x.assign(30, 1.5);
  CHECK(solve(TestType(), solved, {1e-10, 50}).converged);
  CHECK(solved.x == std::vector<double>(30, 1.5));
}

OSSATURA_BACKEND_TEST("Convergence is never claimed against the true residual", "[cg]") {
  // A product far from the residual's matrix: the recurrence converges, the truth does not.
  System wrong(eigenvalues(300, 5));
  wrong.error_of_apply = -0.5;
  const SolveResult failed = solve(TestType(), wrong, {1e-8, 500});
  CHECK_FALSE(failed.converged);
  CHECK(failed.recurrent_residual <= 1e-8);
  CHECK(failed.residual == Approx(residual_norm(wrong) / failed.reference).epsilon(1e-9));

  // A product that is off by rounding, as of a cycle in single precision: restarts make it good.
  System inexact(eigenvalues(300, 5));
  inexact.error_of_apply = 1e-3;
  const SolveResult result = solve(TestType(), inexact, {1e-8, 500});
  CHECK(result.converged);
  CHECK(result.iterations > 5);
  CHECK(residual_norm(inexact) <= 1e-8 * result.reference * (1 + 1e-6));
}

OSSATURA_BACKEND_TEST("Matrices that are not positive end the iteration", "[cg]") {
  for (double last : {-1.0, 0.0}) {
    System system(eigenvalues(30, 3));
    system.matrix[29] = last;
    const SolveResult result = solve(TestType(), system, {1e-10, 1000});
    CHECK_FALSE(result.converged);
    CHECK(result.iterations <= 1000);
  }
  System negative(std::vector<double>(30, -1));
  CHECK_FALSE(solve(TestType(), negative, {1e-10, 1000}).converged);
  System preconditioner(eigenvalues(30, 3));
  preconditioner.preconditioner.assign(30, -1);
  CHECK_FALSE(solve(TestType(), preconditioner, {1e-10, 1000}).converged);
}

OSSATURA_BACKEND_TEST("A singular but consistent system converges", "[cg]") {
  System system(eigenvalues(30, 3));
  system.matrix[7] = system.b[7] = 0;
  const SolveResult result = solve(TestType(), system, {1e-10, 100});
  CHECK(result.converged);
  CHECK(system.x[7] == 0);
}

OSSATURA_BACKEND_TEST("A system without a solution ends when windows stop gaining", "[cg]") {
  System system(graded(60, 1e3));
  system.matrix[7] = 1e-30; // no step of a size that doubles hold takes b[7] away
  CgOptions options{1e-10, 5000};
  options.stall_window = 100;
  const SolveResult result = solve(TestType(), system, options);
  CHECK_FALSE(result.converged);
  CHECK(result.iterations <= 500);
  CHECK(result.residual > 1e-10);
}

OSSATURA_BACKEND_TEST("Slow iterations that gain are left alone", "[cg]") {
  System watched(graded(2000, 1e5)), free = watched;
  CgOptions options{1e-8, 20000};
  const SolveResult expected = solve(TestType(), free, options);
  REQUIRE(expected.converged);
  REQUIRE(expected.iterations > 1000);
  options.stall_window = 100;
  CHECK(solve(TestType(), watched, options).iterations == expected.iterations);
}

OSSATURA_BACKEND_TEST("A stall is a window that is not one per cent below the one before", "[cg]") {
  const auto ends_at = [](auto residual) { // 0: never
    detail::StallWatch watch(100);
    for (int i = 1; i <= 5000; ++i)
      if (watch.stalls(residual(i)))
        return i;
    return 0;
  };
  CHECK(ends_at([](int) { return 15.0; }) == 200);
  CHECK(ends_at([](int i) { return i < 1000 ? std::exp(-0.02 * i) : std::exp(-20.); }) == 1100);
  CHECK(ends_at([](int i) { return std::exp(-0.00011 * i); }) == 0);
  CHECK(ends_at([](int i) { return std::exp(-0.00009 * i); }) == 200);
  // Rising at first, and with peaks between.
  CHECK(ends_at([](int i) { return i < 100 ? 1.0 * i : 0.5 * std::exp(-0.001 * i); }) == 0);
  CHECK(ends_at([](int i) { return (i % 7 ? 10 : 1) * std::exp(-0.001 * i); }) == 0);
  detail::StallWatch off(0);
  for (int i = 0; i < 1000; ++i)
    CHECK_FALSE(off.stalls(1));
}

OSSATURA_BACKEND_TEST("Numbers that are not finite are not convergence", "[cg]") {
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200}) {
    System right_hand_side(eigenvalues(30, 3));
    right_hand_side.b[3] = bad;
    CHECK_FALSE(solve(TestType(), right_hand_side, {1e-10, 100}).converged);
    System start(eigenvalues(30, 3));
    start.x[3] = bad;
    CHECK_FALSE(solve(TestType(), start, {1e-10, 100}).converged);
  }
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    System matrix(eigenvalues(30, 3));
    matrix.matrix[3] = bad;
    CHECK_FALSE(solve(TestType(), matrix, {1e-10, 100}).converged);
    System preconditioner(eigenvalues(30, 3));
    preconditioner.preconditioner[3] = bad;
    CHECK_FALSE(solve(TestType(), preconditioner, {1e-10, 100}).converged);
  }
}

OSSATURA_BACKEND_TEST("A preconditioner in single precision costs no more than an iteration or two",
                      "[cg]") {
  System fp64(graded(2000, 1e4)), mixed = fp64;
  for (std::size_t i = 0; i < 2000; ++i) // not the inverse, which would be too good
    fp64.preconditioner[i] = mixed.preconditioner[i] = 1 / std::sqrt(fp64.matrix[i]);
  const SolveResult expected = solve(TestType(), fp64, {1e-12, 1000});
  const SolveResult result = solve_in<double, float>(TestType(), mixed, {1e-12, 1000});
  CHECK(expected.converged);
  CHECK(result.converged);
  CHECK(residual_norm(mixed) <= 1e-12 * result.reference * (1 + 1e-6));
  CHECK(result.iterations <= expected.iterations + 2);
}

OSSATURA_BACKEND_TEST("Single precision with residuals in double reaches double's residual",
                      "[cg]") {
  System fp64(graded(2000, 1e3)), lean = fp64;
  const SolveResult expected = solve(TestType(), fp64, {1e-11, 1000});
  CgOptions options{1e-11, 1000};
  options.replacement = 1e-3;
  const SolveResult result = solve_in<float, float>(TestType(), lean, options);
  INFO(expected.iterations << " and " << result.iterations);
  CHECK(result.converged);
  CHECK(residual_norm(lean) <= 1e-11 * result.reference * (1 + 1e-6));
  CHECK(result.iterations <= 1.3 * expected.iterations);
}

OSSATURA_BACKEND_TEST("Right-hand sides near the ends of single precision lose nothing", "[cg]") {
  int iterations[2] = {0, 0};
  for (double size : {1.0, 1e-38, 1e38, 1e-60, 1e60}) {
    for (bool lean : {false, true}) {
      System system(graded(500, 100));
      for (double& b : system.b)
        b *= size;
      CgOptions options{1e-10, 1000};
      options.replacement = lean ? 1e-3 : 0;
      const SolveResult result = lean ? solve_in<float, float>(TestType(), system, options)
                                      : solve_in<double, float>(TestType(), system, options);
      INFO("size " << size << ", lean " << lean);
      CHECK(result.converged);
      CHECK(residual_norm(system) <= 1e-10 * result.reference * (1 + 1e-6));
      if (size == 1)
        iterations[lean] = result.iterations;
      CHECK(std::abs(result.iterations - iterations[lean]) <= 2);
    }
  }
}

OSSATURA_BACKEND_TEST("What single precision cannot reach is not convergence", "[cg]") {
  // A condition number beyond 1 / 6e-8 and no preconditioner.
  System system(graded(400, 1e12));
  CgOptions options{1e-10, 3000};
  options.replacement = 1e-3;
  const SolveResult result = solve_in<float, float>(TestType(), system, options);
  CHECK(result.converged == (residual_norm(system) <= 1e-10 * result.reference));
  CHECK(result.residual == Approx(residual_norm(system) / result.reference).epsilon(1e-6));
}

} // namespace
