// SPDX-License-Identifier: Apache-2.0
// These kernels apply trilinear prolongation from a level of cells to the next finer level, and its
// transpose. Fine nodes gather, and coarse nodes sum as in sums.hpp: both are bitwise reproducible.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/cells/sums.hpp>

#include <type_traits>

namespace ossatura {

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

/// The fine nodes of a cell where the finer level is a lattice.
template<class Exec>
struct FineVoxelNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> place;
  Array<std::uint32_t, Exec> fine_mask;

  /// visit(fine node, position), in a fixed order.
  template<class Visit>
  KOKKOS_FUNCTION void for_each(int cell, const Visit& visit) const {
    const Site s = unpack_site(place(cell));
    if constexpr (BackendTraits<Exec>::is_device) {
      for (std::uint32_t rest = fine_mask(cell); rest != 0; rest &= rest - 1) {
        const int p = lowest_one(rest);
        visit(std::int64_t(grid.find(2 * s.x + p % 3, 2 * s.y + p / 3 % 3, 2 * s.z + p / 9)), p);
      }
    } else {
      const std::uint32_t mask = fine_mask(cell);
      for (int row = 0; row < 9; ++row)
        if (mask >> 3 * row & 7)
          visit_row(2 * s.x, 2 * s.y + row % 3, 2 * s.z + row / 3, mask >> 3 * row & 7, 3 * row,
                    visit);
    }
  }

private:
  KOKKOS_FUNCTION NodeBlock block(int x, int y, int z) const {
    return grid.block(x / 4 +
                      grid.num_blocks[0] * (y / 4 + std::int64_t(grid.num_blocks[1]) * (z / 4)));
  }
  static KOKKOS_FUNCTION std::uint64_t bit_of(int x, int y, int z) {
    return std::uint64_t(1) << local_index(x, y, z);
  }

  /// The nodes (x + i, y, z) for the bits i of `row`, x being even: cores look blocks up and count
  /// their nodes once a row, or twice.
  template<class Visit>
  KOKKOS_FUNCTION void visit_row(int x, int y, int z, std::uint32_t row, int position,
                                 const Visit& visit) const {
    NodeBlock b = block(x, y, z);
    const std::uint64_t bit = bit_of(x, y, z);
    std::int64_t node = b.begin + count_ones(b.mask & (bit - 1));
    if (row & 1)
      visit(node, position);
    node += (b.mask & bit) != 0;
    if (row & 2)
      visit(node, position + 1);
    if (!(row & 4))
      return;
    if (x % 4 == 0) {
      node += (b.mask & bit << 1) != 0;
    } else {
      b = block(x + 2, y, z);
      node = b.begin + count_ones(b.mask & (bit_of(x + 2, y, z) - 1));
    }
    visit(node, position + 2);
  }
};

/// The same where the finer level is one of cells.
template<class Exec>
struct FineCellNodes {
  Array<int, Exec> fine_begin, fine_node;
  Array<std::uint8_t, Exec> position;

  template<class Visit>
  KOKKOS_FUNCTION void for_each(int cell, const Visit& visit) const {
    for (int i = fine_begin(cell); i < fine_begin(cell + 1); ++i) {
      const std::int64_t f = fine_node(i);
      visit(f, int(position(f)));
    }
  }
};

template<class Exec>
FineVoxelNodes<Exec> fine_nodes(const VoxelGrid<Exec>& fine, const CellTransfer<Exec>& transfer,
                                const CellGrid<Exec>& cells) {
  return {fine, cells.place, transfer.fine_mask};
}
template<class Exec>
FineCellNodes<Exec> fine_nodes(const CellGrid<Exec>&, const CellTransfer<Exec>& transfer,
                               const CellGrid<Exec>&) {
  return {transfer.fine_begin, transfer.fine_node, transfer.position};
}

/// weight[p][v]: that of corner v of a cell at position p of CellTransfer.
struct CornerWeights {
  float weight[27][8] = {};

  constexpr CornerWeights() {
    for (int p = 0; p < 27; ++p)
      for (int v = 0; v < 8; ++v) {
        int halves = 1; // the weight times 8
        for (int d = 0, rest = p; d < 3; ++d, rest /= 3)
          halves *= v >> d & 1 ? rest % 3 : 2 - rest % 3;
        weight[p][v] = float(halves) / 8;
      }
  }
};

/// The contribution of the fine nodes of a cell to its corners.
template<class Exec, class Scalar, class FineNodes>
struct RestrictToCorners {
  FineNodes fine_nodes;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(int cell, const int (&)[8], Scalar (&u)[24]) const {
    Scalar sum[3][8] = {};
    const Array<Scalar, Exec>& x = fine;
    fine_nodes.for_each(cell, [&](std::int64_t f, int position) {
      if constexpr (!BackendTraits<Exec>::is_device) {
        static constexpr CornerWeights table;
        const float* const weight = table.weight[position];
        for (int c = 0; c < 3; ++c) {
          const Scalar value = x(3 * f + c);
          for (int v = 0; v < 8; ++v)
            sum[c][v] += Scalar(weight[v]) * value;
        }
        return;
      }
      const int along[3] = {position % 3, position / 3 % 3, position / 9};
      const Scalar high[3] = {Scalar(0.5) * Scalar(along[0]), Scalar(0.5) * Scalar(along[1]),
                              Scalar(0.5) * Scalar(along[2])};
      Scalar weight[8] = {1 - high[0], high[0]};
      for (int v = 0; v < 2; ++v) {
        weight[2 + v] = high[1] * weight[v];
        weight[v] -= weight[2 + v];
      }
      for (int v = 0; v < 4; ++v) {
        weight[4 + v] = high[2] * weight[v];
        weight[v] -= weight[4 + v];
      }
      for (int c = 0; c < 3; ++c) {
        const Scalar value = x(3 * f + c);
        for (int v = 0; v < 8; ++v)
          sum[c][v] += weight[v] * value;
      }
    });
    for (int v = 0; v < 8; ++v)
      for (int c = 0; c < 3; ++c)
        u[3 * v + c] = sum[c][v];
  }

  /// Adds what they give to corner v alone.
  KOKKOS_FUNCTION void add_corner(int cell, const int*, int v, Scalar (&sum)[3]) const {
    const Array<Scalar, Exec>& x = fine;
    fine_nodes.for_each(cell, [&](std::int64_t f, int position) {
      const int along[3] = {position % 3, position / 3 % 3, position / 9};
      int halves = 1; // the weight times 8
      for (int d = 0; d < 3; ++d)
        halves *= v >> d & 1 ? along[d] : 2 - along[d];
      if (halves > 0)
        for (int c = 0; c < 3; ++c)
          sum[c] += Scalar(0.125) * Scalar(halves) * x(3 * f + c);
    });
  }
};

template<class Exec, class Scalar>
struct StoreFree {
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t node, const Scalar (&sum)[3]) const {
    const int mask = held(node);
    for (int c = 0; c < 3; ++c)
      y(3 * node + c) = mask >> c & 1 ? Scalar(0) : sum[c];
  }
};

template<class Exec, class FineNodes>
struct CoarsenHeld {
  FineNodes fine_nodes;
  CellGrid<Exec> cells;
  Array<std::uint8_t, Exec> fine_mask, mask;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    int held = 0;
    const Array<std::uint8_t, Exec>& fine = fine_mask;
    for (int i = cells.node_begin(node); i < cells.node_begin(node + 1); ++i) {
      const int v = cells.node_corner(i) % 8;
      fine_nodes.for_each(cells.node_corner(i) / 8, [&](std::int64_t f, int position) {
        bool weighted = true;
        for (int d = 0; d < 3; ++d, position /= 3)
          weighted = weighted && position % 3 != (v >> d & 1 ? 0 : 2);
        held |= weighted ? fine(f) : 0;
      });
    }
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
      "ossatura::prolong_add", range(exec, fine_held.extent(0)),
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
  sum_over_cells<Scalar>(exec, "ossatura::restrict_residual", cells,
                         detail::RestrictToCorners<Exec, Scalar, Nodes>{nodes, fine},
                         detail::StoreFree<Exec, Scalar>{coarse_held, coarse});
}

/// A coarse component is held if any held fine component interpolates from it. Fences.
template<class Exec, class FineGrid>
Constraints<Exec> coarsen_held(const Exec& exec, const CellTransfer<Exec>& transfer,
                               const FineGrid& fine_grid, const CellGrid<Exec>& cells,
                               const Array<std::uint8_t, Exec>& fine_held) {
  const auto nodes = detail::fine_nodes(fine_grid, transfer, cells);
  using Nodes = std::remove_const_t<decltype(nodes)>;
  const Array<std::uint8_t, Exec> mask =
      make_uninitialized<std::uint8_t>(exec, cells.num_nodes, "ossatura::held_mask");
  Kokkos::parallel_for("ossatura::coarsen_held", range(exec, cells.num_nodes),
                       detail::CoarsenHeld<Exec, Nodes>{nodes, cells, fine_held, mask});
  return make_constraints(exec, mask);
}

} // namespace ossatura
