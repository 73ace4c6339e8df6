// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/input/options.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/record_change.hpp"
#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/process.hpp"
#include <ossatura/solvers/topopt/generators.hpp>

namespace ossatura {

namespace {

/// A parameter that may grow.
void add_growing(CLI::App& app, Changes<DesignOptions>& changes, const std::string& name,
                 Continuation DesignOptions::*member, const std::string& description) {
  add_parsed(app, name, "X|START:END:EVERY:CHANGE",
             with_default(description, continuation_text(changes.defaults.*member)),
             [&changes, member](const std::string& text) {
               changes.set(member, parse_continuation(text));
             });
}

void add_problem_options(CLI::App& app, TopoptCommandOptions& o) {
  app.option_defaults()->group("Problem");
  app.add_option(
         "problem,--problem", o.problem,
         "A generator (" + joined(generator_names(), ", ") +
             "), a problem as .json, or a mesh with supports and loads: .inp of Abaqus and "
             "CalculiX, .cdb of Ansys; docs/topopt has all of them, images too. Options below "
             "win over it")
      ->type_name("NAME|FILE");
  add_parsed(app, "--cells", "AxBxC", "Cells of a generator along x, y and z",
             [&o](const std::string& text) { o.cells = parse_triple<int>(text, 'x', "60x20x20"); });
  add_parsed(
      app, "--size", "AxBxC", "Size of its box in m (cells are cubes of 1 m if not given)",
      [&o](const std::string& text) { o.size = parse_triple<double>(text, 'x', "60x20x20"); });
  app.add_option("--distort", o.distort,
                 "Move the inner nodes of a generator by up to so much of an edge, at random (by "
                 "--seed), 0 to 0.5")
      ->type_name("X");
  app.add_option("--renumber", o.renumber,
                 "Put its nodes and elements in a random order, by this seed")
      ->type_name("SEED");
  app.add_option("--unit", o.unit,
                 with_default("m per unit of length of a mesh file", HexaSource().unit))
      ->type_name("X");
  app.add_option("--voxel", o.voxel,
                 "Edge in m of the cubes that fill a closed surface (.stl, .off, .step)")
      ->type_name("M");
  app.add_option("--lower", o.lower,
                 "Voxels of an image (.mha, .nii.gz, .nrrd, DICOM) with this value and more are "
                 "the body, those below void")
      ->type_name("V");
  app.add_option(
         "--keep", o.keep,
         "Elements within M m of supports and loads stay solid, such as bolt holes and pads")
      ->type_name("M");
  app.add_option("--young", o.young, "Young's modulus of solid material in Pa")->type_name("X");
  app.add_option("--poisson", o.poisson, "Poisson's ratio")->type_name("X");
  app.add_option("--mass-density", o.mass_density,
                 "Of solid material in kg/m3, for the mass of the part")
      ->type_name("X");
}

void add_design_options(CLI::App& app, TopoptCommandOptions& o) {
  app.option_defaults()->group("Design (defaults: the problem's, else those in parentheses)");
  const DesignOptions mechanism = DesignOptions::mechanism();
  using D = DesignOptions;
  add_choice_of<DesignObjective>(
      app, "--objective",
      {{DesignObjective::compliance, name_of(DesignObjective::compliance)},
       {DesignObjective::volume, name_of(DesignObjective::volume)},
       {DesignObjective::frequency, name_of(DesignObjective::frequency)}},
      "",
      std::string("Least compliance or largest lowest natural frequency within --volume, or least "
                  "volume within the limits below and \"constraints\" of the problem (") +
          name_of(o.changes.defaults.objective) + ")",
      [&o](DesignObjective objective) { o.objective = objective; });
  add_number(app, o.changes, "--volume", &D::volume_fraction, "X",
             "Part of the volume that material may take");
  app.add_option("--max-compliance", o.max_compliance,
                 "Sum over the load cases of weight times compliance, at most J. This and the next "
                 "three replace the problem's constraints of their kind")
      ->type_name("J");
  app.add_option("--max-stress", o.max_stress,
                 "Relaxed von Mises stress of all load cases, at most PA")
      ->type_name("PA");
  app.add_option("--max-mass", o.max_mass, "Mass, at most KG")->type_name("KG");
  app.add_option("--min-frequency", o.min_frequency, "Lowest natural frequency, at least HZ")
      ->type_name("HZ");
  add_number(app, o.changes, "--frequencies", &D::frequencies, "N",
             "Find the N lowest natural frequencies of the design, and their modes",
             default_text(o.changes.defaults.frequencies) + "; " +
                 default_text(frequencies_of_designs) +
                 " where the objective or a limit is of them");
  add_named(app, o.changes, "--filter", &D::filter,
            "Of sensitivities or densities by distance, or of densities by an equation");
  add_number(app, o.changes, "--radius", &D::radius, "X", "Of the filter in m",
             "1.5 times the mean edge of the elements");
  add_switch(app, o.changes, "projection", &D::projection,
             "Filtered densities are projected towards 0 and 1", "They are not");
  add_growing(app, o.changes, "--sharpness", &D::sharpness,
              "Of the projection, and of --draw: beta");
  add_number(app, o.changes, "--threshold", &D::threshold, "X", "Of the projection: eta");
  add_number(app, o.changes, "--robust", &D::robust, "X",
             "Stiff, too, when the projection's threshold is larger by X, so that members and gaps "
             "are not thin; 0: do not");
  add_growing(app, o.changes, "--penalty", &D::penalty,
              "Power p of the densities; START:END:EVERY:CHANGE grows, as in 1:3:20:+0.5");
  add_number(app, o.changes, "--min-modulus", &D::min_modulus, "X",
             "Modulus of void by that of solid");
  add_named(app, o.changes, "--method", &D::method,
            "Optimality criteria, or the method of moving asymptotes",
            default_text(o.changes.defaults.method) + "; " + default_text(mechanism.method) +
                " for mechanisms, frequencies, gravity, rotation, temperatures, with constraints "
                "and --robust");
  add_number(app, o.changes, "--move", &D::move, "X", "Largest change of a density in a step",
             default_text(o.changes.defaults.move) + "; " + default_text(mechanism.move) +
                 " for mechanisms, " + default_text(move_with_stress) +
                 " where stress or frequencies are limited or the objective, " +
                 default_text(move_of_robust) + " with --robust");
  add_number(app, o.changes, "--start", &D::start, "X", "Density of the first design",
             "that of --volume; 1 for --objective volume");
  app.add_option("--start-from", o.start_from,
                 "Start from the design of another run, of any mesh of the same body: its "
                 "densities, before filters, at the places of the elements, made to fit --volume")
      ->type_name("NAME.hdf");
  app.add_option("--levels", o.levels,
                 "On voxels: coarser grids on which the first three quarters of the steps are, "
                 "each of cubes twice as large as the next one's")
      ->type_name("N")
      ->capture_default_str();
  add_number(app, o.changes, "--change", &D::change_tolerance, "X",
             "Stop when no density changes by more");
  add_number(app, o.changes, "--objective-change", &D::objective_change, "X",
             "Stop, too, when the objective changed by less than this part of itself over " +
                 std::to_string(objective_window) + " steps, and all constraints hold; 0: never");
  add_number(app, o.changes, "--steps", &D::max_steps, "N",
             "Steps at most, those before --resume among them");
}

void add_solver_options(CLI::App& app, TopoptCommandOptions& o) {
  app.option_defaults()->group("Linear systems (likewise)");
  using D = DesignOptions;
  using S = HexaSolverOptions;
  add_named(
      app, o.changes, "--grid", &D::grid,
      "Hexahedra of any shape as a mesh, or equal cubes as voxels: these need no matrix and no "
      "lists of neighbours",
      default_text(o.changes.defaults.grid) + "; voxels for a surface");
  add_named(app, o.changes, "--operator", of_topopt_solver(&S::kind),
            "How the matrix is applied. auto: congruent where few shapes make up the mesh, else "
            "recompute");
  add_named(app, o.changes, "--preconditioner", of_topopt_solver(&S::preconditioner),
            "amg: smoothed aggregation with the rigid-body modes");
  add_number(app, o.changes, "--tolerance", of_topopt_solver(&S::cg, &CgOptions::tolerance), "X",
             "True residual relative to the loads");
  add_number(app, o.changes, "--step-tolerance", &D::step_tolerance, "X",
             "The same of the solves of steps: results are of a last analysis to --tolerance",
             "100 times --tolerance, at most 0.01; mechanisms: that");
  add_number(app, o.changes, "--max-iterations",
             of_topopt_solver(&S::cg, &CgOptions::max_iterations), "N",
             "Iterations of one solve at most");
  add_number(app, o.changes, "--chebyshev-degree", of_topopt_solver(&S::chebyshev_degree), "N",
             "Of --preconditioner chebyshev: degree of the polynomial");
  add_number(app, o.changes, "--forming-cost", of_topopt_solver(&S::forming_cost), "N",
             "Coarse levels of amg serve for further designs until these have cost more iterations "
             "than forming them, which counts as N; 0: formed for each design");
  add_switch(app, o.changes, "warm-start", &D::warm_start,
             "Solves start from the displacements before", "They start from zero");
  add_choice(app, "--split", o.split,
             "Under mpirun or srun, on voxels: what processes divide. model: the nodes of all "
             "solves; the result has the same bits for any number of processes, also for one with "
             "this option. auto: the model, where there are several processes");
}

void add_result_options(CLI::App& app, TopoptCommandOptions& o) {
  app.option_defaults()->group("Results");
  app.add_option("--hdf", o.hdf,
                 "The final design as VTKHDF, for ParaView 5.11 and later: density, displacements, "
                 "strain energy")
      ->type_name("NAME.hdf");
  app.add_flag("--no-hdf", o.no_hdf, "No such files, even with --output-dir");
  app.add_option("--vtk-every", o.vtk_every,
                 "The design after every N-th step, too: NAME.hdf.series and beside it "
                 "NAME_STEP.hdf")
      ->type_name("N");
  app.add_option("--stl", o.stl, "The surface of the final design as binary STL, closed")
      ->type_name("NAME.stl");
  app.add_option("--3mf", o.file_3mf, "The same surface in mm for printers, as 3MF")
      ->type_name("NAME.3mf");
  app.add_flag("--no-stl", o.no_stl, "No such file, even with --output-dir");
  app.add_option("--stl-level", o.stl_level, "The density that is its surface")
      ->type_name("X")
      ->capture_default_str();
  app.add_flag("--keep-loose", o.keep_loose,
               "The surface has the parts, too, that join no load to a support");
  app.add_flag(
      "--whole", o.whole,
      "The surface is that of the whole part: its images in the \"mirrors\" of the problem "
      "are joined to it");
  app.add_option(
         "--smooth", o.smooth,
         "Passes that take the steps of elements out of the surface, without its volume and "
         "flat faces; 0: none")
      ->type_name("N")
      ->capture_default_str();
  app.add_option(
         "--reanalyse", o.reanalyse,
         "Solve what the surface encloses once more, as solid cubes of 1/N of the edge of "
         "elements, and report compliance, displacement and stress; 0: do not (1 on voxels, "
         "0 on a mesh)")
      ->type_name("N");
  app.add_flag("--bound", o.bound,
               "How far the compliance is from the best one at most: a number that the compliance "
               "of no design is below. Takes the solves of some more steps");
  add_step_files(
      app, o, "objective, cases, volume, change, greyness, penalty, iterations, residual, seconds",
      "Design, asymptotes and displacements", "problem");
}

} // namespace

ProblemKind TopoptCommandOptions::kind() const {
  return problem_kind(problem, generator_names());
}

void add_topopt_options(CLI::App& app, TopoptCommandOptions& options) {
  app.description("Topology optimisation of solid bodies: where material should be, by "
                  "densities (SIMP).\nLengths in m, forces in N, moduli in Pa, energies in J.");
  add_problem_options(app, options);
  add_design_options(app, options);
  add_process_options(app, options.changes);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(app, options.common,
                     {{Precision::mixed, Precision::fp64, Precision::lean},
                      "Of the preconditioner; all else, and results, are in double precision. On "
                      "voxels lean if not given: directions and residuals are single, too",
                      false});
  app.footer(
      std::string("Examples:\n"
                  "  ossatura topopt cantilever --cells 60x30x30 --volume 0.12 -o out\n"
                  "      out/cantilever.hdf, .stl, .csv and .summary.json\n"
                  "  ossatura topopt examples/topopt/bridge.json --vtk-every 10 -o out\n"
                  "  ossatura topopt bracket.inp --unit 0.001 --volume 0.25 --radius 0.004 --stl "
                  "bracket.stl\n"
                  "  ossatura topopt cantilever --cells 200x100x100 --grid voxels --volume 0.12 -o "
                  "out\n"
                  "  ossatura topopt mbb --cells 48x8x16 --grid voxels --overhang +z -o out\n\n") +
      exit_code_help() +
      "A run that does all its steps ends with 0, whether the design still changed or not.\n");
}

void note_given_options(const CLI::App& app, TopoptCommandOptions& options) {
  options.has_steps = app.count("--steps") > 0;
  options.has_volume = app.count("--volume") > 0;
  options.has_start = app.count("--start") > 0;
  options.has_levels = app.count("--levels") > 0;
  options.given = {app.count("--radius") > 0, app.count("--threshold") > 0,
                   app.count("--sharpness") > 0, app.count("--chebyshev-degree") > 0,
                   app.count("--forming-cost") > 0};
  if (app.count("--precision") > 0) {
    options.changes.set(of_topopt_solver(&HexaSolverOptions::precision), *options.common.precision);
    options.changes.set(member_of(&DesignOptions::voxels, &VoxelSolverOptions::precision),
                        *options.common.precision);
  }
}

} // namespace ossatura
