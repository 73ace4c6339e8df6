// SPDX-License-Identifier: Apache-2.0
// These functions add kinds of options that CLI11 does not have in the form needed here. Only files
// that register options include this header: CLI11 is heavy.
#pragma once

#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/suggest.hpp"
#include <ossatura/core/base/names.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// `description`, and which of the choices are published methods that no default chooses.
template<class Value>
std::string with_published(const std::string& description, const Names<Value>& choices) {
  std::vector<std::string> published;
  for (const Named<Value>& choice : choices)
    if (choice.published)
      published.emplace_back(choice.name);
  return published.empty() ? description
                           : description + ". Published methods: " + joined(published, ", ");
}

/// An option with one of a few named values, given to `assign`; another name is an error that lists
/// them, published methods last. `chosen` is the name of the default.
template<class Value, class Assign>
CLI::Option* add_choice_of(CLI::App& app, const std::string& name, const Names<Value>& choices,
                           const std::string& chosen, const std::string& description,
                           Assign assign) {
  std::vector<std::string> names;
  for (const bool published : {false, true})
    for (const Named<Value>& choice : choices)
      if (choice.published == published)
        names.emplace_back(choice.name);
  const std::string listed = joined(names, "|");
  const auto parse = [=](const CLI::results_t& results) {
    for (const Named<Value>& choice : choices)
      if (results.at(0) == choice.name) {
        assign(choice.value);
        return true;
      }
    throw CLI::ValidationError(name, "'" + results.at(0) + "' is not one of " + listed +
                                         did_you_mean(results.at(0), names));
  };
  return app.add_option(name, parse, description)->type_name(listed)->default_str(chosen);
}

/// The same for a variable, whose present value is the default.
template<class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Value& target,
                        const std::string& description,
                        const Names<Value>& choices = name_table<Value>) {
  const char* chosen = choices.find(target);
  return add_choice_of(app, name, choices, chosen == nullptr ? "" : chosen,
                       with_published(description, choices),
                       [&target](const Value& value) { target = value; });
}

/// The same for a variable that may stay empty; `nothing`, if given, is the name of that choice.
template<class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::optional<Value>& target,
                        const std::string& description, const char* nothing = nullptr) {
  Names<std::optional<Value>> choices;
  if (nothing != nullptr)
    choices.add({std::nullopt, nothing});
  for (const Named<Value>& choice : name_table<Value>)
    choices.add({choice.value, choice.name, choice.published});
  return add_choice(app, name, target, description, choices);
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

/// An option with an argument of its own form, given once: a second one would take the place of the
/// first unseen. `parse(argument)` throws std::invalid_argument with what it expects.
template<class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, const std::string& type,
                        const std::string& description, Parse parse) {
  return add_repeated(app, name, type, description,
                      [parse](const std::vector<std::string>& arguments) {
                        if (arguments.size() > 1)
                          throw std::invalid_argument(
                              "it is there more than once: " + joined(arguments, " and ") +
                              " (one value with commas is in quotes in a configuration file)");
                        parse(arguments.at(0));
                      });
}

/// As add_repeated, with values that are separated by commas in one argument: "64,64,32".
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
