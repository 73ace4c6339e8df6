// SPDX-License-Identifier: Apache-2.0
// find_loaded_hinge looks for elements that touch others along an edge or in a corner alone, and
// that a load turns about it.
#pragma once

#include <ossatura/solvers/topopt/part/remaining_parts.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ossatura {

struct LoadedHinge {
  CutNode::Use use;
  std::size_t which; ///< load case of a force or a weight, or number of a limit
  std::int32_t node; ///< of the hinge
};

/// Blocks of elements that faces join, void ones left out, are taken for rigid: what they share,
/// rigid bodies, supports and springs are to hold them all. The first load, output or limited
/// displacement that does work in a motion which these leave free; a motion without work, as of
/// specks of an image at a corner of the body, is none. Where more than a hundred blocks that are
/// not held by themselves hang on one another nothing is said of them.
std::optional<LoadedHinge> find_loaded_hinge(const DesignProblem& problem);

} // namespace ossatura
