// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/sections.hpp"

#include <ossatura/core/base/exact_digits.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

const char* const ends[] = {"lower", "middle", "upper"};

/// The part of a label in the force through a layer.
double share_of(const SectionForces& sections, int layer, std::size_t label) {
  const double force = sections.label_force(layer, label);
  return force == 0 ? 0 : force / sections.force[std::size_t(layer)]; // without a sign
}

} // namespace

void add_sections(Table& table, const SectionForces& sections) {
  if (sections.begin >= sections.end)
    return;
  table.section("Share of the axial force by label (sections between the plates)");
  std::vector<std::string> heads = {"label"};
  for (const int layer : sections.shown())
    heads.push_back(std::string(1, "xyz"[sections.axis]) + " = " +
                    format_number(sections.position[std::size_t(layer)], 4) + " mm");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < sections.labels.size(); ++k) {
    rows.push_back({std::to_string(sections.labels[k])});
    for (const int layer : sections.shown())
      rows.back().push_back(format_number(share_of(sections, layer, k), 4));
  }
  table.columns(heads, rows);
}

Json sections_json(const SectionForces& sections) {
  Json json = {{"axis", std::string(1, "xyz"[sections.axis])},
               {"reaction", sections.reaction},
               {"first_free", sections.begin},
               {"last_free", sections.end - 1},
               {"position", sections.position},
               {"force", sections.force},
               {"labels", Json::object()}};
  for (std::size_t k = 0; k < sections.labels.size(); ++k) {
    std::vector<double> force;
    for (std::size_t layer = 0; layer < sections.force.size(); ++layer)
      force.push_back(sections.label_force(int(layer), k));
    json["labels"][std::to_string(sections.labels[k])] = force;
  }
  if (sections.begin < sections.end)
    for (std::size_t e = 0; e < 3; ++e)
      for (std::size_t k = 0; k < sections.labels.size(); ++k)
        json["share"][ends[e]][std::to_string(sections.labels[k])] =
            share_of(sections, sections.shown()[e], k);
  return json;
}

void write_sections(const std::string& path, const SectionForces& sections) {
  std::string text = "layer,position,is_free,force";
  for (const int label : sections.labels)
    text += ",label_" + std::to_string(label);
  text += '\n';
  for (std::size_t layer = 0; layer < sections.force.size(); ++layer) {
    const bool is_free = sections.begin <= int(layer) && int(layer) < sections.end;
    text += std::to_string(layer) + "," + exact_digits(sections.position[layer]) + "," +
            (is_free ? "1" : "0") + "," + exact_digits(sections.force[layer]);
    for (std::size_t k = 0; k < sections.labels.size(); ++k)
      text += "," + exact_digits(sections.label_force(int(layer), k));
    text += '\n';
  }
  write_file(path, text);
}

} // namespace ossatura
