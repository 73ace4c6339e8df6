// SPDX-License-Identifier: Apache-2.0
// make_hexa_patches cuts a mesh of hexahedra into patches and lists what products need of each: a
// team of threads takes a patch.
#pragma once

#include <ossatura/kernels/hexa/bisection.hpp>
#include <ossatura/kernels/hexa/patches.hpp>

namespace ossatura {

namespace detail {

/// The distinct nodes of a patch, in the scratch of its team. A *reference* 8 k + a is node a of
/// element k of the patch.
template<class Exec>
struct PatchNodes {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int size = hexa_patch_size<Exec>, max_refs = 8 * size, num_slots = 2 * max_refs,
                       threads = BackendTraits<Exec>::is_device ? size : 1;
  static_assert((num_slots & (num_slots - 1)) == 0);

  int node[num_slots];  ///< -1: free
  int first[num_slots]; ///< its first reference
  int slot_of[max_refs];

  /// Makes this the nodes node_of(reference) of `num_refs` references. For all threads of a team.
  template<class NodeOf>
  KOKKOS_FUNCTION void collect(const Team& team, int num_refs, const NodeOf& node_of) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(num_slots)), [&](int slot) {
      node[slot] = -1;
      first[slot] = int(max_refs);
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_refs), [&](int ref) {
      const int number = node_of(ref);
      int slot = int(std::uint32_t(number) * 0x9e3779b1u >> 7) & (num_slots - 1);
      for (;; slot = (slot + 1) & (num_slots - 1)) {
        const int there = Kokkos::atomic_compare_exchange(&node[slot], -1, number);
        if (there == -1 || there == number)
          break;
      }
      slot_of[ref] = slot;
      Kokkos::atomic_min(&first[slot], ref);
    });
    team.team_barrier();
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_first(int ref) const { return first[slot_of[ref]] == ref; }
};

/// Elements of groups and their nodes.
template<class Exec>
struct GroupNodes {
  int num_elem;
  ArrayPointer<const int> elem, begin;
  ArrayPointer<const int> node; ///< of elements, as in HexaArrays

  struct OfGroup {
    GroupNodes nodes;
    int first;

    KOKKOS_FORCEINLINE_FUNCTION int operator()(int ref) const {
      return nodes.node(
          HexaArrays<Exec>::place(nodes.num_elem, nodes.elem(first + ref / 8), ref % 8));
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION OfGroup of(int group) const { return {*this, begin(group)}; }
  KOKKOS_FORCEINLINE_FUNCTION int num_refs(int group) const {
    return 8 * (begin(group + 1) - begin(group));
  }
};

/// Counts the nodes of a group, and the groups of each node.
template<class Exec>
struct CountGroupNodes {
  using Nodes = PatchNodes<Exec>;
  using Team = typename Nodes::Team;
  static constexpr int scratch_bytes = int(sizeof(Nodes)) + 16;

  GroupNodes<Exec> groups;
  ArrayPointer<int> num_nodes, groups_of_node;
  ArrayPointer<std::uint8_t> full;

  KOKKOS_FUNCTION void operator()(const Team& team, int& num_full) const {
    Nodes& nodes = *static_cast<Nodes*>(
        team.team_scratch(int(scratch_level<Exec>)).get_shmem_aligned(int(sizeof(Nodes)), 16));
    const int group = team.league_rank(), num_refs = groups.num_refs(group);
    const auto node_of = groups.of(group);
    nodes.collect(team, num_refs, node_of);
    int count = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, num_refs),
        [&](int ref, int& sum) {
          if (nodes.is_first(ref)) {
            Kokkos::atomic_add(&groups_of_node(node_of(ref)), 1);
            ++sum;
          }
        },
        count);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      num_nodes(group) = count;
      const bool is_full = count > 4 * int(Nodes::size);
      full(group) = is_full ? 1 : 0;
      num_full += is_full ? 1 : 0;
    });
  }
};

/// Lists the nodes of a patch, its own first and each part in the order in which elements have
/// them, and where elements have them.
template<class Exec>
struct WritePatch {
  static constexpr int size = hexa_patch_size<Exec>;
  struct Scratch {
    PatchNodes<Exec> nodes;
    int local[PatchNodes<Exec>::num_slots]; ///< number in the patch, by slots
    int begin[4 * size + 1];                ///< of the references of nodes
    int next[4 * size];
  };
  using Team = typename PatchNodes<Exec>::Team;
  static constexpr int scratch_bytes = int(sizeof(Scratch)) + 16;

  GroupNodes<Exec> groups;
  ArrayPointer<const int> kind, node_begin, groups_of_node;
  HexaPatches<Exec> patches;
  ArrayPointer<int> num_partials; ///< of patches

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *static_cast<Scratch*>(
        team.team_scratch(int(scratch_level<Exec>)).get_shmem_aligned(int(sizeof(Scratch)), 16));
    PatchNodes<Exec>& nodes = scratch.nodes;
    const int number = team.league_rank(), num_refs = groups.num_refs(number),
              elem_begin = groups.begin(number), begin = node_begin(number),
              num_nodes = node_begin(number + 1) - begin;
    const auto node_of = groups.of(number);
    nodes.collect(team, num_refs, node_of);
    // The number of own nodes before each reference, and of all.
    int num_own = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, num_refs),
        [&](int ref, int& sum) {
          sum += nodes.is_first(ref) && groups_of_node(node_of(ref)) == 1 ? 1 : 0;
        },
        num_own);
    Kokkos::parallel_scan(
        Kokkos::TeamThreadRange(team, num_refs), [&](int ref, int& before, bool final) {
          const bool is_own = nodes.is_first(ref) && groups_of_node(node_of(ref)) == 1;
          if (final && is_own)
            list_node(scratch, begin, node_of(ref), nodes.slot_of[ref], before);
          before += is_own ? 1 : 0;
        });
    Kokkos::parallel_scan(
        Kokkos::TeamThreadRange(team, num_refs), [&](int ref, int& before, bool final) {
          const bool is_other = nodes.is_first(ref) && groups_of_node(node_of(ref)) != 1;
          if (final && is_other)
            list_node(scratch, begin, node_of(ref), nodes.slot_of[ref], num_own + before);
          before += is_other ? 1 : 0;
        });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_refs), [&](int ref) {
      patches.local(8 * std::int64_t(elem_begin) + ref) =
          std::uint16_t(scratch.local[nodes.slot_of[ref]]);
    });
    if constexpr (BackendTraits<Exec>::is_device)
      list_slots(team, scratch, num_refs, elem_begin, begin + number, num_nodes);
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      patches.patch(number) = {elem_begin, num_refs / 8, begin, num_nodes, num_own,
                               0,          kind(number)};
      num_partials(number) = num_nodes - num_own;
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void list_node(Scratch& scratch, int begin, int node, int slot,
                                             int local) const {
    patches.node(std::int64_t(begin) + local) = node;
    scratch.local[slot] = local;
  }

  /// For each node its references by elements, which is their order in `slot`.
  KOKKOS_FUNCTION void list_slots(const Team& team, Scratch& scratch, int num_refs, int elem_begin,
                                  int begins, int num_nodes) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_nodes),
                         [&](int n) { scratch.next[n] = 0; });
    team.team_barrier();
    const auto local_of = [&](int ref) { return scratch.local[scratch.nodes.slot_of[ref]]; };
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_refs),
                         [&](int ref) { Kokkos::atomic_add(&scratch.next[local_of(ref)], 1); });
    team.team_barrier();
    Kokkos::parallel_scan(Kokkos::TeamThreadRange(team, num_nodes),
                          [&](int n, int& sum, bool final) {
                            const int count = scratch.next[n];
                            if (final)
                              scratch.begin[n] = sum;
                            sum += count;
                          });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_nodes), [&](int n) {
      scratch.next[n] = scratch.begin[n];
      patches.slot_begin(std::int64_t(begins) + n) = std::uint16_t(scratch.begin[n]);
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      scratch.begin[num_nodes] = num_refs;
      patches.slot_begin(std::int64_t(begins) + num_nodes) = std::uint16_t(num_refs);
    });
    team.team_barrier();
    int* const listed = scratch.nodes.first; // is not needed any more
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_refs), [&](int ref) {
      listed[Kokkos::atomic_fetch_add(&scratch.next[local_of(ref)], 1)] = ref;
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, num_nodes), [&](int n) {
      const int first = scratch.begin[n], count = scratch.begin[n + 1] - first;
      sort_list(listed + first, count);
      for (int k = first; k < first + count; ++k)
        patches.slot(8 * std::int64_t(elem_begin) + k) =
            std::uint16_t(listed[k] % 8 * size + listed[k] / 8);
    });
  }
};

/// Numbers the nodes that are not of one patch alone. Of no patch is a node without elements: its
/// sum is zero.
template<class Exec>
struct ListShared {
  ArrayPointer<const int> groups_of_node;
  ArrayPointer<int> number, shared; ///< `shared` is null while they are counted

  KOKKOS_FUNCTION void operator()(std::int64_t node, int& before, bool final) const {
    const bool is_shared = groups_of_node(node) != 1;
    if (final && is_shared) {
      number(node) = before;
      if (shared.data)
        shared(before) = int(node);
    }
    before += is_shared ? 1 : 0;
  }
};

template<class Exec>
struct PlacePartials {
  HexaPatches<Exec> patches;
  ArrayPointer<const int> partial_begin, number;
  ArrayPointer<int> target; ///< of partial sums: the number of the node

  KOKKOS_FUNCTION void operator()(std::int64_t p) const {
    HexaPatch& patch = patches.patch(p);
    patch.partial_begin = partial_begin(p);
    for (int n = patch.num_own; n < patch.num_nodes; ++n)
      target(std::int64_t(patch.partial_begin) + n - patch.num_own) =
          number(patches.node(std::int64_t(patch.node_begin) + n));
  }
};

/// The node of each element, as HexaArrays has them, in another order.
template<class Exec>
Array<int, Exec> place_hexa_nodes(const Exec& exec, const HexaArrays<Exec>& arrays,
                                  const std::vector<std::int32_t>& listed) {
  const Array<int, Exec> from = upload(exec, "ossatura::hexa_patches::listed", listed);
  const auto node = make_uninitialized<int>(exec, 8 * std::int64_t(arrays.num_elem),
                                            "ossatura::hexa_patches::turned");
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce("ossatura::place_hexa_nodes", range(exec, node.extent(0)),
                          PlaceHexaNodes<Exec>{arrays.num_nodes, arrays.num_elem, from, node},
                          Kokkos::Min<std::int64_t>(wrong));
  return node;
}

/// Groups with few enough nodes for a patch, how many each has, and the groups of each node.
template<class Exec>
ElementGroups<Exec> cut_into_groups(const Exec& exec, const HexaArrays<Exec>& arrays,
                                    const Array<int, Exec>& node, const Array<int, Exec>& kind,
                                    int num_kinds, Array<int, Exec>& num_nodes,
                                    const Array<int, Exec>& groups_of_node) {
  using Count = CountGroupNodes<Exec>;
  Bisection<Exec> bisection(exec, arrays, kind, num_kinds);
  bisection.cut(exec, hexa_patch_size<Exec>);
  while (true) {
    const ElementGroups<Exec> groups = bisection.groups();
    // One more than there are groups, for the places that lengths become.
    num_nodes = make_zeros<int>(exec, groups.num_groups() + 1, "ossatura::hexa_patches::num_nodes");
    const auto full =
        make_uninitialized<std::uint8_t>(exec, groups.num_groups(), "ossatura::hexa_patches::full");
    int num_full = 0;
    Kokkos::parallel_reduce(
        "ossatura::count_group_nodes",
        Kokkos::TeamPolicy<Exec>(exec, groups.num_groups(), int(PatchNodes<Exec>::threads))
            .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(int(Count::scratch_bytes))),
        Count{{arrays.num_elem, groups.elem, groups.begin, node}, num_nodes, groups_of_node, full},
        num_full);
    if (num_full == 0)
      return groups;
    bisection.cut(exec, hexa_patch_size<Exec>, full);
    Kokkos::deep_copy(exec, groups_of_node, 0);
  }
}

} // namespace detail

/// The patches of a mesh. Elements of a patch have one of the kinds `kind` [num_elem], all of
/// 0 .. num_kinds - 1; empty, and num_kinds 1, where there is one alone. Where the caller wants the
/// nodes of elements in another order than that of the mesh, `turned_node` [num_elem, 8] has it.
/// The same for the same mesh. Fences.
template<class Exec>
HexaPatches<Exec> make_hexa_patches(const Exec& exec, const HexaArrays<Exec>& arrays,
                                    const std::vector<std::int32_t>& turned_node,
                                    const std::vector<int>& kind, int num_kinds) {
  const int num_elem = arrays.num_elem, num_nodes = arrays.num_nodes;
  OSSATURA_REQUIRE(kind.empty() ? num_kinds == 1 : int(kind.size()) == num_elem,
                   kind.size() << " kinds of " << num_kinds << " for " << num_elem << " elements");
  OSSATURA_REQUIRE(turned_node.empty() || turned_node.size() == 8 * std::size_t(num_elem),
                   turned_node.size() << " nodes of " << num_elem << " elements");
  const Array<int, Exec> node =
      turned_node.empty() ? arrays.node : detail::place_hexa_nodes(exec, arrays, turned_node);
  const Array<int, Exec> kinds = upload(exec, "ossatura::hexa_patches::kind", kind);
  const auto groups_of_node =
      make_zeros<int>(exec, num_nodes, "ossatura::hexa_patches::groups_of_node");
  Array<int, Exec> node_begin;
  const ElementGroups<Exec> groups =
      detail::cut_into_groups(exec, arrays, node, kinds, num_kinds, node_begin, groups_of_node);

  HexaPatches<Exec> patches;
  patches.num_patches = groups.num_groups();
  patches.num_elem = num_elem;
  patches.num_nodes = num_nodes;
  patches.elem = groups.elem;
  const std::int64_t listed = lengths_to_begins(exec, node_begin, "nodes of patches");
  const auto allocate = [&](auto number, std::int64_t n, const char* what) {
    return make_uninitialized<decltype(number)>(exec, n,
                                                std::string("ossatura::hexa_patches::") + what);
  };
  patches.patch = allocate(HexaPatch{}, patches.num_patches, "patch");
  patches.local = allocate(std::uint16_t(), 8 * std::int64_t(num_elem), "local");
  patches.node = allocate(int(), listed, "node");
  if (BackendTraits<Exec>::is_device) {
    patches.slot_begin = allocate(std::uint16_t(), listed + patches.num_patches, "slot_begin");
    patches.slot = allocate(std::uint16_t(), 8 * std::int64_t(num_elem), "slot");
  }
  const auto partial_begin =
      make_zeros<int>(exec, patches.num_patches + 1, "ossatura::hexa_patches::partial_begin");
  using Write = detail::WritePatch<Exec>;
  Kokkos::parallel_for(
      "ossatura::write_patch",
      Kokkos::TeamPolicy<Exec>(exec, patches.num_patches, int(detail::PatchNodes<Exec>::threads))
          .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(int(Write::scratch_bytes))),
      Write{{num_elem, groups.elem, groups.begin, node},
            groups.kind,
            node_begin,
            groups_of_node,
            patches,
            partial_begin});

  const auto number = allocate(int(), num_nodes, "number");
  Kokkos::parallel_scan("ossatura::count_shared", range(exec, num_nodes),
                        detail::ListShared<Exec>{groups_of_node, number, {}}, patches.num_shared);
  patches.num_partials = lengths_to_begins(exec, partial_begin, "partial sums");
  patches.shared = allocate(int(), patches.num_shared, "shared");
  Kokkos::parallel_scan("ossatura::list_shared", range(exec, num_nodes),
                        detail::ListShared<Exec>{groups_of_node, number, patches.shared});
  const auto target = allocate(int(), patches.num_partials, "target");
  Kokkos::parallel_for("ossatura::place_partials", range(exec, patches.num_patches),
                       detail::PlacePartials<Exec>{patches, partial_begin, number, target});
  const InverseMap<Exec> partials = invert_map(exec, target, patches.num_shared);
  patches.partial_of_shared = partials.begin;
  patches.partial = partials.member;
  fence(exec, "ossatura::make_hexa_patches"); // what it was made of goes
  return patches;
}

} // namespace ossatura
