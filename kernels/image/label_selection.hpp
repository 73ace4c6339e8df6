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
} // namespace detail

/// Number of the voxels of its labels that are taken; fences.
template<class Exec>
std::int64_t count_selected(const Exec& exec, const LabelSelection<Exec>& selection) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_selected", range(exec, selection.labels.num_voxels()),
                          detail::CountSelected<Exec>{selection}, count);
  return count;
}

} // namespace ossatura
