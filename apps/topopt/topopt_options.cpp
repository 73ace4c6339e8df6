// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/topopt_options.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/option_kinds.hpp"
#include "apps/topopt/generators.hpp"
#include "apps/topopt/topopt_choices.hpp"

#include <filesystem>

namespace femura {

namespace {

using Items = std::vector<std::string>;
using Change = std::function<void(DesignOptions&)>;

/// A number that replaces what `reference(options)` refers to.
template<class Number, class Reference>
CLI::Option* add_number(CLI::App& app, TopoptCommandOptions& o, const std::string& name,
                        const std::string& type, const std::string& description,
                        Reference reference) {
  return app
      .add_option_function<Number>(
          name,
          [&o, reference](const Number& value) {
            o.changes.push_back(
                [reference, value](DesignOptions& options) { reference(options) = value; });
          },
          description)
      ->type_name(type);
}

/// The same for one of a few names.
template<class Value, class Reference>
CLI::Option* add_named(CLI::App& app, TopoptCommandOptions& o, const std::string& name,
                       const NamedValues<Value>& choices, const std::string& description,
                       Reference reference) {
  return add_choice_of(app, name, choices, "", description, [&o, reference](const Value& value) {
    o.changes.push_back([reference, value](DesignOptions& options) { reference(options) = value; });
  });
}

/// The same for a parameter that may grow.
template<class Reference>
CLI::Option* add_growing(CLI::App& app, TopoptCommandOptions& o, const std::string& name,
                         const std::string& description, Reference reference) {
  return add_repeated(app, name, "X|START:END:EVERY:CHANGE", description,
                      [&o, reference](const Items& items) {
                        const Continuation value = parse_continuation(items.back());
                        o.changes.push_back([reference, value](DesignOptions& options) {
                          reference(options) = value;
                        });
                      });
}

/// Two flags, of which the first is `name` and the second "--no-..."; `set(options, on)`.
template<class Set>
void add_switch(CLI::App& app, TopoptCommandOptions& o, const char* group, const std::string& name,
                const std::string& on_text, const std::string& off_text, Set set) {
  const auto add = [&](const std::string& flag, const std::string& text, bool on) {
    return app
        .add_flag_callback(
            flag,
            [&o, set, on] {
              o.changes.push_back([set, on](DesignOptions& options) { set(options, on); });
            },
            text)
        ->group(group);
  };
  const auto on = add("--" + name, on_text, true);
  on->excludes(add("--no-" + name, off_text, false));
}

template<class Number>
std::array<Number, 3> parse_three(const std::string& text) {
  const Items parts = split_list(text, 'x');
  if (parts.size() != 3)
    throw std::invalid_argument("'" + text + "': expected three numbers, as in 60x20x20");
  return {parse_number<Number>(parts[0]), parse_number<Number>(parts[1]),
          parse_number<Number>(parts[2])};
}

void add_problem_options(CLI::App& app, TopoptCommandOptions& o) {
  const char* group = "Problem";
  std::string names;
  for (const char* name : generator_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  app.add_option("problem,--problem", o.problem,
                 "A generator (" + names +
                     "), a problem as .json, or a mesh with supports and loads: .inp of Abaqus and "
                     "CalculiX, .cdb of Ansys; docs/topopt.md has all of them. Options below win "
                     "over it")
      ->type_name("NAME|FILE")
      ->group(group);
  add_repeated(app, "--cells", "AxBxC", "Cells of a generator along x, y and z",
               [&o](const Items& items) { o.cells = parse_three<int>(items.back()); })
      ->group(group);
  add_repeated(app, "--size", "AxBxC", "Size of its box in m (cells are cubes of 1 m if not given)",
               [&o](const Items& items) { o.size = parse_three<double>(items.back()); })
      ->group(group);
  app.add_option("--distort", o.distort,
                 "Move the inner nodes of a generator by up to so much of an edge, at random (by "
                 "--seed), 0 to 0.5")
      ->type_name("X")
      ->group(group);
  app.add_option("--renumber", o.renumber,
                 "Put its nodes and elements in a random order, by this seed")
      ->type_name("SEED")
      ->group(group);
  app.add_option("--unit", o.unit, "m per unit of length of a mesh file (1)")
      ->type_name("X")
      ->group(group);
  app.add_option("--young", o.young, "Young's modulus of solid material in Pa")
      ->type_name("X")
      ->group(group);
  app.add_option("--poisson", o.poisson, "Poisson's ratio")->type_name("X")->group(group);
}

void add_design_options(CLI::App& app, TopoptCommandOptions& o) {
  const char* group = "Design (defaults: the problem's, else those in parentheses)";
  using D = DesignOptions;
  add_number<double>(app, o, "--volume", "X", "Part of the volume that material may take (0.3)",
                     [](D& d) -> double& { return d.volume_fraction; })
      ->group(group);
  add_named(app, o, "--filter", filter_choices(),
            "Of sensitivities or densities by distance, or of densities by an equation (density)",
            [](D& d) -> DesignFilter& { return d.filter; })
      ->group(group);
  add_number<double>(app, o, "--radius", "X",
                     "Of the filter in m (1.5 times the mean edge of the elements)",
                     [](D& d) -> double& { return d.radius; })
      ->group(group);
  add_switch(app, o, group, "projection", "Filtered densities are projected towards 0 and 1",
             "They are not (default)", [](D& d, bool on) { d.projection = on; });
  add_growing(app, o, "--sharpness", "Of the projection: beta (1:64:40:x2)",
              [](D& d) -> Continuation& { return d.sharpness; })
      ->group(group);
  add_number<double>(app, o, "--threshold", "X", "Of the projection: eta (0.5)",
                     [](D& d) -> double& { return d.threshold; })
      ->group(group);
  add_growing(app, o, "--penalty",
              "Power p of the densities; START:END:EVERY:CHANGE grows, as in 1:3:20:+0.5 (3)",
              [](D& d) -> Continuation& { return d.penalty; })
      ->group(group);
  add_number<double>(app, o, "--min-modulus", "X", "Modulus of void by that of solid (1e-9)",
                     [](D& d) -> double& { return d.min_modulus; })
      ->group(group);
  add_named(app, o, "--method", method_choices(),
            "Optimality criteria, or the method of moving asymptotes (oc; mma for mechanisms)",
            [](D& d) -> DesignMethod& { return d.method; })
      ->group(group);
  add_number<double>(app, o, "--move", "X",
                     "Largest change of a density in a step (0.2; 0.1 for mechanisms)",
                     [](D& d) -> double& { return d.move; })
      ->group(group);
  add_number<double>(app, o, "--start", "X", "Density of the first design (that of --volume)",
                     [](D& d) -> double& { return d.start; })
      ->group(group);
  add_number<double>(app, o, "--change", "X", "Stop when no density changes by more (0.01)",
                     [](D& d) -> double& { return d.change_tolerance; })
      ->group(group);
  add_number<int>(app, o, "--steps", "N", "Steps at most, those before --resume among them (200)",
                  [](D& d) -> int& { return d.max_steps; })
      ->group(group);
}

void add_solver_options(CLI::App& app, TopoptCommandOptions& o) {
  const char* group = "Linear systems (likewise)";
  using D = DesignOptions;
  add_named(app, o, "--operator", operator_choices(),
            "How the matrix is applied. auto: congruent where few shapes make up the mesh, else "
            "recompute (auto)",
            [](D& d) -> HexaOperatorKind& { return d.solver.kind; })
      ->group(group);
  add_named(app, o, "--preconditioner", hexa_preconditioner_choices(),
            "amg: smoothed aggregation with the rigid-body modes (amg)",
            [](D& d) -> HexaPreconditioner& { return d.solver.preconditioner; })
      ->group(group);
  add_number<double>(app, o, "--tolerance", "X", "True residual relative to the loads (1e-6)",
                     [](D& d) -> double& { return d.solver.tolerance; })
      ->group(group);
  add_number<int>(app, o, "--max-iterations", "N", "Iterations of one solve at most (2000)",
                  [](D& d) -> int& { return d.solver.max_iterations; })
      ->group(group);
  add_number<int>(app, o, "--chebyshev-degree", "N",
                  "Of --preconditioner chebyshev: degree of the polynomial (8)",
                  [](D& d) -> int& { return d.solver.chebyshev_degree; })
      ->group(group);
  add_switch(app, o, group, "warm-start", "Solves start from the displacements before (default)",
             "They start from zero", [](D& d, bool on) { d.warm_start = on; });
}

void add_result_options(CLI::App& app, TopoptCommandOptions& o) {
  const char* group = "Results";
  app.add_option("--hdf", o.hdf,
                 "The final design as VTKHDF, for ParaView 5.11 and later: density, displacements, "
                 "strain energy")
      ->type_name("NAME.hdf")
      ->group(group);
  app.add_flag("--no-hdf", o.no_hdf, "No such files, even with --output-dir")->group(group);
  app.add_option("--vtk-every", o.vtk_every,
                 "The design after every N-th step, too: NAME.hdf.series and beside it "
                 "NAME_STEP.hdf")
      ->type_name("N")
      ->group(group);
  app.add_option("--stl", o.stl, "The surface of the final design as binary STL, closed")
      ->type_name("NAME.stl")
      ->group(group);
  app.add_flag("--no-stl", o.no_stl, "No such file, even with --output-dir")->group(group);
  app.add_option("--stl-level", o.stl_level, "The density that is its surface")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
  app.add_option("--history", o.history,
                 "A line for every step as CSV: objective, cases, volume, change, greyness, "
                 "penalty, iterations, residual, seconds")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--checkpoint", o.checkpoint,
                 "Design, asymptotes and displacements for --resume as HDF5, at the end and when a "
                 "signal stops the run, which then exits with 75")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--checkpoint-every", o.checkpoint_every, "And whenever so many steps are done")
      ->type_name("N")
      ->group(group);
  app.add_option("--resume", o.resume, "Go on from a checkpoint of the same problem")
      ->type_name("FILE")
      ->group(group);
}

} // namespace

bool TopoptCommandOptions::is_generator() const {
  for (const char* name : generator_names())
    if (problem == name)
      return true;
  return false;
}

bool TopoptCommandOptions::is_json() const {
  return !is_generator() && std::filesystem::path(problem).extension() == ".json";
}

void add_topopt_options(CLI::App& app, TopoptCommandOptions& options) {
  app.description("Topology optimisation on meshes of hexahedra: where material should be, by "
                  "densities (SIMP).\nLengths in m, forces in N, moduli in Pa, energies in J.");
  add_problem_options(app, options);
  add_design_options(app, options);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(app, options.common,
                     {{Precision::mixed, Precision::fp64},
                      "Of the preconditioner; all else, and results, are in double precision",
                      false});
  app.footer(
      std::string("Examples:\n"
                  "  femura topopt cantilever --cells 60x30x30 --volume 0.12 -o out\n"
                  "      out/cantilever.hdf, .stl, .csv and .summary.json\n"
                  "  femura topopt examples/topopt/bridge.json --vtk-every 10 -o out\n"
                  "  femura topopt bracket.inp --unit 0.001 --volume 0.25 --radius 0.004 --stl "
                  "bracket.stl\n\n") +
      exit_code_help() +
      "  75  stopped by a signal after writing the checkpoint\n"
      "A run that does all its steps ends with 0, whether the design still changed or not.\n");
}

void note_given_options(const CLI::App& app, TopoptCommandOptions& options) {
  options.has_steps = app.count("--steps") > 0;
  if (app.count("--precision") > 0) {
    const auto precision =
        options.common.precision == Precision::fp64 ? HexaPrecision::fp64 : HexaPrecision::mixed;
    options.changes.push_back([precision](DesignOptions& o) { o.solver.precision = precision; });
  }
}

} // namespace femura
