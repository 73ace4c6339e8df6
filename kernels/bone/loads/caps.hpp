// SPDX-License-Identifier: Apache-2.0
// Caps are what a specimen without flat ends is potted in for a test: a layer of another material
// at each end that ends in a plane, and fills what is between that plane and the surface of the
// bone as it is seen along the axis.
#pragma once

#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/loads/column_ends.hpp>

namespace ossatura {

/// A cap: on the columns of voxels whose last voxel of bone ends in [first, last], coordinates of
/// faces along the axis.
struct CapEnd {
  bool is_there = false;
  int plane = 0; ///< coordinate of its outer face
  int first = 0, last = 0;
  float modulus = 0, poisson = 0;
};

/// The places of the caps of an image.
template<class Exec>
struct Caps {
  ColumnEnds<Exec> ends; ///< of the bone
  int shift = 0;         ///< of coordinates along the axis in the image, against those of `ends`
  CapEnd lower, upper;   ///< in coordinates of the image

  /// 0: no cap; 1, 2: the lower one, the upper one.
  KOKKOS_FUNCTION int at(int x, int y, int z) const {
    const int voxel[3] = {x, y, z};
    const std::int64_t column = ends.column(voxel);
    if (column < 0 || ends.upper(column) < 0)
      return 0;
    const int place = voxel[ends.axis], begin = ends.lower(column) + shift,
              end = ends.upper(column) + shift;
    if (lower.is_there && begin >= lower.first && begin <= lower.last)
      if (place >= lower.plane && place < begin)
        return 1;
    if (upper.is_there && end >= upper.first && end <= upper.last)
      if (place >= end && place < upper.plane)
        return 2;
    return 0;
  }
};

namespace detail {

template<class Exec>
struct FillCaps {
  Caps<Exec> caps;
  VoxelArray<Exec> modulus;
  Array<float, Exec> poisson; ///< or empty

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / modulus.shape[0];
    const int which = caps.at(int(i - row * modulus.shape[0]), int(row % modulus.shape[1]),
                              modulus.first_plane + int(row / modulus.shape[1]));
    if (which == 0)
      return;
    const CapEnd& cap = which == 1 ? caps.lower : caps.upper;
    modulus.value(i) = cap.modulus;
    if (poisson.extent(0) > 0)
      poisson(i) = cap.poisson;
  }
};

template<class Exec>
struct KeepBone {
  VoxelGrid<Exec> grid;
  Caps<Exec> caps;
  Array<float, Exec> solid, bone;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    bone(node) = solid(node) > 0 && caps.at(s.x, s.y, s.z) == 0 ? solid(node) : 0.0f;
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

/// Sets the voxels of the caps in an image of moduli and, where it is not empty, that of Poisson's
/// ratios, of which this process has the same planes. Does not fence.
template<class Exec>
void fill_caps(const Exec& exec, const Caps<Exec>& caps, const VoxelArray<Exec>& modulus,
               const Array<float, Exec>& poisson) {
  Kokkos::parallel_for("ossatura::fill_caps", range(exec, modulus.num_voxels()),
                       detail::FillCaps<Exec>{caps, modulus, poisson});
}

/// `lame` without the voxels of the caps: what is left is the bone. Fences.
template<class Exec>
LameField<Exec> without_caps(const Exec& exec, const VoxelGrid<Exec>& grid, const Caps<Exec>& caps,
                             const LameField<Exec>& lame) {
  LameField<Exec> bone = lame;
  bone.mu_value = make_uninitialized<float>(exec, grid.num_nodes, "ossatura::bone_without_caps");
  Kokkos::parallel_for("ossatura::without_caps", range(exec, grid.num_nodes),
                       detail::KeepBone<Exec>{grid, caps, lame.mu_value, bone.mu_value});
  fence(exec, "ossatura::without_caps");
  return bone;
}

/// The fields of the voxels of the bone alone. `nodes` are those that this process owns; by all
/// that share them. Fences.
template<class Exec>
VoxelFields<Exec> without_caps(const Exec& exec, const SharedEntries& nodes,
                               const VoxelGrid<Exec>& grid, const Caps<Exec>& caps,
                               const LameField<Exec>& lame, const VoxelFields<Exec>& fields) {
  VoxelFields<Exec> bone;
  bone.element = list_elements(exec, grid, without_caps(exec, grid, caps, lame).mu_value);
  bone.elements = share_elements(exec, nodes, bone.element);
  const std::int64_t count = bone.element.extent(0);
  const auto node = make_uninitialized<std::int64_t>(exec, count, "ossatura::bone_voxels::node"),
             place = make_uninitialized<std::int64_t>(exec, count, "ossatura::bone_voxels::place");
  Kokkos::parallel_for("ossatura::without_caps::node", range(exec, count),
                       detail::CopyLowestNodes<Exec>{bone.element, node});
  Kokkos::parallel_for("ossatura::without_caps::place", range(exec, count),
                       detail::FindElements<Exec>{fields.element, node, place});
  const auto take = [&](const Array<float, Exec>& from, int columns) {
    const std::int64_t size = from.extent(0) > 0 ? columns * count : 0;
    const auto to = make_uninitialized<float>(exec, size, "ossatura::bone_voxels");
    if (size > 0)
      Kokkos::parallel_for("ossatura::without_caps::take", range(exec, count),
                           detail::TakeFieldRows<Exec>{place, from, to, columns});
    return to;
  };
  bone.stress = take(fields.stress, 6);
  bone.energy_density = take(fields.energy_density, 1);
  bone.von_mises = take(fields.von_mises, 1);
  bone.effective_strain = take(fields.effective_strain, 1);
  fence(exec, "ossatura::without_caps");
  return bone;
}

} // namespace ossatura
