// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/pistoia.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/bone/statistics.hpp>

namespace ossatura {

std::optional<PistoiaResult> pistoia(std::vector<double>& effective_strain,
                                     const PistoiaOptions& options) {
  OSSATURA_REQUIRE(options.volume > 0 && options.volume < 1, "volume fraction " << options.volume);
  PistoiaResult result;
  result.strain_at_volume = quantiles(effective_strain, {1 - options.volume}).front();
  if (!(result.strain_at_volume > 0))
    return {};
  result.factor = options.critical_strain / result.strain_at_volume;
  return result;
}

std::optional<FailureEstimate> estimate_failure(std::vector<double>& effective_strain,
                                                const TestResponse& response,
                                                const PistoiaOptions& criterion) {
  const std::optional<PistoiaResult> found = pistoia(effective_strain, criterion);
  if (!found)
    return {};
  FailureEstimate failure{criterion, *found, {}, {}};
  if (response.force)
    failure.force = *response.force * found->factor;
  if (response.moment)
    failure.moment = *response.moment * found->factor;
  return failure;
}

} // namespace ossatura
