// SPDX-License-Identifier: Apache-2.0
// An image's place is its position and direction in the world, from the header of its file.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <array>
#include <optional>

namespace ossatura {

/// The direction of an image whose axis d runs along axis[d], a vector as long as a voxel: the
/// nearest rotation (or reflection), since headers have few digits. Empty where these are not
/// orthogonal, are not of length `edges` (both to 1e-3) or are not finite: such voxels are no boxes
/// of these edges.
std::optional<ImageDirection> make_direction(const std::array<std::array<double, 3>, 3>& axis,
                                             const std::array<double, 3>& edges);

/// Spacings of files that may be negative: the axis then runs the other way from the centre of the
/// first voxel, as in ITK. Turns those of `direction`, and returns lengths.
std::array<double, 3> turn_axes(const std::array<double, 3>& spacing, ImageDirection& direction);

/// The lower corner of voxel (0, 0, 0), whose centre is at `centre` (mm).
std::array<double, 3> lower_corner(const std::array<double, 3>& centre,
                                   const std::array<double, 3>& edges,
                                   const ImageDirection& direction);

/// Whether the file of an image says where it lies. Without a world, the first voxel of one that
/// does not lies with its centre or its corner at 0.
bool has_place(const VoxelImage& image);

} // namespace ossatura
