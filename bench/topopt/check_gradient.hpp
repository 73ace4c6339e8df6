// SPDX-License-Identifier: Apache-2.0
// This function compares gradients of a design with differences of what they are gradients of.
#pragma once

#include <ossatura/solvers/topopt/optimizer.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura::bench {

/// A number of 0 .. 1 that depends on the place alone.
inline double rough_number(std::uint64_t at) {
  at = (at + 1) * 0x9e3779b97f4a7c15;
  at = (at ^ (at >> 32)) * 0xd6e8feb86659fd93;
  return double((at ^ (at >> 32)) >> 11) * 0x1p-53;
}

/// Takes a grey design, rough from element to element, and compares gradients of objective, volume
/// and first limit with differences along a direction that is rough in one half of the elements and
/// nothing in the other. Three analyses, and one for the limit; the design is another afterwards.
/// Returns what is wrong, or an empty string.
template<class Exec>
std::string describe_wrong_gradient(const Exec& exec, DesignOptimizer<Exec>& optimizer,
                                    const DesignProblem& problem) {
  constexpr double tolerance = 2e-4;
  // Stresses are wrong by as much as a solution is, and not by the square of it.
  const double step = problem.limits.empty() ? 2e-4 : 1e-3;
  const std::size_t n = problem.num_elem();
  const auto direction = [&](std::size_t e) { return 2 * e < n ? rough_number(e + n) : 0; };
  const auto analyse = [&](double by) {
    std::vector<double> x(n);
    for (std::size_t e = 0; e < n; ++e)
      x[e] = 0.35 + 0.3 * rough_number(e) + by * direction(e);
    optimizer.set_variables(exec, optimizer.body().upload_elements(exec, x));
    return optimizer.analyse(exec);
  };
  const DesignStep more = analyse(step), less = analyse(-step);
  analyse(0);
  const auto compare = [&](const char* what, const std::vector<double>& gradient, double up,
                           double down) -> std::string {
    double slope = 0;
    for (std::size_t e = 0; e < n; ++e)
      slope += gradient[e] * direction(e);
    const double difference = (up - down) / (2 * step);
    if (std::fabs(slope - difference) <= tolerance * std::fabs(difference))
      return "";
    return std::string("the gradient of the ") + what + " is " + std::to_string(slope) +
           " along a direction in which differences are " + std::to_string(difference);
  };
  std::string wrong =
      compare("objective", optimizer.objective_gradient(exec), more.objective, less.objective);
  if (wrong.empty())
    wrong = compare("volume", optimizer.volume_gradient(exec), more.volume, less.volume);
  if (wrong.empty() && !problem.limits.empty())
    wrong = compare("limit", optimizer.limit_gradient(exec, 0), more.limits[0].mean,
                    less.limits[0].mean);
  return wrong;
}

} // namespace ossatura::bench
