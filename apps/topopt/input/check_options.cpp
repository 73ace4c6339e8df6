// SPDX-License-Identifier: Apache-2.0
// These checks refuse combinations of options that contradict each other, and say what to do
// instead.
#include "apps/driver/options/check.hpp"
#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/options.hpp"
#include <ossatura/core/base/require.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace ossatura {

namespace {

void check_design(const CLI::App& app, const TopoptCommandOptions& options) {
  const DesignOptions o = options.changes.applied(); // defaults are in range
  require_fraction("--volume", o.volume_fraction, "a part of the volume");
  if (app.count("--radius") > 0)
    require_positive("--radius", o.radius, "m");
  if (!(o.penalty.start >= 1))
    fail<UsageError>("--penalty ", o.penalty.start, ": at least 1");
  if (!(o.sharpness.start >= 0.01))
    fail<UsageError>("--sharpness ", o.sharpness.start, ": at least 0.01");
  require_fraction("--threshold", o.threshold, "a density");
  if (!(o.robust >= 0 && o.robust < 0.5))
    fail<UsageError>("--robust ", o.robust, ": at least 0 and below 0.5");
  require_fraction("--min-modulus", o.min_modulus, "a part of the modulus");
  if (!(o.move > 0 && o.move <= 1))
    fail<UsageError>("--move ", o.move, ": greater than 0 and at most 1");
  if (app.count("--start") > 0 && !(o.start > 0 && o.start <= 1))
    fail<UsageError>("--start ", o.start,
                     ": the density of the first design, greater than 0 and at most 1");
  if (app.count("--start") > 0 && !options.start_from.empty())
    fail<UsageError>("both --start and --start-from: leave one out");
  if (!options.resume.empty() && !options.start_from.empty())
    fail<UsageError>("--resume goes on with the design of a checkpoint: leave --start-from out");
  if (options.levels < 0 || options.levels > most_levels)
    fail<UsageError>("--levels ", options.levels, ": 0 to 8 coarser grids");
  if (!(o.change_tolerance >= 0))
    fail<UsageError>("--change ", o.change_tolerance, ": at least 0");
  if (app.count("--objective-change") > 0)
    require_fraction("--objective-change", o.objective_change, "a part of the objective");
  require_positive("--max-compliance", options.max_compliance, "J");
  require_positive("--max-stress", options.max_stress, "Pa");
  require_positive("--max-mass", options.max_mass, "kg");
  require_positive("--min-frequency", options.min_frequency, "Hz");
  if (o.frequencies < 0 || o.frequencies > most_frequencies)
    fail<UsageError>("--frequencies ", o.frequencies, ": 0 to ", most_frequencies);
  require_at_least("--steps", o.max_steps, 1);
  require_fraction("--tolerance", o.solver.cg.tolerance, "a relative residual such as 1e-6");
  if (app.count("--step-tolerance") > 0)
    require_fraction("--step-tolerance", o.step_tolerance, "a relative residual such as 1e-4");
  require_at_least("--max-iterations", o.solver.cg.max_iterations, 1);
  require_at_least("--chebyshev-degree", o.solver.chebyshev_degree, 1);
  require_at_least("--forming-cost", o.solver.forming_cost, 0);
}

void check_problem(const TopoptCommandOptions& o) {
  if (o.problem.empty())
    fail<UsageError>("no problem: give a generator, a .json or a mesh FILE");
  if (o.cells)
    for (const int cells : *o.cells)
      if (cells < 1 || cells > 9999)
        fail<UsageError>("--cells ", cells, ": 1 to 9999 along each axis");
  if (o.size)
    for (const double length : *o.size)
      require_positive("--size", length, "m");
  require_distortion(o.distort);
  require_positive("--unit", o.unit, "m per unit of the file");
  require_positive("--voxel", o.voxel, "m");
  require_positive("--young", o.young, "Pa");
  require_positive("--mass-density", o.mass_density, "kg/m3");
  require_positive("--keep", o.keep, "m");
  require_poisson(o.poisson);
}

/// A number that was given, its name, and what it has an effect beside.
struct NumberUse {
  const char *option, *key;
  bool GivenNumbers::*given;
  bool (*used)(const DesignOptions& options);
  const char *choice, *keys; ///< as options, and as keys
};

constexpr NumberUse number_uses[] = {
    {"--radius", "filter.radius", &GivenNumbers::radius,
     [](const DesignOptions& o) { return o.filter != DesignFilter::none; },
     "a --filter other than none", "a \"filter.kind\" other than none"},
    {"--threshold", "projection.threshold", &GivenNumbers::threshold,
     [](const DesignOptions& o) { return o.projection; }, "--projection", "\"projection\""},
    {"--sharpness", "projection.sharpness", &GivenNumbers::sharpness,
     [](const DesignOptions& o) { return o.sharpens(); }, "--projection or --draw",
     "\"projection\" or \"draw\""},
    {"--chebyshev-degree", "solver.chebyshev_degree", &GivenNumbers::chebyshev_degree,
     [](const DesignOptions& o) {
       return o.solver.preconditioner == HexaPreconditioner::chebyshev;
     },
     "--preconditioner chebyshev", "\"preconditioner\": \"chebyshev\""},
    {"--forming-cost", "solver.forming_cost", &GivenNumbers::forming_cost,
     [](const DesignOptions& o) { return o.solver.preconditioner == HexaPreconditioner::amg; },
     "--preconditioner amg", "\"preconditioner\": \"amg\""}};

} // namespace

void require_design_effect(const ProblemDocument& document, const TopoptCommandOptions& options) {
  DesignOptions own; // of the problem alone: what it says may wait for an option
  document.changes.apply_to(own);
  DesignOptions all = own;
  options.changes.apply_to(all);
  for (const NumberUse& use : number_uses) {
    if (use.used(all))
      continue;
    if (options.given.*use.given)
      fail<UsageError>(use.option, " has no effect without ", use.choice, ": leave it out");
    if (document.given.*use.given && !use.used(own))
      fail<InputError>(document.file, ": ", use.key, " has no effect without ", use.keys,
                       ": leave it out");
  }
}

void check_topopt_options(const CLI::App& app, const TopoptCommandOptions& o) {
  check_problem(o);
  check_design(app, o);
  require_fraction("--stl-level", o.stl_level, "a density");
  if (o.smooth < 0 || o.smooth > 1000)
    fail<UsageError>("--smooth ", o.smooth, ": 0 to 1000 passes");
  if (o.reanalyse && (*o.reanalyse < 0 || *o.reanalyse > 8))
    fail<UsageError>("--reanalyse ", *o.reanalyse, ": 0 to 8 cubes along an edge");
  check_step_files(app, o, o.common);
  if (o.no_stl && !o.stl.empty())
    fail<UsageError>("both --stl and --no-stl: leave one out");
  const std::vector<std::string> surfaces = {".stl",  ".3mf", ".obj", ".off", ".ply",
                                             ".step", ".stp", ".igs", ".vtk", ".vtp"};
  refuse_name_of_another_format("--stl", o.stl, "binary STL", ".stl", surfaces);
  refuse_name_of_another_format("--3mf", o.file_3mf, "3MF", ".3mf", surfaces);
  const bool in_directory = !o.common.output_dir.empty();
  const bool has_surface = (!o.no_stl && (!o.stl.empty() || in_directory)) || !o.file_3mf.empty();
  const bool makes_mesh = o.kind() != ProblemKind::mesh;
  require_effect(app,
                 {{"--cells", makes_mesh, "a generator"},
                  {"--size", makes_mesh, "a generator"},
                  {"--distort", makes_mesh, "a generator"},
                  {"--renumber", makes_mesh, "a generator"},
                  {"--unit", o.kind() != ProblemKind::generator, "a mesh file"},
                  {"--stl-level", has_surface, "--stl, --3mf or --output-dir"},
                  {"--keep-loose", has_surface, "--stl, --3mf or --output-dir"},
                  {"--whole", has_surface, "--stl, --3mf or --output-dir"},
                  {"--smooth", has_surface, "--stl, --3mf or --output-dir"},
                  {"--reanalyse", has_surface, "--stl, --3mf or --output-dir"},
                  {"--seed", o.distort.has_value() || o.kind() == ProblemKind::json, "--distort"}});
}

} // namespace ossatura
