// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/law.hpp"

#include "apps/bone/input/mask.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/kernels/image/label_laws.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// The law of a kind, with the numbers of the options.
MaterialLaw law_of(MaterialKind kind, const BoneOptions& options) {
  MaterialLaw law;
  law.kind = kind;
  law.poisson = options.poisson.value_or(0.3);
  law.lower = options.lower;
  law.upper = options.upper;
  law.modulus_factor = options.modulus_unit == ModulusUnit::GPa ? 1000 : 1;
  law.modulus = options.modulus;
  law.intercept = law.density_intercept = options.intercept;
  law.slope = law.density_slope = options.slope;
  law.coefficient = options.coefficient;
  law.exponent = options.exponent;
  for (const auto& [label, entry] : options.labels)
    law.table.push_back({label, entry.modulus, entry.poisson.value_or(law.poisson)});
  return law;
}

MaterialLaw law_of(const LabelLawChoice& choice, const BoneOptions& options) {
  MaterialLaw law = law_of(choice.kind, options);
  law.poisson = choice.poisson.value_or(law.poisson);
  law.lower = choice.lower.value_or(law.lower);
  law.upper = choice.upper.value_or(law.upper);
  law.modulus = choice.modulus.value_or(law.modulus);
  law.intercept = law.density_intercept = choice.intercept.value_or(law.intercept);
  law.slope = law.density_slope = choice.slope.value_or(law.slope);
  law.coefficient = choice.coefficient.value_or(law.coefficient);
  law.exponent = choice.exponent.value_or(law.exponent);
  return law;
}

/// That of voxels without a law by label.
MaterialLaw usual_law(const BoneOptions& options) {
  if (const std::optional<MaterialKind> kind = kind_of_law(options))
    return law_of(*kind, options);
  if (!has_label_laws_alone(options))
    fail<UsageError>(options.input, ": say what its grey values mean: --law threshold, linear, "
                                    "power, labels or modulus");
  MaterialLaw nothing = law_of(MaterialKind::constant, options);
  nothing.modulus = 0;
  nothing.poisson = law_of(options.labels_of_mask.laws.begin()->second, options).poisson;
  return nothing;
}

template<class Exec>
MaterialField<Exec> apply_laws(const Exec& exec, const BoneOptions& options,
                               const VoxelArray<Exec>& labels, const Communicator& comm,
                               const VoxelArray<Exec>& image) {
  const MaterialLaw usual = usual_law(options);
  const LabelOptions& of_mask = options.labels_of_mask;
  const LabelSelection<Exec> bone = select_bone(exec, options, labels);
  if (of_mask.laws.empty() && of_mask.pads.empty())
    return apply_material_law(exec, usual, image, comm, bone);
  std::vector<LabelLaw> laws;
  for (const auto& [label, choice] : of_mask.laws)
    laws.push_back({label, law_of(choice, options)});
  for (const auto& [label, pad] : of_mask.pads) { // void here: they are no bone
    laws.push_back({label, law_of(MaterialKind::constant, options)});
    laws.back().law.modulus = 0;
    laws.back().law.poisson = usual.poisson;
  }
  return apply_label_laws(exec, usual, laws, labels, image, comm, bone);
}

bool is_right_angled(const AxisTurn& turn) {
  return std::count(turn.axis.begin(), turn.axis.end(), 0.0) == 2 &&
         std::fmod(turn.degrees, 90) == 0;
}

/// The first of the options that make values between those of the image; none does: null.
const char* blending_option(const BoneOptions& options, const VoxelImage& source) {
  const PreparationOptions& o = options.preparation;
  if (options.law == GreyLaw::labels)
    return nullptr;
  if (o.gaussian)
    return "--gaussian";
  const std::array<double, 3> edges = edges_before(options, source);
  if (options.resample && std::any_of(edges.begin(), edges.end(), [&](double edge) {
        return std::abs(edge / *options.resample - 1) > 1e-3;
      }))
    return "--resample";
  if (o.align)
    return "--align";
  return std::all_of(o.turns.begin(), o.turns.end(), is_right_angled) ? nullptr : "--turn";
}

/// Below it a voxel is void.
struct LowerThreshold {
  std::string option; ///< that gives it, before its value
  double lower;
  bool ends_bone; ///< where no law is graded, and no mask says where the bone ends
};

std::vector<LowerThreshold> lower_thresholds(const BoneOptions& options) {
  std::vector<LowerThreshold> found;
  if (kind_of_law(options))
    found.push_back(
        {"--lower ", options.lower, options.law == GreyLaw::threshold && options.mask.empty()});
  for (const auto& [label, choice] : options.labels_of_mask.laws)
    if (choice.kind != MaterialKind::constant)
      found.push_back({choice.lower ? "lower of label " + std::to_string(label) + " at "
                                    : std::string("--lower "),
                       choice.lower.value_or(options.lower), false});
  return found;
}

/// Throws where the threshold is at an end of a wide gap between values that `option` blends.
template<class Exec>
void require_within(const Exec& exec, const BoneOptions& options, const char* option,
                    const BoneModel<Exec>& model, const LowerThreshold& threshold) {
  // Of the range of the image: values of a scan are closer by far. Of the gap: what is left out,
  // or filled, is then hardly meant.
  constexpr float least_gap = 0.2f, margin = 0.1f;
  ValueMap map = options.preparation.map();
  map.lower = ValueMap().lower; // the clamp comes after blending
  map.upper = ValueMap().upper;
  const ValueGap gap = find_gap(exec, map, float(threshold.lower), model.modulus);
  if (!gap.is_between || gap.part < least_gap)
    return;
  const double place = (threshold.lower - gap.below) / (double(gap.above) - gap.below);
  // Where a law is graded, or a mask says where the bone ends, bone of a small part of a voxel does
  // no harm.
  const bool is_wide = place < margin && threshold.ends_bone;
  if (place <= 1 - margin && !is_wide)
    return;
  fail<InputError>(options.input, ": no value is between ", format_number(gap.below), " and ",
                   format_number(gap.above), ", as in a segmentation, until ", option,
                   " blends them at the surface of the bone: with ", threshold.option,
                   format_number(threshold.lower), " a voxel there is ",
                   is_wide ? "bone where the least part of it is, and the bone too thick"
                           : "void unless all of it is bone, and the bone too thin",
                   "; take the middle, ", threshold.option,
                   format_number((double(gap.above) + gap.below) / 2));
}

} // namespace

template<class Exec>
void require_threshold_within(const Exec& exec, const BoneOptions& options,
                              const BoneModel<Exec>& model) {
  if (const char* const option = blending_option(options, model.source))
    for (const LowerThreshold& threshold : lower_thresholds(options))
      if (std::isfinite(threshold.lower))
        require_within(exec, options, option, model, threshold);
}

void require_unit(const BoneOptions& options, double largest) {
  if (options.modulus_unit || !(largest > 0 && largest < 100))
    return;
  fail<InputError>(options.input, ": the largest modulus is ", largest,
                   ", which is softer than any bone if it is in MPa; say the unit with "
                   "--modulus-unit GPa (as parosol-py writes since 2026) or --modulus-unit MPa");
}

void require_finite_moduli(const BoneOptions& options, double largest) {
  if (!(largest <= 1e30))
    fail<InputError>(options.input, ": the largest modulus is ", largest,
                     " MPa; at most 1e30 is taken");
}

ValueRange range_of(const std::vector<float>& values) {
  ValueRange range;
  for (const float value : values) {
    range.least = value < range.least ? value : range.least;
    range.greatest = value > range.greatest ? value : range.greatest;
  }
  return range;
}

template<class Exec>
void map_model(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
               ValueRange& range) {
  if (!options.preparation.maps_values())
    return;
  const ValueMap map = options.preparation.map();
  map_values(exec, map, model.modulus);
  fence(exec, "ossatura::bone::map_model");
  if (range.least <= range.greatest) {
    const float a = map(range.least), b = map(range.greatest);
    range = {std::min(a, b), std::max(a, b)};
  }
}

template<class Exec>
void apply_law(const Exec& exec, const BoneOptions& options, const ValueRange& range,
               const VoxelArray<Exec>& labels, const Communicator& comm, BoneModel<Exec>& model) {
  MaterialField<Exec> field;
  try {
    field = apply_laws(exec, options, labels, comm, model.modulus);
  } catch (const InputError& error) {
    fail<InputError>(options.input, model.turn ? ": as it is turned: " : ": ", error.what());
  }
  model.uniform_poisson = field.poisson;
  if (field.poisson_image.extent(0) > 0) {
    model.poisson = model.modulus;
    model.poisson.value = field.poisson_image;
  }
  if (field.num_clamped > 0)
    log_info(format_count(field.num_clamped), " voxels below the range of the law became void");
  const std::int64_t before = field.num_solid + field.num_left_out;
  if (before == 0)
    fail<InputError>(options.input, ": no voxel is bone: the values of the image are ",
                     format_number(range.least), " to ", format_number(range.greatest),
                     "; look at the law, --lower and --upper");
  if (field.num_solid == 0)
    fail<InputError>(mask_path(options), ": none of the ", format_count(before),
                     " voxels of bone has a label of the mask",
                     options.mask_labels.empty() ? "" : " among --mask-labels");
  require_finite_moduli(options, field.maximum);
  if (has_law(options, MaterialKind::modulus)) {
    if (!options.modulus_unit && !options.labels_of_mask.laws.empty()) // whose moduli may hide it
      fail<UsageError>("a law modulus beside others needs its unit: --modulus-unit MPa or GPa");
    require_unit(options, field.maximum);
  }
  log_info("moduli from ", format_number(field.minimum), " to ", format_number(field.maximum),
           " MPa");
  if (!options.mask.empty())
    log_info("the mask keeps ", format_count(field.num_solid), " of ", format_count(before),
             " voxels of bone");
}

template<class Exec>
void bin_moduli(const Exec& exec, const BoneOptions& options, const Communicator& comm,
                const BoneModel<Exec>& model) {
  const int bins = options.preparation.bins;
  if (bins == 0)
    return;
  const std::array<float, 2> mine = positive_range(exec, model.modulus);
  const float least = comm.min(mine[0]), greatest = comm.max(mine[1]);
  bin_values(exec, least, greatest, bins, model.modulus);
  log_info(bins, " bins of moduli from ", format_number(least), " to ", format_number(greatest),
           " MPa");
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void require_threshold_within(const Exec&, const BoneOptions&, const BoneModel<Exec>&); \
  template void map_model(const Exec&, const BoneOptions&, const BoneModel<Exec>&, ValueRange&);   \
  template void apply_law(const Exec&, const BoneOptions&, const ValueRange&,                      \
                          const VoxelArray<Exec>&, const Communicator&, BoneModel<Exec>&);         \
  template void bin_moduli(const Exec&, const BoneOptions&, const Communicator&,                   \
                           const BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
