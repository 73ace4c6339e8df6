// SPDX-License-Identifier: Apache-2.0
// read_itk_hdf5 reads the images that ITK's HDF5ImageIO writes (.h5, .hdf5), as SimpleITK, 3D
// Slicer and other programs of ITK do.
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

struct ItkImageOptions {
  ChoosePlanes planes; ///< all, unless given
  /// Gets the values, where there is one, and the image is left without.
  VoxelTarget* target = nullptr;
  VoxelShape voxels = VoxelShape::cube;
  /// Call the HDF5 library in a child process before; see ParosolOptions.
  bool trial = false;
};

/// Reads the first image of the file at `path`, /ITKImage/0, 3-D and of one number a voxel:
///
/// | dataset | extents | meaning |
/// |---|---|---|
/// | VoxelData | (nz, ny, nx) | integers or reals; gzip and other filters of the library |
/// | Dimension | (3) | nx, ny, nz |
/// | Spacing, Origin | (3) | mm; the centre of the first voxel |
/// | Directions | (3, 3) | the rows are the axes of the image |
///
/// `origin` becomes the lower corner of the first voxel, in the world of ITK (LPS). Throws
/// InputError, naming file, dataset and remedy, for other kinds (2-D, vectors, colours), for voxels
/// that are not cubes within 1e-3 (unless boxes are taken), values that are not finite, and damage.
VoxelImage read_itk_hdf5(const std::string& path, const ItkImageOptions& options = {});

} // namespace ossatura
