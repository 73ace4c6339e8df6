// SPDX-License-Identifier: Apache-2.0
// The reader takes materials from an Ansys archive.
#include <ossatura/core/io/ansys/reader.hpp>

#include <algorithm>
#include <iterator>

namespace ossatura {

namespace {

bool is_read(const std::string& label) {
  return label == "EX" || label == "PRXY" || label == "NUXY" || label == "DENS";
}

} // namespace

void AnsysReader::set_property(const std::string& label, std::int64_t material, double value) {
  constexpr std::string_view other_axes[] = {"EY",   "EZ",   "GXY",  "GYZ",  "GXZ", "PRYZ",
                                             "PRXZ", "NUYZ", "NUXZ", "NUYX", "GZX"};
  constexpr std::string_view expansions[] = {"ALPX", "CTEX", "THSX", "ALPY", "ALPZ"};
  Material& properties = materials_[material];
  if (label == "EX") {
    if (!(value > 0))
      text_.bad("a modulus of ", value, " is not positive");
    properties.young = value;
    properties.has_young = true;
  } else if (label == "PRXY" || label == "NUXY") {
    if (!(value > -1 && value < 0.5))
      text_.bad("a Poisson's ratio of ", value, " is not above -1 and below 0.5");
    properties.poisson = value;
    properties.has_poisson = true;
  } else if (label == "DENS") {
    if (!(value >= 0))
      text_.bad("a density of ", value, " is negative");
    properties.density = value;
  } else if (std::find(std::begin(other_axes), std::end(other_axes), label) !=
             std::end(other_axes)) {
    text_.bad("the property ", label, ": materials that differ by direction are not solved");
  } else if (std::find(std::begin(expansions), std::end(expansions), label) !=
             std::end(expansions)) {
    properties.expands = properties.expands || value != 0;
  } else if (label == "REFT") {
    properties.reference_temperature = value;
  }
}

void AnsysReader::read_property() {
  const std::string label = text_.field(1);
  std::int64_t material = 1;
  text_.number(2, material, "the number of a material");
  double value = 0;
  if (label != "UVID") // a name for other programs
    text_.number(3, value, "a property");
  const bool matters = is_read(label);
  for (std::size_t i = 4; matters && i < text_.num_fields(); ++i) {
    double slope = 0;
    text_.number(i, slope, "a coefficient");
    if (slope != 0)
      text_.bad("properties that depend on temperature are not solved");
  }
  set_property(label, material, value);
}

void AnsysReader::read_property_table() {
  // MPDATA,label,material,start,... or MPDATA,R5.0,count,label,...
  const std::size_t shift = text_.field(1).substr(0, 1) == "R" ? 2 : 0;
  const std::string label = text_.field(1 + shift);
  std::int64_t material = 1, start = 1;
  text_.number(2 + shift, material, "the number of a material");
  text_.number(3 + shift, start, "the first place in the table");
  double value = 0;
  text_.number(4 + shift, value, "a property");
  const bool matters = is_read(label);
  if (matters && (start != 1 || !text_.blank(5 + shift)))
    text_.bad("properties that depend on temperature are not solved; keep one value");
  set_property(label, material, value);
}

void AnsysReader::require_no_expansion() {
  for (const std::int64_t number : used_materials_) {
    const Material& material = materials_[number];
    const double reference = material.reference_temperature.value_or(reference_temperature_);
    std::vector<double> temperatures = temperatures_;
    if (temperatures.empty())
      temperatures.push_back(reference_temperature_);
    for (const double temperature : temperatures)
      if (material.expands && !(temperature == reference))
        fail<InputError>(parts_.path, ": material ", number, " expands (MP,ALPX) from ", reference,
                         " (TREF, MP,REFT) to a temperature of ", temperature,
                         ": expansion by temperature is read from decks of Abaqus alone; remove "
                         "ALPX, or BFUNIF");
  }
}

void AnsysReader::finish_materials() {
  require_no_expansion();
  const bool none = std::none_of(materials_.begin(), materials_.end(),
                                 [](const auto& entry) { return entry.second.has_young; });
  if (none)
    return;
  double density = 0; // of all, as their modulus
  std::string name;
  for (const std::int64_t number : used_materials_) {
    const Material material = materials_[number];
    if (!material.has_young || !material.has_poisson)
      fail<InputError>(parts_.path, ": material ", number,
                       " has no modulus (MP,EX) or no Poisson's ratio (MP,PRXY)");
    if (parts_.young != 0 && (material.young != parts_.young ||
                              material.poisson != parts_.poisson || material.density != density))
      fail<InputError>(parts_.path, ": material ", number,
                       " differs from another; one material is solved");
    parts_.young = material.young;
    parts_.poisson = material.poisson;
    density = material.density;
    name = "MATERIAL " + std::to_string(number);
  }
  if (density > 0)
    parts_.materials = {{name, parts_.young, parts_.poisson, density}};
}

} // namespace ossatura
