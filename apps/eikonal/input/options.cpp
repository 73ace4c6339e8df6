// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/input/options.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include "apps/eikonal/input/velocities.hpp"
#include <ossatura/core/base/require.hpp>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;

void add_mesh_options(CLI::App& app, EikonalCommandOptions& o) {
  app.option_defaults()->group("Mesh");
  app.add_option("mesh,--mesh", o.input,
                 "Tetrahedra: openCARP text (NAME.pts, NAME.elem or NAME alone, with fibres in "
                 "NAME.lon) or binary (.bpts, .belem), Gmsh (.msh), VTK (.vtk, .vtu, .hdf)")
      ->type_name("FILE");
  app.add_option("--unit", o.file.unit,
                 "Length of one unit of the file, instead of 0.001 for openCARP and 1 for others")
      ->type_name("MM");
  app.add_option(
         "--fibre-file", o.file.fibre_file,
         "Fibres, and sheets, as an openCARP file .lon or .blon, instead of those of the mesh")
      ->type_name("FILE");
  for (const auto& [name, target, what] :
       {std::make_tuple("--tag-field", &o.file.tag_field, "tags"),
        std::make_tuple("--fibre-field", &o.file.fibre_field, "directions of fibres"),
        std::make_tuple("--sheet-field", &o.file.sheet_field, "directions of sheets")})
    app.add_option(name, *target,
                   std::string("VTK: cell data with the ") + what +
                       "; a usual name is found if not given")
        ->type_name("NAME");
  add_parsed(app, "--generate", "KIND[:KEY=VALUE,...]",
             "Make a mesh instead of reading one: ventricles:h=0.72 (of a human heart, two "
             "tags, rotating fibres; h=0.36 has 24 million tetrahedra), slab:h=0.5 (20 x 7 x 3 "
             "mm, fibres along x), box:n=20,h=1,jitter=0 or box:n=40x20x10 (no fibres); edges h "
             "in mm",
             [&o](const std::string& text) { o.generated = parse_generated_mesh(text); });
}

void add_velocity_options(CLI::App& app, EikonalCommandOptions& o) {
  app.option_defaults()->group("Conduction velocities (m/s)");
  app.add_option("--velocities", o.velocity_file,
                 "By tag, as JSON: {\"1\": {\"vl\": 0.6, \"vt\": 0.4, \"vn\": 0.2}, \"default\": "
                 "{...}}: along fibres, along sheets (vl if left out), normal to both (vt); "
                 "\"vl\": 0 where no wave goes. Or of each tetrahedron, as openCARP's NAME.dat: a "
                 "line of one to three numbers for each, 0 or nan where no wave goes")
      ->type_name("FILE");
  add_parsed(app, "--velocity", "VL[,VT[,VN]]",
             "Of all tags (--velocities has one for each); the same in all directions where only "
             "VL is given. Generated meshes "
             "have defaults: ventricles 0.6,0.4,0.2, slab 0.6,0.3,0.3, box 0.6",
             [&o](const std::string& text) { o.velocity = parse_velocity(text); });
  add_parsed(app, "--velocity-field", "VL[,VT[,VN]]",
             "VTK: cell data with the velocities of each tetrahedron: a field of one to three "
             "components, or a field for each direction; 0 or nan where no wave goes",
             [&o](const std::string& text) {
               o.file.value_fields = split_list(text, ',');
               const auto& fields = o.file.value_fields;
               if (fields.empty() || fields.size() > 3 ||
                   std::count(fields.begin(), fields.end(), "") > 0)
                 fail<std::invalid_argument>("'", text, "': expected one to three names");
             });
  add_repeated(app, "--non-conducting", "TAG[,TAG...]",
               "Tags of tissue through which no wave goes, such as scars, blood and bath, whatever "
               "velocities it has",
               [&o](const Items& items) {
                 for (const std::string& item : items)
                   for (const std::string& tag : split_list(item, ','))
                     o.non_conducting.push_back(parse_number<int>(tag));
               });
}

void add_site_options(CLI::App& app, EikonalCommandOptions& o) {
  app.option_defaults()->group("Sites");
  add_repeated(
      app, "--site", "PLACE[@t=MS]",
      "Where a wave starts, and when (0; also before): vertices:1,2,3 (numbered from 0), vtx:FILE "
      "(openCARP's list of vertices), point:X,Y,Z (the nearest vertex), "
      "sphere:X,Y,Z,RADIUS or box:X,Y,Z,X,Y,Z (all vertices inside), in mm; may be "
      "repeated. Generated ventricles and slabs have default sites",
      [&o](const Items& items) {
        for (const std::string& item : items)
          o.sites.push_back(parse_site(item));
      });
  app.add_option("--sites", o.site_file,
                 "The same from a JSON file: [\"point:1,2,3\", ...], or several sets, each solved "
                 "on its own in one go: {\"apex\": [...], \"base\": [...]}")
      ->type_name("FILE");
}

void add_solver_options(CLI::App& app, EikonalCommandOptions& o) {
  app.option_defaults()->group("Solver");
  add_choice(app, "--method", o.solver.method,
             "Fast iterative method. auto: the fastest for the backend; queue: of active vertices; "
             "scan: lists by prefix sums, a thread for each tetrahedron (Ganellari et al. 2018); "
             "spread, patch: sub-domains, by several teams each or by one (their two "
             "decompositions)");
  add_choice(app, "--metric", o.solver.metric,
             "Stored of each tetrahedron: 6 squared lengths of edges or 18 inner products");
  app.add_flag("--deterministic", o.solver.deterministic,
               "Bitwise the same result for any number of threads, method and sub-domains");
  app.add_option("--parts", o.solver.num_parts,
                 "spread, patch: number of sub-domains; 0: by the size of the mesh")
      ->type_name("N")
      ->capture_default_str();
  add_choice(app, "--split", o.split,
             "Under mpirun or srun: what processes divide. sets: the sets of sites, each process "
             "with the whole mesh; mesh: the mesh, which is cut; the result is that of "
             "--deterministic, to the bit. auto: sets, where there is one for each process");
  add_choice(app, "--partition", o.partition,
             "How a mesh is cut. curve: pieces of a space-filling curve; metis: fewer vertices at "
             "the cuts, for a longer set-up");
  app.add_option("--tolerance", o.solver.tolerance,
                 "A time is replaced where the new one is smaller by more than this part of it")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--max-iterations", o.solver.max_iterations, "Of the active list")
      ->type_name("N")
      ->capture_default_str();
}

void add_result_options(CLI::App& app, EikonalCommandOptions& o) {
  app.option_defaults()->group("Results");
  app.add_option("--hdf", o.hdf, "Times, tags and fibres as VTKHDF, for ParaView 5.11 and later")
      ->type_name("FILE");
  app.add_flag("--no-hdf", o.no_hdf, "No such file, even with --output-dir");
  app.add_option(
         "--igb", o.igb,
         "Times as openCARP's act.igb, -1 where no wave arrives (nan if a site is before 0); "
         "with several sets of sites, a file NAME_SET.igb for each")
      ->type_name("FILE");
  app.add_option("--dat", o.dat, "The same as text, a line for each vertex")->type_name("FILE");
}

} // namespace

void add_eikonal_options(CLI::App& app, EikonalCommandOptions& options) {
  app.description("Activation times of the heart on tetrahedra: the anisotropic eikonal equation "
                  "by the fast iterative\nmethod. Lengths in mm, times in ms, velocities in m/s = "
                  "mm/ms.");
  add_mesh_options(app, options);
  add_velocity_options(app, options);
  add_site_options(app, options);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(app, options.common,
                     {{Precision::fp32, Precision::fp64}, "Of times and metric", false});
  app.footer(
      std::string("Examples:\n"
                  "  ossatura eikonal heart.pts --velocities tissues.json --site vtx:lv.vtx "
                  "--site vtx:rv.vtx@t=5 -o out\n"
                  "      out/heart.hdf and out/heart.summary.json\n"
                  "  ossatura eikonal heart.vtu --velocity 0.6,0.4,0.2 --site "
                  "sphere:10,20,30,1.5 --igb act.igb\n"
                  "  ossatura eikonal heart.pts --velocities tissues.json --sites pacing.json "
                  "--json -\n"
                  "  ossatura eikonal --generate ventricles:h=0.72 -o out\n\n") +
      exit_code_help());
}

} // namespace ossatura
