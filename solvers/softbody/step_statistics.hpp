// SPDX-License-Identifier: Apache-2.0
// The step statistics describe all steps of a run in a few numbers.
#pragma once

#include <ossatura/solvers/softbody/solver.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// One of the phases of a step, and the whole of it.
struct StepPhase {
  const char* name;
  double SoftStep::*seconds;
};
inline constexpr StepPhase step_phases[] = {
    {"collect", &SoftStep::collect}, {"compress", &SoftStep::compress},
    {"factor", &SoftStep::factor},   {"solve", &SoftStep::solve},
    {"apply", &SoftStep::apply},     {"contact", &SoftStep::contact},
    {"total", &SoftStep::total}};

struct Spread {
  double mean = 0, median = 0, maximum = 0;
};
/// Zeros for no values.
Spread spread_of(std::vector<double> values);

struct StepTotals {
  void add(const SoftStep& step);

  std::int64_t iterations = 0, newton_iterations = 0, refreshes = 0, halved = 0;
  int most_iterations = 0, most_stale = 0, most_contacts = 0, most_inverted = 0;
  int most_contact_rounds = 0;
  std::int64_t systems_failed = 0, newton_failed = 0, contact_failed = 0; ///< steps
  // NaN is the worst of all
  double worst_residual = 0, worst_contact_residual = 0, worst_contact_depth = 0;
  double worst_penetration = 0, worst_complementarity = 0, worst_friction = 0; ///< m
};

} // namespace ossatura
