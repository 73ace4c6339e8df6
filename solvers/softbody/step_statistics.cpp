// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/step_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ossatura {

namespace {

void keep_worse(double& worst, double value) {
  if (value > worst || std::isnan(value))
    worst = value;
}

} // namespace

Spread spread_of(std::vector<double> values) {
  Spread spread;
  if (values.empty())
    return spread;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / double(n);
  spread.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  spread.maximum = values.back();
  return spread;
}

void StepTotals::add(const SoftStep& step) {
  iterations += step.iterations;
  newton_iterations += step.newton_iterations;
  refreshes += step.refreshed;
  halved += step.halvings > 0;
  most_iterations = std::max(most_iterations, step.iterations);
  most_stale = std::max(most_stale, step.staleness);
  most_contacts = std::max(most_contacts, step.contacts);
  most_inverted = std::max(most_inverted, step.inverted);
  keep_worse(worst_residual, step.residual);
  keep_worse(worst_contact_residual, step.contact_residual);
  keep_worse(worst_contact_depth, step.contact_depth);
  keep_worse(worst_penetration, step.penetration);
  keep_worse(worst_complementarity, step.complementarity);
  keep_worse(worst_friction, step.friction);
  most_contact_rounds = std::max(most_contact_rounds, step.contact_rounds);
  systems_failed += !step.systems_converged;
  newton_failed += !step.newton_converged;
  contact_failed += !step.contact_converged;
}

} // namespace ossatura
