// SPDX-License-Identifier: Apache-2.0
// measure_box_faces compares what of a surface lies in a box with the whole faces in it, which
// tractions act on.
#pragma once

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Areas by straight edges between corners, m^2.
struct BoxFaces {
  double whole = 0;  ///< of faces all of whose nodes are chosen
  double in_box = 0; ///< of these, and of what the box has of faces that go on beside them
  int missed = 0;    ///< of the latter, how many have more than half of their area in the box

  /// Whether a part of the box's surface is left out that its user can hardly mean to leave out:
  /// a box that ends a little beyond nodes, as one does to be sure of these, has less than half of
  /// the next faces.
  bool ends_between_nodes() const { return missed > 0 && whole < 0.95 * in_box; }
};

/// `nodes` (ascending) are those in the box. Faces go on beside others if they share a node and are
/// turned by less than 45 degrees.
BoxFaces measure_box_faces(const ElementMesh& mesh, const std::vector<std::int32_t>& nodes,
                           const Box& box);
BoxFaces measure_box_faces(const SolidMesh& mesh, const std::vector<std::int32_t>& nodes,
                           const Box& box);

} // namespace ossatura
