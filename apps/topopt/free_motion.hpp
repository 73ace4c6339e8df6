// SPDX-License-Identifier: BSD-3-Clause
// Whether supports hold a body.
#pragma once

#include "solvers/design_problem.hpp"

#include <string>

namespace femura {

/// Empty if held nodes and springs let no part of the mesh move as a rigid body; else what can
/// move, in words. Parts are elements that share nodes.
std::string describe_free_motion(const DesignProblem& problem);

} // namespace femura
