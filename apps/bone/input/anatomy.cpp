// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/anatomy.hpp"

#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include <ossatura/core/base/require.hpp>

#include <cmath>
#include <limits>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;

/// Calls set(is_upper, value) for "upper=VALUE", "lower=VALUE", and for both plates of "VALUE"
/// alone.
template<class Set>
void for_plates(const Items& items, Set set) {
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    const std::string plate = item.substr(0, equals);
    if (equals == std::string::npos) {
      set(false, item);
      set(true, item);
    } else if (plate == "lower" || plate == "upper") {
      set(plate == "upper", item.substr(equals + 1));
    } else {
      throw std::invalid_argument("'" + item + "': plates are upper and lower" +
                                  did_you_mean(plate, {"upper", "lower"}));
    }
  }
}

bool parse_surface(const std::string& text) {
  if (text != "visible" && text != "flat")
    throw std::invalid_argument("'" + text + "' is not one of flat|visible" +
                                did_you_mean(text, {"flat", "visible"}));
  return text == "visible";
}

double parse_depth(const std::string& text) {
  return text == "inf" ? std::numeric_limits<double>::infinity() : parse_number<double>(text);
}

CapOptions parse_cap(const std::string& text) {
  const std::vector<std::string> parts = split_list(text, ':');
  if (parts.empty() || parts.size() > 3)
    throw std::invalid_argument("'" + text + "': expected MM[:MPA[:NU]], such as 3:2500:0.3");
  CapOptions cap;
  cap.thickness = parse_number<double>(parts[0]);
  if (parts.size() > 1)
    cap.modulus = parse_number<double>(parts[1]);
  if (parts.size() > 2)
    cap.poisson = parse_number<double>(parts[2]);
  return cap;
}

void check_cap(const CapOptions& cap) {
  if (!(cap.thickness >= 1e-9 && cap.thickness <= 1e9))
    fail<UsageError>("--cap ", cap.thickness, ": a thickness of 1e-9 to 1e9 mm");
  if (!(cap.modulus >= 1e-30 && cap.modulus <= 1e30))
    fail<UsageError>("--cap: a modulus of ", cap.modulus, " MPa; 1e-30 to 1e30 are taken");
  if (!(cap.poisson >= -0.999 && cap.poisson <= 0.499999))
    fail<UsageError>("--cap: Poisson's ratio of ", cap.poisson, "; -0.999 to 0.499999 are taken");
}

bool has_plates(LoadTest test) {
  return test != LoadTest::homogenise && test != LoadTest::prescribed &&
         test != LoadTest::symmetric_shear;
}

} // namespace

void add_anatomy_options(CLI::App& app, BoneOptions& options) {
  AnatomyOptions& o = options.anatomy;
  app.option_defaults()->group("Loading by anatomy");
  add_list(app, "--surface", "flat|visible|upper=...,lower=...",
           "What plates touch. flat: the outermost nodes of the bone; visible: those that are seen "
           "from outside along --axis, no deeper than --surface-depth (FAIM's uneven surfaces). "
           "For one plate: upper=visible",
           [&o](const Items& items) {
             for_plates(items, [&o](bool upper, const std::string& text) {
               o.visible.of(upper) = parse_surface(text);
             });
           })
      ->default_str("flat");
  add_list(app, "--surface-depth", "MM|upper=MM,lower=MM",
           "How far behind the outermost bone the visible surface is touched, or a cap reaches (0 "
           "if not given); inf: all that is seen",
           [&o](const Items& items) {
             for_plates(items, [&o](bool upper, const std::string& text) {
               o.depth.of(upper) = parse_depth(text);
             });
           });
  add_list(app, "--plate-labels", "upper=LABEL,lower=LABEL,...",
           "Plates touch the nodes of the bone that voxels of --mask with the label touch, be they "
           "bone or beside it (a disc, cement); with --surface visible those of them that are "
           "seen. A plate may have several",
           [&o](const Items& items) {
             for_plates(items, [&o](bool upper, const std::string& text) {
               o.labels.of(upper).push_back(parse_number<int>(text));
             });
           });
  add_list(app, "--cap", "MM[:MPA[:NU]]|upper=...,lower=...",
           "A layer of another material on the ends, so thick beyond the outermost bone, between a "
           "plane that the plate touches and the surface of the bone as it is seen along --axis, "
           "no deeper than --surface-depth; PMMA of 2500 MPa and 0.3 unless it is said: "
           "upper=3:2500:0.3",
           [&o](const Items& items) {
             for_plates(items, [&o](bool upper, const std::string& text) {
               o.cap.of(upper) = parse_cap(text);
             });
           });
}

void check_anatomy_options(const CLI::App& app, const BoneOptions& options) {
  const AnatomyOptions& o = options.anatomy;
  const bool visible = o.visible.lower || o.visible.upper,
             plates = has_plates(test_of_options(options));
  require_effect(app, {{"--surface", plates, "a test between plates"},
                       {"--plate-labels", plates, "a test between plates"},
                       {"--plate-labels", !options.mask.empty(), "--mask, which has the labels"},
                       {"--cap", plates, "a test between plates"},
                       {"--surface-depth", visible || o.has_caps(), "--surface visible or --cap"}});
  if (o.has_caps() && !options.parosol_output.empty())
    fail<UsageError>("--parosol-output is for the voxels of the input, which caps are not: leave "
                     "it or --cap out");
  for (const bool upper : {false, true}) {
    const char* const plate = upper ? "upper" : "lower";
    if (o.visible.of(upper) && !o.depth.of(upper))
      fail<UsageError>("--surface visible needs --surface-depth MM for the ", plate,
                       " plate: how far behind the outermost bone it touches what is seen (inf: "
                       "all of it)");
    if (o.depth.of(upper) && !(*o.depth.of(upper) >= 0))
      fail<UsageError>("--surface-depth ", *o.depth.of(upper), ": in mm, at least 0");
    if (options.plate_depth > 0 && (o.visible.of(upper) || !o.labels.of(upper).empty()))
      fail<UsageError>("--plate-depth is for flat plates, and the ", plate, " one touches ",
                       o.visible.of(upper) ? "the visible surface" : "labels", ": leave one out");
    if (o.cap.of(upper))
      check_cap(*o.cap.of(upper));
    if (o.cap.of(upper) && (o.visible.of(upper) || !o.labels.of(upper).empty()))
      fail<UsageError>("the ", plate, " plate touches the plane of its cap, not ",
                       o.visible.of(upper) ? "the visible surface" : "labels",
                       ": leave --cap out, or that");
    for (const int label : o.labels.of(upper))
      for (const int other : o.labels.of(!upper))
        if (label == other)
          fail<UsageError>("--plate-labels: label ", label, " is of both plates");
  }
  for (const auto* conditions : {&options.fix, &options.force})
    for (const NodalCondition& condition : *conditions)
      if (condition.where.label && options.mask.empty())
        fail<UsageError>(conditions == &options.fix ? "--fix " : "--force ",
                         describe(condition.where), " needs --mask, which has the labels");
}

std::set<int> support_labels(const BoneOptions& options) {
  std::set<int> labels;
  for (const bool upper : {false, true}) {
    const std::vector<int>& of_plate = options.anatomy.labels.of(upper);
    labels.insert(of_plate.begin(), of_plate.end());
  }
  for (const auto* conditions : {&options.fix, &options.force})
    for (const NodalCondition& condition : *conditions)
      if (condition.where.label)
        labels.insert(*condition.where.label);
  return labels;
}

void set_plate_contacts(const BoneOptions& options, const LabelVoxels& voxels,
                        MechanicalTest& test) {
  for (const bool upper : {false, true}) {
    PlateContact& contact = upper ? test.upper_contact : test.lower_contact;
    contact.visible = options.anatomy.visible.of(upper);
    contact.depth = options.anatomy.depth.of(upper).value_or(0);
    for (const int label : options.anatomy.labels.of(upper)) {
      if (!contact.voxels)
        contact.voxels.emplace();
      const std::vector<std::uint64_t>& more = voxels.at(label);
      contact.voxels->insert(contact.voxels->end(), more.begin(), more.end());
    }
  }
}

} // namespace ossatura
