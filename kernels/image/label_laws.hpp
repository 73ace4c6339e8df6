// SPDX-License-Identifier: Apache-2.0
// Label laws turn grey values into moduli by a law for each label of a segmentation of the image.
#pragma once

#include <ossatura/kernels/image/material_law.hpp>

namespace ossatura {

/// The law of the voxels with a label; it has no table.
struct LabelLaw {
  int label;
  MaterialLaw law;
};

namespace detail {

/// Replaces grey values by moduli; voxels without a material keep their grey value.
template<class Exec>
struct ApplyLabelLaws {
  Array<int, Exec> label;    ///< ascending
  Array<LawPoint, Exec> law; ///< of these labels, and behind them that of all others
  Array<float, Exec> poisson;
  LabelSelection<Exec> selection;
  VoxelArray<Exec> labels, image;
  Array<float, Exec> poisson_image; ///< may be empty

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& num_solid,
                                  std::int64_t& num_clamped, std::int64_t& num_left_out,
                                  std::int64_t& num_bad, std::int64_t& first_bad, float& minimum,
                                  float& maximum) const {
    const int found = find_label<Exec>(label, double(labels.value(i)));
    const int which = found < 0 ? int(label.extent(0)) : found;
    float modulus;
    VoxelMaterial material = law(which)(image.value(i), modulus);
    if (!selection(i)) {
      num_left_out += modulus > 0;
      material = VoxelMaterial::solid_or_void;
      modulus = 0;
    }
    if (material == VoxelMaterial::bad) {
      ++num_bad;
      first_bad = Kokkos::min(first_bad, i);
      return;
    }
    num_clamped += material == VoxelMaterial::clamped;
    image.value(i) = modulus;
    if (poisson_image.extent(0) > 0)
      poisson_image(i) = poisson(which);
    if (modulus > 0) {
      ++num_solid;
      minimum = Kokkos::min(minimum, modulus);
      maximum = Kokkos::max(maximum, modulus);
    }
  }
};

/// Throws UsageError for laws without meaning.
inline void check_label_laws(const MaterialLaw& others, const std::vector<LabelLaw>& laws) {
  for (std::size_t k = 0; k <= laws.size(); ++k) {
    const MaterialLaw& law = k < laws.size() ? laws[k].law : others;
    check(law);
    if (law.kind == MaterialKind::table)
      fail<UsageError>("material law: the law of a label has no table of labels");
    if (k > 0 && k < laws.size() && laws[k].label == laws[k - 1].label)
      fail<UsageError>("material law: label ", laws[k].label, " has two laws");
  }
}

} // namespace detail

/// As apply_material_law(), with the law of the label that a voxel has in `labels`, of the same
/// planes as the image, or that of the `others`. Fences.
template<class Exec>
MaterialField<Exec> apply_label_laws(const Exec& exec, const MaterialLaw& others,
                                     std::vector<LabelLaw> laws, const VoxelArray<Exec>& labels,
                                     const VoxelArray<Exec>& image, const Communicator& comm = {},
                                     const LabelSelection<Exec>& selection = {}) {
  std::sort(laws.begin(), laws.end(),
            [](const LabelLaw& p, const LabelLaw& q) { return p.label < q.label; });
  detail::check_label_laws(others, laws);
  OSSATURA_REQUIRE(labels.num_voxels() == image.num_voxels(),
                   labels.num_voxels() << " labels for " << image.num_voxels() << " voxels");
  std::vector<int> label;
  std::vector<detail::LawPoint> point;
  std::vector<float> poisson;
  bool same = true;
  for (const LabelLaw& of : laws) {
    label.push_back(of.label);
    point.push_back(detail::law_point(of.law));
    poisson.push_back(float(of.law.poisson));
    same = same && of.law.poisson == others.poisson;
  }
  point.push_back(detail::law_point(others));
  poisson.push_back(float(others.poisson));
  MaterialField<Exec> field;
  field.poisson = others.poisson;
  if (!same)
    field.poisson_image =
        make_uninitialized<float>(exec, image.num_voxels(), "ossatura::poisson_image");
  std::int64_t num_bad = 0, first_bad = 0;
  float minimum = 0, maximum = 0;
  Kokkos::parallel_reduce(
      "ossatura::apply_label_laws", range(exec, image.num_voxels()),
      detail::ApplyLabelLaws<Exec>{upload(exec, "ossatura::law_labels", label),
                                   upload(exec, "ossatura::laws", point),
                                   upload(exec, "ossatura::law_poisson", poisson), selection,
                                   labels, image, field.poisson_image},
      Kokkos::Sum<std::int64_t>(field.num_solid), Kokkos::Sum<std::int64_t>(field.num_clamped),
      Kokkos::Sum<std::int64_t>(field.num_left_out), Kokkos::Sum<std::int64_t>(num_bad),
      Kokkos::Min<std::int64_t>(first_bad), Kokkos::Min<float>(minimum),
      Kokkos::Max<float>(maximum));
  detail::finish_field(exec, others.kind, image, num_bad, first_bad, minimum, maximum, comm, field);
  return field;
}

} // namespace ossatura
