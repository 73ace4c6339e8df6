// SPDX-License-Identifier: Apache-2.0
// The lowest modes of pencils whose modes are known: chains of springs, with equal eigenvalues and
// with places that have no mass.
#include "tests/backend_test.hpp"
#include <ossatura/solvers/krylov/lobpcg.hpp>

#include <cmath>

namespace {

using namespace ossatura;

template<class Exec>
struct ApplyChains {
  Array<double, Exec> x, y;
  int length;
  double diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t at = i % length;
    y(i) = diagonal * x(i) - (at > 0 ? x(i - 1) : 0) - (at + 1 < length ? x(i + 1) : 0);
  }
};

template<class Exec>
struct ApplyPointMasses {
  Array<double, Exec> x, y;
  std::int64_t massless;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = i < massless ? 0 : x(i); }
};

template<class Exec>
struct Spread {
  Array<double, Exec> x;
  int number;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    x(i) = Kokkos::sin(double((number + 1) * (i + 1) % 97)) + 0.1 * number;
  }
};

/// Chains of springs between two walls, n masses of 1 each, of which the first are without mass.
template<class Exec>
struct Chains {
  int length;
  std::int64_t n, massless = 0;
  using Vector = Array<double, Exec>;

  void apply_stiffness(const Exec& exec, const Vector& x, const Vector& y) const {
    Kokkos::parallel_for("chains", range(exec, n), ApplyChains<Exec>{x, y, length, 2});
  }
  void apply_mass(const Exec& exec, int count, const Vector& x, const Vector& y) const {
    const ManyVectors<Exec> from{x, n}, to{y, n};
    for (int j = 0; j < count; ++j)
      Kokkos::parallel_for("masses", range(exec, n),
                           ApplyPointMasses<Exec>{from.row(j), to.row(j), massless});
  }
  void precondition(const Exec& exec, const Vector& r, const Vector& z) const {
    Kokkos::deep_copy(exec, z, r);
  }
  /// Conjugate gradients, as many iterations as a chain has masses.
  void solve(const Exec& exec, const Vector& b, const Vector& x) const {
    const Vector r("r", std::size_t(n)), p("p", std::size_t(n)), q("q", std::size_t(n));
    Kokkos::deep_copy(exec, x, 0.0);
    Kokkos::deep_copy(exec, r, b);
    Kokkos::deep_copy(exec, p, b);
    double before = dot(exec, r, r);
    const double first = before;
    for (int k = 0; k < length && before > 1e-24 * first; ++k) {
      apply_stiffness(exec, p, q);
      const double step = before / dot(exec, p, q);
      axpby(exec, step, p, 1.0, x);
      axpby(exec, -step, q, 1.0, r);
      const double now = dot(exec, r, r);
      axpby(exec, 1.0, r, now / before, p);
      before = now;
    }
  }
};

template<class Exec>
LobpcgResult solve(const Exec& exec, const Chains<Exec>& chains, int block,
                   const LobpcgOptions& options) {
  Lobpcg<Exec, Chains<Exec>> lobpcg(exec, chains, block, chains.n);
  for (int i = 0; i < block; ++i)
    Kokkos::parallel_for("start", range(exec, chains.n), Spread<Exec>{lobpcg.modes().row(i), i});
  return lobpcg.solve(exec, options);
}

double of_chain(int mode, int length) {
  return 2 - 2 * std::cos(Kokkos::numbers::pi * mode / (length + 1));
}

} // namespace

OSSATURA_BACKEND_TEST("The lowest modes of chains are as known, equal ones too", "[lobpcg]") {
  const TestType exec;
  constexpr int length = 16;
  const LobpcgResult one = solve(exec, Chains<TestType>{length, length}, 6, {4, 1e-9, 500});
  CHECK(one.converged);
  CHECK(one.worst_residual() <= 1e-9);
  for (int i = 0; i < 4; ++i)
    CHECK(one.value[std::size_t(i)] == Approx(of_chain(i + 1, length)).epsilon(1e-12));
  // Three alike.
  const LobpcgResult three = solve(exec, Chains<TestType>{length, 3 * length}, 8, {6, 1e-9, 500});
  CHECK(three.converged);
  for (int i = 0; i < 6; ++i)
    CHECK(three.value[std::size_t(i)] == Approx(of_chain(1 + i / 3, length)).epsilon(1e-12));
  // The first chain of three has no mass, and no part in any mode.
  const LobpcgResult two =
      solve(exec, Chains<TestType>{length, 3 * length, length}, 6, {4, 1e-9, 500});
  CHECK(two.converged);
  for (int i = 0; i < 4; ++i)
    CHECK(two.value[std::size_t(i)] == Approx(of_chain(1 + i / 2, length)).epsilon(1e-12));
}

OSSATURA_BACKEND_TEST("Modes that do not converge are said, and those that are not there",
                      "[lobpcg]") {
  const TestType exec;
  const LobpcgResult hasty = solve(exec, Chains<TestType>{40, 40}, 5, {3, 1e-9, 2});
  CHECK_FALSE(hasty.converged);
  CHECK(hasty.iterations == 2);
  CHECK(hasty.worst_residual() > 1e-9);
  const LobpcgResult rounded = solve(exec, Chains<TestType>{40, 40}, 5, {3, 1e-17, 2000});
  CHECK_FALSE(rounded.converged);
  CHECK(rounded.iterations < 500);
  CHECK(rounded.worst_residual() < 1e-11);
  CHECK_THROWS_WITH(solve(exec, Chains<TestType>{2, 2}, 5, {3, 1e-9, 9}),
                    ContainsSubstring("the body has 2 modes, and 3 are asked for"));
  const LobpcgResult all = solve(exec, Chains<TestType>{3, 3}, 5, {3, 1e-9, 9});
  CHECK(all.converged);
  CHECK(all.value[2] == Approx(of_chain(3, 3)).epsilon(1e-12));
}

OSSATURA_BACKEND_TEST("Where the preconditioner finds nothing systems are solved in its place",
                      "[lobpcg]") {
  const TestType exec;
  // The identity on a chain that is long: residuals rise for more than forty iterations.
  const LobpcgResult found = solve(exec, Chains<TestType>{600, 600}, 5, {3, 1e-8, 500});
  CHECK(found.converged);
  for (int i = 0; i < 3; ++i)
    CHECK(found.value[std::size_t(i)] == Approx(of_chain(i + 1, 600)).epsilon(1e-9));
}

TEST_CASE("A residual that is no number is the worst", "[lobpcg]") {
  LobpcgResult result;
  result.value = {1, 2};
  result.residual = {std::nan(""), 1e-9};
  CHECK(std::isnan(result.worst_residual()));
  result.residual = {1e-9, std::nan("")};
  CHECK(std::isnan(result.worst_residual()));
}

TEST_CASE("Small symmetric matrices have the eigenvalues that they are made of", "[lobpcg]") {
  // Q D Q^T with a reflection Q = 1 - 2 v v^T and eigenvalues far apart.
  const std::size_t n = 6;
  const double value[n] = {3, 1e-3, 1e-9, 3, 1e4, 0};
  std::vector<double> v, a(n * n);
  double square = 0;
  for (std::size_t i = 0; i < n; ++i) {
    v.push_back(1 + double(i));
    square += v[i] * v[i];
  }
  const auto q = [&](std::size_t i, std::size_t j) {
    return (i == j ? 1 : 0) - 2 * v[i] * v[j] / square;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        a[n * i + j] += q(i, k) * value[k] * q(j, k);
  const SmallEigen found = small_eigen(a, n);
  const double expected[n] = {1e4, 3, 3, 1e-3, 1e-9, 0};
  for (std::size_t j = 0; j < n; ++j) {
    CHECK(found.value[j] == Approx(expected[j]).epsilon(1e-13).margin(1e-11));
    for (std::size_t i = 0; i < n; ++i) { // a x = value x
      double sum = -found.value[j] * found.vector[n * i + j];
      for (std::size_t k = 0; k < n; ++k)
        sum += a[n * i + k] * found.vector[n * k + j];
      CHECK(std::fabs(sum) < 1e-10);
    }
  }
}
