// SPDX-License-Identifier: Apache-2.0
// The cell operator computes the stiffness product on cells, bitwise reproducible on a backend
// (sums.hpp).
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>
#include <ossatura/kernels/bone/batches/batch_products.hpp>
#include <ossatura/kernels/bone/cells/sums.hpp>
#include <ossatura/kernels/bone/element.hpp>

#include <utility>

namespace ossatura {

namespace detail {
/// K u of a cell.
template<class Exec, class Scalar>
struct CellForces {
  Array<float, Exec> lambda, mu;
  double lambda_scale, mu_scale; ///< times the edge
  Array<Scalar, Exec> x;
  AddCells<Scalar>* add_batches; ///< on cores

  KOKKOS_FUNCTION void operator()(int cell, const int (&node)[8], Scalar (&u)[24]) const {
    for (int v = 0; v < 8; ++v)
      for (int c = 0; c < 3; ++c)
        u[3 * v + c] = x(3 * std::int64_t(node[v]) + c);
    apply_voxel_stiffness(Scalar(lambda_scale * lambda(cell)), Scalar(mu_scale * mu(cell)), u);
  }

  /// The forces of cells on the nodes of a patch: AddCells (batches/batch_products.hpp). Cores
  /// only.
  KOKKOS_FUNCTION void add_cells(const int* corner, const int* cell, int count, int first,
                                 int num_owned, Scalar* sum) const {
    const BatchInput<Scalar> input{lambda.data(),    mu.data(), Scalar(lambda_scale),
                                   Scalar(mu_scale), x.data(),  std::int64_t(x.extent(0)) / 3};
    add_batches(input, corner, cell, count, first, num_owned, sum);
  }

  /// Adds the force on corner v alone. Seen from there the cell is mirrored: corner b is at b ^ v,
  /// components along mirrored axes change sign.
  KOKKOS_FUNCTION void add_corner(int cell, const int* node, int v, Scalar (&sum)[3]) const {
    const VoxelStiffnessEntries<Scalar> k(Scalar(lambda_scale * lambda(cell)),
                                          Scalar(mu_scale * mu(cell)));
    Scalar sign[3], force[3] = {0, 0, 0};
    for (int c = 0; c < 3; ++c)
      sign[c] = v >> c & 1 ? Scalar(-1) : Scalar(1);
    add_blocks(k, node, v, sign, force, std::make_integer_sequence<int, 8>());
    for (int c = 0; c < 3; ++c)
      sum[c] += sign[c] * force[c];
  }

private:
  template<int... B>
  KOKKOS_FUNCTION void add_blocks(const VoxelStiffnessEntries<Scalar>& k, const int* node, int v,
                                  const Scalar (&sign)[3], Scalar (&force)[3],
                                  std::integer_sequence<int, B...>) const {
    (add_block<B>(k, node[B ^ v], sign, force), ...);
  }
  template<int B>
  KOKKOS_FUNCTION void add_block(const VoxelStiffnessEntries<Scalar>& k, int node,
                                 const Scalar (&sign)[3], Scalar (&force)[3]) const {
    Scalar u[3];
    for (int c = 0; c < 3; ++c)
      u[c] = sign[c] * x(3 * std::int64_t(node) + c);
    k.template add_block_product<0, B>(u, force);
  }
};
/// Takes a node's sum of forces to an update.
template<class Exec, class Scalar, class Update>
struct FinishCellNode {
  Array<Scalar, Exec> x;
  Update update;

  KOKKOS_FUNCTION void operator()(int node, const Scalar (&sum)[3]) const {
    finish_node(update, node, x, sum);
  }
};
} // namespace detail

/// y = A x with A the stiffness matrix of the cells, without constraints.
template<class Exec>
class CellOperator {
public:
  static constexpr const char* name = "cells";
  static constexpr bool fuses_updates = true;

  /// `edge` is the edge of the cells in mm.
  CellOperator(const Exec&, const CellGrid<Exec>& cells, double edge)
      : cells_(cells)
      , edge_(edge) {}

  /// y = A x; x and y [3 num_nodes] must not alias. Does not fence.
  template<class Scalar>
  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    apply_then(exec, x, StoreProduct<Exec, Scalar>{y});
  }

  /// Finishes every node with `update`: see kernels/algebra/fused_updates/fused.hpp. Does not
  /// fence.
  template<class Scalar, class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    const auto add_batches =
        BackendTraits<Exec>::is_device ? nullptr : detail::batch_products().of(Scalar()).add_cells;
    sum_over_cells<Scalar>(exec, "ossatura::CellOperator::apply", cells_,
                           detail::CellForces<Exec, Scalar>{
                               cells_.lambda_value, cells_.mu_value, edge_ * cells_.lambda_scale,
                               edge_ * cells_.mu_scale, x, add_batches},
                           detail::FinishCellNode<Exec, Scalar, Update>{x, update});
  }

private:
  CellGrid<Exec> cells_;
  double edge_;
};

} // namespace ossatura
