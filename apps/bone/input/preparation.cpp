// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/preparation.hpp"

#include "apps/bone/input/options.hpp"
#include "apps/driver/options/check.hpp"
#include "apps/driver/options/notation.hpp"
#include "apps/driver/options/option_kinds.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Items = std::vector<std::string>;

constexpr int most_support = 64, most_bins = 1000000;

std::optional<int> parse_bound(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<int>(parse_number<int>(text));
}

std::array<CropRange, 3> parse_crop(const Items& items) {
  const char* expected = "FIRST:END of x, y and z, such as 10:200,:,40: for voxels 10 to 199 along "
                         "x, all along y, and from 40 on along z";
  if (items.size() != 3)
    throw std::invalid_argument(std::string("expected ") + expected);
  std::array<CropRange, 3> crop;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto [begin, end] = split_at(items[d], ':', expected);
    crop[d] = {parse_bound(begin), parse_bound(end)};
  }
  return crop;
}

GaussianOptions parse_gaussian(const std::string& text) {
  const std::size_t colon = text.find(':');
  GaussianOptions gaussian{parse_number<double>(text.substr(0, colon)), {}};
  if (colon != std::string::npos)
    gaussian.support = parse_number<int>(text.substr(colon + 1));
  return gaussian;
}

/// x=30, or 0.3/0.1/0.9=30.
AxisTurn parse_turn(const std::string& text) {
  const auto [axis, degrees] = split_at(text, '=', "AXIS=DEGREES, such as x=30 or 0.3/0.1/0.9=30");
  AxisTurn turn{{0, 0, 0}, parse_number<double>(degrees)};
  if (axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z')
    turn.axis[std::size_t(axis[0] - 'x')] = 1;
  else
    turn.axis = parse_triple<double>(axis, '/', "0.3/0.1/0.9, or x, y or z");
  return turn;
}

/// SLOPE,INTERCEPT or V1=D1,V2=D2.
std::array<double, 2> parse_calibration(const Items& items) {
  const char* expected = "SLOPE,INTERCEPT or two points V1=D1,V2=D2";
  if (items.size() != 2)
    throw std::invalid_argument(std::string("expected ") + expected);
  if (items[0].find('=') == std::string::npos && items[1].find('=') == std::string::npos)
    return {parse_number<double>(items[0]), parse_number<double>(items[1])};
  std::array<double, 2> value{}, density{};
  for (std::size_t k = 0; k < 2; ++k) {
    const auto [v, d] = split_at(items[k], '=', expected);
    value[k] = parse_number<double>(v);
    density[k] = parse_number<double>(d);
  }
  if (value[0] == value[1])
    throw std::invalid_argument("both points have the value " +
                                items[0].substr(0, items[0].find('=')));
  const double slope = (density[1] - density[0]) / (value[1] - value[0]);
  return {slope, density[0] - slope * value[0]};
}

} // namespace

ValueMap PreparationOptions::map() const {
  ValueMap map;
  if (calibration) {
    map.slope = (*calibration)[0];
    map.intercept = (*calibration)[1];
  }
  if (clamp) {
    map.lower = (*clamp)[0];
    map.upper = (*clamp)[1];
  }
  return map;
}

namespace {

void add_turn_options(CLI::App& app, PreparationOptions& o) {
  add_choice(app, "--align", o.align,
             "Turns the image so that the bone stands along --axis by its long or its short axis "
             "of inertia, of the voxels that law, --mask and --largest-component select",
             "none");
  add_list(app, "--turn", "x|y|z|X/Y/Z=DEGREES,...",
           "Turns the bone about these axes of the image, one after the other and after --align: "
           "z=90 takes what points along x to y (x=90: y to z, y=90: z to x). With --resample it "
           "is one interpolation; the box grows to hold all, and what lies beside the image is "
           "void",
           [&o](const Items& items) {
             for (const std::string& item : items)
               o.turns.push_back(parse_turn(item));
           });
}

/// The option that numbers nodes of the image as given; none does: null.
const char* option_of_nodes(const BoneOptions& options) {
  if (!options.fix_file.empty())
    return "--fix-file";
  if (!options.force_file.empty())
    return "--force-file";
  for (const auto* conditions : {&options.fix, &options.force})
    for (const NodalCondition& condition : *conditions)
      if (!condition.where.is_face && !condition.where.label)
        return conditions == &options.fix ? "--fix X/Y/Z" : "--force X/Y/Z";
  return nullptr;
}

/// Of options that say places in the image as it is read, of which nobody knows them turned.
void refuse_places(const BoneOptions& options) {
  const char* const turns = options.preparation.align ? "--align" : "--turn";
  const char* option = option_of_nodes(options);
  if (!option && options.centre.kind == TurnCentre::Kind::point)
    option = "--centre X,Y,Z";
  if (option)
    fail<UsageError>(option, " names a place in the image, which ", turns,
                     " turns: name sides, or labels of a mask");
  if (is_periodic(options))
    fail<UsageError>("--boundary periodic is for a cell with the sides of the image, and ", turns,
                     " turns them: leave one out");
}

void check_turn_options(const CLI::App& app, const BoneOptions& options) {
  const PreparationOptions& o = options.preparation;
  const bool is_read = options.generator == BoneGenerator::none;
  require_effect(app, {{"--turn", is_read, "an image that is read"},
                       {"--align", is_read, "an image that is read"}});
  for (const AxisTurn& turn : o.turns) {
    const double length = std::hypot(turn.axis[0], turn.axis[1], turn.axis[2]);
    if (!(length >= 1e-9 && length <= 1e9))
      fail<UsageError>("--turn ", turn.axis[0], '/', turn.axis[1], '/', turn.axis[2],
                       ": an axis of length 1e-9 to 1e9");
    if (!(std::abs(turn.degrees) <= 360))
      fail<UsageError>("--turn: an angle of ", turn.degrees, " degrees; -360 to 360 are taken");
  }
  if (o.turns_image())
    refuse_places(options);
  const char* const nodes = option_of_nodes(options);
  if (options.resample && nodes)
    fail<UsageError>(nodes, " numbers nodes of the image as given, and --resample makes voxels of "
                            "its own: name sides, or labels of a mask");
}

} // namespace

void add_preparation_options(CLI::App& app, BoneOptions& options) {
  PreparationOptions& o = options.preparation;
  app.option_defaults()->group("Preparation of an image, in this order");
  add_list(app, "--crop", "X0:X1,Y0:Y1,Z0:Z1",
           "Voxels of the image, and of the mask, that are taken: from the first to before the "
           "last along each axis; : is all, 40: from 40 on. Places of other options (--centre, "
           "--fix X/Y/Z, files of nodes) stay those of the image as given",
           [&o](const Items& items) { o.crop = parse_crop(items); });
  add_parsed(
      app, "--gaussian", "MM[:VOXELS]",
      "Gaussian filter of this sigma, over so many voxels on either side (three sigma, and 64 "
      "at most, if they are not given), as the scripts of scanners have it",
      [&o](const std::string& text) { o.gaussian = parse_gaussian(text); });
  add_turn_options(app, o);
  add_list(
      app, "--calibrate", "SLOPE,INTERCEPT|V1=D1,V2=D2",
      "Values v become slope v + intercept, such as densities of Hounsfield units, or the line "
      "through two points of a phantom; --lower, --upper and the law are about them",
      [&o](const Items& items) { o.calibration = parse_calibration(items); });
  add_list(app, "--clamp", "LOWER,UPPER", "Values beyond become these", [&o](const Items& items) {
    if (items.size() != 2)
      throw std::invalid_argument("expected LOWER,UPPER");
    o.clamp = {{parse_number<double>(items[0]), parse_number<double>(items[1])}};
  });
  app.add_option("--bins", o.bins,
                 "Moduli become the middles of so many bins of equal width from the least to the "
                 "greatest; 0: none")
      ->type_name("N")
      ->capture_default_str();
}

void check_preparation_options(const CLI::App& app, const BoneOptions& options) {
  const PreparationOptions& o = options.preparation;
  const bool is_read = options.generator == BoneGenerator::none;
  const bool graded = options.law != GreyLaw::labels;
  require_effect(app, {{"--crop", is_read, "an image that is read"},
                       {"--gaussian", is_read, "an image that is read"},
                       {"--gaussian", graded, "another --law: labels have nothing between them"},
                       {"--calibrate", is_read, "an image that is read"},
                       {"--calibrate", graded, "another --law: labels are no grey values"},
                       {"--clamp", is_read, "an image that is read"},
                       {"--clamp", graded, "another --law: labels are no grey values"},
                       {"--bins", is_read, "an image that is read"},
                       {"--bins", graded && options.law != GreyLaw::threshold,
                        "--law linear, power or modulus, which make many moduli"}});
  check_turn_options(app, options);
  if (o.crop)
    for (const CropRange& range : *o.crop)
      if (range.begin.value_or(0) < 0 || (range.end && *range.end <= range.begin.value_or(0)))
        fail<UsageError>("--crop ", range.begin.value_or(0), ':',
                         range.end ? std::to_string(*range.end) : std::string(),
                         ": voxels are counted from 0, and the last is behind the first");
  if (o.gaussian) {
    if (!(o.gaussian->sigma >= 1e-9 && o.gaussian->sigma <= 1e9))
      fail<UsageError>("--gaussian ", o.gaussian->sigma, ": a sigma of 1e-9 to 1e9 mm");
    if (o.gaussian->support && (*o.gaussian->support < 1 || *o.gaussian->support > most_support))
      fail<UsageError>("--gaussian: a support of ", *o.gaussian->support, " voxels; 1 to ",
                       most_support, " are taken");
  }
  if (o.calibration && !(std::isfinite((*o.calibration)[0]) && (*o.calibration)[0] != 0 &&
                         std::isfinite((*o.calibration)[1])))
    fail<UsageError>("--calibrate: a slope of ", (*o.calibration)[0], " and an intercept of ",
                     (*o.calibration)[1], "; finite numbers are taken, and a slope other than 0");
  if (o.clamp && !((*o.clamp)[0] < (*o.clamp)[1]))
    fail<UsageError>("--clamp ", (*o.clamp)[0], ',', (*o.clamp)[1],
                     ": the lower bound is below the upper one");
  if (o.bins < 0 || o.bins > most_bins)
    fail<UsageError>("--bins ", o.bins, ": 1 to ", most_bins, ", or 0 for none");
}

bool reads_whole_image(const BoneOptions& options) {
  return options.resample || options.preparation.needs_whole();
}

VoxelBox crop_box(const BoneOptions& options, const std::array<int, 3>& shape) {
  VoxelBox box{{0, 0, 0}, shape};
  if (!options.preparation.crop)
    return box;
  for (std::size_t d = 0; d < 3; ++d) {
    const CropRange& range = (*options.preparation.crop)[d];
    box.begin[d] = range.begin.value_or(0);
    box.end[d] = range.end.value_or(shape[d]);
    if (box.begin[d] >= shape[d] || box.end[d] > shape[d])
      fail<InputError>(options.input, ": --crop takes voxels ", box.begin[d], " to ", box.end[d],
                       " along ", "xyz"[d], ", and the image has ", shape[d], ", from 0 on");
  }
  return box;
}

std::array<double, 3> edges_before(const BoneOptions& options, const VoxelImage& source) {
  if (options.spacing)
    return {*options.spacing, *options.spacing, *options.spacing};
  return source.edges();
}

void require_room(std::int64_t bytes, const std::array<int, 3>& shape, const std::string& where) {
  const double needed = sizeof(float) * double(shape[0]) * shape[1] * shape[2];
  if (bytes > 0 && needed > double(bytes))
    fail<InputError>(where, ": makes ", shape[0], " x ", shape[1], " x ", shape[2],
                     " voxels, which take ", format_bytes(needed), " where ",
                     format_bytes(double(bytes)),
                     " are left: take a larger edge (--resample), or a part of the image (--crop)");
}

std::array<int, 3> gaussian_support(const GaussianOptions& gaussian,
                                    const std::array<double, 3>& edges) {
  std::array<int, 3> support{};
  for (std::size_t d = 0; d < 3; ++d)
    support[d] = gaussian.support.value_or(
        int(std::min(std::ceil(3 * gaussian.sigma / edges[d] * (1 - 1e-6)), double(most_support))));
  return support;
}

} // namespace ossatura
