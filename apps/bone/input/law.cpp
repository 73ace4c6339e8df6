// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/law.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/kernels/image/material_law.hpp>

#include <algorithm>

namespace ossatura {

namespace {

MaterialLaw material_law(const BoneOptions& options, const std::string& source) {
  MaterialLaw law;
  law.poisson = options.poisson.value_or(0.3);
  law.lower = options.lower;
  law.upper = options.upper;
  switch (options.law) {
  case GreyLaw::by_format:
    fail<UsageError>(source, ": say what its grey values mean: --law threshold, linear, power, "
                             "labels or modulus");
  case GreyLaw::modulus:
    law.kind = MaterialKind::modulus;
    law.modulus_factor = options.modulus_unit == ModulusUnit::GPa ? 1000 : 1;
    break;
  case GreyLaw::threshold:
    law.kind = MaterialKind::window;
    law.modulus = options.modulus;
    break;
  case GreyLaw::linear:
    law.kind = MaterialKind::linear;
    law.intercept = options.intercept;
    law.slope = options.slope;
    break;
  case GreyLaw::power:
    law.kind = MaterialKind::power;
    law.density_intercept = options.intercept;
    law.density_slope = options.slope;
    law.coefficient = options.coefficient;
    law.exponent = options.exponent;
    break;
  case GreyLaw::labels:
    law.kind = MaterialKind::table;
    for (const auto& [label, entry] : options.labels)
      law.table.push_back({label, entry.modulus, entry.poisson.value_or(law.poisson)});
    break;
  }
  return law;
}

} // namespace

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
               const Communicator& comm, BoneModel<Exec>& model) {
  MaterialField<Exec> field;
  try {
    field = apply_material_law(exec, material_law(options, options.input), model.modulus, comm);
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
  if (field.num_solid == 0)
    fail<InputError>(options.input, ": no voxel is bone: the values of the image are ",
                     format_number(range.least), " to ", format_number(range.greatest),
                     "; look at the law, --lower and --upper");
  require_finite_moduli(options, field.maximum);
  if (options.law == GreyLaw::modulus)
    require_unit(options, field.maximum);
  if (const int bins = options.preparation.bins; bins > 0)
    bin_values(exec, field.minimum, field.maximum, bins, model.modulus);
  log_info("moduli from ", format_number(field.minimum), " to ", format_number(field.maximum),
           " MPa");
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void map_model(const Exec&, const BoneOptions&, const BoneModel<Exec>&, ValueRange&);   \
  template void apply_law(const Exec&, const BoneOptions&, const ValueRange&, const Communicator&, \
                          BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
