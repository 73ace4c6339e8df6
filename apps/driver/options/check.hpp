// SPDX-License-Identifier: Apache-2.0
// These functions check options that several subcommands have. All throw UsageError with the
// remedy.
#pragma once

#include <optional>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

void require_at_least(const char* option, int value, int least);
void require_between(const char* option, std::optional<int> value, int least, int most);
/// Finite and greater than 0; `what` it is, with its unit.
void require_positive(const char* option, std::optional<double> value, const char* what);
/// Greater than 0 and less than 1.
void require_fraction(const char* option, double value, const char* what);
/// Checks --distort and --poisson, in the range that meshes and materials have.
void require_distortion(std::optional<double> value);
void require_poisson(std::optional<double> value);

/// Whether an option has an effect beside the others, and what would give it one.
struct OptionUse {
  const char* option;
  bool used;
  const char* remedy;
};
/// Refuses those that were given and have none.
void require_effect(const CLI::App& app, const std::vector<OptionUse>& uses);

} // namespace ossatura
