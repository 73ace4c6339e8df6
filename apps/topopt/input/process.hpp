// SPDX-License-Identifier: Apache-2.0
// The process that a part is to be made by, as problems and options state it.
#pragma once

#include "apps/topopt/input/problem_document.hpp"

#include <string>

namespace CLI {
class App;
}

namespace ossatura {

class JsonPlace;

/// Reads "manufacturing".
void read_process(const JsonPlace& place, ProblemDocument& problem);

/// Adds the options, which win over the problem one by one.
void add_process_options(CLI::App& app, Changes<DesignOptions>& changes);

/// "+z", "-z".
std::string process_axis_text(const ProcessAxis& axis);
/// In words, for the table: "extruded along z, symmetric about x = 0.5 m".
std::string process_text(const DesignProcess& process);

} // namespace ossatura
