// SPDX-License-Identifier: Apache-2.0
// read_problem reads problems of topology optimisation from JSON; docs/topopt/ has the keys.
#pragma once

#include "apps/topopt/input/problem_document.hpp"

namespace ossatura {

class JsonPlace;

/// Reads the file at `path`; a mesh named there is looked for beside it and not opened yet. Throws
/// InputError naming the file, the place in it and the remedy: for text that is not JSON, unknown
/// and missing keys, wrong types and numbers out of range.
ProblemDocument read_problem(const std::string& path);

/// Parts of it that stand in files of their own: which nodes and elements, what acts on them, and
/// how the design is found.
HexaSource read_hexa_source(const JsonPlace& place, const std::string& directory);
void read_loading(const JsonPlace& place, ProblemDocument& problem);
/// The keys of the whole document that are options.
std::vector<std::string> design_keys();
void read_design(const JsonPlace& place, ProblemDocument& problem);

} // namespace ossatura
