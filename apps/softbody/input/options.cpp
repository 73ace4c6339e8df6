// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/input/options.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/record_change.hpp"
#include "apps/softbody/input/read_scene.hpp"

namespace ossatura {

namespace {

using Items = std::vector<std::string>;

void add_scene_options(CLI::App& app, SoftbodyCommandOptions& o) {
  app.option_defaults()->group("Scene");
  add_inputs(app, "scene", o.scenes, o.skip_complete,
             "Objects, materials, what holds and loads them, obstacles and steps, as JSON; "
             "docs/softbody.md has the keys. Options below win over it");
  add_repeated(
      app, "--mesh", "OBJECT=FILE",
      "Mesh of an object, .msh, .vtk, .vtu or .hdf, instead of the scene's; may be repeated",
      [&o](const Items& items) {
        for (const std::string& item : items)
          o.meshes.push_back(split_at(item, '=', "OBJECT=FILE"));
      });
  app.add_option("--steps", o.steps, "Steps in all, those before --resume among them")
      ->type_name("N");
  add_number(app, o.changes, "--time-step", &SoftOptions::time_step, "S", "Time of a step",
             "the scene's");
}

void add_step_options(CLI::App& app, SoftbodyCommandOptions& o) {
  app.option_defaults()->group("Step (defaults: the scene's, else those in parentheses)");
  add_number(app, o.changes, "--newton", &SoftOptions::newton_iterations, "N",
             "Newton iterations of a step at most; 1 is linearly implicit");
  add_number(app, o.changes, "--newton-tolerance", &SoftOptions::newton_tolerance, "X",
             "Of them: residual relative to that at the step's start");
  add_number(app, o.changes, "--max-halvings", &SoftOptions::max_halvings, "N",
             "A step whose matrix is not positive definite is taken in 2^N parts at most");
  add_named(app, o.changes, "--assembly", &SoftOptions::assembly,
            "Element matrices summed through the element map, or through triplets");
  add_number(app, o.changes, "--contact-iterations", &SoftOptions::contact_iterations, "N",
             "Sweeps of projected Gauss-Seidel over the contacts, at most, in each round of "
             "contact");
  add_number(app, o.changes, "--contact-tolerance", &SoftOptions::contact_tolerance, "X",
             "On gaps, complementarity and sliding after the step, relative to the free motion");
}

void add_solver_options(CLI::App& app, SoftbodyCommandOptions& o) {
  app.option_defaults()->group("Linear systems (likewise)");
  add_number(app, o.changes, "--tolerance", &SoftOptions::tolerance, "X",
             "Of conjugate gradients: true residual relative to the right-hand side");
  add_number(app, o.changes, "--max-iterations", &SoftOptions::max_iterations, "N",
             "Iterations of one system at most");
  add_number(app, o.changes, "--batch", &SoftOptions::batch, "N",
             "Iterations between looks at the residual; 0: by itself");
  add_named(
      app, o.changes, "--product", &SoftOptions::product,
      "With the matrix: by its 3 x 3 blocks, or by the spmv of Kokkos Kernels where the build "
      "has it");
  add_named(app, o.changes, "--preconditioner", &SoftOptions::preconditioner,
            "ldlt: a factor L D L^T, fresh or of an earlier step");
  add_repeated(
      app, "--refresh", "sync|every:K|background",
      with_default("When the factor is made anew: for every system before it is solved; for every "
                   "K-th; all the time beside the steps, the newest finished one is used",
                   refresh_text(o.changes.defaults)),
      [&o](const Items& items) {
        SoftOptions parsed;
        parse_refresh(items.back(), parsed);
        o.changes.set(&SoftOptions::refresh, parsed.refresh);
        o.changes.set(&SoftOptions::refresh_every, parsed.refresh_every);
      });
  add_number(app, o.changes, "--refresh-after", &SoftOptions::refresh_after, "N",
             "Iterations: a system that took more makes the next factor fresh");
  add_named(app, o.changes, "--factor", &SoftOptions::place, "Where it is made");
  add_named(app, o.changes, "--apply", &SoftOptions::apply,
            "How it is applied: rows by levels; tiles of nested dissection (Zeng and Courtecuisse "
            "2023); supernodes by levels; the inverse of L as dense rectangles, without levels. "
            "auto: inverse on devices, supernodes on cores");
  add_named(
      app, o.changes, "--factor-storage", &SoftOptions::storage,
      "Of the inverse of L; all else is in double precision. auto: fp16 on devices for factors "
      "that are used again, else fp32");
  add_number(
      app, o.changes, "--bands", &SoftOptions::bands, "K",
      "Parts of the inverse of L, 1 to 8: more of them have fewer entries and more launches. "
      "0: by a model of both, and 1 for contact on devices");
  add_switch(app, o.changes, "warp", &SoftOptions::warp,
             "A stale factor follows the rotations of the nodes", "It does not");
}

void add_result_options(CLI::App& app, SoftbodyCommandOptions& o) {
  app.option_defaults()->group("Results");
  app.add_option("--hdf", o.hdf,
                 "Positions and velocities in time as VTKHDF, for ParaView 5.11 and later: "
                 "NAME.hdf.series and beside it NAME_STEP.hdf for every step shown")
      ->type_name("NAME.hdf");
  app.add_flag("--no-hdf", o.no_hdf, "No such files, even with --output-dir");
  app.add_option("--vtk-every", o.vtk_every,
                 "Steps from one shown to the next; about a hundred are shown if not given")
      ->type_name("N");
  add_step_files(app, o,
                 "time, energies, iterations, residual, staleness, contacts, seconds of each phase",
                 "Positions and velocities", "scene");
}

} // namespace

void add_softbody_options(CLI::App& app, SoftbodyCommandOptions& options) {
  app.description("Soft bodies in time: implicit finite elements with a reusable preconditioner, "
                  "and contact.\nLengths in m, times in s, masses in kg, forces in N, moduli in "
                  "Pa.");
  add_scene_options(app, options);
  add_step_options(app, options);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(app, options.common,
                     {{Precision::fp64}, "Of all but the factor; see --factor-storage", false});
  app.footer(
      std::string("Examples:\n"
                  "  ossatura softbody examples/softbody/cloth.json -o out\n"
                  "      out/cloth.hdf.series, out/cloth.csv and out/cloth.summary.json\n"
                  "  ossatura softbody examples/softbody/raptor.json --mesh raptor=raptor_8418.vtu "
                  "--steps 100 --json -\n"
                  "  ossatura softbody examples/softbody/cube.json --backend openmp --refresh "
                  "background --timings\n\n") +
      exit_code_help());
}

} // namespace ossatura
