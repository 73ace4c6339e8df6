// SPDX-License-Identifier: Apache-2.0
// The cost of forming a stiffness matrix of a hierarchical hexahedron is the least that has to be
// moved and computed.
#pragma once

#include <ossatura/kernels/pfem/hexa_batch.hpp>
#include <ossatura/kernels/pfem/stiffness/method.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace ossatura::bench {

/// Of one element. A multiply-add is two flops; of symmetric matrices half is computed.
struct StiffnessCost {
  double written = 0; ///< bytes of the matrix
  double read = 0;    ///< bytes of its vertices and of D
  double flops = 0;   ///< of the method
  double least = 0;   ///< flops of the method that takes fewest for such elements
  double plain = 0;   ///< flops of sums along axes, one after the other, without more ado
  double traffic = 0; ///< bytes of matrices read and written on the way, besides `written`
};

/// Modes of the space in the plane: pairs of first indices that there are.
inline double num_plane_modes(HexaSpace space, int order) {
  std::set<std::pair<int, int>> pairs;
  for (const HierarchicMode& mode : hierarchic_modes(space, order))
    pairs.emplace(mode.index[0], mode.index[1]);
  return double(pairs.size());
}

/// With N modes, M of them in the plane, and n points along an axis; a block is 3 x 3:
///   ai, aii        12 n^3 an entry: B^T (D B) of vectors of six
///   ai_inner       54 n^3 a block: 18 numbers D B_b to three derivatives
///   aii_inner      198 n^3 a block: gradients and D B_b anew for each
///   blocked        54 n^3 a block; 18 n^3 + 162 where D does not vary: gradients, then D
///   sum_factorised 63 n^3 (p + 1)(p + 2) + 40.5 n^2 M^2 + 18 n N^2: along xi for pairs i >= j,
///                  along eta and zeta with even and odd functions, which halves these sums
///   tensor_cores   81 n^3 (p + 1)^2 + 81 n^2 M^2 + 36 n N^2, padding not counted; plain
///   affine         162 a block: nine reference numbers times nine factors
/// Geometry and what is done once for a mode and point are not counted.
inline StiffnessCost stiffness_cost(StiffnessMethod method, HexaSpace space, int order, int points,
                                    MatrixStorage storage, bool elasticity_at_points) {
  const double modes = num_hierarchic_modes(space, order), n = points, all = n * n * n,
               plane = num_plane_modes(space, order), blocks = modes * (modes + 1) / 2,
               entries = 3 * modes * (3 * modes + 1) / 2;
  StiffnessCost cost;
  cost.written = 8.0 * double(matrix_entries(storage, std::int64_t(3 * modes)));
  cost.read = 8.0 * (24 + elasticity_entries * (elasticity_at_points ? all : 1));
  const double blocked = (elasticity_at_points ? 54 * all : 18 * all + 162) * blocks,
               sum_factorised = 63 * all * (order + 1) * (order + 2) +
                                40.5 * n * n * plane * plane + 18 * n * modes * modes;
  cost.least = std::min(blocked, sum_factorised);
  cost.plain =
      81 * all * (order + 1) * (order + 1) + 81 * n * n * plane * plane + 36 * n * modes * modes;
  switch (method) {
  case StiffnessMethod::ai:
  case StiffnessMethod::aii:
    cost.traffic = 2 * all * 8 * entries;
    cost.flops = 12 * all * entries;
    break;
  case StiffnessMethod::ai_inner:
    cost.flops = 54 * all * blocks;
    break;
  case StiffnessMethod::aii_inner:
    cost.flops = 198 * all * blocks;
    break;
  case StiffnessMethod::blocked:
    cost.flops = blocked;
    break;
  case StiffnessMethod::affine:
    cost.flops = 162 * blocks;
    cost.least = 0;
    break;
  case StiffnessMethod::congruent: // copies
    cost.least = 0;
    break;
  case StiffnessMethod::sum_factorised:
    cost.flops = sum_factorised;
    break;
  case StiffnessMethod::tensor_cores:
    cost.flops = cost.plain;
    break;
  case StiffnessMethod::automatic: // no method of its own
    break;
  }
  return cost;
}

} // namespace ossatura::bench
