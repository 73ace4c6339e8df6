// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/caps.hpp"

#include "apps/bone/labels/pads.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/image/enlarge.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// The coordinates of the outermost faces of the bone along the axis.
struct Extent {
  int lower, upper;
};

template<class Exec>
Extent extent_of(const Exec& exec, const ColumnEnds<Exec>& ends) {
  const std::vector<int> lower = download(exec, ends.lower), upper = download(exec, ends.upper);
  return {*std::min_element(lower.begin(), lower.end()),
          *std::max_element(upper.begin(), upper.end())};
}

/// Voxels of a cap beyond the bone. A modulus that was given for a thickness makes far more than
/// the image has.
int layers_of(const std::optional<CapOptions>& cap, double edge, int longest) {
  if (!cap)
    return 0;
  const double layers = std::round(cap->thickness / edge);
  if (layers < 1 || layers > double(max_voxels_per_axis))
    fail<InputError>("--cap: a thickness of ", cap->thickness, " mm is ",
                     layers < 1 ? "less than half a voxel" : "more voxels than are taken",
                     ", of which the edge is ", edge, " mm");
  if (layers > 10.0 * longest)
    fail<InputError>("--cap: a thickness of ", cap->thickness,
                     " mm is more than ten times the longest side of the image, ",
                     format_number(longest * edge, 4),
                     " mm: the thickness comes before the modulus in MPa, as in 3:2500");
  return int(layers);
}

/// How many voxels behind the outermost face a cap reaches.
int depth_of(const std::optional<double>& depth, double edge, int height) {
  return int(std::min(layers_within(depth.value_or(0), edge), double(height)));
}

/// `planes` more before and behind the present ones of an image.
template<class Exec>
void enlarge_model(const Exec& exec, const BoneOptions& options, int below, int above,
                   const Communicator& comm, BoneModel<Exec>& model) {
  const auto axis = std::size_t(options.axis);
  std::array<int, 3> shape{model.modulus.shape[0], model.modulus.shape[1], model.modulus.shape[2]};
  shape[axis] += below + above;
  (void)require_voxel_shape(options.input + ": --cap", std::uint64_t(shape[0]),
                            std::uint64_t(shape[1]), std::uint64_t(shape[2]));
  const bool has_poisson = comm.any(model.poisson.value.extent(0) > 0);
  model.modulus = enlarge(exec, model.modulus, options.axis, below, above, comm);
  if (has_poisson) {
    if (model.poisson.value.extent(0) == 0)
      model.poisson.shape = {shape[0], shape[1], shape[2]};
    model.poisson = enlarge(exec, model.poisson, options.axis, below, above, comm);
  }
  for (LabelVoxels* of_labels : {&model.label_voxels, &model.pad_voxels})
    for (auto& [label, voxels] : *of_labels)
      for (std::uint64_t& voxel : voxels) {
        const Site s = detail::unpack_site(voxel);
        voxel = detail::pack_site(s.x + (axis == 0) * below, s.y + (axis == 1) * below,
                                  s.z + (axis == 2) * below);
      }
  model.planes_below[axis] = below;
  model.planes_above[axis] = above;
  for (std::size_t i = 0; i < 3; ++i)
    model.origin[i] -= model.edge * below * model.direction[3 * i + axis];
}

} // namespace

template<class Exec>
void add_caps(const Exec& exec, const BoneOptions& options,
              const std::optional<Communicator>& ranks, BoneModel<Exec>& model) {
  const TimedScope scope("ossatura::bone::add_caps");
  const Communicator comm = ranks.value_or(Communicator());
  const AnatomyOptions& anatomy = options.anatomy;
  const double edge = model.edge;
  Caps<Exec> caps;
  caps.ends = find_column_ends(exec, model.modulus, options.axis, comm);
  const Extent bone = extent_of(exec, caps.ends);
  if (!model.mask_layers.mask.empty()) // crumbs were bone before they were left out
    model.mask_layers.bone = {std::max(model.mask_layers.bone[0], bone.lower),
                              std::min(model.mask_layers.bone[1], bone.upper)};
  const auto& shape = model.modulus.shape;
  const int longest = std::max({shape[0], shape[1], shape[2]}),
            lower_layers = layers_of(anatomy.cap.lower, edge, longest),
            upper_layers = layers_of(anatomy.cap.upper, edge, longest),
            size = model.modulus.shape[options.axis];
  caps.shift = std::max(0, lower_layers - bone.lower);
  const int above = std::max(0, bone.upper + upper_layers - size);
  if (caps.shift > 0 || above > 0)
    enlarge_model(exec, options, caps.shift, above, comm, model);
  const int first = bone.lower + caps.shift, last = bone.upper + caps.shift, height = last - first;
  if (const auto& cap = anatomy.cap.lower)
    caps.lower = {true,
                  first - lower_layers,
                  first,
                  first + depth_of(anatomy.depth.lower, edge, height),
                  float(cap->modulus),
                  float(cap->poisson)};
  if (const auto& cap = anatomy.cap.upper)
    caps.upper = {true, last + upper_layers, last - depth_of(anatomy.depth.upper, edge, height),
                  last, float(cap->modulus), float(cap->poisson)};
  for (const auto& cap : {anatomy.cap.lower, anatomy.cap.upper})
    if (cap)
      spread_poisson(exec, cap->poisson, comm, model);
  fill_caps(exec, caps, model.modulus, model.poisson.value);
  fence(exec, "ossatura::bone::add_caps");
  model.foreign.emplace();
  model.foreign->has_caps = true;
  model.foreign->caps = caps;
  for (const bool upper : {false, true})
    if (const auto& cap = anatomy.cap.of(upper))
      log_info("cap on the ", upper ? "upper" : "lower",
               " end: ", format_number((upper ? upper_layers : lower_layers) * edge), " mm of ",
               format_number(cap->modulus), " MPa beyond the outermost bone");
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void add_caps(const Exec&, const BoneOptions&, const std::optional<Communicator>&,      \
                         BoneModel<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
