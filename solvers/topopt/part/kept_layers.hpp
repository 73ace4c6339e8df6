// SPDX-License-Identifier: Apache-2.0
// Layers of material that stay around supports and loads, as bolt holes and pads need them.
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Numbers, ascending, of the elements whose centres (means of their nodes) are at most `distance`
/// (m, positive, less rounding of 1e-9 of it) from one of the nodes.
std::vector<std::int32_t> elements_near(const DesignProblem& problem,
                                        const std::vector<std::int32_t>& nodes, double distance);

/// Nodes with a load, an output or a support, ascending and each once. `supported`: nodes that are
/// held otherwise than by mirrors; none where all supports count.
std::vector<std::int32_t> ends_of(const DesignProblem& problem,
                                  const std::vector<std::int32_t>& supported);

} // namespace ossatura
