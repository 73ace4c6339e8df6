// SPDX-License-Identifier: Apache-2.0
// A label selection takes voxels of an image by the labels of a segmentation of it.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

namespace detail {

/// Where `label`, ascending, has a value; -1 if nowhere.
template<class Exec>
KOKKOS_FUNCTION int find_label(const Array<int, Exec>& label, double value) {
  int begin = 0;
  int end = int(label.extent(0));
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (label(middle) < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin < int(label.extent(0)) && label(begin) == value ? begin : -1;
}

} // namespace detail

/// Callable with the voxels that are here, on host and device.
template<class Exec>
struct LabelSelection {
  VoxelArray<Exec> labels;   ///< of the same planes as the image; where they are empty all is taken
  Array<int, Exec> listed;   ///< ascending
  bool takes_listed = false; ///< else all other labels but 0

  KOKKOS_FUNCTION bool operator()(std::int64_t i) const {
    if (labels.value.extent(0) == 0)
      return true;
    const float label = labels.value(i);
    const bool is_listed = detail::find_label<Exec>(listed, double(label)) >= 0;
    return takes_listed ? is_listed : !is_listed && label != 0;
  }
};

namespace detail {
template<class Exec>
struct CountSelected {
  LabelSelection<Exec> selection;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += selection(i);
  }
};

/// By lines of voxels, so that threads seldom meet at a layer's count.
template<class Exec, class Takes>
struct CountInLayers {
  VoxelArray<Exec> image;
  Takes takes;
  int axis;
  Array<std::int64_t, Exec> count; ///< [layers of the whole image]

  /// Along x, or along y where layers are across x: fastest is the other of the two.
  KOKKOS_FUNCTION void operator()(std::int64_t line) const {
    const bool along_y = axis == 0;
    const int across = image.shape[along_y ? 0 : 1], length = image.shape[along_y ? 1 : 0];
    const int at = int(line % across), plane = image.first_plane + int(line / across);
    std::int64_t taken = 0;
    for (int k = 0; k < length; ++k)
      taken += takes(along_y ? image.index(at, k, plane) : image.index(k, at, plane));
    if (taken > 0)
      Kokkos::atomic_add(&count(axis == 2 ? plane : at), taken);
  }
};
} // namespace detail

/// Number of the voxels of its labels that are taken; fences.
template<class Exec>
std::int64_t count_selected(const Exec& exec, const LabelSelection<Exec>& selection) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_selected", range(exec, selection.labels.num_voxels()),
                          detail::CountSelected<Exec>{selection}, count);
  return count;
}

/// Number of the voxels, in each layer of the whole image across an axis, that are here and that
/// `takes` is true of, a function of the index on the device. Fences.
template<class Exec, class Takes>
std::vector<std::int64_t> count_in_layers(const Exec& exec, const VoxelArray<Exec>& image,
                                          const Takes& takes, int axis) {
  const Array<std::int64_t, Exec> count(Kokkos::view_alloc(exec, "ossatura::layers"),
                                        std::size_t(image.shape[axis]));
  const int across = image.shape[axis == 0 ? 0 : 1];
  const int length = image.shape[axis == 0 ? 1 : 0];
  const std::int64_t planes = image.num_voxels() / across / length;
  Kokkos::parallel_for("ossatura::count_in_layers", range(exec, planes * across),
                       detail::CountInLayers<Exec, Takes>{image, takes, axis, count});
  return download(exec, count);
}

} // namespace ossatura
