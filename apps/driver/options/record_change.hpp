// SPDX-License-Identifier: Apache-2.0
// These functions register options that record a change. Only files that register options include
// this header.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/options/default_text.hpp"
#include "apps/driver/options/option_kinds.hpp"

#include <type_traits>

namespace ossatura {

/// A number that replaces `member`. Help shows its default after the description, or `shown`.
template<class Options, class Member>
CLI::Option* add_number(CLI::App& app, Changes<Options>& changes, const std::string& name,
                        Member member, const std::string& type, const std::string& description,
                        const std::string& shown = "") {
  using Number = std::decay_t<std::invoke_result_t<Member, Options&>>;
  const Number& value = std::invoke(member, changes.defaults);
  return app
      .add_option_function<Number>(
          name, [&changes, member](const Number& given) { changes.set(member, given); },
          with_default(description, shown.empty() ? default_text(value) : shown))
      ->type_name(type);
}

/// The same for an enum.
template<class Options, class Member>
CLI::Option* add_named(CLI::App& app, Changes<Options>& changes, const std::string& name,
                       Member member, const std::string& description,
                       const std::string& shown = "") {
  using Enum = std::decay_t<std::invoke_result_t<Member, Options&>>;
  const Enum& value = std::invoke(member, changes.defaults);
  return add_choice_of(app, name, name_table<Enum>, "",
                       with_default(with_published(description, name_table<Enum>),
                                    shown.empty() ? default_text(value) : shown),
                       [&changes, member](const Enum& given) { changes.set(member, given); });
}

/// Two flags, --NAME and --no-NAME, that make `member` true and false.
template<class Options>
void add_switch(CLI::App& app, Changes<Options>& changes, const std::string& name,
                bool Options::*member, const std::string& on_text, const std::string& off_text) {
  const auto add = [&](const std::string& flag, bool on, const std::string& text) {
    return app.add_flag_callback(
        flag, [&changes, member, on] { changes.set(member, on); },
        changes.defaults.*member == on ? with_default(text, "default") : text);
  };
  CLI::Option* on = add("--" + name, true, on_text);
  on->excludes(add("--no-" + name, false, off_text));
}

} // namespace ossatura
