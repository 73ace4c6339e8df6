// SPDX-License-Identifier: Apache-2.0
// Cell sums add up over the cells around each node, in a fixed order and without atomics: bitwise
// reproducible on a backend. Large levels go by patches (patches.hpp), which compute each cell
// about once. A level too small to fill the device takes as long as its chain of dependent steps:
// there each node computes its own part of its cells, eight at a time, which is several times the
// arithmetic in far fewer steps.
#pragma once

#include <ossatura/kernels/bone/cells/patches.hpp>

namespace ossatura {

namespace detail {

/// Three numbers that are summed together.
template<class Scalar>
struct NodeSum {
  Scalar value[3];

  KOKKOS_FUNCTION NodeSum& operator+=(const NodeSum& other) {
    for (int c = 0; c < 3; ++c)
      value[c] += other.value[c];
    return *this;
  }
};

} // namespace detail
} // namespace ossatura

namespace Kokkos {
template<class Scalar>
struct reduction_identity<ossatura::detail::NodeSum<Scalar>> {
  KOKKOS_FUNCTION static ossatura::detail::NodeSum<Scalar> sum() { return {{0, 0, 0}}; }
};
} // namespace Kokkos

namespace ossatura {

namespace detail {

/// A node for each thread of a team, its cells side by side on the lanes.
template<class Exec, class Scalar, class CellTerms, class Update>
struct SumNode {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int nodes_per_team = BackendTraits<Exec>::is_device ? 8 : 1;
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 8 : 1;

  Array<int, Exec> corner, node_begin, node_corner;
  OwnedNodes owned;
  CellTerms terms;
  Update update;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int node = owned.begin + team.league_rank() * nodes_per_team + team.team_rank();
    if (node >= owned.end)
      return;
    const int begin = node_begin(node), end = node_begin(node + 1);
    NodeSum<Scalar> total = Kokkos::reduction_identity<NodeSum<Scalar>>::sum();
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, begin, end),
        [&](int i, NodeSum<Scalar>& partial) {
          const int entry = node_corner(i);
          terms.add_corner(entry / 8, corner.data() + (entry & ~7), entry % 8, partial.value);
        },
        Kokkos::Sum<NodeSum<Scalar>>(total));
    Kokkos::single(Kokkos::PerThread(team), [&] { update(node, total.value); });
  }
};

template<class Scalar, class Exec, class CellTerms, class Update>
void sum_by_nodes(const Exec& exec, const char* label, const CellGrid<Exec>& cells,
                  const CellTerms& terms, const Update& update) {
  using Kernel = SumNode<Exec, Scalar, CellTerms, Update>;
  const int teams = (cells.owned.count() + Kernel::nodes_per_team - 1) / Kernel::nodes_per_team;
  Kokkos::parallel_for(
      label,
      Kokkos::Experimental::require(
          Kokkos::TeamPolicy<Exec>(exec, teams, Kernel::nodes_per_team, int(Kernel::lanes)),
          Kokkos::Experimental::WorkItemProperty::HintLightWeight), // see sum_by_patches
      Kernel{cells.corner, cells.node_begin, cells.node_corner, cells.owned, terms, update});
}

} // namespace detail

/// Calls update(node, sum) for every owned node, where sum [3] is that of what the node's cells
/// have for it: terms(cell, nodes [8], u [24]) sets u[3 v + c] for corner v of a cell, and
/// terms.add_corner(cell, nodes, v, sum [3]) adds that of one corner. Terms may have add_cells,
/// too, which cores call for all cells of a patch (batches/batch_products.hpp). By patches if the
/// cells have any. Does not fence.
template<class Scalar, class Exec, class CellTerms, class Update>
void sum_over_cells(const Exec& exec, const char* label, const CellGrid<Exec>& cells,
                    const CellTerms& terms, const Update& update) {
  if (cells.patches.num_patches > 0)
    detail::sum_by_patches<Scalar>(exec, label, cells, terms, update);
  else
    detail::sum_by_nodes<Scalar>(exec, label, cells, terms, update);
}

} // namespace ossatura
