// SPDX-License-Identifier: Apache-2.0
// Patches of consecutive nodes sum over the cells around each node. A team computes each cell of
// its patch once and sums, in fast memory, at the nodes that the patch owns. Cells at the border of
// a patch are computed in every patch that needs them, so patches are independent. There are no
// atomics and the order of additions is fixed: bitwise reproducible on a backend.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/cells/grid.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace ossatura {

namespace detail {

/// Counts the cells of the patches in node order, and lists them if `fill`. The two sums share a
/// word: late cells count in the upper half.
template<class Exec>
struct ListPatchCells {
  CellGrid<Exec> cells;
  CellPatches<Exec> patches;
  bool fill;

  /// Whether an earlier cell has the node of this entry at the same corner.
  KOKKOS_FUNCTION bool has_precursor(int node, int entry) const {
    for (int i = cells.node_begin(node); cells.node_corner(i) < entry; ++i)
      if (cells.node_corner(i) % 8 == entry % 8)
        return true;
    return false;
  }
  KOKKOS_FUNCTION bool owns(int patch, int node) const {
    return node >= patches.begin(patch) && node < patches.begin(patch + 1);
  }
  /// The patch of a node; -1 if it is in none.
  KOKKOS_FUNCTION int patch_of(int node) const {
    int begin = 0, end = patches.num_patches;
    if (node < patches.begin(0) || node >= patches.begin(end))
      return -1;
    while (end - begin > 1) {
      const int middle = (begin + end) / 2;
      (patches.begin(middle) <= node ? begin : end) = middle;
    }
    return begin;
  }
  KOKKOS_FUNCTION bool is_first_owned(int patch, int node, int cell) const {
    for (int v = 0; v < 8; ++v) {
      const int other = cells.corner(8 * std::int64_t(cell) + v);
      if (other < node && owns(patch, other))
        return false;
    }
    return true;
  }
  KOKKOS_FUNCTION bool is_late(int patch, int cell) const {
    for (int v = 0; v < 8; ++v) {
      const int node = cells.corner(8 * std::int64_t(cell) + v);
      if (owns(patch, node) && has_precursor(node, 8 * cell + v))
        return true;
    }
    return false;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const int node = int(i), patch = patch_of(node);
    if (patch < 0)
      return;
    const bool write = fill && final;
    if (write && node == patches.begin(patch)) {
      patches.cell_begin(patch) = int(sum & 0xffffffff);
      patches.late_begin(patch) = int(sum >> 32);
    }
    for (int j = cells.node_begin(node); j < cells.node_begin(node + 1); ++j) {
      const int cell = cells.node_corner(j) / 8;
      const bool is_listed = // a periodic cell, which has the node at an earlier corner, too
          j > cells.node_begin(node) && cells.node_corner(j - 1) / 8 == cell;
      if (is_listed || !is_first_owned(patch, node, cell))
        continue;
      const bool late = is_late(patch, cell);
      if (write)
        (late ? patches.late(sum >> 32) : patches.cell(sum & 0xffffffff)) = cell;
      sum += late ? std::int64_t(1) << 32 : 1;
    }
    if (write && node + 1 == patches.begin(patches.num_patches)) {
      patches.cell_begin(patch + 1) = int(sum & 0xffffffff);
      patches.late_begin(patch + 1) = int(sum >> 32);
    }
  }
};

/// Nodes per patch. Large patches repeat fewer cells; on small levels enough patches for all
/// threads matter more. Not by the number of threads, on which the order of sums would then depend.
template<class Exec>
int choose_patch_nodes(int num_nodes) {
  return BackendTraits<Exec>::is_device ? std::clamp(num_nodes / 2048, 64, 1024)
                                        : std::clamp(num_nodes / 64, 64, 4096);
}

/// Adds the beginnings of patches of `num_nodes` of the nodes [first, end) to `begin`, which ends
/// with `first` unless it is empty.
inline void cut_into_patches(int first, int end, int num_nodes, std::vector<int>& begin) {
  if (begin.empty())
    begin.push_back(first);
  for (; first < end; first += std::min(num_nodes, end - first))
    begin.push_back(first + std::min(num_nodes, end - first));
}

} // namespace detail

/// Patches between the nodes `begin`, ascending, without empty ones. Fences.
template<class Exec>
CellPatches<Exec> make_cell_patches(const Exec& exec, const CellGrid<Exec>& cells,
                                    const std::vector<int>& begin) {
  CellPatches<Exec> patches;
  if (begin.size() < 2)
    return patches;
  patches.num_patches = int(begin.size()) - 1;
  for (std::size_t p = 1; p < begin.size(); ++p)
    patches.most_nodes = std::max(patches.most_nodes, begin[p] - begin[p - 1]);
  patches.begin = upload(exec, "ossatura::cell_patches::begin", begin);
  std::int64_t total = 0;
  Kokkos::parallel_scan("ossatura::make_cell_patches::count", range(exec, cells.num_nodes),
                        detail::ListPatchCells<Exec>{cells, patches, false}, total);
  const std::int64_t listed = total & 0xffffffff, late = total >> 32, n = patches.num_patches + 1;
  OSSATURA_REQUIRE(listed <= std::numeric_limits<int>::max(),
                   "patches list " << listed << " cells, more than 32-bit numbers hold");
  patches.cell_begin = make_uninitialized<int>(exec, n, "ossatura::cell_patches::cell_begin");
  patches.late_begin = make_uninitialized<int>(exec, n, "ossatura::cell_patches::late_begin");
  patches.cell = make_uninitialized<int>(exec, listed, "ossatura::cell_patches::cell");
  patches.late = make_uninitialized<int>(exec, late, "ossatura::cell_patches::late");
  Kokkos::parallel_scan("ossatura::make_cell_patches::list", range(exec, cells.num_nodes),
                        detail::ListPatchCells<Exec>{cells, patches, true}, total);
  return patches;
}

/// Cuts all nodes into patches of `num_nodes`. Fences.
template<class Exec>
CellPatches<Exec> make_cell_patches(const Exec& exec, const CellGrid<Exec>& cells, int num_nodes) {
  std::vector<int> begin;
  detail::cut_into_patches(0, cells.num_nodes, num_nodes, begin);
  return make_cell_patches(exec, cells, begin);
}

namespace detail {

/// Whether terms can be added for many cells at a time (add_cells, see sums.hpp).
template<class CellTerms, class = void>
struct AddsCells : std::false_type {};
template<class CellTerms>
struct AddsCells<CellTerms, std::void_t<decltype(&CellTerms::add_cells)>> : std::true_type {};

template<class Exec, class Scalar, class CellTerms, class Update>
struct SumPatch {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr bool many_at_a_time =
      !BackendTraits<Exec>::is_device && AddsCells<CellTerms>::value;
  static constexpr int stride = many_at_a_time ? 4 : 3; ///< of the sums of nodes

  Array<int, Exec> corner;
  OwnedNodes owned;
  CellPatches<Exec> patches;
  CellTerms terms;
  Update update;

  /// On hosts a team is one thread.
  KOKKOS_FUNCTION void barrier(const Member& team) const {
    if constexpr (BackendTraits<Exec>::is_device)
      team.team_barrier();
  }

  /// Adds the terms of one cell per thread (none where `cell` < 0) to `sum`, corner after corner:
  /// at a time, no two threads have the same node. Starts with a barrier.
  KOKKOS_FUNCTION void add_cells(const Member& team, int cell, int first, int num_owned,
                                 Scalar* sum) const {
    struct alignas(16) Corners {
      int node[8];
    };
    Corners corners = {};
    Scalar u[24];
    if (cell >= 0) {
      corners = reinterpret_cast<const Corners*>(corner.data())[cell]; // one or two wide loads
      terms(cell, corners.node, u);
    }
    for (int v = 0; v < 8; ++v) {
      const int owned = corners.node[v] - first;
      barrier(team);
      if (cell >= 0 && owned >= 0 && owned < num_owned)
        for (int c = 0; c < 3; ++c)
          sum[stride * owned + c] += u[3 * v + c];
    }
  }

  /// On cores, in the same order.
  KOKKOS_FUNCTION void add_many(const Array<int, Exec>& cell, int begin, int end, int first,
                                int num_owned, Scalar* sum) const {
    if (begin < end)
      terms.add_cells(corner.data(), &cell(begin), end - begin, first, num_owned, sum);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int patch = team.league_rank(), rank = team.team_rank(), size = team.team_size();
    const int first = patches.begin(patch), last = patches.begin(patch + 1);
    if (first >= owned.end || last <= owned.begin)
      return;
    const int num_owned = last - first;
    Scalar* sum =
        static_cast<Scalar*>(team.team_scratch(0).get_shmem(scratch_bytes(patches.most_nodes)));
    for (int i = rank; i < stride * num_owned; i += size)
      sum[i] = 0;
    const int begin = patches.cell_begin(patch), end = patches.cell_begin(patch + 1),
              late_begin = patches.late_begin(patch), late_end = patches.late_begin(patch + 1);
    if constexpr (many_at_a_time) {
      add_many(patches.cell, begin, end, first, num_owned, sum);
      add_many(patches.late, late_begin, late_end, first, num_owned, sum);
    } else {
      for (int i = begin; i < end; i += size)
        add_cells(team, i + rank < end ? patches.cell(i + rank) : -1, first, num_owned, sum);
      for (int i = late_begin; i < late_end; ++i)
        add_cells(team, rank == 0 ? patches.late(i) : -1, first, num_owned, sum);
    }
    barrier(team);
    for (int i = rank; i < num_owned; i += size) {
      if (!owned.has(first + i))
        continue;
      const Scalar total[3] = {sum[stride * i], sum[stride * i + 1], sum[stride * i + 2]};
      update(first + i, total);
    }
  }

  static KOKKOS_FUNCTION std::size_t scratch_bytes(int num_owned) {
    const int num_places = many_at_a_time ? num_owned + 1 : num_owned; // a place for other nodes
    return stride * sizeof(Scalar) * std::size_t(num_places);
  }
};

/// See sum_over_cells (sums.hpp).
template<class Scalar, class Exec, class CellTerms, class Update>
void sum_by_patches(const Exec& exec, const char* label, const CellGrid<Exec>& cells,
                    const CellTerms& terms, const Update& update) {
  using Kernel = SumPatch<Exec, Scalar, CellTerms, Update>;
  constexpr int team_size = BackendTraits<Exec>::is_device ? 128 : 1;
  const CellPatches<Exec>& patches = cells.patches;
  // The hint has functors of up to 4 KiB passed as launch arguments; CUDA launches of more than
  // 512 bytes would else wait for each other to use constant memory.
  auto teams =
      Kokkos::Experimental::require(Kokkos::TeamPolicy<Exec>(exec, patches.num_patches, team_size),
                                    Kokkos::Experimental::WorkItemProperty::HintLightWeight);
  teams.set_scratch_size(0, Kokkos::PerTeam(int(Kernel::scratch_bytes(patches.most_nodes))));
  Kokkos::parallel_for(label, teams, Kernel{cells.corner, cells.owned, patches, terms, update});
}
} // namespace detail

} // namespace ossatura
