// SPDX-License-Identifier: Apache-2.0
// These functions add kinds of options that CLI11 does not have in the form needed here. Only files
// that register options include this header: CLI11 is heavy.
#pragma once

#include "apps/driver/options/named_values.hpp"
#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ossatura {

/// An option with one of a few named values, given to `assign`; another name is an error that lists
/// them. `chosen` is the name of the default.
template<class Value, class Assign>
CLI::Option* add_choice_of(CLI::App& app, const std::string& name,
                           const NamedValues<Value>& choices, const std::string& chosen,
                           const std::string& description, Assign assign) {
  std::vector<std::string> names;
  for (const auto& choice : choices)
    names.emplace_back(choice.first);
  const std::string listed = joined(names, "|");
  const auto parse = [=](const CLI::results_t& results) {
    const auto place = std::find(names.begin(), names.end(), results.at(0));
    if (place == names.end())
      throw CLI::ValidationError(name, "'" + results.at(0) + "' is not one of " + listed +
                                           did_you_mean(results.at(0), names));
    assign(choices[std::size_t(place - names.begin())].second);
    return true;
  };
  return app.add_option(name, parse, description)->type_name(listed)->default_str(chosen);
}

/// The same for a variable, whose present value is the default.
template<class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& target,
                        const NamedValues<Value>& choices, const std::string& description) {
  std::string chosen;
  for (const auto& [label, value] : choices)
    if (value == target)
      chosen = label;
  return add_choice_of(app, name, choices, chosen, description,
                       [&target](const Value& value) { target = value; });
}

/// An option that may be repeated, or is a list in a configuration file. `parse(arguments)` takes
/// all of them and throws std::invalid_argument with what it expects.
template<class Parse>
CLI::Option* add_repeated(CLI::App& app, const std::string& name, const std::string& type,
                          const std::string& description, Parse parse) {
  const auto checked = [name, parse](const CLI::results_t& results) {
    try {
      parse(std::vector<std::string>(results));
    } catch (const std::invalid_argument& error) {
      throw CLI::ValidationError(name, error.what());
    }
    return true;
  };
  return app.add_option(name, checked, description)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// The same, with values that are separated by commas in one argument: "64,64,32".
template<class Parse>
CLI::Option* add_list(CLI::App& app, const std::string& name, const std::string& type,
                      const std::string& description, Parse parse) {
  return add_repeated(app, name, type, description,
                      [parse](const std::vector<std::string>& arguments) {
                        std::vector<std::string> items;
                        for (const std::string& argument : arguments)
                          for (const std::string& item : split_list(argument, ','))
                            items.push_back(item);
                        parse(items);
                      });
}

} // namespace ossatura
