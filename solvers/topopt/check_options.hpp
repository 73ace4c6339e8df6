// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <string>

namespace ossatura {

/// Returns the options; throws std::invalid_argument, with the reason, where they make no sense.
const DesignOptions& checked(const DesignOptions& options);

/// Why designs cannot be robust with these, or empty where they can or need not be.
std::string describe_not_robust(const DesignProblem& problem, const DesignOptions& options);

} // namespace ossatura
