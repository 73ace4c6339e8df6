// SPDX-License-Identifier: Apache-2.0
// These functions parse the small notations of `ossatura bone` options. Errors are
// std::invalid_argument.
#pragma once

#include "apps/bone/input/options.hpp"

#include <string>
#include <utility>

namespace ossatura {

/// WHERE:COMPONENTS[=VALUE], such as "z+:z=-0.1", "z-:xyz", "label:3:xyz", "line:5/y:xz" or
/// "10/12/0:x=5": WHERE is a side of the image (x-, x+, ..., z+), label:NUMBER, line:LABEL/AXIS,
/// which no force is on, or a node X/Y/Z. The value is 0 where it may be and is left out.
NodalCondition parse_condition(const std::string& text, bool value_required);

/// LABEL=MPA[:POISSON], such as "1=17000:0.3".
std::pair<int, LabelEntry> parse_label(const std::string& text);

/// VOXELS=MPA, a layer of a laminate.
std::pair<int, double> parse_layer(const std::string& text);

/// --centre: "box", "mass" or three numbers. Throws std::invalid_argument for others.
TurnCentre parse_centre(const std::vector<std::string>& items);

} // namespace ossatura
