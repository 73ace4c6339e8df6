// SPDX-License-Identifier: Apache-2.0
// The cost of a voxel kernel is the least that the kernel has to read, write and compute.
//
// Bytes: each entry of a vector, of the moduli and of the stored indices moves once, however often
// a kernel asks for it. Of the grid that is 16 bytes per block of 4^3 lattice sites and the way
// back from nodes to blocks; of the offset operator's tables, per element the lowest node and seven
// distances of its class; of the hash, 8 bytes of place per element and the tables. Flops: those of
// the arithmetic of one element; forming its entries from Lame's constants is not counted.
#pragma once

#include "bench/harness/measure.hpp"
#include <ossatura/kernels/bone/operator_list.hpp>
#include <ossatura/solvers/bone/solver.hpp>

namespace ossatura::bench {

template<class Exec>
double bytes_of(const VoxelGrid<Exec>& grid) {
  return double(grid.block.extent(0)) * sizeof(detail::NodeBlock) +
         double(grid.solid_block.extent(0)) * sizeof(std::uint32_t) +
         double(grid.block_of_64th.extent(0)) * sizeof(int);
}

/// With one Poisson ratio both constants come from one array.
template<class Exec>
double bytes_of(const LameField<Exec>& lame) {
  const int arrays = lame.lambda_value.data() == lame.mu_value.data() ? 1 : 2;
  return double(arrays) * double(lame.mu_value.extent(0)) * sizeof(float);
}

/// Of the element tables alone.
inline double bytes_of(const OffsetClasses& classes) {
  return double(classes.num_short) * (4 + 7 * 1) + double(classes.num_medium) * (4 + 7 * 2) +
         double(classes.num_long) * (4 + 7 * 4);
}

/// x read, y written, moduli, element tables (the blocks of them on cores are under a hundredth).
/// An element product is 72 additions, 44 operations on the modes and 72 additions; 24 go to y.
template<class Scalar, class Exec>
Cost apply_cost(const VoxelProblem<Exec>& problem, const OffsetOperator<Exec>& matrix) {
  const double dofs = double(problem.grid.num_dofs());
  return {dofs, 2 * dofs * sizeof(Scalar) + bytes_of(problem.lame) + bytes_of(matrix.classes()),
          double(problem.grid.num_elem) * (72 + 44 + 72 + 24)};
}

/// The same with the hash tables.
template<class Scalar, class Exec>
Cost apply_cost(const VoxelProblem<Exec>& problem, const HashOperator<Exec>& matrix) {
  const double dofs = double(problem.grid.num_dofs());
  return {dofs, 2 * dofs * sizeof(Scalar) + bytes_of(problem.lame) + double(matrix.bytes()),
          double(problem.grid.num_elem) * (72 + 44 + 72 + 24)};
}

/// x read, y written, moduli, grid. 24 x 24 multiply-adds in an element.
template<class Scalar, class Exec>
Cost apply_cost(const VoxelProblem<Exec>& problem, const GatherOperator<Exec>&) {
  const double dofs = double(problem.grid.num_dofs());
  return {dofs, 2 * dofs * sizeof(Scalar) + bytes_of(problem.lame) + bytes_of(problem.grid),
          double(problem.grid.num_elem) * (2 * 24 * 24)};
}

/// x read, y written, moduli, grid. The transforms in the plane take 48 additions of an element's
/// 144, and every element is taken once here: the seams of the tiles are overhead.
template<class Scalar, class Exec>
Cost apply_cost(const VoxelProblem<Exec>& problem, const BrickOperator<Exec>&) {
  const double dofs = double(problem.grid.num_dofs());
  return {dofs, 2 * dofs * sizeof(Scalar) + bytes_of(problem.lame) + bytes_of(problem.grid),
          double(problem.grid.num_elem) * (72 + 44 + 72 + 24)};
}

/// A product with an update (kernels/algebra/fused_updates.hpp) that reads `vectors` more vectors,
/// the held components and `per_node` more numbers a node, and takes `flops` per degree of freedom.
/// Operators that do not fuse it write the product and read it again.
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
