// SPDX-License-Identifier: Apache-2.0
// The parts of a specimen are sets of voxels that share no node with each other: forces do not pass
// from one to another.
#pragma once

#include <ossatura/kernels/algebra/ranks/join_labels.hpp>
#include <ossatura/kernels/algebra/ranks/owned_entries.hpp>
#include <ossatura/kernels/algebra/union_find.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/voxel_ranks.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura {

/// One part. Voxels are numbered x + nx * (y + ny * z).
struct SpecimenPart {
  std::int64_t first = INT64_MAX; ///< its smallest voxel
  std::int64_t num_voxels = 0;
  bool is_held = false;  ///< some component of a node
  std::uint8_t held = 0; ///< all that its nodes have in `held` of find_parts
};

template<class Exec>
struct SpecimenParts {
  std::vector<SpecimenPart> list; ///< of the whole specimen, by their first voxels
  Array<int, Exec> of_node;       ///< [num_nodes] indices into `list`
};

namespace detail {

/// Joins the corners of each voxel. Within bone most are joined by the edges along x, y, z from the
/// lowest corners of voxels: one voxel joins a corner beyond these where no neighbour does.
template<class Exec>
struct JoinCorners {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  Array<int, Exec> parent;

  KOKKOS_FUNCTION bool is_solid(int node) const { return solid(node) > 0; }

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    if (!is_solid(int(node)))
      return;
    const Site s = grid.site(int(node));
    const auto corner = [&](int v) {
      return grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2));
    };
    const auto join = [&](int other) { unite(parent.data(), int(node), other); };
    const int x = corner(1), y = corner(2), z = corner(4);
    join(x);
    join(y);
    join(z);
    const bool beyond_x = is_solid(x), beyond_y = is_solid(y), beyond_z = is_solid(z);
    const int xy = corner(3);
    if (!beyond_x && !beyond_y)
      join(xy);
    if (!beyond_x && !beyond_z)
      join(corner(5));
    if (!beyond_y && !beyond_z)
      join(corner(6));
    if (!is_solid(xy) && !is_solid(corner(5)) && !is_solid(corner(6)))
      join(corner(7));
  }
};

/// A thread goes through a stretch of owned nodes and adds what it has when the part changes, so
/// that threads seldom meet at a large part.
template<class Exec>
struct DescribeParts {
  static constexpr std::int64_t stretch = 256;
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  Array<std::uint8_t, Exec> held; ///< [num_nodes]
  Array<int, Exec> part;
  Array<std::int64_t, Exec> first, num_voxels;
  Array<int, Exec> held_of;

  KOKKOS_FUNCTION void flush(int p, std::int64_t least, std::int64_t voxels, int any) const {
    if (voxels > 0) {
      Kokkos::atomic_add(&num_voxels(p), voxels);
      Kokkos::atomic_min(&first(p), least);
    }
    if (any != 0)
      Kokkos::atomic_or(&held_of(p), any);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr std::int64_t none = INT64_MAX;
    const std::int64_t begin = grid.owned.begin + i * stretch,
                       end = Kokkos::min(begin + stretch, std::int64_t(grid.owned.end));
    int current = part(begin);
    std::int64_t least = none, voxels = 0;
    int any = 0;
    for (std::int64_t node = begin; node < end; ++node) {
      if (part(node) != current) {
        flush(current, least, voxels, any);
        current = part(node);
        least = none;
        voxels = 0;
        any = 0;
      }
      any |= held(node);
      if (!(solid(node) > 0))
        continue;
      const Site s = grid.site(int(node));
      ++voxels;
      least = Kokkos::min(least, s.x + std::int64_t(grid.shape[0]) *
                                           (s.y + std::int64_t(grid.shape[1]) * s.z));
    }
    flush(current, least, voxels, any);
  }
};

/// The labels by which other processes know the nodes.
template<class Exec>
struct LabelNodes {
  Array<int, Exec> part;
  std::int64_t first_label;
  Array<std::int64_t, Exec> label;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    label(node) = first_label + part(node);
  }
};

template<class Exec>
struct NumberPieces {
  Array<int, Exec> number, part;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const { part(node) = number(part(node)); }
};

/// What ghosts say of the parts of this process: their owners call them otherwise. Fences.
template<class Exec>
std::vector<SameLabel> compare_ghosts(const Exec& exec, const VoxelRanks<Exec>& ranks,
                                      const OwnedNodes& owned, const Array<int, Exec>& part,
                                      std::int64_t first_label) {
  const std::int64_t nodes = part.extent(0);
  const auto label = make_uninitialized<std::int64_t>(exec, nodes, "ossatura::parts::label");
  Kokkos::parallel_for("ossatura::find_parts::label", range(exec, nodes),
                       LabelNodes<Exec>{part, first_label, label});
  Halo<Exec, std::int64_t>(exec, ranks.comm, ranks.plan, 1).exchange(exec, label);
  std::vector<SameLabel> same;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    const auto slice = [&](const auto& x) {
      using T = std::remove_reference_t<decltype(x(0))>;
      return download(exec, Array<T, Exec>(x.data() + begin, std::size_t(end - begin)));
    };
    const std::vector<int> here = slice(part);
    const std::vector<std::int64_t> there = slice(label);
    for (std::size_t i = 0; i < here.size(); ++i)
      if (const SameLabel pair{first_label + here[i], there[i]};
          same.empty() || !(same.back() == pair))
        same.push_back(pair);
  };
  add(0, owned.begin);
  add(owned.end, nodes);
  sort_unique(same);
  return same;
}

/// The parts of all processes by their first voxels, from the `pieces` of this one; `number` is set
/// to the parts of these. `same` are pieces of one part, by labels. By all processes.
inline std::vector<SpecimenPart> join_pieces(const Communicator& comm, std::int64_t first_label,
                                             const std::vector<SpecimenPart>& pieces,
                                             const std::vector<SameLabel>& same,
                                             std::vector<int>& number) {
  const std::vector<SpecimenPart> all = comm.gather(pieces);
  const JoinedLabels joined_labels(comm.gather(same));
  std::vector<SpecimenPart> joined(all.size());
  std::vector<std::int64_t> roots;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t root = joined_labels.root(std::int64_t(i));
    SpecimenPart& part = joined[std::size_t(root)];
    part.first = std::min(part.first, all[i].first);
    part.num_voxels += all[i].num_voxels;
    part.is_held = part.is_held || all[i].is_held;
    part.held |= all[i].held;
    if (root == std::int64_t(i))
      roots.push_back(root);
  }
  std::sort(roots.begin(), roots.end(), [&](std::int64_t a, std::int64_t b) {
    return joined[std::size_t(a)].first < joined[std::size_t(b)].first;
  });
  std::vector<SpecimenPart> parts;
  std::vector<int> of_root(all.size());
  for (const std::int64_t r : roots) {
    of_root[std::size_t(r)] = int(parts.size());
    parts.push_back(joined[std::size_t(r)]);
  }
  number.clear();
  for (std::size_t i = 0; i < pieces.size(); ++i)
    number.push_back(of_root[std::size_t(joined_labels.root(first_label + std::int64_t(i)))]);
  return parts;
}

} // namespace detail

/// The parts of the voxels of a grid. `solid` is greater than 0 at their lowest corners
/// (LameField::mu_value), `held` [num_nodes] not 0 at nodes that are held. Of a model that is cut
/// among `ranks` (else null) all of them call it. Takes 4 bytes for a node. Fences.
template<class Exec>
SpecimenParts<Exec> find_parts(const Exec& exec, const VoxelRanks<Exec>* ranks,
                               const VoxelGrid<Exec>& grid, const Array<float, Exec>& solid,
                               const Array<std::uint8_t, Exec>& held) {
  using Kernel = detail::DescribeParts<Exec>;
  SpecimenParts<Exec> parts;
  parts.of_node = make_singletons(exec, grid.num_nodes, "ossatura::parts");
  Kokkos::parallel_for("ossatura::find_parts::join", range(exec, grid.num_nodes),
                       detail::JoinCorners<Exec>{grid, solid, parts.of_node});
  const std::int64_t count = number_sets(exec, parts.of_node);
  const auto first = make_uninitialized<std::int64_t>(exec, count, "ossatura::parts::first");
  Kokkos::deep_copy(exec, first, INT64_MAX);
  const auto voxels = make_zeros<std::int64_t>(exec, count, "ossatura::parts::voxels");
  const auto held_of = make_zeros<int>(exec, count, "ossatura::parts::held_of");
  Kokkos::parallel_for("ossatura::find_parts::describe",
                       range(exec, (grid.owned.count() + Kernel::stretch - 1) / Kernel::stretch),
                       Kernel{grid, solid, held, parts.of_node, first, voxels, held_of});
  const auto first_host = download(exec, first), voxels_host = download(exec, voxels);
  const auto held_host = download(exec, held_of);
  std::vector<SpecimenPart> pieces;
  for (std::size_t i = 0; i < first_host.size(); ++i)
    pieces.push_back(
        {first_host[i], voxels_host[i], held_host[i] != 0, std::uint8_t(held_host[i])});

  const Communicator comm = ranks == nullptr ? Communicator() : ranks->comm.communicator();
  const std::int64_t first_label = comm.scan_before(count);
  std::vector<SameLabel> same;
  if (comm.size() > 1)
    same = detail::compare_ghosts(exec, *ranks, grid.owned, parts.of_node, first_label);
  std::vector<int> number;
  parts.list = detail::join_pieces(comm, first_label, pieces, same, number);
  Kokkos::parallel_for(
      "ossatura::find_parts::number", range(exec, grid.num_nodes),
      detail::NumberPieces<Exec>{upload(exec, "ossatura::parts::number", number), parts.of_node});
  fence(exec, "ossatura::find_parts");
  return parts;
}

namespace detail {
template<class Exec>
struct TakeParts {
  Array<int, Exec> node, of_node, part;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { part(i) = of_node(node(i)); }
};
} // namespace detail

/// The parts of the owned nodes of a list, which ascends, of all ranks of `comm` in their order;
/// by all of them. Fences.
template<class Exec>
std::vector<int> parts_of_nodes(const Exec& exec, const Communicator& comm, const OwnedNodes& owned,
                                const SpecimenParts<Exec>& parts, const Array<int, Exec>& node) {
  const Array<int, Exec> own = owned_of_list(exec, owned, node);
  const auto part = make_uninitialized<int>(exec, own.extent(0), "ossatura::parts_of_nodes");
  Kokkos::parallel_for("ossatura::parts_of_nodes", range(exec, own.extent(0)),
                       detail::TakeParts<Exec>{own, parts.of_node, part});
  return comm.gather(download(exec, part));
}

namespace detail {
template<class Exec>
struct ListVoxelsOfParts {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;
  Array<int, Exec> of_node;
  Array<std::uint8_t, Exec> listed; ///< [parts]
  Array<std::int64_t, Exec> voxel;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    if (!(solid(node) > 0) || listed(of_node(node)) == 0)
      return;
    if (final) {
      const Site s = grid.site(int(node));
      voxel(sum) = s.x + std::int64_t(grid.shape[0]) * (s.y + std::int64_t(grid.shape[1]) * s.z);
    }
    ++sum;
  }
};
} // namespace detail

/// The owned voxels of some parts, `count` in all on this process, by their numbers. `listed`
/// [parts] is not 0 for these. Fences.
template<class Exec>
Array<std::int64_t, Exec>
list_voxels(const Exec& exec, const VoxelGrid<Exec>& grid, const Array<float, Exec>& solid,
            const SpecimenParts<Exec>& parts, const std::vector<std::uint8_t>& listed) {
  const auto marks = upload(exec, "ossatura::list_voxels::listed", listed);
  const auto owned = range(exec, grid.owned.begin, grid.owned.end);
  std::int64_t count = 0;
  Array<std::int64_t, Exec> voxel =
      make_uninitialized<std::int64_t>(exec, grid.owned.count(), "ossatura::list_voxels");
  Kokkos::parallel_scan("ossatura::list_voxels", owned,
                        detail::ListVoxelsOfParts<Exec>{grid, solid, parts.of_node, marks, voxel},
                        count);
  return Kokkos::subview(voxel, std::make_pair(std::int64_t(0), count));
}

} // namespace ossatura
