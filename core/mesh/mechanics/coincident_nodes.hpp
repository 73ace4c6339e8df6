// SPDX-License-Identifier: Apache-2.0
// Coincident nodes lie in one place without being one node: elements on either side of them are not
// joined, as where volumes were meshed one by one, or a file has points for each of its cells.
// Hanging nodes lie on edges of elements that do not have them, as where meshes were refined here
// and there, or are as fine as they like on either side.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

struct CoincidentNodes {
  std::int64_t count = 0; ///< nodes of elements that lie where a lower one does
  std::array<std::int32_t, 2>
      node{};                    ///< two that do, the second the lowest of them, where count > 0
  std::array<double, 3> place{}; ///< theirs
  std::int64_t hanging = 0;      ///< nodes in the middle or at a third of edges
  std::array<double, 3> hanging_place{}; ///< that of the lowest of them
};

/// Two places are one where they differ by the rounding of coordinates in a file (rounding_of), and
/// by less than a hundredth of the shortest edge. Points without element are not looked at, and of
/// solids of second order corners alone hang.
CoincidentNodes find_coincident_nodes(const ElementMesh& mesh);
CoincidentNodes find_coincident_nodes(const SolidMesh& mesh);
/// Of tetrahedra that conduct: all, or those that are not `blocked` [num_tetra]. Takes the time of
/// elements only where some points may be in one place. Hanging nodes, which a wave goes around,
/// are not looked for: that takes longer than a solve.
CoincidentNodes find_coincident_nodes(const TetraMesh& mesh, const std::vector<bool>& blocked = {});

/// A doubt in words, for a warning `split-mesh`, with lengths in m; empty where there are none.
std::string describe_coincident(const CoincidentNodes& found);
/// The same for tissue that conducts, with lengths in mm.
std::string describe_split_tissue(const CoincidentNodes& found);

} // namespace ossatura
