// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/results.hpp"

#include <algorithm>
#include <cmath>

namespace ossatura {

std::string modelled_share(const std::vector<MirrorPlane>& mirrors) {
  int count[3] = {};
  for (const MirrorPlane& mirror : mirrors)
    if (++count[mirror.axis] > 1)
      return "part"; // images go on without end
  constexpr const char* share[4] = {"whole", "half", "quarter", "eighth"};
  return share[mirrors.size()];
}

int iterations_of(const DesignStep& step) {
  int sum = 0;
  for (const SolveResult& solve : step.solves)
    sum += solve.iterations;
  return sum;
}

double residual_of(const DesignStep& step) {
  double worst = 0;
  for (const SolveResult& solve : step.solves)
    if (solve.residual > worst || std::isnan(solve.residual))
      worst = solve.residual;
  return worst;
}

double seconds_of(const DesignStep& step) {
  return step.seconds_prepare + step.seconds_solve + step.seconds_gradient + step.seconds_update;
}

double compliance_of(const DesignProblem& problem, const DesignStep& step) {
  double sum = 0;
  for (std::size_t k = 0; k < step.cases.size(); ++k)
    sum += problem.cases[k].weight * step.cases[k];
  return sum;
}

namespace {

/// Calls visit(step) for every step, that of the final analysis included.
template<class Visit>
void for_each_analysis(const TopoptRunResults& results, const Visit& visit) {
  for (const DesignStep& step : results.steps)
    visit(step);
  if (results.final)
    visit(*results.final);
}

} // namespace

bool TopoptRunResults::holds_limits() const {
  return !final || (within_volume && std::all_of(final->limits.begin(), final->limits.end(),
                                                 [](const auto& one) { return one.holds(); }));
}

std::int64_t TopoptRunResults::iterations() const {
  std::int64_t sum = 0;
  for_each_analysis(*this, [&sum](const DesignStep& step) { sum += iterations_of(step); });
  return sum;
}

double TopoptRunResults::step_residual() const {
  double worst = 0;
  for (const DesignStep& step : steps)
    if (const double residual = residual_of(step); residual > worst || std::isnan(residual))
      worst = residual;
  return worst;
}

double TopoptRunResults::residual() const {
  return final ? residual_of(*final) : step_residual();
}

bool TopoptRunResults::fell_back() const {
  bool any = false;
  for_each_analysis(*this, [&any](const DesignStep& step) {
    for (const SolveResult& solve : step.solves)
      any = any || solve.fell_back;
  });
  return any;
}

std::optional<ComplianceRise> find_rise(const DesignProblem& problem, const DesignOptions& options,
                                        const TopoptRunResults& results) {
  const double much = options.robust > 0 || problem.has_loads_of_design() ? 100 : 2;
  if (options.objective != DesignObjective::compliance || !results.final)
    return {};
  const DesignStep& final = *results.final;
  const DesignStep* best = nullptr;
  for (const DesignStep& step : results.steps) {
    const bool is_allowed = step.volume <= options.volume_fraction * (1 + limit_tolerance) &&
                            std::all_of(step.limits.begin(), step.limits.end(),
                                        [](const auto& l) { return l.holds(); });
    if (is_allowed && step.penalty == final.penalty &&
        (best == nullptr || step.objective < best->objective))
      best = &step;
  }
  if (best == nullptr || !(best->objective > 0) || !(final.objective > much * best->objective))
    return {};
  return ComplianceRise{best->number, final.objective / best->objective,
                        final.sharpness > best->sharpness};
}

} // namespace ossatura
