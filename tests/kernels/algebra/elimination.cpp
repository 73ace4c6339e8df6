// SPDX-License-Identifier: Apache-2.0
// Elimination by blocks of columns, by systems of known solutions.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/algebra/dense/eliminate.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace ossatura;

/// A system of n rows of `stride`, of known solution x: A x is in column n, behind that what nobody
/// reads. The diagonal is about 1, and A is not symmetric.
std::vector<double> system_of(int n, int stride, const std::vector<double>& x) {
  std::mt19937 random{std::uint32_t(n)};
  std::vector<double> system(std::size_t(n) * stride, 1e30);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const double entry = (i == j) + (random() / 4294967296. - 0.5) / n;
      system[std::size_t(i) * stride + j] = entry;
      sum += entry * x[std::size_t(j)];
    }
    system[std::size_t(i) * stride + n] = sum;
  }
  return system;
}

template<class Exec>
std::vector<double> solve_system(const Exec& exec, const std::vector<double>& system, int n,
                                 int stride) {
  const auto matrix = upload(exec, "test::system", system);
  detail::eliminate(exec, matrix, n, stride);
  const std::vector<double> values = test::host_values(matrix);
  std::vector<double> x;
  for (int i = 0; i < n; ++i)
    x.push_back(values[std::size_t(i) * stride + n]);
  return x;
}

OSSATURA_BACKEND_TEST("Dense systems are eliminated by blocks of columns", "[elimination]") {
  for (const int n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 193}) { // blocks, whole and not
    INFO(n << " rows");
    std::vector<double> expected;
    for (int i = 0; i < n; ++i)
      expected.push_back(1 + i % 7);
    const int stride = n + 1 + n % 3;
    const std::vector<double> x =
        solve_system(TestType(), system_of(n, stride, expected), n, stride);
    for (int i = 0; i < n; ++i)
      CHECK(x[std::size_t(i)] == Approx(expected[std::size_t(i)]).epsilon(1e-12));
  }
}

OSSATURA_BACKEND_TEST("Rows that others make up already do not move", "[elimination]") {
  constexpr int n = 70, stride = n + 1, twice[] = {40, 69};
  std::vector<double> expected;
  for (int i = 0; i < n; ++i)
    expected.push_back(1 + i % 7);
  std::vector<double> system = system_of(n, stride, expected);
  for (const int i : twice) { // row and column i are those of i - 10
    for (int j = 0; j <= n; ++j)
      system[i * stride + j] = system[(i - 10) * stride + j];
    for (int j = 0; j < n; ++j)
      system[j * stride + i] = system[j * stride + i - 10];
  }
  const std::vector<double> x = solve_system(TestType(), system, n, stride);
  for (const int i : twice)
    CHECK(std::fabs(x[std::size_t(i)]) < 1e-10);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j)
      sum += system[i * stride + j] * x[std::size_t(j)];
    CHECK(sum == Approx(system[i * stride + n]).epsilon(1e-10));
  }
}

} // namespace
