// SPDX-License-Identifier: Apache-2.0
// The materials of an image: its moduli, or what laws by label make of its values where a mask says
// what is bone. As `ossatura bone` with --mask, --mask-labels, --label-laws and --pads.
#pragma once

#include "python/bone/model.hpp"
#include "python/engine/arrays.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/kernels/bone/loads/foreign_voxels.hpp>
#include <ossatura/kernels/bone/loads/node_sets.hpp>
#include <ossatura/kernels/image/count_solid.hpp>
#include <ossatura/kernels/image/label_laws.hpp>
#include <ossatura/kernels/image/label_selection.hpp>
#include <ossatura/solvers/bone/results/mask_section.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace ossatura::python {

template<class Exec>
struct Materials {
  VoxelArray<Exec> modulus;     ///< MPa, 0 = void
  VoxelArray<Exec> poisson;     ///< empty, or a ratio for each voxel
  double uniform_poisson = 0.3; ///< where it is empty
  std::optional<ForeignVoxels<Exec>> foreign;
  MaskLayers mask_layers; ///< across the axis of the test
};

/// "[z, y, x] = [1, 2, 3]", as an array is indexed.
inline std::string index_text(const std::array<int, 3>& shape, std::int64_t voxel) {
  std::ostringstream text;
  text << "[z, y, x] = [" << voxel / shape[0] / shape[1] << ", " << voxel / shape[0] % shape[1]
       << ", " << voxel % shape[0] << ']';
  return text.str();
}

namespace detail {

inline constexpr int largest_label = 1000000; // as the executable

/// The labels of a mask. Throws InputError for one that does not have those that are named.
inline std::set<int> find_mask_labels(const BoneImage& image, const BoneMask& mask) {
  if (mask.shape != image.shape)
    fail<InputError>("mask: ", mask.shape[2], " x ", mask.shape[1], " x ", mask.shape[0],
                     " voxels, and the image has ", image.shape[2], " x ", image.shape[1], " x ",
                     image.shape[0], ": they have to be the same");
  const std::int64_t count = std::int64_t(image.shape[0]) * image.shape[1] * image.shape[2];
  std::set<int> found;
  int last = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const int label = mask.label[i];
    if (label == last)
      continue;
    if (label < -largest_label || label > largest_label)
      fail<InputError>("mask at ", index_text(image.shape, i), ": ", label,
                       ": labels are whole numbers up to 1e6");
    found.insert(label);
    last = label;
  }
  found.erase(0);
  std::string has;
  for (const int label : found)
    has += (has.empty() ? "" : ", ") + std::to_string(label);
  const auto require = [&](int label, const char* what) {
    if (found.count(label) == 0)
      fail<InputError>("mask: no voxel has the label ", label, what, "; there ",
                       found.empty() ? "is none but 0" : "are ", has);
  };
  for (const int label : mask.bone)
    require(label, ", which mask_labels names");
  for (const BoneLabelLaw& law : mask.laws)
    require(law.label, ", which has a law in label_laws");
  for (const BonePad& pad : mask.pads)
    require(pad.label, ", which is a pad");
  return found;
}

inline MaterialLaw library_law(const BoneLabelLaw& law) {
  MaterialLaw made;
  made.kind = law.kind == "constant"    ? MaterialKind::constant
              : law.kind == "threshold" ? MaterialKind::window
              : law.kind == "linear"    ? MaterialKind::linear
              : law.kind == "power"     ? MaterialKind::power
                                        : MaterialKind::modulus;
  made.modulus = law.modulus;
  made.slope = made.density_slope = law.slope;
  made.intercept = made.density_intercept = law.intercept;
  made.coefficient = law.coefficient;
  made.exponent = law.exponent;
  made.lower = law.lower;
  made.upper = law.upper;
  made.poisson = law.poisson;
  return made;
}

/// The laws of all labels: what is no bone is void. `usual` is that of bone whose label has none.
inline std::vector<LabelLaw> laws_of_labels(const BoneMask& mask, const std::set<int>& found,
                                            MaterialLaw& usual) {
  const auto is_bone = [&](int label) {
    const bool is_pad = std::any_of(mask.pads.begin(), mask.pads.end(),
                                    [&](const BonePad& pad) { return pad.label == label; });
    return !is_pad && (mask.bone.empty() ||
                       std::find(mask.bone.begin(), mask.bone.end(), label) != mask.bone.end());
  };
  std::vector<LabelLaw> laws;
  for (const int label : found) {
    const auto law = std::find_if(mask.laws.begin(), mask.laws.end(),
                                  [&](const BoneLabelLaw& one) { return one.label == label; });
    if (law != mask.laws.end())
      laws.push_back({label, library_law(*law)});
    else if (is_bone(label) && !mask.laws.empty()) // as the executable
      fail<InputError>("mask: the label ", label,
                       " has no law: give it one in label_laws, such as ",
                       "Law(\"modulus\") where values are MPa, or name the bone by mask_labels");
  }
  if (!laws.empty())
    usual.poisson = laws.front().law.poisson;
  MaterialLaw nothing;
  nothing.kind = MaterialKind::constant;
  nothing.modulus = 0;
  nothing.poisson = usual.poisson;
  laws.push_back({0, nothing});
  for (const int label : found)
    if (!is_bone(label))
      laws.push_back({label, nothing});
  return laws;
}

/// What of a mask is bone.
template<class Exec>
LabelSelection<Exec> select_bone(const Exec& exec, const BoneMask& mask,
                                 const VoxelArray<Exec>& labels) {
  std::vector<int> listed = mask.bone;
  for (const BonePad& pad : mask.pads)
    if (mask.bone.empty())
      listed.push_back(pad.label);
  std::sort(listed.begin(), listed.end());
  return {labels, upload(exec, "ossatura::python::bone_labels", listed), !mask.bone.empty()};
}

/// Puts pads onto the model.
template<class Exec>
void add_pads(const Exec& exec, const BoneMask& mask, const VoxelArray<Exec>& labels,
              Materials<Exec>& made) {
  if (mask.pads.empty())
    return;
  std::vector<std::uint64_t> listed;
  for (const BonePad& pad : mask.pads) {
    const std::vector<std::uint64_t> voxels = list_label_voxels(exec, labels, pad.label);
    listed.insert(listed.end(), voxels.begin(), voxels.end());
    const auto site = upload(exec, "ossatura::python::pad", voxels);
    fill_listed(exec, site, float(pad.modulus), made.modulus);
    if (made.poisson.value.extent(0) == 0 && pad.poisson != made.uniform_poisson) {
      made.poisson = made.modulus;
      made.poisson.value =
          make_uninitialized<float>(exec, made.modulus.num_voxels(), "ossatura::python::poisson");
      Kokkos::deep_copy(exec, made.poisson.value, float(made.uniform_poisson));
    }
    if (made.poisson.value.extent(0) > 0)
      fill_listed(exec, site, float(pad.poisson), made.poisson);
  }
  std::sort(listed.begin(), listed.end());
  made.foreign.emplace();
  made.foreign->listed = upload(exec, "ossatura::python::pads", listed);
  fence(exec, "ossatura::python::add_pads");
}

} // namespace detail

/// The labels of a mask as an image of the library.
template<class Exec>
VoxelArray<Exec> upload_labels(const Exec& exec, const BoneMask& mask) {
  const std::int64_t count = std::int64_t(mask.shape[0]) * mask.shape[1] * mask.shape[2];
  VoxelArray<Exec> labels;
  for (int d = 0; d < 3; ++d)
    labels.shape[d] = mask.shape[std::size_t(d)];
  labels.value =
      upload(exec, "ossatura::python::labels", std::vector<float>(mask.label, mask.label + count));
  fence(exec, "ossatura::python::upload_labels");
  return labels;
}

/// The materials of the values in `made`, which are a copy of the caller's, by `usual`, the law of
/// the whole or of bone whose label has none; layers of a mask are across `axis`. `what` names the
/// image in messages. Throws InputError. Fences.
template<class Exec>
void apply_laws(const Exec& exec, const BoneImage& image, const std::optional<BoneMask>& mask,
                MaterialLaw usual, int axis, const std::string& what, Materials<Exec>& made) {
  MaterialField<Exec> field;
  VoxelArray<Exec> labels;
  try {
    if (mask) {
      const std::vector<LabelLaw> laws =
          detail::laws_of_labels(*mask, detail::find_mask_labels(image, *mask), usual);
      labels = upload_labels(exec, *mask);
      field = apply_label_laws(exec, usual, laws, labels, made.modulus);
    } else {
      field = apply_material_law(exec, usual, made.modulus);
    }
  } catch (const InputError& error) {
    const std::string text(error.what());
    throw InputError(text.rfind("mask", 0) == 0 ? text : what + ": " + text);
  }
  if (field.num_clamped > 0)
    log_info(field.num_clamped, " voxels below the range of the law became void");
  if (field.num_solid == 0)
    fail<InputError>(what, ": no voxel is bone",
                     mask ? ": look at mask_labels and label_laws" : "");
  if (!(field.maximum <= 1e30))
    fail<InputError>(what, ": a modulus of ", field.maximum, " MPa; at most 1e30 is taken");
  made.uniform_poisson = field.poisson;
  if (field.poisson_image.extent(0) > 0) {
    made.poisson = made.modulus;
    made.poisson.value = field.poisson_image;
  }
  if (!mask)
    return;
  made.mask_layers.mask =
      count_in_layers(exec, labels, detail::select_bone(exec, *mask, labels), axis);
  made.mask_layers.bone = filled_layers(
      count_in_layers(exec, made.modulus, SolidVoxels<Exec>{made.modulus.value}, axis));
  detail::add_pads(exec, *mask, labels, made);
}

} // namespace ossatura::python
