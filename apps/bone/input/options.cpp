// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/options.hpp"

#include "apps/bone/input/condition_syntax.hpp"
#include "apps/bone/input/solver_choice.hpp"
#include "apps/driver/exit_code.hpp"
#include "apps/driver/options/default_text.hpp"
#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include <ossatura/core/base/require.hpp>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;

std::array<int, 3> parse_extents(const Items& items, bool one_is_cube) {
  if (items.size() != 3 && !(one_is_cube && items.size() == 1))
    throw std::invalid_argument(one_is_cube ? "expected NX,NY,NZ or one number for a cube"
                                            : "expected NX,NY,NZ");
  std::array<int, 3> extents{};
  for (std::size_t d = 0; d < 3; ++d)
    extents[d] = parse_number<int>(items[items.size() == 3 ? d : 0]);
  return extents;
}

void add_input_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Input");
  add_inputs(
      app, "input", o.inputs, o.skip_complete,
      "Image of bone: HDF5 of ParOSol or ITK (.h5), MetaImage (.mha, .mhd), NIfTI (.nii, .nii.gz), "
      "NRRD (.nrrd, .nhdr), Scanco (.isq, .rsq, .aim) or raw; a folder of DICOM slices or one of "
      "them; or a closed surface (.off, .stl)");
  app.add_option(
         "--mask", o.mask,
         "Segmentation of the image, .nii, .nii.gz, .mha, .mhd, .nrrd, .aim or .h5 of ITK, on the "
         "same grid, or in DICOM, a segmentation or a folder of slices of labels: voxels outside "
         "are void. A * stands for the input's name, or that of its folder where several are "
         "called alike: 'masks/*.nii.gz'")
      ->type_name("FILE");
  add_list(app, "--mask-labels", "LABEL,...", with_default("Those that are bone", "all but 0"),
           [&o](const Items& items) {
             for (const std::string& item : items)
               o.mask_labels.push_back(parse_number<int>(item));
           });
  add_choice(app, "--format", o.format, "What the input is, where its name does not say",
             "by-name");
  app.add_option("--series", o.series,
                 "DICOM: the SeriesInstanceUID of the slices to read, where a folder has several "
                 "series")
      ->type_name("UID");
  add_list(app, "--shape", "NX,NY,NZ", "raw: voxels along x (fastest), y and z",
           [&o](const Items& items) { o.raw_shape = parse_extents(items, false); });
  add_choice(app, "--type", o.raw_type, "raw: type of a voxel, little endian");
  app.add_option("--spacing", o.spacing,
                 "Edge of a voxel, instead of what the file says; required for raw images, 1 for "
                 "generated ones")
      ->type_name("MM");
  app.add_option(
         "--resample", o.resample,
         "Images: edge of the cubes to take its voxels to, which may be boxes: between their "
         "centres linearly, or the mean of those that a cube covers; labels and the mask by "
         "the nearest")
      ->type_name("MM");
  app.add_option("--voxel", o.voxel, "Surfaces: edge of the voxels to make")->type_name("MM");
  app.add_option("--surface-unit", o.surface_unit, "Surfaces: length of one unit of the file")
      ->type_name("MM")
      ->capture_default_str();
  add_choice(app, "--modulus-unit", o.modulus_unit,
             "Of the moduli in the input: programs that write ParOSol files differ, and files do "
             "not say. auto: MPa, refused if the largest is below 100",
             "auto");
  add_choice(app, "--islands", o.islands,
             "Parts that no support holds, by way of shared nodes. auto: left out up to 1 % of the "
             "bone, else an error; drop: left out, but never most of the bone");
  app.add_flag("--largest-component", o.largest_component, "Keep only the largest connected part");
  add_choice(app, "--connectivity", o.connected_by_node,
             "--largest-component: when two voxels are connected",
             {{false, "face"}, {true, "node"}});
}

void add_generator_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Generated input");
  add_choice(app, "--generate", o.generator,
             "Make an image instead of reading one; perlin is like trabecular bone");
  add_list(app, "--size", "NX[,NY,NZ]", "Voxels", [&o](const Items& items) {
    o.size = parse_extents(items, true);
  })->default_str(default_text(o.size, ','));
  app.add_option("--feature", o.feature,
                 "perlin: voxels per cell of the noise; multiplied with the size, the same bone at "
                 "another resolution")
      ->type_name("VOXELS")
      ->capture_default_str();
  app.add_option("--threshold", o.noise_threshold,
                 "perlin: bone where the magnitudes of both noises are below")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--fraction", o.fraction, "perlin: wanted part of bone, instead of --threshold")
      ->type_name("X");
  app.add_option("--radius", o.radius, "sphere: radius; 0: the largest")
      ->type_name("VOXELS")
      ->capture_default_str();
  app.add_option("--inner-radius", o.inner_radius, "sphere: radius of a core")
      ->type_name("VOXELS")
      ->capture_default_str();
  app.add_option("--inner-modulus", o.inner_modulus, "sphere: of the core; 0: void")
      ->type_name("MPA")
      ->capture_default_str();
  app.add_option("--outer-modulus", o.outer_modulus, "sphere: around it; 0: void")
      ->type_name("MPA")
      ->capture_default_str();
  add_list(app, "--layers", "VOXELS=MPA,...", "laminate: layers from the low end, repeated",
           [&o](const Items& items) {
             for (const std::string& item : items)
               o.layers.push_back(parse_layer(item));
           });
  add_choice(app, "--layer-axis", o.layer_axis, "laminate: normal of the layers", axis_names);
}

void add_material_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Material");
  add_choice(app, "--law", o.law,
             "What a value v of the image means. modulus: it is Young's modulus (ParOSol files); "
             "threshold: bone of --modulus where --lower <= v <= --upper; linear: E = intercept + "
             "slope v; power: E = coefficient (intercept + slope v)^exponent; labels: the table "
             "--labels");
  app.add_option("--modulus", o.modulus,
                 "Young's modulus of bone: law threshold, generated images, surfaces")
      ->type_name("MPA")
      ->capture_default_str();
  app.add_option("--poisson", o.poisson,
                 "Poisson's ratio; otherwise the file's, or 0.3 where it has none")
      ->type_name("NU");
  app.add_option("--lower", o.lower, "Values below are void")->type_name("V");
  app.add_option("--upper", o.upper, "Values above are void")->type_name("V");
  app.add_option("--slope", o.slope, "linear: MPa per unit of v; power: density per unit of v")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--intercept", o.intercept, "linear: MPa at v = 0; power: density at v = 0")
      ->type_name("X")
      ->capture_default_str();
  // Morgan, Bayraktar, Keaveny, J. Biomech. 36 (2003) 897-904, doi:10.1016/S0021-9290(03)00071-X:
  // femoral neck, E in MPa, apparent density in g/cm3.
  app.add_option("--coefficient", o.coefficient,
                 "power: modulus at density 1 g/cm3; the default is that of the femoral neck "
                 "(Morgan et al. 2003)")
      ->type_name("MPA")
      ->capture_default_str();
  app.add_option("--exponent", o.exponent, "power: of the density")
      ->type_name("X")
      ->capture_default_str();
  add_list(app, "--labels", "LABEL=MPA[:NU],...",
           "labels: material of each label, 0 MPa for void; other labels are an error",
           [&o](const Items& items) {
             for (const std::string& item : items)
               if (!o.labels.insert(parse_label(item)).second)
                 throw std::invalid_argument("label of '" + item + "' is listed twice");
           });
  add_label_options(app, o);
}

/// A name of --test: the kind and, for shear, its axis and direction.
struct TestName {
  LoadTest test;
  int axis, direction;
};

void add_condition_options(CLI::App& app, BoneOptions& o) {
  add_list(
      app, "--fix", "WHERE:XYZ[=MM],...",
      "Displacement of a side of the image (x-, x+, ..., z+), of what the voxels of --mask with a "
      "label touch, of a line of it through the centre of the label, about which the rest may turn "
      "(line:LABEL/AXIS), or of a node X/Y/Z of the image as given: z-:xyz, z+:z=-0.1, "
      "label:3:xyz, line:5/y:xz, "
      "10/12/0:xy; may be repeated",
      [&o](const Items& items) {
        for (const std::string& item : items)
          o.fix.push_back(parse_condition(item, false));
      });
  add_list(app, "--force", "WHERE:XYZ=N,...",
           "Force on a side, in all, as an equal traction on the bone there (with --plate-depth: "
           "in the bone within it), on what a label of --mask touches, by the voxels around each "
           "node, or on a node: z+:z=-100, label:3:z=-100; may be repeated",
           [&o](const Items& items) {
             for (const std::string& item : items)
               o.force.push_back(parse_condition(item, true));
           });
  app.add_option("--fix-file", o.fix_file,
                 "Displacements: lines x,y,z,component,mm for nodes of the image as given")
      ->type_name("CSV");
  app.add_option("--force-file", o.force_file,
                 "Forces: lines x,y,z,component,N for nodes of the image as given")
      ->type_name("CSV");
}

void add_test_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Mechanical test");
  add_choice_of<TestName>(
      app, "--test",
      {{{LoadTest::by_input, -1, 0}, "auto"},
       {{LoadTest::axial, -1, 0}, "axial"},
       {{LoadTest::uniaxial, -1, 0}, "uniaxial"},
       {{LoadTest::confined, -1, 0}, "confined"},
       {{LoadTest::shear, 0, 1}, "shear-xy"},
       {{LoadTest::shear, 0, 2}, "shear-xz"},
       {{LoadTest::shear, 1, 0}, "shear-yx"},
       {{LoadTest::shear, 1, 2}, "shear-yz"},
       {{LoadTest::shear, 2, 0}, "shear-zx"},
       {{LoadTest::shear, 2, 1}, "shear-zy"},
       {{LoadTest::symmetric_shear, -1, 0}, "symshear"},
       {{LoadTest::torsion, -1, 0}, "torsion"},
       {{LoadTest::bending, -1, 0}, "bending"},
       {{LoadTest::homogenise, -1, 0}, "homogenise"},
       {{LoadTest::prescribed, -1, 0}, "file"}},
      name_of(o.test),
      "Plates normal to --axis hold both ends. axial: the upper one moves along the axis; "
      "uniaxial: and both are smooth (axial with --lateral free); confined: and the sides cannot "
      "bulge; shear-AB: plates normal to A, the upper one moves along B; symshear: no plates, the "
      "four sides beside --axis move as a pure shear of gamma = --strain across it, and not along "
      "it (FAIM's symshear); torsion: it turns about the axis; bending: both turn "
      "by half --angle; homogenise: six loads for the 6 x 6 stiffness; file: what the input, --fix "
      "and --force say; auto: file where displacements are prescribed, else axial",
      [&o](const TestName& name) {
        o.test = name.test;
        if (name.axis >= 0)
          o.axis = name.axis;
        o.shear_direction = name.direction;
      });
  add_choice(app, "--axis", o.axis, "Normal of the plates; symshear: of the plane of the shear",
             axis_names);
  add_choice(app, "--hinge", o.hinge, "bending: the axis about which the plates turn", axis_names);
  app.add_option(
         "--strain", o.strain,
         "Nominal strain, negative in compression; shear: displacement by height; symshear: gamma")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--displacement", o.displacement, "Of the upper plate, instead of --strain")
      ->type_name("MM");
  app.add_option("--angle", o.angle, "torsion, bending: between the plates")
      ->type_name("DEGREES")
      ->capture_default_str();
  add_list(app, "--centre", "box|mass|X,Y,Z",
           "torsion, bending: the point that the plates turn about. mass: the centre of the bone's "
           "voxels, as FAIM and parosol-py have it; box: that of the box around them; or mm along "
           "the axes of the image as given, before --crop and --cap, from its lower corner",
           [&o](const Items& items) { o.centre = parse_centre(items); })
      ->default_str(name_of(o.centre.kind));
  add_choice(
      app, "--lateral", o.lateral,
      "Plates are glued to the bone, or leave it free: frictionless (axial), floating along the "
      "axis (shear, torsion), holding it along the axis only (bending); symshear: its sides leave "
      "the bone free along the axis");
  app.add_option("--plate-depth", o.plate_depth,
                 "Plates hold all nodes of the bone within this depth from its ends")
      ->type_name("MM")
      ->capture_default_str();
  add_choice(app, "--boundary", o.boundary,
             "homogenise: the sides. kinematic: all of them move as the strain says; periodic: the "
             "image is a cell that repeats along x, y and z");
  add_condition_options(app, o);
}

void add_solver_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Solver");
  app.add_option("--tolerance", o.tolerance, "Relative residual at which the solution is accepted")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--max-iterations", o.max_iterations, "Of conjugate gradients")
      ->type_name("N")
      ->capture_default_str();
  std::string operators;
  AnyVoxelOperators::for_each([&](auto entry) {
    using Operator = typename decltype(entry)::type;
    operators += std::string(Operator::name) + ": " + Operator::description + "; ";
  });
  add_choice(app, "--operator", o.matrix,
             operators + "auto: the faster, brick on devices and offset on cores", "auto");
  add_choice(app, "--hierarchy", o.hierarchy,
             "Coarse levels. split: cells and nodes of parts that are not connected stay apart, "
             "however near; averaged: one cell per place; paper: averaged, with the cycle and the "
             "smoother of Arbenz et al. 2014");
  // Defaults where --hierarchy is not the paper's and where it is.
  BoneOptions by_paper;
  by_paper.hierarchy = Hierarchy::paper;
  const MultigridOptions own, paper = MultigridOptions::paper();
  const auto both = [](const std::string& description, const auto& usual, const auto& published) {
    return with_default(description, default_text(usual) + "; paper: " + default_text(published));
  };
  add_choice(app, "--cycle", o.cycle,
             both("Multigrid cycle. amli: V on the finest level, below it the cycle of each level "
                  "is repeated as a Chebyshev iteration; inner-w: V on the finest level, W below",
                  cycle_of(BoneOptions()), cycle_of(by_paper)));
  app.add_option("--coarse-visits", o.coarse_visits,
                 with_default("Cycles of the next level for each one on a level below the finest",
                              "cycle v: 1, else " + default_text(own.coarse_cycles)))
      ->type_name("N");
  add_choice(app, "--smoother", o.smoother,
             both("Chebyshev polynomial of the smoother: of the first kind, of the fourth, or that "
                  "optimised for V-cycles (Lottes 2023)",
                  own.smoother.kind, paper.smoother.kind));
  app.add_option(
         "--smoother-degree", o.smoother_degree,
         both("Of the polynomial on the finest level", own.smoother.degree, paper.smoother.degree))
      ->type_name("N");
  app.add_option("--coarse-degree", o.coarse_degree,
                 with_default("The same below the finest level",
                              default_text(own.coarse_degree) + "; paper: as there"))
      ->type_name("N");
  app.add_option("--smoothing-ratio", o.smoothing_ratio,
                 with_default("Smoother first: largest eigenvalue by the smallest one that is "
                              "smoothed",
                              own.smoother.ratio))
      ->type_name("X");
  app.add_option("--direct-nodes", o.direct_nodes,
                 "Levels of so few nodes are solved directly; a good number for the backend if not "
                 "given")
      ->type_name("N");
  app.add_flag("--no-launch-graphs", o.no_launch_graphs,
               "cuda: launch the kernels of coarse levels one by one");
  app.add_option("--levels", o.levels, "Of the multigrid, at most; 1: no multigrid")
      ->type_name("N")
      ->capture_default_str();
  add_choice(app, "--coarse", o.coarse, "Solver of the coarsest level");
  add_choice(app, "--split", o.split,
             "Under mpirun or srun: what processes divide. model: its nodes, levels and vectors; "
             "with --operator brick or gather the result has the same bits for any number of "
             "processes, also for one with this option; loads: the six of homogenise, each process "
             "with the whole model; inputs: each process takes some of several. auto: several "
             "inputs, else loads of homogenise, else the model");
}

void add_result_options(CLI::App& app, BoneOptions& o) {
  app.option_defaults()->group("Results");
  add_list(app, "--fields", "NAME,...",
           "Fields of the .hdf file: some of " + joined(bone_field_names(), ", ") + "; or all",
           [&o](const Items& items) {
             const std::vector<std::string>& known = bone_field_names();
             o.fields.clear();
             for (const std::string& item : items) {
               if (item == "all")
                 o.fields = known;
               else if (std::find(known.begin(), known.end(), item) == known.end())
                 throw std::invalid_argument("there is no field '" + item + "'; there are " +
                                             joined(known, ", ") + " and all" +
                                             did_you_mean(item, known));
               else if (std::find(o.fields.begin(), o.fields.end(), item) == o.fields.end())
                 o.fields.push_back(item);
             }
           })
      ->default_str(joined(o.fields, ","));
  app.add_option("--hdf", o.hdf, "Fields as VTKHDF, for ParaView 5.11 and later")
      ->type_name("FILE");
  app.add_flag("--no-hdf", o.no_hdf, "No fields, even with --output-dir");
  add_choice(
      app, "--field-images", o.field_images,
      "The fields of --fields that have one number for a voxel, each as an image on the grid "
      "of the input, with its place in the world: NAME.sed.nii.gz and so on");
  app.add_option_function<std::string>(
         "--preview",
         [&o](const std::string& path) {
           o.preview = path;
           o.common.dry_run = true;
         },
         "Instead of a solve a picture, .png, of three sections through the centre of the bone: "
         "its moduli, caps and pads, and the nodes that rest (blue), move (red) or are pushed "
         "(yellow); "
         "otherwise as --dry-run. A * stands for the input's name")
      ->type_name("FILE");
  app.add_option("--parosol-output", o.parosol_output,
                 "Groups /Mesh and /Solution as ParOSol writes them")
      ->type_name("FILE");
  app.add_option("--pistoia-strain", o.pistoia_strain, "Critical effective strain")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--pistoia-volume", o.pistoia_volume,
                 "Part of the bone above it at the failure load")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--histogram", o.histogram_bins,
                 "Bins of the histograms in the JSON summary; 0: none")
      ->type_name("BINS")
      ->capture_default_str();
}

} // namespace

const std::vector<std::string>& bone_field_names() {
  static const std::vector<std::string> names = {
      "displacement", "modulus", "strain", "stress", "sed", "von_mises", "effective_strain"};
  return names;
}

void add_bone_options(CLI::App& app, BoneOptions& options) {
  app.description("Mechanical tests of bone on voxels: micro-finite elements straight from an "
                  "image, solved by conjugate\ngradients with geometric multigrid. Lengths in mm, "
                  "forces in N, moduli and stresses in MPa.");
  add_input_options(app, options);
  add_preparation_options(app, options);
  add_generator_options(app, options);
  add_material_options(app, options);
  add_test_options(app, options);
  add_anatomy_options(app, options);
  add_strength_options(app, options.strength);
  add_remodelling_options(app, options.remodelling);
  add_solver_options(app, options);
  add_result_options(app, options);
  add_common_options(
      app, options.common,
      {{std::nullopt, Precision::fp64, Precision::mixed, Precision::lean},
       "mixed: the preconditioner in single precision; lean: all vectors but the result; the "
       "result and its residual are double in all of them; auto: the fastest, which is lean"});
  app.footer(std::string("Examples:\n"
                         "  ossatura bone tibia.h5 -o out\n"
                         "      the test in the file; out/tibia.hdf and out/tibia.summary.json\n"
                         "  ossatura bone femur.off --voxel 0.5 --modulus 17000 --test axial "
                         "--strain -0.01 -o out\n"
                         "  ossatura bone scans/*.h5 -o out\n"
                         "      the same test of each, and out/cohort.csv with a row for each\n"
                         "  ossatura bone scan.nii.gz --law threshold --lower 500 --test confined "
                         "--json -\n"
                         "  ossatura bone --generate perlin --size 128 --test homogenise\n\n") +
             exit_code_help());
}

} // namespace ossatura
