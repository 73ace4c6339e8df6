// SPDX-License-Identifier: Apache-2.0
// TopoptCommandOptions hold the options of `ossatura topopt`. Members that a problem sets too are
// empty unless given: the command line wins over the problem.
#pragma once

#include "apps/driver/options/common.hpp"
#include "apps/driver/problem/kind.hpp"
#include "apps/topopt/input/problem_document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

/// What the ranks of a launcher divide among them.
enum class TopoptSplit {
  automatic, ///< the model, where there are several
  model      ///< even where there is one
};

constexpr Names<TopoptSplit> names_of(TopoptSplit) {
  return {{TopoptSplit::automatic, "auto"}, {TopoptSplit::model, "model"}};
}

struct TopoptCommandOptions : StepFileOptions {
  CommonOptions common;

  // Problem
  std::string problem; ///< a generator, or a file
  std::optional<std::array<int, 3>> cells;
  std::optional<std::array<double, 3>> size;
  std::optional<double> distort, unit, voxel, lower, young, poisson, mass_density, keep;
  std::optional<std::uint64_t> renumber;

  std::optional<DesignObjective> objective;                   ///< not of mechanisms
  std::optional<double> max_compliance, max_stress, max_mass; ///< J, Pa, kg
  std::optional<double> min_frequency;                        ///< Hz
  std::string start_from;                                     ///< a design of another mesh
  int levels = 0;                                             ///< coarser grids before
  bool has_steps = false;                                     ///< --steps was given
  bool has_volume = false;                                    ///< --volume was given
  bool has_start = false, has_levels = false;                 ///< likewise
  GivenNumbers given;                                         ///< on the command line
  TopoptSplit split = TopoptSplit::automatic;
  /// Each puts one option that was given in the place of the problem's.
  Changes<DesignOptions> changes;

  // Results
  std::string stl, file_3mf;
  bool no_stl = false, keep_loose = false;
  double stl_level = 0.5;
  int smooth = 20;              ///< passes
  std::optional<int> reanalyse; ///< cubes along an edge of an element; 0: none
  bool bound = false;           ///< of the compliance
  bool whole = false;           ///< the surface with its images in the mirrors

  ProblemKind kind() const;
  /// Whether there may be a surface in a file.
  bool may_have_surface() const { return !no_stl || !file_3mf.empty(); }
};

/// Adds all options, with groups, examples and the exit codes for --help.
void add_topopt_options(CLI::App& app, TopoptCommandOptions& options);

/// Takes over what only the parsed `app` knows: which of the common options were given.
void note_given_options(const CLI::App& app, TopoptCommandOptions& options);

/// Throws UsageError, with the remedy, for values out of range and for options that have no effect
/// together. `app` is the parsed one, which knows what was given.
void check_topopt_options(const CLI::App& app, const TopoptCommandOptions& options);

/// Throws UsageError for numbers of the command line, and InputError for those of the problem, that
/// have no effect on the design, beside what both choose. Numbers of the problem that an option
/// leaves without effect are the user's will.
void require_design_effect(const ProblemDocument& document, const TopoptCommandOptions& options);

} // namespace ossatura
