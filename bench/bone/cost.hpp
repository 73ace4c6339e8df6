// SPDX-License-Identifier: Apache-2.0
// The cost of a voxel kernel is the least that the kernel has to read, write and compute.
//
// Bytes: each entry of a vector, of the moduli and of the stored indices moves once, however often
// a kernel asks for it. Flops: those of the arithmetic of one element. Operators say both.
#pragma once

#include "bench/harness/measure.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace ossatura::bench {

/// With one Poisson ratio both constants come from one array.
template<class Exec>
double bytes_of(const LameField<Exec>& lame) {
  const int arrays = lame.lambda_value.data() == lame.mu_value.data() ? 1 : 2;
  return double(arrays) * double(lame.mu_value.extent(0)) * sizeof(float);
}

/// x read, y written; the blocks that some operators have on cores are under a hundredth.
template<class Scalar, class Exec, class Operator>
Cost apply_cost(const VoxelProblem<Exec>& problem, const Operator& matrix) {
  const double dofs = double(problem.grid.num_dofs());
  return {dofs, 2 * dofs * sizeof(Scalar) + bytes_of(problem.lame) + matrix.index_bytes(),
          double(problem.grid.num_elem) * Operator::flops_per_voxel};
}

/// A product with an update (kernels/algebra/fused_updates/fused.hpp) that reads `vectors` more
/// vectors, the held components and `per_node` more numbers a node, and takes `flops` per degree of
/// freedom. Operators that do not fuse it write the product and read it again.
template<class Scalar, class Exec, class Operator>
Cost update_cost(const VoxelProblem<Exec>& problem, const Operator& matrix, int vectors,
                 int per_node, int flops) {
  Cost cost = apply_cost<Scalar>(problem, matrix);
  const int passes = Operator::fuses_updates ? 0 : 2;
  cost.bytes += cost.dofs * sizeof(Scalar) * (vectors + passes) +
                cost.dofs / 3 * (1 + per_node * sizeof(Scalar));
  cost.flops += cost.dofs * flops;
  return cost;
}

} // namespace ossatura::bench
