// SPDX-License-Identifier: Apache-2.0
// The voxel limits bound shape and spacing of the images that this library takes. Readers check
// them before they ask for memory.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace ossatura {

inline constexpr std::uint64_t max_voxels_per_axis = std::uint64_t(1) << 20;
inline constexpr std::uint64_t max_voxels = std::uint64_t(1) << 40;

inline constexpr double min_length = 1e-9, max_length = 1e9; ///< mm, of an edge

/// (nx, ny, nz) as ints. Throws InputError, starting with `where` (file and place in it), unless
/// every extent is in [1, max_voxels_per_axis] and the product is below max_voxels.
std::array<int, 3> require_voxel_shape(const std::string& where, std::uint64_t nx, std::uint64_t ny,
                                       std::uint64_t nz);

/// Throws InputError, starting with `where`, unless an edge of so many mm is in min_length to
/// max_length: others are a wrong unit or a damaged file, and squares of what follows may
/// underflow.
void require_edge(const std::string& where, double edge);

/// Sets the edges of an image to the spacing along each axis (mm). Throws InputError where one is
/// not above zero, not finite or beyond the limits above, or, unless boxes are taken, where they
/// differ by more than 1e-3 relative; the message says how to resample.
void set_edges(const std::string& where, const std::array<double, 3>& spacing, VoxelShape voxels,
               VoxelImage& image);

} // namespace ossatura
