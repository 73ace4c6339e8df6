// SPDX-License-Identifier: Apache-2.0
// The materials of a design: what the elements of a problem are made of where they are solid.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <vector>

namespace ossatura {

/// Moduli of solid elements as parts of problem.young, [num_elem]; empty where all are 1. Throws
/// std::invalid_argument for another number of elements, materials that are not there and bad
/// numbers.
std::vector<double> relative_moduli(const DesignProblem& problem);

/// Mass densities of solid elements, [num_elem] kg / m^3. Throws std::invalid_argument, naming the
/// material and saying `why` mass counts, where one is not known.
std::vector<double> mass_densities(const DesignProblem& problem,
                                   const char* why = "gravity and rotation act on mass");

/// Coefficients of expansion, [num_elem] 1 / K. Throws std::invalid_argument where there are no
/// materials, one has no finite coefficient, or none expands.
std::vector<double> expansions(const DesignProblem& problem);

/// Throws std::invalid_argument, naming the materials, where Poisson's ratios differ, for bodies
/// that do not know this.
void require_one_poisson(const DesignProblem& problem);

} // namespace ossatura
