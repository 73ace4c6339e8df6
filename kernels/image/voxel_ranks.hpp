// SPDX-License-Identifier: Apache-2.0
// Voxel ranks are the processes among which a voxel model is cut, with what each of them needs to
// find the others.
#pragma once

#include <ossatura/kernels/image/local_grid.hpp>

namespace ossatura {

template<class Exec>
struct VoxelRanks {
  DeviceComm<Exec> comm;
  VoxelCut cut;
  CutTable<Exec> table;
  HaloPlan<Exec> plan; ///< of the ghosts of the local grid

  int rank() const { return comm.communicator().rank(); }
};

namespace detail {
/// The first owned node whose key is not less than each of `key`.
template<class Exec>
struct FindFirstNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> key;
  Array<int, Exec> node;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int begin = grid.owned.begin, end = grid.owned.end;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      const Site s = grid.site(middle);
      if (node_order(s.x, s.y, s.z) < key(i))
        begin = middle + 1;
      else
        end = middle;
    }
    node(i) = begin;
  }
};
} // namespace detail

/// Nodes with which the groups of this process begin in its grid, and the end. Fences.
template<class Exec>
std::vector<int> find_groups(const Exec& exec, const VoxelRanks<Exec>& ranks,
                             const VoxelGrid<Exec>& grid) {
  const std::size_t rank = std::size_t(ranks.rank());
  std::vector<std::uint64_t> keys;
  for (int g = ranks.cut.rank_begin[rank]; g <= ranks.cut.rank_begin[rank + 1]; ++g)
    keys.push_back(ranks.cut.first_node_key(g));
  const auto node =
      make_uninitialized<int>(exec, std::int64_t(keys.size()), "ossatura::find_groups");
  Kokkos::parallel_for(
      "ossatura::find_groups", range(exec, std::int64_t(keys.size())),
      detail::FindFirstNodes<Exec>{grid, upload(exec, "ossatura::find_groups::key", keys), node});
  return download(exec, node);
}

namespace detail {
template<class Exec>
struct NumberOwned {
  OwnedNodes owned;
  Array<std::int64_t, Exec> number;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    number(node) = owned.global_begin + node - owned.begin;
  }
};
} // namespace detail

/// [num_nodes] the numbers of what this process sees among the nodes of all. By all. Fences as
/// DeviceComm::exchange.
template<class Exec>
Array<std::int64_t, Exec> global_numbers(const Exec& exec, const VoxelRanks<Exec>& ranks,
                                         const VoxelGrid<Exec>& grid) {
  const auto number =
      make_uninitialized<std::int64_t>(exec, grid.num_nodes, "ossatura::global_numbers");
  Kokkos::parallel_for("ossatura::global_numbers", range(exec, grid.num_nodes),
                       detail::NumberOwned<Exec>{grid.owned, number});
  Halo<Exec, std::int64_t>(exec, ranks.comm, ranks.plan, 1).exchange(exec, number);
  return number;
}

} // namespace ossatura
