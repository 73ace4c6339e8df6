// SPDX-License-Identifier: Apache-2.0
// A component selection keeps one component of an image, such as the largest, or drops those that
// no support holds.
#pragma once

#include <ossatura/kernels/image/connected_components.hpp>

#include <cstdint>

namespace ossatura {

/// Components without a supported voxel.
struct UnsupportedComponents {
  std::int64_t components = 0;
  std::int64_t voxels = 0;
  std::int64_t example = -1; ///< the smallest such voxel; -1 if there is none
};

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
struct MarkSupported {
  Array<Index, Exec> root;
  Array<std::uint8_t, Exec> support;
  Array<int, Exec> supported; ///< at the roots
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    // The load saves most of the writes; all writers write the same.
    if (support(i) != 0 && root(i) >= 0 && supported(root(i)) == 0)
      Kokkos::atomic_exchange(&supported(root(i)), 1);
  }
};

template<class Index, class Exec>
struct CountUnsupported {
  Array<Index, Exec> root;
  Array<int, Exec> supported;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& components, std::int64_t& voxels,
                                  std::int64_t& first) const {
    const std::int64_t r = root(i);
    if (r < 0 || supported(r) != 0)
      return;
    components += r == i;
    ++voxels;
    first = Kokkos::min(first, i);
  }
};

template<class Index, class Exec>
struct DropUnsupported {
  VoxelArray<Exec> image;
  Array<Index, Exec> root;
  Array<int, Exec> supported;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (root(i) < 0 || supported(root(i)) == 0)
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

template<class Index, class Exec>
UnsupportedComponents find_unsupported(const Exec& exec, const VoxelArray<Exec>& image,
                                       const Array<std::uint8_t, Exec>& support,
                                       Connectivity connectivity, bool drop) {
  const std::int64_t n = image.num_voxels();
  OSSATURA_REQUIRE(std::int64_t(support.extent(0)) == n, support.extent(0)
                                                             << " supports for " << n << " voxels");
  const auto root = label_components<Index>(exec, image, connectivity);
  const Array<int, Exec> supported(Kokkos::view_alloc(exec, "ossatura::supported"), n);
  Kokkos::parallel_for("ossatura::find_unsupported::mark", range(exec, n),
                       MarkSupported<Index, Exec>{root, support, supported});
  UnsupportedComponents found;
  Kokkos::parallel_reduce(
      "ossatura::find_unsupported::count", range(exec, n),
      CountUnsupported<Index, Exec>{root, supported}, Kokkos::Sum<std::int64_t>(found.components),
      Kokkos::Sum<std::int64_t>(found.voxels), Kokkos::Min<std::int64_t>(found.example));
  if (found.components == 0)
    found.example = -1;
  if (drop && found.components > 0)
    Kokkos::parallel_for("ossatura::drop_unsupported", range(exec, n),
                         DropUnsupported<Index, Exec>{image, root, supported});
  return found;
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

/// The components none of whose voxels has support(i) != 0, with `support` [nx * ny * nz]; a
/// support in the void holds nothing. Without them, a body can move freely and its equations have
/// no solution. Fences.
template<class Exec>
UnsupportedComponents find_unsupported(const Exec& exec, const VoxelArray<Exec>& image,
                                       const Array<std::uint8_t, Exec>& support,
                                       Connectivity connectivity) {
  return image.num_voxels() <= INT32_MAX
             ? detail::find_unsupported<std::int32_t>(exec, image, support, connectivity, false)
             : detail::find_unsupported<std::int64_t>(exec, image, support, connectivity, false);
}

/// Finds them like find_unsupported and sets their voxels to 0; does not fence after the last
/// write.
template<class Exec>
UnsupportedComponents drop_unsupported(const Exec& exec, const VoxelArray<Exec>& image,
                                       const Array<std::uint8_t, Exec>& support,
                                       Connectivity connectivity) {
  return image.num_voxels() <= INT32_MAX
             ? detail::find_unsupported<std::int32_t>(exec, image, support, connectivity, true)
             : detail::find_unsupported<std::int64_t>(exec, image, support, connectivity, true);
}

} // namespace ossatura
