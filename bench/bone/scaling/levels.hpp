// SPDX-License-Identifier: Apache-2.0
// The levels of a voxel model that ranks would cut, with its image, for counting.
#pragma once

#include "bench/bone/model.hpp"
#include "bench/bone/scaling/cut_counts.hpp"
#include <ossatura/kernels/bone/cells/merge.hpp>
#include <ossatura/solvers/bone/multigrid/hierarchy.hpp>

#include <vector>

namespace ossatura::bench {

template<class Exec>
struct ScalingLevels {
  VoxelArray<Exec> image;
  VoxelHierarchy<Exec> hierarchy;
};

/// Of perlin:n, kept until another one is asked for. Fences.
template<class Exec>
const ScalingLevels<Exec>& scaling_levels(const Exec& exec, int n);

/// The side of superblocks that devices choose, 2^bits (cut_among in shared_planes.hpp). Fences.
template<class Exec>
int device_cut_bits(const Exec& exec, const VoxelGrid<Exec>& grid);

/// Counts of the levels that are cut, voxels first: those finer than superblocks. Fences.
template<class Exec>
std::vector<CutCounts> count_cut(const Exec& exec, const ScalingLevels<Exec>& levels, int bits,
                                 int num_ranks);

} // namespace ossatura::bench
