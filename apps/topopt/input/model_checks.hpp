// SPDX-License-Identifier: Apache-2.0
// These checks refuse models of topology optimisation that no design has an answer for, and tell of
// numbers in a likely wrong unit. All throw InputError, naming the document's file and the remedy.
#pragma once

#include "apps/topopt/input/model.hpp"

#include <string>

namespace ossatura {

/// Of numbers whose products are numbers; gravity and rotation need mass, and temperatures a
/// material that expands.
void check_loads(const ProblemDocument& document, const TopoptModel& model);

/// That the body cannot move; tells of meshes whose parts are not joined.
void check_supports(const ProblemDocument& document, const TopoptModel& model);

/// Frequencies need mass, and no more of them are there than components; tells of masses in another
/// unit, also without frequencies.
void check_frequencies(const ProblemDocument& document, const TopoptModel& model);

/// The least compliance of material that nothing loads but its temperature, or its mass, is none.
void warn_of_no_other_loads(const ProblemDocument& document, const TopoptModel& model);

/// What is of one grid is refused on the other; `file` is the problem's.
void require_known_on_grid(const std::string& file, const TopoptModel& model);

} // namespace ossatura
