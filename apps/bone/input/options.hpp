// SPDX-License-Identifier: Apache-2.0
// BoneOptions hold the options of `ossatura bone`: each member is one option, with its default and
// its unit.
#pragma once

#include "apps/bone/input/anatomy.hpp"
#include "apps/bone/input/preparation.hpp"
#include "apps/bone/input/strength_options.hpp"
#include "apps/bone/labels/options.hpp"
#include "apps/bone/remodelling/options.hpp"
#include "apps/driver/options/common.hpp"
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/parosol/input.hpp>
#include <ossatura/solvers/bone/load.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

enum class BoneGenerator { none, perlin, cube, sphere, laminate };

constexpr Names<BoneGenerator> names_of(BoneGenerator) {
  return {{BoneGenerator::perlin, "perlin"},
          {BoneGenerator::cube, "cube"},
          {BoneGenerator::sphere, "sphere"},
          {BoneGenerator::laminate, "laminate"}};
}

/// What a value of the image means. `by_format`: `modulus` for ParOSol files, else an error that
/// asks; generated images and surfaces are of one material.
enum class GreyLaw {
  by_format,
  modulus,   ///< the value is Young's modulus
  threshold, ///< lower <= value <= upper is bone of `modulus`
  linear,    ///< E = intercept + slope * value, between lower and upper
  power,     ///< E = coefficient * (intercept + slope * value)^exponent, between lower and upper
  labels     ///< a table
};

constexpr Names<GreyLaw> names_of(GreyLaw) {
  return {{GreyLaw::by_format, "by-format"}, {GreyLaw::modulus, "modulus"},
          {GreyLaw::threshold, "threshold"}, {GreyLaw::linear, "linear"},
          {GreyLaw::power, "power"},         {GreyLaw::labels, "labels"}};
}

/// Which load. Plates are normal to `axis`; the lower one holds, the upper one moves.
enum class LoadTest {
  by_input,        ///< `prescribed` where input or options list supports or forces, else `axial`
  axial,           ///< the upper plate moves along the axis; see `lateral`
  uniaxial,        ///< the same between smooth plates
  confined,        ///< and the sides do not move along their normals
  shear,           ///< the upper plate moves along `shear_direction`
  symmetric_shear, ///< the sides beside the axis move as a shear in their plane, without rotation
  torsion,         ///< the upper plate turns about the axis
  bending,         ///< the plates turn by half the angle each, towards each other, about `hinge`
  homogenise,      ///< six loads of a unit strain; see `boundary`
  prescribed       ///< nothing but what the input, --fix and --force say
};

constexpr Names<LoadTest> names_of(LoadTest) {
  return {{LoadTest::by_input, "auto"},         {LoadTest::axial, "axial"},
          {LoadTest::uniaxial, "uniaxial"},     {LoadTest::confined, "confined"},
          {LoadTest::shear, "shear"},           {LoadTest::symmetric_shear, "symshear"},
          {LoadTest::torsion, "torsion"},       {LoadTest::bending, "bending"},
          {LoadTest::homogenise, "homogenise"}, {LoadTest::prescribed, "file"}};
}

/// What the sides do in a homogenisation.
enum class Boundary {
  kinematic, ///< move as the strain says (kinematic-uniform)
  periodic   ///< the image is a unit cell, and what leaves it on one side enters on the other
};

constexpr Names<Boundary> names_of(Boundary) {
  return {{Boundary::kinematic, "kinematic"}, {Boundary::periodic, "periodic"}};
}

/// The way in which plates hold their nodes across the axis in an axial test.
enum class Lateral {
  constrained, ///< glued
  free         ///< frictionless; rigid motions are held at single nodes
};

constexpr Names<Lateral> names_of(Lateral) {
  return {{Lateral::constrained, "constrained"}, {Lateral::free, "free"}};
}

enum class Cycle {
  v,       ///< one cycle of the next level for every one
  w,       ///< two
  inner_w, ///< one from the finest level, two below
  amli     ///< the same, the two weighted as a Chebyshev iteration
};

constexpr Names<Cycle> names_of(Cycle) {
  return {{Cycle::v, "v"}, {Cycle::w, "w"}, {Cycle::inner_w, "inner-w"}, {Cycle::amli, "amli"}};
}

/// Levels below the voxels, and what goes with them.
enum class Hierarchy {
  split,    ///< by connection, amli cycle, optimal smoother of degree 2, below the finest 3
  averaged, ///< by place, the same otherwise
  paper     ///< by place, w cycle, Chebyshev smoother of degree 10
};

constexpr Names<Hierarchy> names_of(Hierarchy) {
  return {
      {Hierarchy::split, "split"}, {Hierarchy::averaged, "averaged"}, {Hierarchy::paper, "paper"}};
}

/// What the ranks of a launcher divide among them.
enum class BoneSplit {
  automatic, ///< several inputs, else the loads of a homogenisation, else the model
  inputs,    ///< each rank has its own
  loads,     ///< each rank has the whole model
  model
};

constexpr Names<BoneSplit> names_of(BoneSplit) {
  return {{BoneSplit::automatic, "auto"},
          {BoneSplit::inputs, "inputs"},
          {BoneSplit::loads, "loads"},
          {BoneSplit::model, "model"}};
}

/// Parts of the specimen that nothing holds.
enum class Islands {
  automatic, ///< are left out, with a warning, up to 1 % of the bone; else they end the run
  drop,      ///< are left out, with a warning, up to half of the bone
  error      ///< end the run
};

constexpr Names<Islands> names_of(Islands) {
  return {{Islands::automatic, "auto"}, {Islands::drop, "drop"}, {Islands::error, "error"}};
}

/// What the plates of torsion and bending turn about.
struct TurnCentre {
  enum class Kind { box, mass, point };
  Kind kind = Kind::mass;               ///< the centre of the bone's voxels, or of their box
  std::array<double, 3> point{0, 0, 0}; ///< mm along the axes of the image, from its lower corner
};

constexpr Names<TurnCentre::Kind> names_of(TurnCentre::Kind) {
  return {{TurnCentre::Kind::box, "box"}, {TurnCentre::Kind::mass, "mass"}};
}

/// What images of fields are written as.
enum class FieldImages { none, nifti_gz, nifti, mha };

constexpr Names<FieldImages> names_of(FieldImages) {
  return {{FieldImages::none, "none"},
          {FieldImages::nifti_gz, "nii.gz"},
          {FieldImages::nifti, "nii"},
          {FieldImages::mha, "mha"}};
}

struct BoneOptions {
  CommonOptions common;

  // Input
  std::vector<std::string> inputs;       ///< several: a cohort, and each has a run of its own
  bool skip_complete = false;            ///< of a cohort
  std::string input;                     ///< of this run
  std::string name;                      ///< of its results; empty: made from the input's
  std::string mask;                      ///< a segmentation of it; * is the input's name
  std::vector<int> mask_labels;          ///< of the bone; empty: all but 0
  std::optional<ImageFormat> format;     ///< else by name
  std::string series;                    ///< dicom: SeriesInstanceUID; empty: the only one
  std::array<int, 3> raw_shape{0, 0, 0}; ///< nx, ny, nz
  std::optional<SampleType> raw_type;
  std::optional<double> spacing;  ///< mm; overrides that of the file (raw: required)
  std::optional<double> resample; ///< mm; edge of the cubes to take an image to
  PreparationOptions preparation;
  std::optional<double> voxel;             ///< mm; edge for surfaces
  double surface_unit = 1;                 ///< mm per unit of a surface file
  std::optional<ModulusUnit> modulus_unit; ///< of the input; else MPa, if that can be
  Islands islands = Islands::automatic;
  bool largest_component = false; ///< keep only the largest connected part
  bool connected_by_node = false; ///< else by face

  // Generated input
  BoneGenerator generator = BoneGenerator::none;
  std::array<int, 3> size{64, 64, 64};        ///< voxels
  double feature = 43;                        ///< perlin: voxels per cell of the noise lattice
  double noise_threshold = 0.25;              ///< perlin
  std::optional<double> fraction;             ///< perlin: replaces the threshold
  double radius = 0;                          ///< sphere: voxels; 0 = the largest
  double inner_radius = 0;                    ///< sphere: voxels
  double inner_modulus = 0;                   ///< sphere: MPa
  double outer_modulus = 0;                   ///< sphere: MPa
  std::vector<std::pair<int, double>> layers; ///< laminate: thickness in voxels, MPa
  int layer_axis = 2;                         ///< laminate: normal of the layers

  // Material
  GreyLaw law = GreyLaw::by_format;
  double modulus = 10000;        ///< MPa, of threshold, generated images and surfaces
  std::optional<double> poisson; ///< else that of the file, else 0.3
  double lower = -std::numeric_limits<double>::infinity(); ///< values below are void
  double upper = std::numeric_limits<double>::infinity();  ///< values above are void
  double slope = 1;
  double intercept = 0;
  double coefficient = 6850; ///< MPa
  double exponent = 1.49;
  std::map<int, LabelEntry> labels;
  LabelOptions labels_of_mask;

  // Test
  LoadTest test = LoadTest::by_input;
  int axis = 2;            ///< 0 = x, 1 = y, 2 = z
  int shear_direction = 0; ///< shear: along which the upper plate moves
  int hinge = 0;           ///< bending: about which the plates turn
  double strain =
      -0.01; ///< of the height between the plates (shear: the angle's tangent, or gamma)
  std::optional<double> displacement; ///< mm, of the upper plate; replaces the strain
  double angle = 1;                   ///< degrees
  TurnCentre centre;
  Lateral lateral = Lateral::constrained;
  Boundary boundary = Boundary::kinematic;
  double plate_depth = 0; ///< mm; nodes within this depth of the end plane are held by the plate
  AnatomyOptions anatomy;
  std::vector<NodalCondition> fix, force;
  std::string fix_file, force_file; ///< rows x,y,z,component,value
  /// Options of plates that were given with --test auto, which do nothing where the input has
  /// supports of its own.
  std::vector<std::string> given_of_plates;

  StrengthChoice strength;
  RemodellingChoice remodelling;

  // Solver
  double tolerance = 1e-6;
  int max_iterations = 1000;
  std::optional<VoxelOperatorKind> matrix; ///< else the fastest for backend and precision
  Hierarchy hierarchy = Hierarchy::split;
  // Where not given, as the hierarchy says.
  std::optional<Cycle> cycle;
  std::optional<int> coarse_visits;
  std::optional<SmootherKind> smoother;
  std::optional<int> smoother_degree, coarse_degree;
  std::optional<double> smoothing_ratio;
  std::optional<int> direct_nodes;
  bool no_launch_graphs = false;
  int levels = 32; ///< at most
  BoneSplit split = BoneSplit::automatic;
  CoarseSolver coarse = CoarseSolver::direct;

  // Results
  /// Of the .hdf file.
  std::vector<std::string> fields = {"displacement", "sed", "von_mises", "effective_strain"};
  std::string hdf;
  bool no_hdf = false;
  FieldImages field_images = FieldImages::none;
  std::string preview; ///< a picture instead of a solve; * is the input's name
  std::string parosol_output;
  double pistoia_strain = 0.007;
  double pistoia_volume = 0.02;
  int histogram_bins = 0; ///< 0 = no histograms
};

/// The names --fields takes; "displacement" is at nodes, the others at voxel centres.
const std::vector<std::string>& bone_field_names();

/// Adds all options, with groups, an example and the exit codes for --help.
void add_bone_options(CLI::App& app, BoneOptions& options);

/// Throws UsageError, with the remedy, for values out of range and for options that have no effect
/// together. `app` is the parsed one, which knows what was given; `given_of_plates` is set.
void check_bone_options(const CLI::App& app, BoneOptions& options);

/// Whether options list supports or forces, --fix and the like.
bool lists_conditions(const BoneOptions& options);

/// The test as far as it is known before the input: `prescribed` for --test auto with such lists.
LoadTest test_of_options(const BoneOptions& options);

/// Whether the inputs are a cohort: there are several, or those that are complete are skipped.
bool is_cohort(const BoneOptions& options);

/// Whether ranks divide the inputs of a cohort.
bool divides_inputs(const BoneOptions& options);

/// Whether the image is a unit cell.
bool is_periodic(const BoneOptions& options);

/// Whether the six sides of the box around the bone are what holds it.
bool has_sides_for_supports(const BoneOptions& options);

/// Whether ranks divide the model of a run; else they divide loads.
bool divides_model(const BoneOptions& options, int num_ranks);

} // namespace ossatura
