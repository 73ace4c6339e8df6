// SPDX-License-Identifier: Apache-2.0
// These generators make meshes of equal cubes from voxel images.
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

namespace ossatura {

/// A cube for each voxel whose value is greater than 0, with the nodes of these, x fastest, then y,
/// both of elements and of nodes. Lengths are those of the image times `unit`; turns of the image
/// are left out. Throws std::invalid_argument for voxels that are no cubes and where none is solid,
/// InputError for more than 2^31 nodes.
ElementMesh make_voxel_mesh(const VoxelImage& image, double unit = 1);

} // namespace ossatura
