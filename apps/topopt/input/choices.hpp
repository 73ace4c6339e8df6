// SPDX-License-Identifier: Apache-2.0
// Problems and options share these notations.
#pragma once

#include "apps/driver/options/changes.hpp"
#include <ossatura/solvers/topopt/options.hpp>

#include <string>

namespace ossatura {

/// Coarser grids at most; the coarsest of these has cubes 256 times as large.
inline constexpr int most_levels = 8;

/// A member of the solver's options within those of a design.
template<class... Members>
auto of_topopt_solver(Members... members) {
  return member_of(&DesignOptions::solver, members...);
}

/// "3", or "1:3:20:+0.5" (start, end, steps between changes, change) or "1:64:40:x2".
Continuation parse_continuation(const std::string& text); ///< throws std::invalid_argument
std::string continuation_text(const Continuation& continuation);

} // namespace ossatura
