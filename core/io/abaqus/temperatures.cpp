// SPDX-License-Identifier: Apache-2.0
// The reader turns temperatures of an Abaqus file into how much warmer nodes are than at first.
// With the constant coefficient of expansion a of a material the strain of an element is
//
//   a (T - T_zero) - a (T_0 - T_zero) = a (T - T_0),
//
// T_0 the initial temperature: the ZERO of *EXPANSION has no effect.
#include <ossatura/core/io/abaqus/reader.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

void AbaqusReader::read_expansion() {
  if (material_.empty())
    text_.bad(text_.keyword().written, " belongs to no *MATERIAL");
  Material& material = materials_[material_];
  material.expansion = 0;
  material.bad_expansion.clear();
  try {
    material.expansion = take_expansion();
  } catch (const InputError& error) { // which matters where there are temperatures alone
    material.bad_expansion = error.what();
    pass_over();
  }
}

double AbaqusReader::take_expansion() {
  text_.require_params({"TYPE", "ZERO"});
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* type = keyword.find("TYPE");
  if (type != nullptr && *type != "ISO" && *type != "ISOTROPIC")
    text_.bad("expansion of type ", printable_word(*type), " is not solved; isotropic is");
  double expansion = 0, temperature = 0;
  if (!text_.next_row() || !text_.number(expansion))
    text_.bad_field("a coefficient of expansion is expected");
  if (!text_.number_or_blank(temperature))
    text_.bad_field("the temperature of the coefficient is expected, or nothing");
  if (text_.more())
    text_.bad_field("the end of the row is expected, since expansion is the same in all "
                    "directions");
  if (text_.next_row())
    text_.bad("expansion that depends on temperature is not solved; keep one row, with the mean "
              "coefficient between the temperatures");
  return expansion;
}

void AbaqusReader::read_initial_conditions() {
  const AbaqusKeyword& keyword = text_.keyword();
  const std::string* type = keyword.find("TYPE");
  if (type == nullptr || *type != "TEMPERATURE")
    text_.bad(keyword.written, " of type ", type == nullptr ? "none" : printable_word(*type),
              " are not solved; TEMPERATURE is");
  text_.require_params({"TYPE"});
  if (num_steps_ > 0)
    text_.bad(keyword.written, " stands behind steps; write it before them");
  take_temperatures(initial_temperature_);
}

void AbaqusReader::read_temperatures() {
  const AbaqusKeyword& keyword = text_.keyword();
  for (const char* other : {"AMPLITUDE", "TIMEDELAY", "USER", "SUBMODEL", "FILE", "BSTEP"})
    if (keyword.has(other))
      text_.bad("temperatures by ", other, " are not read; write them by node or set");
  text_.require_params({"OP"});
  if (!in_step_)
    text_.bad(keyword.written, " stands in no step");
  refuse_loads_of_frequencies();
  if (perturbation_)
    text_.bad("temperatures in a step with PERTURBATION are not solved; write a general step, "
              "with OP=NEW for loads of its own");
  if (is_new() && !has_temperatures_) // the first of a step decides [2]
    temperature_.clear();
  has_temperatures_ = true;
  take_temperatures(temperature_);
}

void AbaqusReader::take_temperatures(std::vector<double>& of_node) {
  of_node.resize(nodes_.size(), std::nan(""));
  Members one;
  while (text_.next_row()) {
    const Members* nodes = text_.pass_blank() ? nullptr : &take_nodes(one);
    double temperature = 0, gradient = 0;
    if (!text_.number(temperature))
      text_.bad_field("a temperature is expected");
    while (text_.more()) {
      if (!text_.number_or_blank(gradient))
        text_.bad_field("the end of the row is expected");
      if (gradient != 0)
        text_.bad("a gradient of ", gradient, " is of shells and beams; leave it out");
    }
    if (nodes == nullptr)
      std::fill(of_node.begin(), of_node.end(), temperature);
    else
      for (const std::int32_t n : *nodes)
        of_node[std::size_t(n)] = temperature;
  }
}

std::vector<double> AbaqusReader::warming_of_step() const {
  std::vector<double> warming(temperature_.size());
  bool is_warm = false;
  for (std::size_t n = 0; n < temperature_.size() && !perturbation_; ++n) {
    if (std::isnan(temperature_[n]))
      continue;
    if (n >= initial_temperature_.size() || std::isnan(initial_temperature_[n]))
      text_.bad(parts_.node_name(n), " has a temperature, but none at first; give *INITIAL "
                                     "CONDITIONS, TYPE=TEMPERATURE, of all nodes");
    warming[n] = temperature_[n] - initial_temperature_[n];
    if (!std::isfinite(warming[n]))
      text_.bad(parts_.node_name(n), " is warmer by ", warming[n]);
    is_warm = is_warm || warming[n] != 0;
  }
  if (!is_warm)
    warming.clear();
  return warming;
}

void AbaqusReader::refuse_bad_expansion() const {
  for (const HexaCase& one : parts_.cases)
    for (const std::string& name : sectioned_)
      if (const Material& material = materials_.at(name);
          !one.warming.empty() && !material.bad_expansion.empty())
        throw InputError(material.bad_expansion);
}

} // namespace ossatura
