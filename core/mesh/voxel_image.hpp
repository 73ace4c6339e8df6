// SPDX-License-Identifier: Apache-2.0
// These structures hold the voxel image and the micro-FE model as files have them, in host memory
// without Kokkos.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// The axes of an image in the world: row-major 3 x 3, column d is the unit vector along which axis
/// d of the image runs. Orthogonal; of determinant -1 where the image is mirrored.
using ImageDirection = std::array<double, 9>;
inline constexpr ImageDirection identity_direction{1, 0, 0, 0, 1, 0, 0, 0, 1};

/// Consecutive planes z of an image.
struct ImagePlanes {
  int begin, end;
  int count() const { return end - begin; }
};

/// Whether the voxels of an image may have another edge along each axis.
enum class VoxelShape { cube, box };

/// A scalar image of nx * ny * nz cubic voxels, x fastest, or planes of one that several processes
/// share: value[x + nx * (y + ny * (z - first_plane))] is the voxel [x, x+1) * [y, y+1) * [z, z+1)
/// times `spacing`, turned by `direction`, plus `origin`.
struct VoxelImage {
  std::array<int, 3> shape{0, 0, 0}; ///< nx, ny, nz of the whole image
  double spacing = 1;                ///< edge of a voxel in mm
  bool says_spacing = true;          ///< false: the file does not, and 1 mm is its format's default
  /// Edges of boxes along x, y and z by `spacing`, which is the shortest; 1 for cubes.
  std::array<double, 3> stretch{1, 1, 1};
  std::array<double, 3> origin{0, 0, 0}; ///< lower corner of voxel (0, 0, 0) in mm
  ImageDirection direction = identity_direction;
  std::string world;        ///< what x, y, z of the world are: "RAS", "LPS", or empty: not said
  bool says_place = true;   ///< false: the file does not, and its first voxel has its centre at 0
  std::vector<float> value; ///< [nx * ny * planes]
  int first_plane = 0;      ///< z of the first one that is here

  /// Of a voxel, mm.
  std::array<double, 3> edges() const {
    return {spacing * stretch[0], spacing * stretch[1], spacing * stretch[2]};
  }
  std::size_t voxels_per_plane() const { return std::size_t(shape[0]) * std::size_t(shape[1]); }
  /// Of the whole image.
  std::size_t num_voxels() const { return voxels_per_plane() * std::size_t(shape[2]); }
  /// The number in the whole image, x + nx * (y + ny * z), of the first voxel that is here.
  std::size_t first_voxel() const { return voxels_per_plane() * std::size_t(first_plane); }
  /// Those that are here.
  ImagePlanes planes() const {
    const std::size_t count = value.empty() ? 0 : value.size() / voxels_per_plane();
    return {first_plane, first_plane + int(count)};
  }
};

/// A number given for one degree of freedom: `value` in mm (displacement) or N (force) for
/// `component` (0 = x, 1 = y, 2 = z) of the lattice node (x, y, z), 0 <= x <= nx and so on.
struct NodalValue {
  std::array<int, 3> node;
  int component;
  double value;
};

/// A VoxelModel holds all that a file can say about a voxel model. Empty lists mean the file is
/// silent.
struct VoxelModel {
  VoxelImage modulus;                    ///< Young's modulus in MPa, 0 = void
  double poisson = 0.3;                  ///< used where `poisson_image` is empty
  std::vector<float> poisson_image;      ///< one per voxel that `modulus` has, or empty
  std::vector<NodalValue> displacements; ///< prescribed; a later row replaces an earlier one
  std::vector<NodalValue> forces;        ///< added up
};

} // namespace ossatura
