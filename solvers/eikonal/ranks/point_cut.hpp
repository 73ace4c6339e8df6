// SPDX-License-Identifier: Apache-2.0
// The points of a mesh are cut into parts, one for each process.
//
// A front is thin: a part that is one piece has work while the front passes, and none before and
// after. So a part is several pieces, dealt in turn from all over the mesh.
//
// Pieces along a space-filling curve are compact, and cost nothing to find. Those of METIS [1] have
// fewer points at their boundaries, for a longer set-up.
//
// [1] G. Karypis, V. Kumar. A fast and high quality multilevel scheme for partitioning irregular
//     graphs. SIAM J. Sci. Comput. 20 (1998) 359-392, doi:10.1137/S1064827595287997.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

enum class PointPartition {
  curve, ///< pieces of a space-filling curve, of equal sizes
  metis  ///< pieces of the graph of points, with few edges between them
};

constexpr Names<PointPartition> names_of(PointPartition) {
  return {{PointPartition::curve, "curve"}, {PointPartition::metis, "metis"}};
}

namespace detail {

struct PointCut {
  std::vector<std::int32_t> order; ///< [num_points] numbers in the mesh, part by part
  std::vector<std::int32_t> begin; ///< [num_parts + 1] of each part; parts may be empty
  std::vector<std::int32_t> place; ///< [num_points] of each point of the mesh in `order`
};

/// Pieces of `curve` [num_points], which has each point of the mesh once. Sizes of parts differ by
/// the number of their pieces at most.
PointCut cut_curve(const std::vector<std::int32_t>& curve, int num_parts);

/// Parts by METIS, each in the order of the curve. The same for the same mesh and METIS. Of small
/// meshes some parts are empty. Throws std::invalid_argument for entries out of range and for
/// meshes whose graph has more entries than METIS here counts.
PointCut cut_by_metis(const TetraMesh& mesh, const std::vector<std::int32_t>& curve, int num_parts);

} // namespace detail
} // namespace ossatura
