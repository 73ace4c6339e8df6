// SPDX-License-Identifier: Apache-2.0
// The contact area is the area of bone that a support touches.
#pragma once

#include <ossatura/kernels/bone/loads/reactions.hpp>

#include <vector>

namespace ossatura {

/// The area (mm2), seen along the axis `normal`, of the faces of solid voxels across it whose four
/// corners are all among `nodes`, which know their voxels (list_held_nodes); `edge` of a voxel in
/// mm. Faces behind each other count once, so that an embedded end has the area of its shadow.
double contact_area(const std::vector<HeldNode>& nodes, int normal, double edge);

} // namespace ossatura
