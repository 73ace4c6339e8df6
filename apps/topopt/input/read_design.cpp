// SPDX-License-Identifier: Apache-2.0
// The reader takes the keys of a problem that options replace: how a design is found.
#include "apps/driver/problem/json_changes.hpp"
#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/process.hpp"
#include "apps/topopt/input/read_problem.hpp"
#include <ossatura/core/base/require.hpp>

#include <filesystem>

namespace ossatura {

namespace {

using Place = JsonPlace;
using Reader = ChangeReader<DesignOptions>;

/// A number of at least `least`, or {"start", "end", "every", "factor" or "increment"}.
auto growing(double least, const char* expected) {
  return [least, expected](const Place& place) {
    const auto number = [&](const Place& p) {
      const double value = p.number(expected);
      if (!(value >= least))
        p.fail_value(expected);
      return value;
    };
    if (!place.json().is_object()) {
      const double value = number(place);
      return Continuation{value, value};
    }
    place.require_object({"start", "end", "every", "factor", "increment"});
    Continuation result{number(place.at("start", expected)), number(place.at("end", expected))};
    if (!(result.end >= result.start))
      place.at("end", "").fail_value("at least what it starts from");
    const char* every = "steps from one change to the next, at least 1";
    result.every = place.at("every", every).whole(1, std::numeric_limits<int>::max(), every);
    const std::string name = place.only_name({"factor", "increment"});
    const Place change = place.at(name, "");
    if (name == "factor") {
      result.factor = change.positive("a factor greater than 1");
      if (!(result.factor > 1))
        change.fail_value("a factor greater than 1");
    } else {
      result.increment = change.positive("an increment greater than 0");
    }
    return result;
  };
}

void read_filter(const Place& place, ProblemDocument& problem) {
  place.require_object({"kind", "radius"});
  problem.given.radius = place.has("radius");
  Reader read(place, problem.changes);
  read.choose("kind", &DesignOptions::filter);
  read.set("radius", &DesignOptions::radius,
           [](const Place& p) { return p.positive("the radius of the filter in m"); });
}

void read_projection(const Place& place, ProblemDocument& problem) {
  if (place.json().is_boolean()) {
    problem.changes.set(&DesignOptions::projection, place.boolean());
    return;
  }
  place.require_object({"threshold", "sharpness", "robust"});
  problem.changes.set(&DesignOptions::projection, true);
  Reader read(place, problem.changes);
  read.fraction("threshold", &DesignOptions::threshold, "a density between 0 and 1");
  read.set("sharpness", &DesignOptions::sharpness,
           growing(0.01, "beta of the projection, at least 0.01"));
  read.set("robust", &DesignOptions::robust, [](const Place& p) {
    const char* expected = "how far the thresholds of the eroded and the dilated design are from "
                           "that of the projection, at least 0 and below 0.5";
    const double value = p.number(expected);
    if (!(value >= 0 && value < 0.5))
      p.fail_value(expected);
    return value;
  });
}

void read_linear_solver(const Place& place, ProblemDocument& problem) {
  place.require_object({"grid", "operator", "preconditioner", "precision", "tolerance",
                        "step_tolerance", "max_iterations", "chebyshev_degree", "forming_cost",
                        "warm_start"});
  problem.given.chebyshev_degree = place.has("chebyshev_degree");
  problem.given.forming_cost = place.has("forming_cost");
  using S = HexaSolverOptions;
  Reader read(place, problem.changes);
  read.choose("grid", &DesignOptions::grid);
  read.choose("operator", of_topopt_solver(&S::kind));
  read.choose("preconditioner", of_topopt_solver(&S::preconditioner));
  if (place.has("precision")) {
    const Names<Precision> known = {{Precision::mixed, name_of(Precision::mixed)},
                                    {Precision::fp64, name_of(Precision::fp64)},
                                    {Precision::lean, name_of(Precision::lean)}};
    read.choose("precision", of_topopt_solver(&S::precision), known);
    read.choose("precision", member_of(&DesignOptions::voxels, &VoxelSolverOptions::precision),
                known);
  }
  read.fraction("tolerance", of_topopt_solver(&S::cg, &CgOptions::tolerance),
                "a relative tolerance, greater than 0 and less than 1");
  read.fraction("step_tolerance", &DesignOptions::step_tolerance,
                "a relative tolerance, greater than 0 and less than 1");
  read.count("max_iterations", of_topopt_solver(&S::cg, &CgOptions::max_iterations), 1,
             "iterations of one solve, at least 1");
  read.count("chebyshev_degree", of_topopt_solver(&S::chebyshev_degree), 1,
             "the degree of the polynomial, at least 1");
  read.count("forming_cost", of_topopt_solver(&S::forming_cost), 0,
             "iterations that forming amg costs, or 0");
  read.flag("warm_start", &DesignOptions::warm_start);
}

} // namespace

std::vector<std::string> design_keys() {
  return {"volume_fraction", "filter",           "projection", "penalty",
          "min_modulus",     "method",           "move",       "start",
          "change",          "objective_change", "steps",      "manufacturing",
          "solver",          "levels",           "start_from", "frequencies"};
}

namespace {

/// Coarser grids, and the design of another mesh, whose file is beside the problem.
void read_beginning(const Place& place, ProblemDocument& problem) {
  if (const auto levels = place.find("levels"))
    problem.levels = levels->whole(0, most_levels, "0 to 8 coarser grids");
  const auto from = place.find("start_from");
  if (!from)
    return;
  if (place.has("start"))
    fail<InputError>(from->where(), ": \"start\" has no effect with it: leave one of both out");
  const char* expected = "the name of a .hdf file of another run";
  const std::string name = from->text(expected);
  if (name.empty())
    from->fail_value(expected);
  problem.start_from = (std::filesystem::path(problem.file).parent_path() / name).string();
  if (!std::filesystem::exists(problem.start_from))
    fail<InputError>(from->where(), ": there is no file ", problem.start_from);
}

/// Greater than 0 and at most 1.
auto up_to_one(const char* expected) {
  return [expected](const Place& p) {
    const double value = p.positive(expected);
    if (value > 1)
      p.fail_value(expected);
    return value;
  };
}

} // namespace

void read_design(const JsonPlace& place, ProblemDocument& problem) {
  Reader read(place, problem.changes);
  read.fraction("volume_fraction", &DesignOptions::volume_fraction,
                "a part of the volume, greater than 0 and less than 1");
  read.set("penalty", &DesignOptions::penalty,
           growing(1, "the power p of the densities, at least 1"));
  read.fraction("min_modulus", &DesignOptions::min_modulus,
                "the modulus of void by that of solid, greater than 0 and less than 1");
  read.choose("method", &DesignOptions::method);
  read.set("move", &DesignOptions::move,
           up_to_one("the largest change in a step, greater than 0 and at most 1"));
  read.set("start", &DesignOptions::start,
           up_to_one("the density of the first design, greater than 0 and at most 1"));
  read.set("change", &DesignOptions::change_tolerance, [](const Place& p) {
    return p.not_negative("the change of a variable that ends the run, at least 0");
  });
  read.fraction("objective_change", &DesignOptions::objective_change,
                "a change of the objective, relative, greater than 0 and less than 1");
  read.count("steps", &DesignOptions::max_steps, 1, "steps at most, at least 1");
  problem.has_steps = place.has("steps");
  read.set("frequencies", &DesignOptions::frequencies, [](const Place& p) {
    return int(p.whole(0, most_frequencies, "how many lowest natural frequencies, 0 to 10"));
  });
  read_beginning(place, problem);
  if (const auto filter = place.find("filter"))
    read_filter(*filter, problem);
  if (const auto projection = place.find("projection"))
    read_projection(*projection, problem);
  if (const auto process = place.find("manufacturing")) {
    read_process(*process, problem);
    Reader(*process, problem.changes)
        .set("sharpness", &DesignOptions::sharpness, growing(0.01, "beta of draw, at least 0.01"));
  }
  if (const auto solver = place.find("solver"))
    read_linear_solver(*solver, problem);
}

} // namespace ossatura
