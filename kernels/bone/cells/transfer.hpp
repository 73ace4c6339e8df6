// SPDX-License-Identifier: Apache-2.0
// These kernels apply trilinear prolongation from a level of cells to the next finer level, and its
// transpose. A fine node takes its value from one cell, and coarse nodes sum as in sums.hpp: both
// are bitwise reproducible.
#pragma once

#include <ossatura/core/parallel/lanes.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/cells/sums.hpp>

#include <type_traits>

namespace ossatura {

namespace detail {

/// Each fine node gathers from the corners of its cell, on devices. All that it needs is asked for
/// before the first is used.
template<class Exec, class Scalar>
struct ProlongToNode {
  CellTransfer<Exec> transfer;
  Array<int, Exec> corner;
  Array<Scalar, Exec> coarse;
  Array<std::uint8_t, Exec> fine_held;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    struct alignas(16) Corners {
      int node[8];
    };
    const int parent = transfer.parent(node), position = transfer.position(node),
              held = fine_held(node);
    const Scalar value[3] = {fine(3 * node), fine(3 * node + 1), fine(3 * node + 2)};
    const Corners corners = reinterpret_cast<const Corners*>(corner.data())[parent];
    const int along[3] = {position % 3, position / 3 % 3, position / 9};
    Scalar sum[3] = {0, 0, 0};
    for (int v = 0; v < 8; ++v) {
      // Along an axis, 0 is the low vertex, 2 the high one, and 1 is between them. Vertices of
      // weight zero are not read.
      const bool weighted =
          along[0] != (v & 1 ? 0 : 2) && along[1] != (v & 2 ? 0 : 2) && along[2] != (v & 4 ? 0 : 2);
      const std::int64_t c = 3 * std::int64_t(corners.node[v]);
      for (int d = 0; d < 3; ++d)
        sum[d] += weighted ? coarse(c + d) : Scalar(0);
    }
    const Scalar weight =
        Scalar(1) / Scalar(1 << ((along[0] & 1) + (along[1] & 1) + (along[2] & 1)));
    for (int d = 0; d < 3; ++d)
      if (!(held >> d & 1))
        fine(3 * node + d) = value[d] + weight * sum[d];
  }
};

/// The same by cells, on cores: a corner is read once for all fine nodes of a cell, and a value
/// between two others is their mean.
template<class Exec, class Scalar>
struct ProlongFromCell {
  using Value = Lanes<Scalar, 4>; ///< three components and nothing
  CellTransfer<Exec> transfer;
  Array<int, Exec> corner;
  Array<Scalar, Exec> coarse;
  Array<std::uint8_t, Exec> fine_held;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const int begin = transfer.fine_begin(cell), end = transfer.fine_begin(cell + 1);
    if (begin == end)
      return;
    Value value[27]; // by position
    for (int v = 0; v < 8; ++v) {
      const std::int64_t c = 3 * std::int64_t(corner(8 * cell + v));
      Value at_corner(0);
      for (int d = 0; d < 3; ++d)
        at_corner.value[d] = coarse(c + d);
      value[2 * (v & 1) + 6 * (v >> 1 & 1) + 18 * (v >> 2)] = at_corner;
    }
    const Value half(Scalar(0.5));
    for (int z = 0; z < 3; z += 2)
      for (int y = 0; y < 3; y += 2)
        fill_middle(value + 3 * y + 9 * z, 1, half);
    for (int z = 0; z < 3; z += 2)
      for (int x = 0; x < 3; ++x)
        fill_middle(value + x + 9 * z, 3, half);
    for (int i = 0; i < 9; ++i)
      fill_middle(value + i, 9, half);
    for (int i = begin; i < end; ++i) {
      const std::int64_t node = transfer.fine_node(i);
      const Value& step = value[transfer.position(node)];
      const int held = fine_held(node);
      for (int d = 0; d < 3; ++d)
        if (!(held >> d & 1))
          fine(3 * node + d) += step.value[d];
    }
  }

  static KOKKOS_FUNCTION void fill_middle(Value* line, int stride, const Value& half) {
    line[stride] = half * (line[0] + line[2 * stride]);
  }
};

/// The fine nodes of a cell where the finer level is a lattice: devices find them by their places.
template<class Exec>
struct FineVoxelNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> place;
  Array<std::uint32_t, Exec> fine_mask;

  /// visit(fine node, position), in a fixed order.
  template<class Visit>
  KOKKOS_FUNCTION void for_each(int cell, const Visit& visit) const {
    const Site s = unpack_site(place(cell));
    for (std::uint32_t rest = fine_mask(cell); rest != 0; rest &= rest - 1) {
      const int p = lowest_one(rest);
      visit(std::int64_t(grid.find(2 * s.x + p % 3, 2 * s.y + p / 3 % 3, 2 * s.z + p / 9)), p);
    }
  }
};

/// The same from a list.
template<class Exec>
struct ListedFineNodes {
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

template<class Exec, class FineGrid>
auto fine_nodes(const FineGrid& fine, const CellTransfer<Exec>& transfer,
                const CellGrid<Exec>& cells) {
  if constexpr (finds_fine_nodes<Exec, FineGrid>)
    return FineVoxelNodes<Exec>{fine, cells.place, transfer.fine_mask};
  else
    return ListedFineNodes<Exec>{transfer.fine_begin, transfer.fine_node, transfer.position};
}

/// weight[p][v]: that of corner v of a cell at position p of CellTransfer.
template<class Scalar>
struct CornerWeights {
  Scalar weight[27][8] = {};

  constexpr CornerWeights() {
    for (int p = 0; p < 27; ++p)
      for (int v = 0; v < 8; ++v) {
        int halves = 1; // the weight times 8
        for (int d = 0, rest = p; d < 3; ++d, rest /= 3)
          halves *= v >> d & 1 ? rest % 3 : 2 - rest % 3;
        weight[p][v] = Scalar(halves) / 8;
      }
  }
};

/// The contribution of the fine nodes of a cell to its corners.
template<class Exec, class Scalar, class FineNodes>
struct RestrictToCorners {
  FineNodes fine_nodes;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(int cell, const int (&)[8], Scalar (&u)[24]) const {
    if constexpr (BackendTraits<Exec>::is_device)
      sum_by_thread(cell, u);
    else
      sum_in_lanes(cell, u);
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

private:
  KOKKOS_FUNCTION void sum_by_thread(int cell, Scalar (&u)[24]) const {
    Scalar sum[3][8] = {};
    const Array<Scalar, Exec>& x = fine;
    fine_nodes.for_each(cell, [&](std::int64_t f, int position) {
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

  /// Four corners at a time, with weights from a table.
  KOKKOS_FUNCTION void sum_in_lanes(int cell, Scalar (&u)[24]) const {
    using Corners = Lanes<Scalar, 4>;
    static constexpr CornerWeights<Scalar> table;
    const Corners zero(0);
    Corners sum[3][2] = {{zero, zero}, {zero, zero}, {zero, zero}};
    const Array<Scalar, Exec>& x = fine;
    fine_nodes.for_each(cell, [&](std::int64_t f, int position) {
      const Corners low = load_pack<4>(table.weight[position]),
                    high = load_pack<4>(table.weight[position] + 4);
      for (int c = 0; c < 3; ++c) {
        const Corners value(x(3 * f + c));
        sum[c][0] += low * value;
        sum[c][1] += high * value;
      }
    });
    for (int v = 0; v < 8; ++v)
      for (int c = 0; c < 3; ++c)
        u[3 * v + c] = sum[c][v / 4].value[v % 4];
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
  using Kernel =
      std::conditional_t<BackendTraits<Exec>::is_device, detail::ProlongToNode<Exec, Scalar>,
                         detail::ProlongFromCell<Exec, Scalar>>;
  const std::int64_t count =
      BackendTraits<Exec>::is_device ? std::int64_t(fine_held.extent(0)) : cells.num_elem;
  Kokkos::parallel_for("ossatura::prolong_add", range(exec, count),
                       Kernel{transfer, cells.corner, coarse, fine_held, fine});
}

/// coarse = P^T fine, zero at held coarse components. `fine_grid` is the VoxelGrid or CellGrid that
/// `cells` and `transfer` were made from, and not read where that is a CellGrid; `fine` is zero
/// where held. Does not fence.
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
