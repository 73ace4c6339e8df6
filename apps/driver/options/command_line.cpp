// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/command_line.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/suggest.hpp"
#include <ossatura/core/base/require.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

namespace ossatura {

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

constexpr std::size_t largest_configuration = 1 << 20; // bytes
constexpr std::size_t longest_line = 1 << 16;          // of it

std::string trimmed(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
}

/// `where` names the file in messages, here and below.
std::string read_configuration(const std::string& where, std::istream& input) {
  std::string text(largest_configuration + 1, '\0');
  input.read(text.data(), std::streamsize(text.size()));
  text.resize(std::size_t(input.gcount()));
  if (input.bad() || !input.eof())
    fail<InputError>(where, ": ",
                     input.bad() ? "the file cannot be read"
                                 : "the file has more than " +
                                       std::to_string(largest_configuration) + " bytes");
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) // as editors of Windows mark UTF-8
    text.erase(0, 3);
  if (text.find('\0') != std::string::npos)
    fail<UsageError>(where,
                     ": the file is no text of single bytes, as in UTF-16: save it as UTF-8");
  return text;
}

/// What is wrong where an option has more values than one: one that is there twice, or a value that
/// a configuration file has without quotes and CLI11 takes apart.
std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what(), name = text.substr(0, text.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr || option == nullptr ||
      option->results().size() < 2)
    return text;
  std::string values;
  for (const std::string& value : option->results())
    values += (values.empty() ? "" : " and ") + value;
  return name + ": takes one value, and has more than one: " + values.substr(0, 200) +
         " (in a configuration file a value with blanks or commas is in quotes; decimals have a "
         "point)";
}

/// Throws for a line that CLI11 passes over or cuts short. `in_list`: between the brackets of a
/// list over several lines; the same is returned for the next line.
bool check_line(const std::string& where, const std::string& line, int number, bool in_list) {
  const auto refuse = [&](const auto&... parts) {
    fail<UsageError>(where, ", line ", number, ": ", parts...);
  };
  if (line.size() > longest_line)
    refuse("longer than ", longest_line, " bytes");
  if (in_list)
    return line.empty() || line.back() != ']';
  if (line.empty() || line[0] == '#' || line[0] == ';')
    return false;
  const std::string shown = line.substr(0, 60);
  if (line[0] == '[')
    refuse("section ", shown, ": a file is for one subcommand and has no sections");
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos || trimmed(line.substr(0, equals)).empty())
    refuse("'", shown, "' is not `name = value`");
  const std::string value = trimmed(line.substr(equals + 1));
  if (value.empty())
    refuse("'", shown, "' has no value");
  char quote = 0;
  for (const char c : value) {
    if (quote != 0 && c == '#')
      refuse("a value with # can be given on the command line only");
    if (c == '"' || c == '\'')
      quote = quote == 0 ? c : quote == c ? '\0' : quote;
    if (quote == 0 && c == '#')
      break; // a comment
  }
  return value[0] == '[' && value.find(']') == std::string::npos;
}

/// The key of a line `name = value`, or nothing.
std::string key_of(const std::string& line) {
  std::string key = trimmed(line.substr(0, std::min(line.find('='), line.size())));
  if (key.size() > 1 && (key[0] == '"' || key[0] == '\'') && key.back() == key[0])
    key = key.substr(1, key.size() - 2);
  return key;
}

/// CLI11's reader of TOML-like files, with our errors. Says where the options that it takes are.
class StrictConfig : public CLI::ConfigTOML {
public:
  explicit StrictConfig(const CLI::App& app)
      : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const std::string file = app_.get_config_ptr()->results().front();
    const std::string where = "configuration " + file;
    const std::string text = read_configuration(where, input);
    std::istringstream lines(text), again(text);
    std::map<std::string, int> line_of; // the last one of a key
    int number = 0;
    bool in_list = false;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (!in_list)
        line_of[key_of(line)] = number;
      in_list = check_line(where, trimmed(line), number, in_list);
    }
    if (in_list)
      fail<UsageError>(where, ": a list is not closed by ]");
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML::from_config(again);
    const std::vector<std::string> keys = option_names(app_, "", true);
    std::set<std::string> names;
    std::vector<OptionOrigin> origins;
    for (const CLI::ConfigItem& item : items) {
      const auto at = line_of.find(item.name);
      const std::string line = at == line_of.end() ? "" : ", line " + std::to_string(at->second);
      const std::string place = where + line;
      if (!item.parents.empty())
        fail<UsageError>(where, ": section [", item.parents.front(),
                         "]: a file is for one subcommand and has no sections");
      if (std::count(keys.begin(), keys.end(), item.name) == 0)
        fail<UsageError>(place, ": unknown key '", item.name, "'", did_you_mean(item.name, keys));
      if (!names.insert(item.name).second) // CLI11 would pass over the second
        fail<UsageError>(place, ": '", item.name,
                         "' is there twice: leave one out, or give all its values in one place, as "
                         "[a, b]");
      if (app_.count("--" + item.name) == 0) // else the command line wins
        origins.push_back({"--" + item.name, file + line});
    }
    set_option_origins(std::move(origins));
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

/// Throws where the value of an option is missing, and CLI11 would take the option behind it for
/// one: `--hdf --test=uniaxial`, and `--hdf= --test=uniaxial` as of scripts whose variable is
/// empty.
void require_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto name_of = [](const std::string& argument) {
    return argument.substr(0, argument.find('='));
  };
  const auto find = [&](const std::string& argument) -> const CLI::Option* {
    const bool is_option = argument.size() > 1 && argument[0] == '-';
    return is_option ? app.get_option_no_throw(name_of(argument)) : nullptr;
  };
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string &argument = arguments[i], name = name_of(argument);
    const CLI::Option* option = find(argument);
    if (option == nullptr || option->get_expected_min() == 0)
      continue;
    if (name.size() == 2 && name != argument)
      fail<UsageError>(argument, ": write ", name, ' ', argument.substr(3));
    if (name.size() + 1 == argument.size())
      fail<UsageError>(argument, " has no value: give one, or leave the option out");
    if (name != argument || ++i == arguments.size())
      continue;
    const std::string& value = arguments[i];
    if (value.empty())
      fail<UsageError>(name, " has an empty value: give one, or leave the option out");
    if (value.compare(0, 2, "--") == 0 || find(value) != nullptr)
      fail<UsageError>(name, " has no value, but the option ", name_of(value),
                       " behind it: give one, or leave ", name, " out");
  }
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
  require_values(app, arguments);
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return exit_done;
  } catch (const CLI::FileError& error) {
    fail<InputError>("configuration file: ", error.what());
  } catch (const CLI::ParseError& error) {
    fail<UsageError>(describe(app, error));
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

} // namespace ossatura
