// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/check_options.hpp>

#include <ossatura/solvers/topopt/limits/limits.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

void check_continuation(const Continuation& c, double least, const char* what) {
  OSSATURA_REQUIRE(c.start >= least && std::isfinite(c.start) && c.end >= c.start &&
                       std::isfinite(c.end),
                   what << " from " << c.start << " to " << c.end);
  OSSATURA_REQUIRE(c.every >= 0, what << " grows every " << c.every << " steps");
  OSSATURA_REQUIRE(c.every == 0 || c.end == c.start || c.start * c.factor + c.increment > c.start,
                   what << " does not grow: factor " << c.factor << ", increment " << c.increment);
}

} // namespace

double most_first_density(const DesignOptions& options) {
  if (!options.projection)
    return 1;
  constexpr double flat = 6; // of the slope at the threshold cosh(6)^-2 is left, 2.5e-5
  return std::min(1.0, options.threshold + flat / options.sharpness.start);
}

const DesignOptions& checked(const DesignOptions& o) {
  OSSATURA_REQUIRE(o.volume_fraction > 0 && o.volume_fraction < 1,
                   "a volume fraction of " << o.volume_fraction);
  OSSATURA_REQUIRE(o.min_modulus > 0 && o.min_modulus < 1, "a least modulus of " << o.min_modulus);
  OSSATURA_REQUIRE(o.radius >= 0 && std::isfinite(o.radius), "a filter of radius " << o.radius);
  OSSATURA_REQUIRE(o.move > 0 && o.move <= 1, "a move limit of " << o.move);
  OSSATURA_REQUIRE(o.start >= 0 && o.start <= 1, "a first density of " << o.start);
  OSSATURA_REQUIRE(o.change_tolerance >= 0 && o.max_steps >= 0,
                   "change " << o.change_tolerance << ", " << o.max_steps << " steps");
  OSSATURA_REQUIRE(o.objective_change >= 0 && o.objective_change < 1,
                   "a change of the objective of " << o.objective_change);
  check_continuation(o.penalty, 1, "the penalty");
  if (o.sharpens())
    check_continuation(o.sharpness, 1e-6, "the sharpness");
  if (o.projection) {
    OSSATURA_REQUIRE(o.threshold >= 0 && o.threshold <= 1, "a threshold of " << o.threshold);
    OSSATURA_REQUIRE(o.filter != DesignFilter::sensitivity,
                     "projection is of filtered densities: density or Helmholtz filter");
    // A twentieth of that slope: designs of least volume, which begin above the best one, stay.
    const double flat = o.threshold + 7.5 / o.sharpness.start;
    OSSATURA_REQUIRE(o.objective != DesignObjective::volume || o.start <= flat,
                     "at a first density of "
                         << o.start << " the projection of sharpness " << o.sharpness.start
                         << " is flat, and no change of it is felt: begin with "
                            "a smaller sharpness, which grows (1:64:40:x2), or "
                            "with a density of at most "
                         << most_first_density(o));
  }
  const std::string conflict = describe_conflict(o.process);
  OSSATURA_REQUIRE(conflict.empty(), conflict);
  OSSATURA_REQUIRE(!o.process.shapes() || o.filter != DesignFilter::sensitivity,
                   "draw and overhang make densities of filtered ones: take the filter density");
  OSSATURA_REQUIRE(!o.process.draw || !o.projection,
                   "draw makes densities of 0 and 1 itself: leave the projection out");
  return o;
}

std::string describe_not_robust(const DesignProblem& problem, const DesignOptions& o) {
  if (o.robust == 0)
    return {};
  if (!o.projection)
    return "its three designs are projections of one: take the projection";
  if (!(o.robust > 0 && o.threshold - o.robust > 0 && o.threshold + o.robust < 1))
    return "its thresholds, " + std::to_string(o.threshold) + " less and more " +
           std::to_string(o.robust) + ", are not between 0 and 1";
  if (o.filter == DesignFilter::none)
    return "without a filter its three designs are the same: take the filter density";
  // Where the eroded design changes with a variable the dilated one does not, and the other way
  // round: what one gains by the other is a ratio of what are both next to nothing.
  if (o.method != DesignMethod::mma)
    return "optimality criteria change a variable by the ratio of two gradients, which are of two "
           "designs here, so that designs fall apart: take the method mma, which is the default";
  // Where all loads are given forces or displacements, less material is never stiffer.
  if (o.objective != DesignObjective::compliance)
    return std::string("the objective is ") + name_of(o.objective) +
           ", of which the eroded design need not be the worst: take the least compliance";
  if (!problem.limits.empty())
    return "constraints beside the volume would be of three designs, and are not known so: leave "
           "them out";
  if (problem.has_body_loads())
    return "gravity and rotation grow with the material, so that the eroded design need not be the "
           "worst: leave them out";
  if (problem.has_temperatures())
    return "the forces of temperature grow with the material, so that the eroded design need not "
           "be the worst: leave temperatures out";
  if (o.process.overhang)
    return "overhang is not known of three designs: leave it out";
  return {};
}

bool wants_volume(const DesignProblem& problem, const DesignOptions& o) {
  return o.objective == DesignObjective::compliance && !problem.has_loads_of_design();
}

void choose_method(const DesignProblem& problem, DesignOptions& o) {
  const bool is_mechanism = o.objective == DesignObjective::mechanism;
  const bool is_frequency = o.objective == DesignObjective::frequency;
  // Optimality criteria take gradients of one sign, and what a support carries for its gradient
  // alone; designs that are printed come out 2 to 30 % stiffer by moving asymptotes, projected ones
  // by up to 14 %, and the others fell apart in one of eight cases (docs/performance/topopt.md).
  const bool by_asymptotes = is_mechanism || is_frequency ||
                             o.objective == DesignObjective::volume || !problem.limits.empty() ||
                             problem.has_loads_of_design() || o.process.overhang || o.projection;
  o.method = by_asymptotes ? DesignMethod::mma : DesignMethod::oc;
  o.move = is_mechanism   ? DesignOptions::mechanism().move
           : is_frequency ? move_with_frequency
                          : DesignOptions().move;
  for (const DesignLimit& limit : problem.limits)
    if (is_of_mean(limit.kind))
      o.move = std::min(o.move, limit.kind == DesignLimitKind::stress ? move_with_stress
                                                                      : move_with_frequency);
  if (o.robust > 0)
    o.move = move_of_robust;
}

} // namespace ossatura
