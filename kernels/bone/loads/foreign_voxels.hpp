// SPDX-License-Identifier: Apache-2.0
// Foreign voxels are those of a model that are no bone: its caps, and pads, pots, cement and
// implants, which a list names. Fields and statistics of the bone leave them out.
#pragma once

#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/loads/caps.hpp>

#include <cstdint>

namespace ossatura {

template<class Exec>
struct ForeignVoxels {
  bool has_caps = false;
  Caps<Exec> caps;
  Array<std::uint64_t, Exec> listed; ///< detail::pack_site of the others, ascending

  /// 0: bone or void; 1, 2: the lower cap, the upper one; 3: listed.
  KOKKOS_FUNCTION int at(int x, int y, int z) const {
    if (has_caps)
      if (const int cap = caps.at(x, y, z); cap != 0)
        return cap;
    const std::uint64_t site = detail::pack_site(x, y, z);
    std::int64_t begin = 0, end = std::int64_t(listed.extent(0));
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (listed(middle) < site)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin < std::int64_t(listed.extent(0)) && listed(begin) == site ? 3 : 0;
  }
};

namespace detail {

template<class Exec>
struct FillListedVoxels {
  Array<std::uint64_t, Exec> site;
  VoxelArray<Exec> image;
  float value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = unpack_site(site(i));
    const std::int64_t voxel = image.index(s.x, s.y, s.z);
    if (s.z >= image.first_plane && voxel < image.num_voxels())
      image.value(voxel) = value;
  }
};

/// Counts solid voxels of one kind.
template<class Exec>
struct CountForeign {
  VoxelGrid<Exec> grid;
  ForeignVoxels<Exec> foreign;
  Array<float, Exec> solid;
  int kind;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    const Site s = grid.site(int(node));
    sum += solid(node) > 0 && foreign.at(s.x, s.y, s.z) == kind;
  }
};

/// Marks solid voxels that are foreign.
template<class Exec>
struct MarkForeign {
  VoxelGrid<Exec> grid;
  ForeignVoxels<Exec> foreign;
  Array<float, Exec> solid;
  Array<std::uint8_t, Exec> mark;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    mark(node) = solid(node) > 0 && foreign.at(s.x, s.y, s.z) != 0;
  }
};

template<class Exec>
struct KeepBone {
  VoxelGrid<Exec> grid;
  ForeignVoxels<Exec> foreign;
  Array<float, Exec> solid, bone;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    bone(node) = solid(node) > 0 && foreign.at(s.x, s.y, s.z) == 0 ? solid(node) : 0.0f;
  }
};

template<class Exec>
struct TakeFieldRows {
  Array<std::int64_t, Exec> place;
  Array<float, Exec> from, to;
  int columns;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < columns; ++c)
      to(columns * i + c) = from(columns * place(i) + c);
  }
};

template<class Exec>
struct CopyLowestNodes {
  Array<int, Exec> element;
  Array<std::int64_t, Exec> node;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { node(i) = element(i); }
};

} // namespace detail

/// Sets listed voxels (detail::pack_site) of an image, of those that are in the planes that are
/// here. Does not fence.
template<class Exec>
void fill_listed(const Exec& exec, const Array<std::uint64_t, Exec>& site, float value,
                 const VoxelArray<Exec>& image) {
  Kokkos::parallel_for("ossatura::fill_listed", range(exec, site.extent(0)),
                       detail::FillListedVoxels<Exec>{site, image, value});
}

/// The solid voxels of a kind, as ForeignVoxels::at() names it, of all processes. Fences.
template<class Exec>
std::int64_t count_foreign(const Exec& exec, const SharedEntries& nodes,
                           const VoxelGrid<Exec>& grid, const ForeignVoxels<Exec>& foreign,
                           const LameField<Exec>& lame, int kind) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_foreign", range(exec, grid.owned.begin, grid.owned.end),
                          detail::CountForeign<Exec>{grid, foreign, lame.mu_value, kind}, count);
  return nodes.comm.sum(count);
}

/// [num_nodes] 1 at lowest corners of foreign voxels, else 0. Does not fence.
template<class Exec>
Array<std::uint8_t, Exec> mark_foreign(const Exec& exec, const VoxelGrid<Exec>& grid,
                                       const ForeignVoxels<Exec>& foreign,
                                       const LameField<Exec>& lame) {
  const auto mark =
      make_uninitialized<std::uint8_t>(exec, grid.num_nodes, "ossatura::mark_foreign::mark");
  Kokkos::parallel_for("ossatura::mark_foreign", range(exec, grid.num_nodes),
                       detail::MarkForeign<Exec>{grid, foreign, lame.mu_value, mark});
  return mark;
}

/// `lame` without what is foreign: what is left is the bone. Fences.
template<class Exec>
LameField<Exec> without_foreign(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const ForeignVoxels<Exec>& foreign, const LameField<Exec>& lame) {
  LameField<Exec> bone = lame;
  bone.mu_value = make_uninitialized<float>(exec, grid.num_nodes, "ossatura::bone_without_foreign");
  Kokkos::parallel_for("ossatura::without_foreign", range(exec, grid.num_nodes),
                       detail::KeepBone<Exec>{grid, foreign, lame.mu_value, bone.mu_value});
  fence(exec, "ossatura::without_foreign");
  return bone;
}

/// The fields of the voxels of the bone alone. `nodes` are those that this process owns; by all
/// that share them. Fences.
template<class Exec>
VoxelFields<Exec> without_foreign(const Exec& exec, const SharedEntries& nodes,
                                  const VoxelGrid<Exec>& grid, const ForeignVoxels<Exec>& foreign,
                                  const LameField<Exec>& lame, const VoxelFields<Exec>& fields) {
  VoxelFields<Exec> bone;
  bone.element = list_elements(exec, grid, without_foreign(exec, grid, foreign, lame).mu_value);
  bone.elements = share_elements(exec, nodes, bone.element);
  const std::int64_t count = bone.element.extent(0);
  const auto node = make_uninitialized<std::int64_t>(exec, count, "ossatura::bone_voxels::node"),
             place = make_uninitialized<std::int64_t>(exec, count, "ossatura::bone_voxels::place");
  Kokkos::parallel_for("ossatura::without_foreign::node", range(exec, count),
                       detail::CopyLowestNodes<Exec>{bone.element, node});
  Kokkos::parallel_for("ossatura::without_foreign::place", range(exec, count),
                       detail::FindElements<Exec>{fields.element, node, place});
  const auto take = [&](const Array<float, Exec>& from, int columns) {
    const std::int64_t size = from.extent(0) > 0 ? columns * count : 0;
    const auto to = make_uninitialized<float>(exec, size, "ossatura::bone_voxels");
    if (size > 0)
      Kokkos::parallel_for("ossatura::without_foreign::take", range(exec, count),
                           detail::TakeFieldRows<Exec>{place, from, to, columns});
    return to;
  };
  bone.stress = take(fields.stress, 6);
  bone.energy_density = take(fields.energy_density, 1);
  bone.von_mises = take(fields.von_mises, 1);
  bone.effective_strain = take(fields.effective_strain, 1);
  fence(exec, "ossatura::without_foreign");
  return bone;
}

} // namespace ossatura
