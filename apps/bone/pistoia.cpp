// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/pistoia.hpp"

#include "apps/bone/statistics.hpp"
#include <ossatura/core/base/require.hpp>

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

} // namespace ossatura
