// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/step_statistics.hpp"

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

Spread spread_of(const SoftbodyRunResults& results, const StepPhase& phase) {
  std::vector<double> seconds;
  for (const SoftStepRecord& record : results.steps)
    seconds.push_back(record.step.*phase.seconds);
  return spread_of(std::move(seconds));
}

StepTotals totals_of(const SoftbodyRunResults& results) {
  StepTotals totals;
  for (const SoftStepRecord& record : results.steps) {
    const SoftStep& step = record.step;
    totals.iterations += step.iterations;
    totals.newton_iterations += step.newton_iterations;
    totals.refreshes += step.refreshed;
    totals.halved += step.halvings > 0;
    totals.most_iterations = std::max(totals.most_iterations, step.iterations);
    totals.most_stale = std::max(totals.most_stale, step.staleness);
    totals.most_contacts = std::max(totals.most_contacts, step.contacts);
    totals.most_inverted = std::max(totals.most_inverted, step.inverted);
    keep_worse(totals.worst_residual, step.residual);
    keep_worse(totals.worst_contact_residual, step.contact_residual);
    keep_worse(totals.worst_penetration, step.penetration);
    keep_worse(totals.worst_complementarity, step.complementarity);
    keep_worse(totals.worst_friction, step.friction);
    totals.most_contact_rounds = std::max(totals.most_contact_rounds, step.contact_rounds);
    totals.systems_failed += !step.systems_converged;
    totals.newton_failed += !step.newton_converged;
    totals.contact_failed += !step.contact_converged;
  }
  return totals;
}

} // namespace ossatura
