// SPDX-License-Identifier: BSD-3-Clause
// Stiffness product on cells: each node gathers the rows of its cells in a fixed order. No atomics:
// bitwise reproducible for any number of threads.
#pragma once

#include "kernels/cell_grid.hpp"
#include "kernels/node_update.hpp"
#include "kernels/voxel_element.hpp"

#include <type_traits>
#include <utility>

namespace femura {

namespace detail {

template<class Exec, class Scalar, class Update>
struct GatherCellRows {
  CellGrid<Exec> cells;
  double edge;
  Array<Scalar, Exec> x;
  Update update;

  /// Adds the rows of vertex q of a cell. Seen in a mirror that takes vertex q to 0, vertex v is
  /// v ^ q and the components along the bits of q change sign: so one row of blocks serves all q.
  template<int... V>
  KOKKOS_FUNCTION void add_cell(int entry, Scalar (&sum)[3],
                                std::integer_sequence<int, V...>) const {
    const int cell = entry / 8, q = entry % 8;
    const Scalar sign[3] = {Scalar(q & 1 ? -1 : 1), Scalar(q & 2 ? -1 : 1), Scalar(q & 4 ? -1 : 1)};
    const VoxelStiffnessEntries<Scalar> k(
        Scalar(edge * cells.lambda_scale * cells.lambda_value(cell)),
        Scalar(edge * cells.mu_scale * cells.mu_value(cell)));
    Scalar rows[3] = {0, 0, 0};
    const auto add_vertex = [&](auto vertex) {
      constexpr int v = decltype(vertex)::value;
      const std::int64_t first = 3 * std::int64_t(cells.corner(8 * std::int64_t(cell) + (v ^ q)));
      const Scalar xv[3] = {sign[0] * x(first), sign[1] * x(first + 1), sign[2] * x(first + 2)};
      k.template add_block_product<0, v>(xv, rows);
    };
    (add_vertex(std::integral_constant<int, V>()), ...);
    for (int c = 0; c < 3; ++c)
      sum[c] += sign[c] * rows[c];
  }

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    Scalar sum[3] = {0, 0, 0};
    for (int i = cells.node_begin(node); i < cells.node_begin(node + 1); ++i)
      add_cell(cells.node_corner(i), sum, std::make_integer_sequence<int, 8>());
    update(node, sum);
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

  /// Calls update(node, A x at the node) for every node: see node_update.hpp. Does not fence.
  template<class Scalar, class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    Kokkos::parallel_for("femura::CellOperator::apply", range(exec, cells_.num_nodes),
                         detail::GatherCellRows<Exec, Scalar, Update>{cells_, edge_, x, update});
  }

private:
  CellGrid<Exec> cells_;
  double edge_;
};

} // namespace femura
