// SPDX-License-Identifier: Apache-2.0
// A component selection keeps the largest component of an image.
#pragma once

#include <ossatura/kernels/image/connected_components.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {

template<class Index, class Exec>
struct KeepComponent {
  VoxelArray<Exec> image;
  Array<Index, Exec> root;
  std::int64_t kept;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (std::int64_t(root(i)) != kept)
      image.value(i) = 0;
  }
};

template<class Index, class Exec>
ComponentSummary keep_largest_component(const Exec& exec, const VoxelArray<Exec>& image,
                                        Connectivity connectivity) {
  const auto root = label_components<Index>(exec, image, connectivity);
  const ComponentSummary summary = summarise_components<Index>(exec, root);
  if (summary.count > 1)
    Kokkos::parallel_for("ossatura::keep_largest_component", range(exec, image.num_voxels()),
                         KeepComponent<Index, Exec>{image, root, summary.largest_root});
  return summary;
}

} // namespace detail

/// The components of the voxels with a value > 0; fences.
template<class Exec>
ComponentSummary summarise_components(const Exec& exec, const VoxelArray<Exec>& image,
                                      Connectivity connectivity) {
  return image.num_voxels() <= INT32_MAX
             ? summarise_components<std::int32_t>(
                   exec, label_components<std::int32_t>(exec, image, connectivity))
             : summarise_components<std::int64_t>(
                   exec, label_components<std::int64_t>(exec, image, connectivity));
}

/// Sets all voxels to 0 but those of the largest component, the first of equally large ones.
/// Returns the components found: count - 1 of them and num_solid - largest_size voxels are gone.
/// Fences to find the largest, not after the last write.
template<class Exec>
ComponentSummary keep_largest_component(const Exec& exec, const VoxelArray<Exec>& image,
                                        Connectivity connectivity) {
  return image.num_voxels() <= INT32_MAX
             ? detail::keep_largest_component<std::int32_t>(exec, image, connectivity)
             : detail::keep_largest_component<std::int64_t>(exec, image, connectivity);
}

} // namespace ossatura
