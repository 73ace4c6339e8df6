// SPDX-License-Identifier: BSD-3-Clause
// Trilinear prolongation from a level of cells to the next finer level, and its transpose. Both
// gather, so both are bitwise reproducible.
#pragma once

#include "kernels/cell_grid.hpp"
#include "kernels/constraints.hpp"

#include <type_traits>

namespace femura {

namespace detail {

template<class Exec, class Scalar>
struct ProlongFromCells {
  CellTransfer<Exec> transfer;
  Array<int, Exec> corner;
  Array<Scalar, Exec> coarse;
  Array<std::uint8_t, Exec> fine_held;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const std::int64_t first = 8 * std::int64_t(transfer.parent(node));
    const int position = transfer.position(node);
    const int along[3] = {position % 3, position / 3 % 3, position / 9};
    // Vertices of weight zero are not read. Along an axis, `low` is the first with a weight.
    const int low[3] = {along[0] / 2, along[1] / 2, along[2] / 2};
    const int high[3] = {(along[0] + 1) / 2, (along[1] + 1) / 2, (along[2] + 1) / 2};
    Scalar sum[3] = {0, 0, 0};
    for (int z = low[2]; z <= high[2]; ++z)
      for (int y = low[1]; y <= high[1]; ++y)
        for (int x = low[0]; x <= high[0]; ++x) {
          const std::int64_t c = 3 * std::int64_t(corner(first + x + 2 * y + 4 * z));
          for (int d = 0; d < 3; ++d)
            sum[d] += coarse(c + d);
        }
    const Scalar weight =
        Scalar(1) / Scalar(1 << ((along[0] & 1) + (along[1] & 1) + (along[2] & 1)));
    const int held = fine_held(node);
    for (int d = 0; d < 3; ++d)
      if (!(held >> d & 1))
        fine(3 * node + d) += weight * sum[d];
  }
};

/// The rows of the transpose where the finer level is a lattice: a coarse node gathers from the 27
/// sites around it those nodes that interpolate from it and not from another node at its site.
template<class Exec>
struct FineVoxelNodes {
  VoxelGrid<Exec> grid;
  CellTransfer<Exec> transfer;
  CellGrid<Exec> cells;

  /// visit(fine node, weight as 1 / 2^n: n), in a fixed order.
  template<class Visit>
  KOKKOS_FUNCTION void for_each(std::int64_t node, const Visit& visit) const {
    const int any = cells.node_corner(cells.node_begin(node));
    const Site place = unpack_site(cells.place(any / 8));
    const int x = 2 * (place.x + (any & 1)), y = 2 * (place.y + (any >> 1 & 1)),
              z = 2 * (place.z + (any >> 2 & 1));
    for (int k = 0; k < 27; ++k) {
      const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      const int f = grid.find(x + step[0], y + step[1], z + step[2]);
      if (f < 0)
        continue;
      // The vertex of f's cell at this site: f lies at `step` from it.
      int position = transfer.position(f), v = 0, halves = 0;
      for (int d = 0; d < 3; ++d, position /= 3) {
        v |= (position % 3 - step[d]) / 2 << d;
        halves += step[d] & 1;
      }
      if (cells.corner(8 * std::int64_t(transfer.parent(f)) + v) == node)
        visit(f, halves);
    }
  }
};

/// The same where the finer level is one of cells: by the list of fine nodes of each cell.
template<class Exec>
struct FineCellNodes {
  CellTransfer<Exec> transfer;
  CellGrid<Exec> cells;

  template<class Visit>
  KOKKOS_FUNCTION void for_each(std::int64_t node, const Visit& visit) const {
    for (int i = cells.node_begin(node); i < cells.node_begin(node + 1); ++i) {
      const int cell = cells.node_corner(i) / 8, v = cells.node_corner(i) % 8;
      for (int j = transfer.fine_begin(cell); j < transfer.fine_begin(cell + 1); ++j) {
        const int f = transfer.fine_node(j);
        int position = transfer.position(f), halves = 0;
        bool weighted = true;
        for (int d = 0; d < 3; ++d, position /= 3) {
          const int along = position % 3;
          weighted = weighted && along != (v >> d & 1 ? 0 : 2);
          halves += along & 1;
        }
        if (weighted)
          visit(f, halves);
      }
    }
  }
};

template<class Exec>
FineVoxelNodes<Exec> fine_nodes(const VoxelGrid<Exec>& fine, const CellTransfer<Exec>& transfer,
                                const CellGrid<Exec>& cells) {
  return {fine, transfer, cells};
}
template<class Exec>
FineCellNodes<Exec> fine_nodes(const CellGrid<Exec>&, const CellTransfer<Exec>& transfer,
                               const CellGrid<Exec>& cells) {
  return {transfer, cells};
}

template<class Exec, class Scalar, class FineNodes>
struct RestrictToCells {
  FineNodes fine_nodes;
  Array<Scalar, Exec> fine;
  Array<std::uint8_t, Exec> coarse_held;
  Array<Scalar, Exec> coarse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    Scalar sum[3] = {0, 0, 0};
    const Array<Scalar, Exec>& x = fine;
    fine_nodes.for_each(node, [&](std::int64_t f, int halves) {
      const Scalar weight = Scalar(1) / Scalar(1 << halves);
      for (int d = 0; d < 3; ++d)
        sum[d] += weight * x(3 * f + d);
    });
    const int held = coarse_held(node);
    for (int d = 0; d < 3; ++d)
      coarse(3 * node + d) = held >> d & 1 ? Scalar(0) : sum[d];
  }
};

template<class Exec, class FineNodes>
struct CoarsenHeld {
  FineNodes fine_nodes;
  Array<std::uint8_t, Exec> fine_mask, mask;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    int held = 0;
    const Array<std::uint8_t, Exec>& fine = fine_mask;
    fine_nodes.for_each(node, [&](std::int64_t f, int) { held |= fine(f); });
    mask(node) = std::uint8_t(held);
  }
};

} // namespace detail

/// fine += P coarse at the fine components that `fine_held` (Constraints::mask) leaves free.
/// `coarse` is zero where held. Does not fence.
template<class Exec, class Scalar>
void prolong_add(const Exec& exec, const CellTransfer<Exec>& transfer, const CellGrid<Exec>& cells,
                 const Array<Scalar, Exec>& coarse, const Array<std::uint8_t, Exec>& fine_held,
                 const Array<Scalar, Exec>& fine) {
  Kokkos::parallel_for(
      "femura::prolong_add", range(exec, fine_held.extent(0)),
      detail::ProlongFromCells<Exec, Scalar>{transfer, cells.corner, coarse, fine_held, fine});
}

/// coarse = P^T fine, zero at held coarse components. `fine_grid` is the VoxelGrid or CellGrid that
/// `cells` and `transfer` were made from; `fine` is zero where held. Does not fence.
template<class Exec, class FineGrid, class Scalar>
void restrict_residual(const Exec& exec, const CellTransfer<Exec>& transfer,
                       const FineGrid& fine_grid, const CellGrid<Exec>& cells,
                       const Array<Scalar, Exec>& fine,
                       const Array<std::uint8_t, Exec>& coarse_held,
                       const Array<Scalar, Exec>& coarse) {
  const auto nodes = detail::fine_nodes(fine_grid, transfer, cells);
  using Nodes = std::remove_const_t<decltype(nodes)>;
  Kokkos::parallel_for(
      "femura::restrict_residual", range(exec, cells.num_nodes),
      detail::RestrictToCells<Exec, Scalar, Nodes>{nodes, fine, coarse_held, coarse});
}

/// A coarse component is held if any held fine component interpolates from it. Fences.
template<class Exec, class FineGrid>
Constraints<Exec> coarsen_held(const Exec& exec, const CellTransfer<Exec>& transfer,
                               const FineGrid& fine_grid, const CellGrid<Exec>& cells,
                               const Array<std::uint8_t, Exec>& fine_held) {
  const auto nodes = detail::fine_nodes(fine_grid, transfer, cells);
  using Nodes = std::remove_const_t<decltype(nodes)>;
  const Array<std::uint8_t, Exec> mask =
      make_uninitialized<std::uint8_t>(exec, cells.num_nodes, "femura::held_mask");
  Kokkos::parallel_for("femura::coarsen_held", range(exec, cells.num_nodes),
                       detail::CoarsenHeld<Exec, Nodes>{nodes, fine_held, mask});
  return make_constraints(exec, mask);
}

} // namespace femura
