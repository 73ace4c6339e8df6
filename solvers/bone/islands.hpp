// SPDX-License-Identifier: Apache-2.0
// Islands are parts of a specimen that no support touches. Their equations have no unique solution.
#pragma once

#include <ossatura/kernels/bone/supports.hpp>
#include <ossatura/kernels/image/component_selection.hpp>
#include <ossatura/solvers/bone/problem.hpp>

namespace ossatura {

/// Noise may leave so much of the bone in islands; more says that supports are not where they were
/// meant to be.
inline constexpr double most_islands = 0.01;

struct DroppedIslands : UnsupportedComponents {
  double part = 0;          ///< of the voxels
  bool are_dropped = false; ///< else they are too much of the specimen
};

/// Finds the parts, connected by nodes, that no component of problem.held touches. Sets their
/// voxels in `image`, the one that `problem` was made from, to 0 if they are at most the part
/// `most` of all. Plates lie at the ends of what is there: with them dropped, problem and load are
/// to be made anew, and asked again. Fences.
template<class Exec>
DroppedIslands drop_islands(const Exec& exec, const VoxelProblem<Exec>& problem,
                            const VoxelArray<Exec>& image, double most = most_islands) {
  const Array<std::uint8_t, Exec> support =
      mark_supported_voxels(exec, problem.grid, image, problem.held.mask);
  DroppedIslands islands{find_unsupported(exec, image, support, Connectivity::node)};
  islands.part = double(islands.voxels) / double(problem.grid.num_elem);
  islands.are_dropped = islands.components > 0 && islands.part <= most;
  if (islands.are_dropped)
    drop_unsupported(exec, image, support, Connectivity::node);
  return islands;
}

} // namespace ossatura
