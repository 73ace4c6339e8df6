// SPDX-License-Identifier: Apache-2.0
// SoftbodyCommandOptions hold the options of `ossatura softbody`. Members that a scene sets too are
// empty unless given: the command line wins over the scene.
#pragma once

#include "apps/driver/options/changes.hpp"
#include "apps/driver/options/common.hpp"
#include "apps/softbody/input/scene_document.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct SoftbodyCommandOptions : StepFileOptions {
  CommonOptions common;

  // Scene
  std::vector<std::string> scenes; ///< several: a cohort, and each has a run of its own
  bool skip_complete = false;      ///< of a cohort
  std::string scene;               ///< of this run
  std::string name;                ///< of its results
  std::vector<std::pair<std::string, std::string>> meshes; ///< object and file, instead of its own
  std::optional<int> steps;

  /// Each puts one option that was given in the place of the scene's.
  Changes<SoftOptions> changes;
};

/// Adds all options, with groups, examples and the exit codes for --help.
void add_softbody_options(CLI::App& app, SoftbodyCommandOptions& options);

/// Whether the scenes are a cohort: there are several, or those that are complete are skipped.
bool is_cohort(const SoftbodyCommandOptions& options);

/// Throws UsageError, with the remedy, for values out of range and for options that have no effect
/// together. `app` is the parsed one, which knows what was given.
void check_softbody_options(const CLI::App& app, const SoftbodyCommandOptions& options);

} // namespace ossatura
