// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/pistoia.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>

namespace ossatura {

template<class Exec>
std::optional<PistoiaResult> pistoia(const Exec& exec, const Array<float, Exec>& effective_strain,
                                     const PistoiaOptions& options, const Communicator& comm) {
  OSSATURA_REQUIRE(options.volume > 0 && options.volume < 1, "volume fraction " << options.volume);
  PistoiaResult result;
  result.strain_at_volume = quantiles(exec, effective_strain, {1 - options.volume}, comm).front();
  if (!(result.strain_at_volume > 0))
    return {};
  result.factor = options.critical_strain / result.strain_at_volume;
  return result;
}

template<class Exec>
std::optional<FailureEstimate>
estimate_failure(const Exec& exec, const Array<float, Exec>& effective_strain,
                 const std::optional<TestResponse>& response, const PistoiaOptions& criterion,
                 const Communicator& comm) {
  const std::optional<PistoiaResult> found = pistoia(exec, effective_strain, criterion, comm);
  if (!found)
    return {};
  FailureEstimate failure{criterion, *found, {}, {}};
  if (response && response->force)
    failure.force = *response->force * found->factor;
  if (response && response->moment)
    failure.moment = *response->moment * found->factor;
  return failure;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::optional<PistoiaResult> pistoia(const Exec&, const Array<float, Exec>&,            \
                                                const PistoiaOptions&, const Communicator&);       \
  template std::optional<FailureEstimate> estimate_failure(                                        \
      const Exec&, const Array<float, Exec>&, const std::optional<TestResponse>&,                  \
      const PistoiaOptions&, const Communicator&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
