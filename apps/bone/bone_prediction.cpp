// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/bone_prediction.hpp"

#include <algorithm>

namespace femura {

namespace {

/// What an operator stores beside the grid, for each node.
double operator_bytes(VoxelOperatorKind kind, double elem_per_node) {
  switch (kind) {
  case VoxelOperatorKind::offset:
    return 14 * elem_per_node;
  case VoxelOperatorKind::hash:
    return 8 * elem_per_node + 4;
  case VoxelOperatorKind::gather:
  case VoxelOperatorKind::brick:
    break;
  }
  return 0;
}

} // namespace

// A node of the finest level takes `index` bytes for its place, held components, moduli and
// elements, its parent cell and position, a diagonal, and the vectors of the iteration and the
// cycle. Coarse levels have blocks, three vectors and explicit corners; how many depends on the
// surface of the bone, of which nodes per voxel are a measure (the factors are those of bone and of
// noise like it). The dense image is there until the grid is made.
BonePrediction predict_bone(const BoneModelInfo& info, const VoxelSolverOptions& solver,
                            bool is_device) {
  const double nodes = double(info.num_nodes), elem = double(info.num_elem);
  const double voxels = double(info.shape[0]) * info.shape[1] * info.shape[2];
  const VoxelPrecision precision = solver.precision;
  const double cycle = precision == VoxelPrecision::fp64 ? 8 : 4;
  const double vectors = precision == VoxelPrecision::fp64    ? 40
                         : precision == VoxelPrecision::mixed ? 36
                                                              : 24;
  const bool uniform = info.poisson_min == info.poisson_max;
  const VoxelOperatorKind kind = solver.matrix;
  const bool fused = kind == VoxelOperatorKind::gather || kind == VoxelOperatorKind::brick;
  const double scratch = fused ? 0 : cycle + (precision == VoxelPrecision::lean ? 8 : 0);
  const double index = 1 + (uniform ? 4 : 8) + 5 + operator_bytes(kind, elem / nodes);
  const double fine = index + cycle + 3 * (vectors + scratch);
  const double coarse = 0.18 * nodes * nodes / elem * (15 * cycle + 15) +
                        0.155 * nodes * (8 * 4 + 5 + 8 + (uniform ? 4 : 8));
  const double grid = voxels / 4;
  BonePrediction prediction;
  prediction.model = info;
  prediction.device_bytes = std::max(nodes * fine + coarse, 4 * voxels + 32 * nodes) + grid;
  prediction.host_growth = is_device ? 0 : prediction.device_bytes;
  return prediction;
}

} // namespace femura
