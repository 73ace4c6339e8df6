// SPDX-License-Identifier: Apache-2.0
// The command line becomes options by the same rules for every subcommand.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

/// Adds --help, --config and --print-config to `app` and parses `arguments` (without program and
/// subcommand). The command line wins over the configuration file, which wins over defaults; keys
/// of the file are the long names of options, and unknown ones are errors. Returns an exit code
/// where the run ends here (help and configuration are printed on stdout); throws UsageError, and
/// InputError for a configuration file that cannot be read.
std::optional<int> parse_command_line(CLI::App& app, const std::vector<std::string>& arguments);

/// Every option of a parsed `app` with its value: numbers and booleans, text, or a list of texts;
/// null where it has neither value nor default.
nlohmann::ordered_json option_values(const CLI::App& app);

} // namespace ossatura
