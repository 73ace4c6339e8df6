// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/command_line.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/suggest.hpp"
#include "core/require.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

namespace femura {

namespace {

/// Long names as they are typed ("--tolerance") or as keys ("tolerance").
std::vector<std::string> option_names(const CLI::App& app, const std::string& dashes,
                                      bool configurable_only) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    if (!configurable_only || option->get_configurable())
      for (const std::string& name : option->get_lnames())
        names.push_back(dashes + name);
  return names;
}

/// CLI11's reader of TOML-like files, with our errors.
class StrictConfig : public CLI::ConfigTOML {
public:
  explicit StrictConfig(const CLI::App& app)
      : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML::from_config(input);
    const std::vector<std::string> keys = option_names(app_, "", true);
    for (const CLI::ConfigItem& item : items)
      if (!item.parents.empty())
        fail<UsageError>("configuration: section [", item.parents.front(),
                         "]: a file is for one subcommand and has no sections");
      else if (std::count(keys.begin(), keys.end(), item.name) == 0)
        fail<UsageError>("configuration: unknown key '", item.name, "'",
                         did_you_mean(item.name, keys));
    return items;
  }

private:
  const CLI::App& app_;
};

/// Options as blocks: name and kind, then a wrapped description with the default at its end.
class WrappedHelp : public CLI::Formatter {
  static constexpr std::size_t indent = 30, width = 98;

public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string text = "  " + make_option_name(option, is_positional);
    if (option->get_type_size() != 0 && !option->get_type_name().empty())
      text += ' ' + option->get_type_name();
    std::string description = make_option_desc(option);
    if (!option->get_default_str().empty())
      description += " [default: " + option->get_default_str() + ']';

    std::size_t column = text.size();
    if (column + 2 > indent) {
      text += '\n';
      column = 0;
    }
    text += std::string(indent - column, ' ');
    column = indent;
    std::istringstream words(description);
    for (std::string word; words >> word; column += word.size() + 1) {
      if (column > indent && column + word.size() > width) {
        text.back() = '\n';
        text += std::string(indent, ' ');
        column = indent;
      }
      text += word + ' ';
    }
    text.back() = '\n';
    return text;
  }
};

/// Numbers and booleans as such, the rest as text.
nlohmann::ordered_json typed(const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  return json.is_number() || json.is_boolean() ? json : nlohmann::ordered_json(text);
}

/// The options that were given, as lines of a configuration file, each below its description; those
/// that were not, as comments with their default, so that reading the file back changes nothing.
void print_configuration(const CLI::App& app) {
  std::string group;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable())
      continue;
    if (option->get_group() != group) {
      std::cout << (group.empty() ? "" : "\n") << "### " << option->get_group() << "\n";
      group = option->get_group();
    }
    const bool given = option->count() > 0;
    const std::vector<std::string> values =
        given ? option->results() : std::vector<std::string>{option->get_default_str()};
    std::string value = CLI::detail::ini_join(values, ',', '[', ']', '"', '\'');
    if (!given && option->get_expected_min() == 0)
      value = "false";
    else if (!given && option->get_default_str().empty())
      value = option->get_type_name();
    std::cout << "\n# " << option->get_description() << '\n'
              << (given ? "" : "# ") << option->get_single_name() << " = " << value << '\n';
  }
}

[[noreturn]] void fail_unexpected(const CLI::App& app, const std::vector<std::string>& extra) {
  for (const std::string& argument : extra)
    if (argument.size() > 1 && argument[0] == '-') {
      const std::string name = argument.substr(0, argument.find('='));
      fail<UsageError>("unknown option '", name, "'",
                       did_you_mean(name, option_names(app, "--", false)), " (", app.get_name(),
                       " --help lists all)");
    }
  fail<UsageError>("unexpected argument '", extra.front(), "'");
}

} // namespace

std::optional<int> parse_command_line(CLI::App& app, const std::vector<std::string>& arguments) {
  const char* group = "Command line";
  bool print_config = false;
  app.set_help_flag("-h,--help", "Print this help and exit")->group(group);
  app.set_config("--config", "", "Options from a file of lines `name = value`, without dashes")
      ->type_name("FILE")
      ->group(group)
      ->configurable(false);
  app.add_flag("--print-config", print_config, "Print all options as a configuration file and exit")
      ->group(group)
      ->configurable(false);
  app.config_formatter(std::make_shared<StrictConfig>(app));
  app.allow_extras();
  app.formatter(std::make_shared<WrappedHelp>());

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend()); // as CLI11 takes them
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return exit_done;
  } catch (const CLI::FileError& error) {
    fail<InputError>("configuration file: ", error.what());
  } catch (const CLI::ParseError& error) {
    fail<UsageError>(error.what());
  }
  if (!app.remaining().empty())
    fail_unexpected(app, app.remaining());
  if (!print_config)
    return {};
  print_configuration(app);
  return exit_done;
}

nlohmann::ordered_json option_values(const CLI::App& app) {
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable())
      continue;
    nlohmann::ordered_json& value = values[option->get_single_name()];
    const std::vector<std::string> results = option->results();
    if (results.size() > 1)
      value = results;
    else if (results.size() == 1)
      value = typed(results.front());
    else if (option->get_expected_min() == 0)
      value = false;
    else if (!option->get_default_str().empty())
      value = typed(option->get_default_str());
  }
  return values;
}

} // namespace femura
