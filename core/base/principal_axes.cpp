// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/principal_axes.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr int most_sweeps = 32; // of Jacobi's rotations, which converge quadratically

} // namespace

PrincipalAxes principal_axes(std::array<double, 9> c) {
  std::array<double, 9> v{1, 0, 0, 0, 1, 0, 0, 0, 1}; // eigenvectors are columns
  for (int sweep = 0; sweep < most_sweeps; ++sweep)
    for (std::size_t p = 0; p < 3; ++p) {
      const std::size_t q = (p + 1) % 3;
      const double off = c[3 * p + q];
      if (off == 0)
        continue;
      const double ratio = (c[4 * q] - c[4 * p]) / (2 * off),
                   tangent =
                       (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1)),
                   cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
      for (std::size_t k = 0; k < 3; ++k) { // columns, of both
        for (std::array<double, 9>* m : {&c, &v}) {
          const double at_p = (*m)[3 * k + p], at_q = (*m)[3 * k + q];
          (*m)[3 * k + p] = cosine * at_p - sine * at_q;
          (*m)[3 * k + q] = sine * at_p + cosine * at_q;
        }
      }
      for (std::size_t k = 0; k < 3; ++k) { // rows
        const double at_p = c[3 * p + k], at_q = c[3 * q + k];
        c[3 * p + k] = cosine * at_p - sine * at_q;
        c[3 * q + k] = sine * at_p + cosine * at_q;
      }
      c[3 * p + q] = c[3 * q + p] = 0;
    }
  std::array<std::size_t, 3> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return c[4 * a] > c[4 * b]; });
  PrincipalAxes found{};
  for (std::size_t n = 0; n < 3; ++n) {
    std::array<double, 3>& axis = found.axis[n];
    for (std::size_t i = 0; i < 3; ++i)
      axis[i] = v[3 * i + order[n]];
    const double most = *std::max_element(
        axis.begin(), axis.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double& x : axis)
      x = most < 0 ? -x : x;
    found.spread[n] = std::sqrt(std::max(c[4 * order[n]], 0.0));
  }
  return found;
}

} // namespace ossatura
