// SPDX-License-Identifier: Apache-2.0
// PfemCommandOptions hold the options of `ossatura pfem`. Members that a problem sets too are empty
// unless given: the command line wins over the problem.
#pragma once

#include "apps/driver/options/common.hpp"
#include "apps/driver/problem/kind.hpp"
#include "apps/pfem/input/document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct PfemCommandOptions {
  CommonOptions common;

  std::string problem; ///< a generator, or a file
  PfemSource mesh;     ///< what was given of it
  std::optional<double> unit, young, poisson;
  std::optional<int> order;
  /// Each puts one option that was given in the place of the problem's.
  Changes<PfemOptions> changes;

  std::string hdf;
  bool no_hdf = false;
  int samples = 0; ///< cells along each edge of an element; 0: its order

  ProblemKind kind() const;
};

/// Adds all options, with groups, examples and the exit codes for --help.
void add_pfem_options(CLI::App& app, PfemCommandOptions& options);

/// Takes over what only the parsed `app` knows: which of the common options were given.
void note_given_options(const CLI::App& app, PfemCommandOptions& options);

/// Throws UsageError, with the remedy, for values out of range and for options that have no effect
/// together. `app` is the parsed one, which knows what was given.
void check_pfem_options(const CLI::App& app, const PfemCommandOptions& options);

} // namespace ossatura
