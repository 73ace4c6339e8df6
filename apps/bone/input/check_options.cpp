// SPDX-License-Identifier: Apache-2.0
// These checks refuse combinations of options that contradict each other, and say what to do
// instead.
#include "apps/bone/input/mask.hpp"
#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// A length in the range in which products and squares neither overflow nor vanish.
void require_length(const char* option, std::optional<double> length) {
  if (length && !(std::abs(*length) >= min_length && std::abs(*length) <= max_length))
    fail<UsageError>(option, ' ', *length, ": a length of ", min_length, " to ", max_length, " mm");
}

void require_edge_option(const char* option, std::optional<double> edge) {
  require_positive(option, edge, "an edge in mm");
  require_length(option, edge);
}

void require_poisson(const char* option, double poisson) {
  if (!(poisson >= -0.999 && poisson <= 0.499999))
    fail<UsageError>(option, ' ', poisson,
                     ": Poisson's ratio lies in (-1, 0.5), of which -0.999 to 0.499999 is taken; "
                     "0.3 is usual for bone, and an incompressible material is beyond this "
                     "element");
}

/// Moduli are kept in single precision, whose largest number is 3.4e38; 0 is void.
void require_modulus(const char* option, double modulus) {
  if (modulus != 0 && !(modulus >= 1e-30 && modulus <= 1e30))
    fail<UsageError>(option, ' ', modulus, ": in MPa, 1e-30 to 1e30");
}

/// Extents that an image may have.
void require_shape(const char* option, const std::array<int, 3>& shape) {
  double voxels = 1;
  for (const int n : shape) {
    if (n < 1)
      fail<UsageError>(option, ": ", n, " voxels along an axis; at least 1");
    if (std::uint64_t(n) > max_voxels_per_axis)
      fail<UsageError>(option, ": ", n,
                       " voxels along an axis; at most 2^20 = ", max_voxels_per_axis);
    voxels *= n;
  }
  if (voxels >= double(max_voxels))
    fail<UsageError>(option, ": ", voxels, " voxels; fewer than 2^40 are taken");
}

void check_input(const CLI::App& app, const BoneOptions& o) {
  const bool generated = o.generator != BoneGenerator::none;
  if (o.inputs.empty() && !generated)
    fail<UsageError>("no input: give an image or surface FILE, or --generate perlin");
  if (!o.inputs.empty() && generated)
    fail<UsageError>("both the input ", o.inputs.front(), " and --generate: leave one out");
  check_cohort_options(app, o.inputs, o.skip_complete, o.common);
  require_effect(
      app, {{"--mask-labels", !o.mask.empty(), "--mask"},
            {"--mask", !generated, "an image that is read"},
            {"--series", !generated && o.format.value_or(ImageFormat::dicom) == ImageFormat::dicom,
             "DICOM"}});
  if (o.inputs.size() > 1 && !o.mask.empty() && o.mask.find('*') == std::string::npos)
    fail<UsageError>("--mask ", o.mask, " is of one input, and there are ", o.inputs.size(),
                     ": put a * for the name of each, as 'masks/*.nii.gz' in quotes");
  if (!o.mask.empty())
    require_mask_of_each(o);
  require_edge_option("--spacing", o.spacing);
  require_edge_option("--voxel", o.voxel);
  require_edge_option("--resample", o.resample);
  require_effect(app, {{"--resample", !generated, "an image that is read"}});
  require_positive("--surface-unit", o.surface_unit, "mm per unit");
  if (app.count("--shape") > 0)
    require_shape("--shape", o.raw_shape);
  if (o.format == ImageFormat::raw && (app.count("--shape") == 0 || !o.raw_type))
    fail<UsageError>("a raw image needs --shape NX,NY,NZ and --type");
}

/// Whether some input is, or may be, of a kind of format; names without a known extension may be of
/// any.
template<class IsOfKind>
bool may_be(const BoneOptions& o, const IsOfKind& is_of_kind) {
  if (o.format && !o.inputs.empty())
    return is_of_kind(*o.format);
  return std::any_of(o.inputs.begin(), o.inputs.end(), [&](const std::string& input) {
    const std::optional<ImageFormat> format = format_by_name(input);
    return format ? is_of_kind(*format) : true;
  });
}

/// Options that are of images alone or of surfaces alone.
void check_kind_of_input(const CLI::App& app, const BoneOptions& o) {
  const bool generated = o.generator != BoneGenerator::none;
  const bool surface = may_be(o, [](ImageFormat format) { return format == ImageFormat::surface; });
  const bool image = may_be(o, [](ImageFormat format) { return format != ImageFormat::surface; });
  const bool raw = may_be(o, [](ImageFormat format) { return format == ImageFormat::raw; });
  const bool has_crumbs = o.generator == BoneGenerator::perlin && !is_periodic(o);
  const char* const law = "an image that is read: bone of a surface has --modulus";
  require_effect(
      app,
      {{"--voxel", surface,
        "a surface (.off, .stl): voxels of an image are its own, "
        "and --resample takes them to others"},
       {"--surface-unit", surface,
        "a surface (.off, .stl): --spacing is the edge of an image's voxels"},
       {"--spacing", image || generated, "an image: --voxel is the edge of a surface's voxels"},
       {"--law", image || generated, law},
       {"--connectivity", o.largest_component || has_crumbs, "--largest-component"}});
  for (const char* option : {"--shape", "--type"})
    if (app.count(option) > 0 && !raw)
      fail<UsageError>(option, " is for raw images; leave it out or give --format raw");
}

void check_generator(const CLI::App& app, const BoneOptions& o) {
  const bool perlin = o.generator == BoneGenerator::perlin;
  const bool sphere = o.generator == BoneGenerator::sphere;
  const bool laminate = o.generator == BoneGenerator::laminate;
  require_effect(app, {{"--feature", perlin, "--generate perlin"},
                       {"--threshold", perlin,
                        "--generate perlin; for the grey values of an image see --law threshold "
                        "--lower"},
                       {"--fraction", perlin, "--generate perlin"},
                       {"--radius", sphere, "--generate sphere"},
                       {"--inner-radius", sphere, "--generate sphere"},
                       {"--inner-modulus", sphere, "--generate sphere"},
                       {"--outer-modulus", sphere, "--generate sphere"},
                       {"--layers", laminate, "--generate laminate"},
                       {"--layer-axis", laminate, "--generate laminate"}});
  if (o.generator == BoneGenerator::none) {
    if (app.count("--size") > 0)
      fail<UsageError>("--size has no effect without --generate; for raw images see --shape");
    return;
  }
  require_shape("--size", o.size);
  if (!(o.feature >= 1))
    fail<UsageError>("--feature ", o.feature, ": at least 1 voxel");
  if (!(o.noise_threshold > 0))
    fail<UsageError>("--threshold ", o.noise_threshold, ": greater than 0");
  if (o.fraction && app.count("--threshold") > 0)
    fail<UsageError>("both --fraction and --threshold: leave one out");
  if (o.fraction && !(*o.fraction > 0 && *o.fraction < 1))
    fail<UsageError>("--fraction ", *o.fraction, ": between 0 and 1");
  if (!(o.radius >= 0))
    fail<UsageError>("--radius ", o.radius, ": in voxels, or 0 for the largest");
  if (!(o.inner_radius >= 0) || (o.radius > 0 && o.inner_radius > o.radius))
    fail<UsageError>("--inner-radius ", o.inner_radius, ": between 0 and --radius");
  if (!(o.inner_modulus >= 0) || !(o.outer_modulus >= 0))
    fail<UsageError>("--inner-modulus and --outer-modulus: in MPa, at least 0");
  if (laminate && o.layers.empty())
    fail<UsageError>("a laminate needs --layers VOXELS=MPA,..., such as 8=1000,8=10000");
  require_modulus("--inner-modulus", o.inner_modulus);
  require_modulus("--outer-modulus", o.outer_modulus);
  for (const auto& [thickness, modulus] : o.layers) {
    if (thickness < 1 || !(modulus >= 0) || std::isinf(modulus))
      fail<UsageError>("--layers ", thickness, '=', modulus,
                       ": a thickness of at least 1 voxel and a modulus of at least 0 MPa");
    require_modulus("--layers: modulus", modulus);
  }
}

void check_material(const CLI::App& app, const BoneOptions& o) {
  if (o.poisson)
    require_poisson("--poisson", *o.poisson);
  require_positive("--modulus", o.modulus, "in MPa");
  require_modulus("--modulus", o.modulus);
  if (!(o.lower <= o.upper))
    fail<UsageError>("--lower ", o.lower, " is above --upper ", o.upper, ": no voxel is bone");
  for (const auto& [label, material] : o.labels) {
    if (!(material.modulus >= 0) || std::isinf(material.modulus))
      fail<UsageError>("--labels ", label, '=', material.modulus, ": in MPa, at least 0");
    require_modulus("--labels: modulus", material.modulus);
    if (material.poisson)
      require_poisson("--labels", *material.poisson);
  }
  if (o.law != GreyLaw::by_format && o.generator != BoneGenerator::none)
    fail<UsageError>("--law is for images that are read; a generated one has --modulus");
  if (o.law == GreyLaw::threshold && app.count("--lower") == 0 && app.count("--upper") == 0)
    fail<UsageError>("--law threshold needs --lower, --upper or both");
  if (o.law == GreyLaw::labels && o.labels.empty())
    fail<UsageError>("--law labels needs --labels LABEL=MPA[:NU],..., such as 1=17000:0.3");

  const std::set<MaterialKind> scaled = {MaterialKind::linear, MaterialKind::power},
                               graded = {MaterialKind::linear, MaterialKind::power,
                                         MaterialKind::window, MaterialKind::modulus};
  const auto is_used = [&](const std::set<MaterialKind>& kinds, auto number) {
    return falls_back(o, kinds, number);
  };
  using Law = LabelLawChoice;
  const auto& laws = o.labels_of_mask.laws;
  const bool has_moduli = // as far as it is known before the input
      o.law == GreyLaw::modulus ||
      (o.law == GreyLaw::by_format && o.generator == BoneGenerator::none && laws.empty()) ||
      std::any_of(laws.begin(), laws.end(),
                  [](const auto& entry) { return entry.second.kind == MaterialKind::modulus; });
  require_effect(app, {{"--modulus-unit", has_moduli,
                        "moduli in the input, as of --law modulus; those of options are in MPa"}});
  require_effect(
      app, {{"--slope", is_used(scaled, &Law::slope), "--law linear or power"},
            {"--intercept", is_used(scaled, &Law::intercept), "--law linear or power"},
            {"--coefficient", is_used({MaterialKind::power}, &Law::coefficient), "--law power"},
            {"--exponent", is_used({MaterialKind::power}, &Law::exponent), "--law power"},
            {"--labels", o.law == GreyLaw::labels, "--law labels"},
            {"--lower", is_used(graded, &Law::lower), "--law threshold, linear, power or modulus"},
            {"--upper", is_used(graded, &Law::upper), "--law threshold, linear, power or modulus"},
            {"--modulus",
             is_used({MaterialKind::window, MaterialKind::constant}, &Law::modulus) ||
                 (o.law == GreyLaw::by_format && o.labels_of_mask.laws.empty() &&
                  ((o.generator != BoneGenerator::none && o.generator != BoneGenerator::laminate) ||
                   may_be(o, [](ImageFormat format) { return format == ImageFormat::surface; }))),
             "--law threshold, a surface or --generate; a laminate has its moduli in --layers"}});
}

void check_unit_cell(const BoneOptions& o) {
  const std::string periodic = "--boundary periodic";
  if (o.largest_component)
    fail<UsageError>("--largest-component does not look across the sides of a unit cell, and ",
                     periodic, " leaves loose parts out by itself (--islands): leave it out");
  if (o.hierarchy == Hierarchy::paper || o.coarse != CoarseSolver::direct)
    fail<UsageError>(o.hierarchy == Hierarchy::paper ? "--hierarchy paper" : "--coarse cg",
                     " is for boxes with sides, and ", periodic, " has none: leave it out");
  if (o.levels < 2)
    fail<UsageError>("--levels ", o.levels, ": ", periodic, " needs 2 at least");
}

void check_test(const CLI::App& app, const BoneOptions& o) {
  const LoadTest test = test_of_options(o);
  const bool conditions = lists_conditions(o);
  if (conditions && test != LoadTest::prescribed)
    fail<UsageError>("--fix and --force go with --test file; the other tests have their own "
                     "supports");
  const bool moves = test == LoadTest::axial || test == LoadTest::uniaxial ||
                     test == LoadTest::confined || test == LoadTest::shear ||
                     test == LoadTest::by_input;
  const bool turns = test == LoadTest::torsion || test == LoadTest::bending;
  const bool sides = test == LoadTest::symmetric_shear;
  require_effect(
      app, {{"--strain", moves || sides, "--test axial, uniaxial, confined, shear or symshear"},
            {"--displacement", moves, "--test axial, uniaxial, confined or shear"},
            {"--angle", turns, "--test torsion or bending"},
            {"--hinge", test == LoadTest::bending, "--test bending"},
            {"--centre", turns, "--test torsion or bending"},
            {"--lateral",
             test == LoadTest::axial || test == LoadTest::by_input || test == LoadTest::shear ||
                 turns || sides,
             "--test axial, shear, symshear, torsion or bending"},
            {"--axis", (moves || turns || sides || o.preparation.align) && test != LoadTest::shear,
             "--test axial, uniaxial, confined, symshear, torsion or bending, or --align; shear-AB "
             "names its axes"},
            {"--boundary", test == LoadTest::homogenise, "--test homogenise"},
            {"--plate-depth", moves || turns || conditions, "plates or --fix"}});
  if (is_periodic(o))
    check_unit_cell(o);
  if (app.count("--strain") > 0 && o.displacement)
    fail<UsageError>("both --strain and --displacement: leave one out");
  if (!std::isfinite(o.strain) || o.strain == 0 || std::abs(o.strain) >= 1)
    fail<UsageError>("--strain ", o.strain, ": a small number other than 0, such as -0.01");
  if (o.displacement && (!std::isfinite(*o.displacement) || *o.displacement == 0))
    fail<UsageError>("--displacement ", *o.displacement, ": in mm, other than 0");
  require_length("--displacement", o.displacement);
  for (const auto* conditions_of : {&o.fix, &o.force})
    for (const NodalCondition& condition : *conditions_of)
      if (!std::isfinite(condition.value) || std::abs(condition.value) > 1e30)
        fail<UsageError>(conditions_of == &o.fix ? "--fix: " : "--force: ", condition.value,
                         ": a number up to 1e30 is expected");
  for (const double x : o.centre.point)
    if (!(std::abs(x) <= max_length))
      fail<UsageError>("--centre: ", x, ": in mm, at most ", max_length);
  if (!std::isfinite(o.angle) || o.angle == 0 || std::abs(o.angle) > 45)
    fail<UsageError>("--angle ", o.angle,
                     ": in degrees, other than 0 and small, for the theory is linear");
  if (test == LoadTest::bending && o.hinge == o.axis)
    fail<UsageError>("bending about the normal of the plates is torsion: choose another --hinge");
  if (!(o.plate_depth >= 0) || std::isinf(o.plate_depth))
    fail<UsageError>("--plate-depth ", o.plate_depth, ": in mm, at least 0");
  check_anatomy_options(app, o);
}

void check_split(const BoneOptions& o) {
  const int num_ranks = Communicator::world().size();
  if (o.split == BoneSplit::inputs && !is_cohort(o))
    fail<UsageError>("--split inputs divides several inputs; there is one");
  if (o.split == BoneSplit::loads && o.test != LoadTest::homogenise)
    fail<UsageError>("--split loads divides the six loads of --test homogenise; this test has one");
  if (o.split == BoneSplit::model && o.test == LoadTest::homogenise)
    fail<UsageError>("--split model is for one load; --test homogenise divides its loads");
  if (divides_model(o, num_ranks) &&
      (o.hierarchy == Hierarchy::paper || o.coarse != CoarseSolver::direct))
    fail<UsageError>(o.hierarchy == Hierarchy::paper ? "--hierarchy paper" : "--coarse cg",
                     " is for one process, and a model is divided among ", num_ranks,
                     ": leave it out, or start one");
}

void check_solver(const BoneOptions& o) {
  if (!(o.tolerance > 0 && o.tolerance < 1))
    fail<UsageError>("--tolerance ", o.tolerance, ": between 0 and 1, such as 1e-6");
  require_at_least("--max-iterations", o.max_iterations, 1);
  for (const auto& [name, degree] :
       {std::pair<const char*, std::optional<int>>("--smoother-degree ", o.smoother_degree),
        {"--coarse-degree ", o.coarse_degree}})
    if (degree && (*degree < 1 || *degree > 32))
      fail<UsageError>(name, *degree, ": from 1 to 32");
  if (o.smoothing_ratio && (!(*o.smoothing_ratio > 1) || std::isinf(*o.smoothing_ratio)))
    fail<UsageError>("--smoothing-ratio ", *o.smoothing_ratio, ": greater than 1, such as 16");
  const SmootherKind kind =
      o.smoother.value_or(o.hierarchy == Hierarchy::paper ? SmootherKind::first_kind
                                                          : SmootherKind::optimal_fourth_kind);
  if (o.smoothing_ratio && kind != SmootherKind::first_kind)
    fail<UsageError>("--smoothing-ratio has no effect without --smoother first");
  if (o.coarse_visits && (*o.coarse_visits < 1 || *o.coarse_visits > 10))
    fail<UsageError>("--coarse-visits ", *o.coarse_visits, ": from 1 to 10");
  if (o.direct_nodes && (*o.direct_nodes < 1 || *o.direct_nodes > 4000))
    fail<UsageError>("--direct-nodes ", *o.direct_nodes, ": from 1 to 4000");
  require_at_least("--levels", o.levels, 1);
}

void check_results(const CLI::App& app, const BoneOptions& o) {
  check_field_files(app, o.hdf, o.no_hdf, o.common,
                    !o.parosol_output.empty() || o.field_images != FieldImages::none);
  const bool images = o.field_images != FieldImages::none;
  if (app.count("--fields") > 0 && !images && !writes_fields(o.hdf, o.no_hdf, o.common))
    fail<UsageError>("--fields has no effect without a file for them: give --hdf or --output-dir");
  require_effect(app, {{"--field-images", !o.common.output_dir.empty(), "--output-dir"}});
  const auto is_scalar = [](const std::string& field) {
    return field == "modulus" || field == "sed" || field == "von_mises" ||
           field == "effective_strain";
  };
  if (images && std::none_of(o.fields.begin(), o.fields.end(), is_scalar))
    fail<UsageError>("--field-images: no field of --fields has one number for a voxel, as modulus, "
                     "sed, von_mises and effective_strain have");
  if (o.test == LoadTest::homogenise)
    for (const char* option : {"--field-images", "--fields", "--hdf", "--parosol-output",
                               "--histogram", "--pistoia-strain", "--pistoia-volume"})
      if (app.count(option) > 0)
        fail<UsageError>(option, " has no effect with --test homogenise, of whose six loads no "
                                 "fields are kept: leave it out");
  const std::string png = ".png";
  if (!o.preview.empty() &&
      (o.preview.size() <= png.size() || o.preview.substr(o.preview.size() - png.size()) != png))
    fail<UsageError>("--preview ", o.preview, ": a picture is a .png file");
  if (!o.preview.empty() && o.inputs.size() > 1 && o.preview.find('*') == std::string::npos)
    fail<UsageError>("--preview ", o.preview, " is of one input, and there are ", o.inputs.size(),
                     ": put a * for the name of each, as '*.png' in quotes");
  if (!(o.pistoia_strain > 0 && o.pistoia_strain <= 0.1))
    fail<UsageError>("--pistoia-strain ", o.pistoia_strain,
                     ": a part and no per cent, greater than 0 and at most 0.1, such as 0.007");
  if (!(o.pistoia_volume > 0 && o.pistoia_volume < 1))
    fail<UsageError>("--pistoia-volume ", o.pistoia_volume, ": between 0 and 1, such as 0.02");
  if (o.histogram_bins < 0 || o.histogram_bins > 100000)
    fail<UsageError>("--histogram ", o.histogram_bins, ": from 1 to 100000 bins, or 0 for none");
  const bool json = !o.common.json.empty() || !o.common.output_dir.empty();
  if (o.histogram_bins > 0 && !json)
    fail<UsageError>("--histogram goes into the JSON summary: give --json or --output-dir");
}

} // namespace

void check_bone_options(const CLI::App& app, BoneOptions& options) {
  check_input(app, options);
  check_kind_of_input(app, options);
  check_generator(app, options);
  check_preparation_options(app, options);
  check_material(app, options);
  check_label_options(app, options);
  check_test(app, options);
  check_strength_options(app, options);
  check_remodelling_options(app, options);
  check_solver(options);
  check_split(options);
  check_results(app, options);
  if (test_of_options(options) == LoadTest::by_input)
    for (const char* option : {"--strain", "--displacement", "--lateral", "--axis", "--plate-depth",
                               "--surface", "--plate-labels", "--cap"})
      if (app.count(option) > 0 && !(options.preparation.align && option == std::string("--axis")))
        options.given_of_plates.push_back(option);
}

bool lists_conditions(const BoneOptions& options) {
  return !options.fix.empty() || !options.force.empty() || !options.fix_file.empty() ||
         !options.force_file.empty();
}

LoadTest test_of_options(const BoneOptions& options) {
  return options.test == LoadTest::by_input && lists_conditions(options) ? LoadTest::prescribed
                                                                         : options.test;
}

bool is_cohort(const BoneOptions& options) {
  return options.inputs.size() > 1 || options.skip_complete;
}

bool divides_inputs(const BoneOptions& options) {
  return is_cohort(options) &&
         (options.split == BoneSplit::automatic || options.split == BoneSplit::inputs);
}

bool is_periodic(const BoneOptions& options) {
  return options.test == LoadTest::homogenise && options.boundary == Boundary::periodic;
}

bool has_sides_for_supports(const BoneOptions& options) {
  return (options.test == LoadTest::homogenise && !is_periodic(options)) ||
         options.test == LoadTest::confined || options.test == LoadTest::symmetric_shear;
}

bool divides_model(const BoneOptions& options, int num_ranks) {
  return options.split == BoneSplit::model ||
         (options.split == BoneSplit::automatic && num_ranks > 1 && !is_cohort(options) &&
          options.test != LoadTest::homogenise);
}

} // namespace ossatura
