// SPDX-License-Identifier: Apache-2.0
// This file turns a traction on the surface into forces on nodes.
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace ossatura {

/// Integrals of the shape functions times `traction` (N / m^2) over the boundary faces of which all
/// four nodes are among `nodes` (ascending), by 2 x 2 Gauss points; empty where there is no such
/// face. Nodes ascend. `among`, where given, is all faces that may be taken, ascending; `num_taken`
/// receives how many faces were.
std::vector<NodeForce> traction_forces(const ElementMesh& mesh,
                                       const std::vector<std::int32_t>& nodes,
                                       const std::array<double, 3>& traction,
                                       const std::vector<FaceCorners>* among = nullptr,
                                       std::size_t* num_taken = nullptr);
/// The same over boundary faces all of whose nodes, those in the middle of edges too, are among
/// `nodes`, by face_shares(). Of triangles `among` has the last of the ascending corners twice.
std::vector<NodeForce> traction_forces(const SolidMesh& mesh,
                                       const std::vector<std::int32_t>& nodes,
                                       const std::array<double, 3>& traction,
                                       const std::vector<FaceCorners>* among = nullptr,
                                       std::size_t* num_taken = nullptr);

} // namespace ossatura
