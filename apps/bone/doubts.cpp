// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/doubts.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>

#include <cmath>
#include <string>

namespace ossatura {

namespace {

/// Edges of voxels (mm) from those of a synchrotron to slices of clinical CT.
constexpr double least_edge = 1e-4, greatest_edge = 5;
/// The stiffest part of bone, cement or metal (MPa) lies in this range.
constexpr double least_modulus = 100, greatest_modulus = 1e6;
/// Beyond this nominal strain a linear test says little about bone, which yields below 0.01.
constexpr double largest_strain = 0.1;

void warn_of_centre(const BoneOptions& options, const BoneModelInfo& info) {
  if (options.centre.kind != TurnCentre::Kind::point)
    return;
  for (std::size_t d = 0; d < 3; ++d) {
    const double extent = info.extent[d], x = options.centre.point[d];
    const bool along_axis = options.test == LoadTest::torsion && int(d) == options.axis;
    if (!along_axis && (x < 0 || x > extent)) {
      log_warning("odd-centre", "--centre: ", x, " mm along ", "xyz"[d],
                  " lies beside the image, which is from 0 to ", format_number(extent),
                  " mm: the centre is given along the axes of the image from its lower corner, not "
                  "in the world of the scanner");
      return;
    }
  }
}

/// Bone is bright in images of X-rays. It is dark in those of magnetic resonance, which are turned
/// over so, by intent.
void warn_of_calibration(const PreparationOptions& preparation) {
  if (!preparation.calibration || (*preparation.calibration)[0] > 0)
    return;
  log_warning("odd-calibration", "--calibrate: a slope of ",
              format_number((*preparation.calibration)[0]),
              ": the brightest of the image becomes the least dense; the slope comes before the "
              "intercept, and points are VALUE=DENSITY, the denser one with the larger value, "
              "unless bone is dark in the image");
}

/// Of depths in m or cm, which are less than a layer of voxels.
void warn_of_depths(const BoneOptions& options, const BoneModelInfo& info) {
  const auto look = [&](const char* option, double depth) {
    if (depth > 0 && layers_within(depth, info.spacing) < 1)
      log_warning("no-depth", option, ' ', format_number(depth), ": is less than a voxel of ",
                  format_number(info.spacing), " mm, and does nothing: depths are in mm");
  };
  look("--plate-depth", options.plate_depth);
  const AnatomyOptions& anatomy = options.anatomy;
  for (const bool upper : {false, true})
    if (anatomy.visible.of(upper) && anatomy.depth.of(upper))
      look("--surface-depth", *anatomy.depth.of(upper));
}

/// Caps and pads have MPa, whatever unit the moduli of the image have.
void warn_of_foreign(const BoneOptions& options) {
  // Discs and foams are softer than 1 GPa, but hardly what a user has who thinks in GPa.
  const double least = options.modulus_unit == ModulusUnit::GPa ? 1000 : 10;
  const auto look = [least](const std::string& what, double modulus) {
    if (modulus < least || modulus > greatest_modulus)
      log_warning("odd-modulus", what, " has ", format_number(modulus), " MPa, ",
                  modulus < least ? "as soft as rubber or foam" : "stiffer than metal",
                  ": it is given in MPa, so that 2.5 GPa of PMMA are 2500");
  };
  for (const auto& [label, pad] : options.labels_of_mask.pads)
    look("--pads " + std::to_string(label), pad.modulus);
  for (const auto& cap : {options.anatomy.cap.lower, options.anatomy.cap.upper})
    if (cap)
      look("--cap", cap->modulus);
}

/// Yield and fracture of another unit than MPa and N/mm. Yield strains have bounds of their own.
void warn_of_strength(const StrengthChoice& choice, const BoneModelInfo& info) {
  if (!choice.criterion)
    return;
  // Bone yields at strains of 0.003 to 0.02, and breaks with 0.1 to 20 N/mm.
  constexpr double least = 3e-4, greatest = 0.2, toughest = 100;
  const YieldLaw law = yield_law(choice);
  const double strain = law.compression / info.modulus_mean;
  if (!law.are_strains && (strain < least || strain > greatest))
    log_warning("odd-strength", "--yield-stress ", format_number(law.compression), ": bone of ",
                format_number(info.modulus_mean, 4), " MPa in the mean yields at a strain of ",
                format_number(strain, 3), " then, and bone does at some 0.01: stresses are in MPa");
  if (choice.fracture_energy > toughest)
    log_warning("odd-strength", "--fracture-energy ", format_number(choice.fracture_energy),
                ": no bone is as tough, and none softens with it: it is in N/mm = kJ/m2, so that "
                "300 J/m2 are 0.3");
}

/// Grey values all of which are bone, as without a threshold, or where the least are clamped to
/// more than it. What was cropped may be.
void warn_of_no_void(const BoneOptions& options, const BoneModelInfo& info) {
  const PreparationOptions& preparation = options.preparation;
  const bool is_grey = options.law == GreyLaw::threshold || options.law == GreyLaw::linear ||
                       options.law == GreyLaw::power;
  const bool is_clamped = preparation.clamp && (*preparation.clamp)[0] >= options.lower;
  // A cube of one value is meant to be full.
  const bool is_one_value =
      options.law != GreyLaw::threshold && info.modulus_min == info.modulus_max && !is_clamped;
  if (!is_grey || info.turn || preparation.crop || !options.mask.empty() || is_one_value ||
      (std::isfinite(options.lower) && !is_clamped) || info.volume_fraction() < 1)
    return;
  log_warning(
      "no-void", info.source, ": every voxel of the image is bone, what lies around it too: ",
      is_clamped ? "--clamp makes the least values " + format_number((*preparation.clamp)[0]) +
                       ", which is no less than --lower"
                 : "values below --lower are void, or what --mask leaves out");
}

/// Of a region of interest that is no box, as a cylinder: what the box has beside it counts as
/// void.
void warn_of_masked_cell(const BoneModelInfo& info) {
  const std::optional<double> bone = info.mask_fraction();
  if (!bone || info.num_in_box == 0)
    return;
  // A mask of the bone itself has no voids, and hardly half of a box. A sphere has 0.52 of its own.
  constexpr double least = 0.4, greatest = 0.95, without_voids = 0.9;
  const double part = double(info.num_in_mask + info.num_pad_elem) / double(info.num_in_box);
  if (part > least && part < greatest && *bone < without_voids)
    log_warning("masked-cell", "--mask takes ", format_number(100 * part, 3),
                " % of the box that is homogenised, as a cylinder or a contour in it does: the "
                "rest is void, and the stiffness too small; take a box within it with --crop, "
                "without the mask");
}

} // namespace

void warn_of_model(const BoneOptions& options, const BoneModelInfo& info) {
  warn_of_centre(options, info);
  warn_of_calibration(options.preparation);
  warn_of_depths(options, info);
  warn_of_foreign(options);
  warn_of_strength(options.strength, info);
  if (options.generator != BoneGenerator::none)
    return;
  warn_of_no_void(options, info);
  warn_of_masked_cell(info);
  if (info.spacing < least_edge || info.spacing > greatest_edge)
    log_warning("odd-size", info.source, ": the edge of a voxel is ", format_number(info.spacing),
                " mm, and forces grow with its square: lengths are in mm, not in um or m; "
                "--spacing MM sets that of an image");
  // With a unit that the user gave, it is meant.
  if (info.modulus_max > greatest_modulus ||
      (info.modulus_max < least_modulus && !options.modulus_unit))
    log_warning("odd-modulus", info.source, ": the largest modulus is ",
                format_number(info.modulus_max), " MPa, ",
                info.modulus_max < least_modulus ? "softer than bone" : "stiffer than metal",
                ": moduli are in MPa, so that 17 GPa are 17000");
}

void warn_of_strain(const BoneResults& results) {
  const std::optional<double> strain = results.response ? results.response->strain : std::nullopt;
  if (strain && std::abs(*strain) > largest_strain)
    log_warning("large-strain", "the plates move by ", format_number(100 * *strain, 3),
                " % of the height: the theory is linear, and results grow with the displacement; "
                "--strain is a part, 0.01 for 1 %, and --displacement is in mm");
  else if (results.effective_strain && results.effective_strain->mean > largest_strain)
    log_warning("large-strain", "the mean effective strain of the bone is ",
                format_number(100 * results.effective_strain->mean, 3),
                " %: the theory is linear, and results grow with the load; forces are in N, "
                "displacements in mm, angles in degrees, and moduli in MPa");
}

} // namespace ossatura
