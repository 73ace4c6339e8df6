// SPDX-License-Identifier: Apache-2.0
// Options that go with each other and with the problem.
#pragma once

#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <string>

namespace ossatura {

/// Returns the options; throws std::invalid_argument, with the reason, where they make no sense.
const DesignOptions& checked(const DesignOptions& options);

/// Why designs cannot be robust with these, or empty where they can or need not be.
std::string describe_not_robust(const DesignProblem& problem, const DesignOptions& options);

/// The density, from 0 to 1, up to which the projection that a design begins with is not so flat
/// that no change is felt: 1 without one, and with one that is not sharp.
double most_first_density(const DesignOptions& options);

/// Whether more material is never worse, but for limits beside the volume, so that the best design
/// has all of it that it may: least compliance under given forces and displacements.
bool wants_volume(const DesignProblem& problem, const DesignOptions& options);

/// Sets `method` and `move` to what suits a problem that is designed with `objective`, `process`
/// and `robust` of the options, as `ossatura topopt` does where neither is said. Other options
/// stay.
void choose_method(const DesignProblem& problem, DesignOptions& options);

} // namespace ossatura
