// SPDX-License-Identifier: Apache-2.0
// A label selection takes voxels of an image by the labels of a segmentation of it.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <cstdint>

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

template<class Exec>
struct FindSelectedLayers {
  LabelSelection<Exec> selection;
  int axis;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Kokkos::MinMaxScalar<int>& range) const {
    if (!selection(i))
      return;
    const VoxelArray<Exec>& labels = selection.labels;
    const std::int64_t row = i / labels.shape[0];
    const int layer = axis == 0   ? int(i - row * labels.shape[0])
                      : axis == 1 ? int(row % labels.shape[1])
                                  : labels.first_plane + int(row / labels.shape[1]);
    range.min_val = layer < range.min_val ? layer : range.min_val;
    range.max_val = layer > range.max_val ? layer : range.max_val;
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

/// The first and the last layer of the whole image, across an axis, with a voxel that is here and
/// taken; the first is greater where there is none. Fences.
template<class Exec>
Kokkos::MinMaxScalar<int> find_selected_layers(const Exec& exec,
                                               const LabelSelection<Exec>& selection, int axis) {
  Kokkos::MinMaxScalar<int> layers;
  Kokkos::parallel_reduce(
      "ossatura::find_selected_layers", range(exec, selection.labels.num_voxels()),
      detail::FindSelectedLayers<Exec>{selection, axis}, Kokkos::MinMax<int>(layers));
  return layers;
}

} // namespace ossatura
