// SPDX-License-Identifier: Apache-2.0
// A mesh is folded where tetrahedra that share a face lie on the same side of it, in each other: a
// node was moved through the mesh, or points are those of another mesh. Readers turn what is inside
// out, each by itself, so that nothing else tells.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

struct FoldedMesh {
  std::int64_t count = 0;             ///< of faces at which neighbours overlap
  std::int64_t num_faces = 0;         ///< between tetrahedra
  std::array<std::int64_t, 2> elem{}; ///< that share the first of them, where count > 0
  std::array<double, 3> place{};      ///< its middle
};

/// Tetrahedra that are flat but for rounding are on no side. Other shapes have no folds: hexahedra
/// that are inside out in part are refused.
FoldedMesh find_folds(const ElementMesh& mesh);
/// Of tetrahedra that conduct: all, or those that are not `blocked` [num_tetra]. None are looked
/// for where the vertices of all turn the same way in the file, as meshers write them: a mesh has
/// folds then only if it was folded first and turned afterwards.
FoldedMesh find_folds(const TetraMesh& mesh, const std::vector<bool>& blocked = {});

/// A doubt in words, for a warning `folded-mesh`, without what it leads to; empty where there are
/// no folds. `unit` of lengths.
std::string describe_folds(const FoldedMesh& found, const char* unit);
/// The whole of the doubt, of tissue in mm.
std::string describe_folded_tissue(const FoldedMesh& found);

} // namespace ossatura
