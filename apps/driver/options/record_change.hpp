// SPDX-License-Identifier: Apache-2.0
// These functions register options that record a change. Only files that register options include
// this header.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/options/option_kinds.hpp"

#include <type_traits>

namespace ossatura {

/// A number that replaces `member`.
template<class Options, class Member>
CLI::Option* add_number(CLI::App& app, Changes<Options>& changes, const std::string& name,
                        Member member, const std::string& type, const std::string& description) {
  using Number = std::decay_t<std::invoke_result_t<Member, Options&>>;
  return app
      .add_option_function<Number>(
          name, [&changes, member](const Number& value) { changes.set(member, value); },
          description)
      ->type_name(type);
}

/// The same for one of a few names.
template<class Options, class Member, class Value>
CLI::Option* add_named(CLI::App& app, Changes<Options>& changes, const std::string& name,
                       Member member, const NamedValues<Value>& choices,
                       const std::string& description) {
  return add_choice_of(app, name, choices, "", description,
                       [&changes, member](const Value& value) { changes.set(member, value); });
}

/// Two flags, --NAME and --no-NAME, that make `member` true and false.
template<class Options>
void add_switch(CLI::App& app, Changes<Options>& changes, const std::string& name,
                bool Options::*member, const std::string& on_text, const std::string& off_text) {
  const auto set = [&changes, member](bool on) {
    return [=, &changes] { changes.set(member, on); };
  };
  app.add_flag_callback("--" + name, set(true), on_text)
      ->excludes(app.add_flag_callback("--no-" + name, set(false), off_text));
}

} // namespace ossatura
