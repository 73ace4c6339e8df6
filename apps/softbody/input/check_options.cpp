// SPDX-License-Identifier: Apache-2.0
// These checks refuse combinations of options that contradict each other, and say what to do
// instead.
#include "apps/driver/options/check.hpp"
#include "apps/softbody/input/options.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <CLI/CLI.hpp>

#include <cmath>

namespace ossatura {

namespace {

void require_tolerance(const char* option, double value) {
  if (!(value > 0 && value < 1))
    fail<UsageError>(option, ' ', value, ": greater than 0 and less than 1, such as 1e-9");
}

void check_numbers(const SoftbodyCommandOptions& options) {
  const SoftOptions o = options.changes.applied(); // defaults are in range
  if (!(o.time_step > 0 && std::isfinite(o.time_step)))
    fail<UsageError>("--time-step ", o.time_step, ": seconds, greater than 0");
  require_at_least("--steps", options.steps.value_or(1), 1);
  require_at_least("--newton", o.newton_iterations, 1);
  require_tolerance("--newton-tolerance", o.newton_tolerance);
  require_tolerance("--tolerance", o.tolerance);
  require_tolerance("--contact-tolerance", o.contact_tolerance);
  require_at_least("--max-iterations", o.max_iterations, 1);
  require_at_least("--contact-iterations", o.contact_iterations, 1);
  require_at_least("--batch", o.batch, 0);
  require_at_least("--bands", o.bands, 0);
  if (o.bands > max_inverse_bands)
    fail<UsageError>("--bands ", o.bands, ": at most ", max_inverse_bands);
  require_at_least("--refresh-after", o.refresh_after, 1);
  require_at_least("--max-halvings", o.max_halvings, 0);
  if (o.max_halvings > 30)
    fail<UsageError>("--max-halvings ", o.max_halvings, ": at most 30");
}

} // namespace

bool is_cohort(const SoftbodyCommandOptions& options) {
  return options.scenes.size() > 1 || options.skip_complete;
}

void check_softbody_options(const CLI::App& app, const SoftbodyCommandOptions& o) {
  if (o.scenes.empty())
    fail<UsageError>("no scene: give a JSON FILE");
  check_cohort_options(app, o.scenes, o.skip_complete, o.common);
  if (const int num_ranks = Communicator::world().size(); num_ranks > 1 && !is_cohort(o))
    fail<UsageError>("ossatura softbody runs a scene in one process, and a launcher started ",
                     num_ranks, ": give several scenes, or start one");
  check_numbers(o);
  check_step_files(app, o, o.common);
  const bool factors = o.changes.applied().preconditioner == SoftPreconditioner::ldlt;
  require_effect(app, {{"--refresh", factors, "--preconditioner ldlt"},
                       {"--refresh-after", factors, "--preconditioner ldlt"},
                       {"--factor", factors, "--preconditioner ldlt"},
                       {"--apply", factors, "--preconditioner ldlt"},
                       {"--factor-storage", factors, "--preconditioner ldlt"},
                       {"--bands", factors, "--preconditioner ldlt"},
                       {"--warp", factors, "--preconditioner ldlt"},
                       {"--seed", false, "anything random, which a scene has not"}});
}

} // namespace ossatura
