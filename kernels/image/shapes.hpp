// SPDX-License-Identifier: Apache-2.0
// These kernels write images of simple bodies on the device: cube, sphere, laminate.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace ossatura {

/// A ball in the middle of the box, by voxel centres: `inner_modulus` where the distance from the
/// centre is below `inner_radius` (0 there: hollow), `modulus` up to `radius`, `outer_modulus`
/// beyond.
struct SphereOptions {
  std::array<int, 3> shape{64, 64, 64}; ///< nx, ny, nz
  double radius = 0;                    ///< in voxels; 0 means the largest ball in the box
  float modulus = 1000;                 ///< MPa
  double inner_radius = 0;              ///< in voxels, at most `radius`
  float inner_modulus = 0;              ///< MPa, 0 = void
  float outer_modulus = 0;              ///< MPa, 0 = void
};

/// One layer of a laminate.
struct Layer {
  int thickness; ///< in voxels, at least 1
  float modulus; ///< MPa, 0 = void
};

/// Layers stacked along an axis from its low end, repeated until the box is full.
struct LaminateOptions {
  std::array<int, 3> shape{64, 64, 64}; ///< nx, ny, nz
  int axis = 2;                         ///< normal of the layers: 0 = x, 1 = y, 2 = z
  std::vector<Layer> layers{{1, 1000}, {1, 500}};
};

namespace detail {

template<class Exec>
struct PaintSphere {
  VoxelArray<Exec> image;
  double radius_squared;
  double inner_radius_squared;
  float modulus;
  float inner_modulus;
  float outer_modulus;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int nx = image.shape[0];
    const int ny = image.shape[1];
    const std::int64_t row = i / nx;
    // Twice the offset from the middle is an integer: the squares and their sum are exact.
    const double x = 0.5 * (2 * int(i - row * nx) + 1 - nx);
    const double y = 0.5 * (2 * int(row % ny) + 1 - ny);
    const double z = 0.5 * (2 * int(row / ny) + 1 - image.shape[2]);
    const double squared = x * x + y * y + z * z;
    image.value(i) = squared < inner_radius_squared ? inner_modulus
                     : squared < radius_squared     ? modulus
                                                    : outer_modulus;
  }
};

template<class Exec>
struct PaintLayers {
  VoxelArray<Exec> image;
  Array<float, Exec> layer_modulus; ///< per voxel layer along the axis
  std::int64_t stride;              ///< between voxel layers
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    image.value(i) = layer_modulus(i / stride % std::int64_t(layer_modulus.extent(0)));
  }
};

inline void require_modulus(float modulus) {
  OSSATURA_REQUIRE(modulus >= 0 && modulus <= 3e38f, "modulus of " << modulus << " MPa");
}

} // namespace detail

/// A box of one material; does not fence.
template<class Exec>
VoxelArray<Exec> make_cube(const Exec& exec, std::array<int, 3> shape, float modulus) {
  detail::require_modulus(modulus);
  const VoxelArray<Exec> image = make_voxel_array(exec, shape);
  Kokkos::deep_copy(exec, image.value, modulus);
  return image;
}

/// The ball of the options; the same voxels on every backend; does not fence.
template<class Exec>
VoxelArray<Exec> make_sphere(const Exec& exec, const SphereOptions& options) {
  for (float modulus : {options.modulus, options.inner_modulus, options.outer_modulus})
    detail::require_modulus(modulus);
  const double largest = 0.5 * std::min({options.shape[0], options.shape[1], options.shape[2]});
  const double radius = options.radius == 0 ? largest : options.radius;
  OSSATURA_REQUIRE(radius > 0, "sphere of radius " << radius);
  OSSATURA_REQUIRE(options.inner_radius >= 0 && options.inner_radius <= radius,
                   "inner radius " << options.inner_radius << " of a sphere of radius " << radius);
  const VoxelArray<Exec> image = make_voxel_array(exec, options.shape);
  Kokkos::parallel_for(
      "ossatura::make_sphere", range(exec, image.num_voxels()),
      detail::PaintSphere<Exec>{image, radius * radius, options.inner_radius * options.inner_radius,
                                options.modulus, options.inner_modulus, options.outer_modulus});
  return image;
}

/// The laminate of the options; fences after the table of layers is up, not after the launch.
template<class Exec>
VoxelArray<Exec> make_laminate(const Exec& exec, const LaminateOptions& options) {
  OSSATURA_REQUIRE(options.axis >= 0 && options.axis < 3, "axis " << options.axis);
  OSSATURA_REQUIRE(!options.layers.empty(), "a laminate without layers");
  for (const Layer& layer : options.layers) {
    OSSATURA_REQUIRE(layer.thickness > 0, "a layer " << layer.thickness << " voxels thick");
    detail::require_modulus(layer.modulus);
  }
  const VoxelArray<Exec> image = make_voxel_array(exec, options.shape);
  std::vector<float> modulus;
  const std::size_t n = options.shape[options.axis];
  for (std::size_t l = 0; modulus.size() < n; l = (l + 1) % options.layers.size()) {
    const Layer& layer = options.layers[l];
    const std::size_t thickness = std::min<std::size_t>(layer.thickness, n - modulus.size());
    modulus.insert(modulus.end(), thickness, layer.modulus);
  }
  std::int64_t stride = 1;
  for (int d = 0; d < options.axis; ++d)
    stride *= options.shape[d];
  Kokkos::parallel_for(
      "ossatura::make_laminate", range(exec, image.num_voxels()),
      detail::PaintLayers<Exec>{image, upload(exec, "ossatura::layer_modulus", modulus), stride});
  return image;
}

} // namespace ossatura
