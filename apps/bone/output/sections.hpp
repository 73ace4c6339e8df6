// SPDX-License-Identifier: Apache-2.0
// Section forces by the labels of the mask, as a part of the table, of the summary, and as a file.
#pragma once

#include "apps/driver/output/table.hpp"
#include <ossatura/solvers/bone/results/labels.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace ossatura {

void add_sections(Table& table, const SectionForces& sections);

nlohmann::ordered_json sections_json(const SectionForces& sections);

/// A line for each layer, with numbers that can be read back exactly. Throws InputError where
/// `path` cannot be written.
void write_sections(const std::string& path, const SectionForces& sections);

} // namespace ossatura
