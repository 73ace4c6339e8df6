// SPDX-License-Identifier: Apache-2.0
// Images between std::vector and a backend, for tests.
#pragma once

#include <ossatura/kernels/image/array.hpp>

#include <array>
#include <vector>

namespace ossatura::test {

template<class T, class Exec>
std::vector<T> host_values(const Kokkos::View<T*, Kokkos::LayoutRight, Exec>& array) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), array);
  return std::vector<T>(host.data(), host.data() + host.size());
}

template<class Exec>
std::vector<float> host_values(const VoxelArray<Exec>& image) {
  return host_values(image.value);
}

template<class Exec>
VoxelArray<Exec> device_image(const Exec& exec, std::array<int, 3> shape,
                              const std::vector<float>& values) {
  VoxelImage image;
  image.shape = shape;
  image.value = values;
  return to_device(exec, image);
}

} // namespace ossatura::test
