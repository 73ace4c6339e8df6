// SPDX-License-Identifier: Apache-2.0
// An array target has readers put an image where a backend needs it.
#pragma once

#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <algorithm>
#include <limits>
#include <mutex>

namespace ossatura {

/// On a host backend values are read into the array; on a device blocks of them go there.
template<class Exec>
class ArrayTarget : public VoxelTarget {
public:
  explicit ArrayTarget(const Exec& exec)
      : exec_(exec) {}

  void begin(const VoxelImage& image, ImagePlanes planes) override {
    array_ = make_voxel_array(exec_, image.shape, planes);
    fence(exec_, "ossatura::array_target");
  }

  float* room([[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t count) override {
    if constexpr (!BackendTraits<Exec>::is_device)
      return array_.value.data() + first;
    if (block_.extent(0) < count)
      block_ =
          Block(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::array_target"), count);
    return block_.data();
  }

  void filled(std::size_t first, std::size_t count) override {
    const float* values = block_.data();
    if constexpr (BackendTraits<Exec>::is_device)
      Kokkos::deep_copy(exec_, Kokkos::subview(array_.value, std::make_pair(first, first + count)),
                        Kokkos::subview(block_, std::make_pair(std::size_t(0), count)));
    else
      values = array_.value.data() + first;
    note_range(values, count);
    fence(exec_, "ossatura::array_target"); // the block is free again
  }

  /// The planes that were read.
  const VoxelArray<Exec>& array() const { return array_; }
  /// Of their values; infinite, and least above greatest, where there are none.
  float least() const { return least_; }
  float greatest() const { return greatest_; }

private:
  using Block = Kokkos::View<float*, Kokkos::SharedHostPinnedSpace>;

  Exec exec_;
  VoxelArray<Exec> array_;
  Block block_;
  float least_ = std::numeric_limits<float>::infinity(), greatest_ = -least_;

  void note_range(const float* values, std::size_t count) {
    std::mutex mutex;
    for_parts(count, std::size_t(1) << 16, [&](std::size_t begin, std::size_t end) {
      const auto [least, greatest] = std::minmax_element(values + begin, values + end);
      const std::lock_guard<std::mutex> lock(mutex);
      least_ = std::min(least_, *least);
      greatest_ = std::max(greatest_, *greatest);
    });
  }
};

} // namespace ossatura
