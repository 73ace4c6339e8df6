// SPDX-License-Identifier: Apache-2.0
// Node sets are what plates and supports touch of a specimen that no box of the lattice bounds: the
// nodes of its visible surface, and those that the voxels of a label touch.
#pragma once

#include <ossatura/kernels/bone/loads/column_ends.hpp>

#include <map>

namespace ossatura {

/// Packed lowest corners (detail::pack_site) of the voxels of each label of a segmentation: of the
/// whole image, on every rank.
using LabelVoxels = std::map<int, std::vector<std::uint64_t>>;

namespace detail {

/// Counts the listed voxels around each node.
template<class Exec>
struct CountTouching {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> voxel;
  Array<int, Exec> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = unpack_site(voxel(i));
    for (int k = 0; k < 8; ++k)
      if (const int node = grid.find(s.x + (k & 1), s.y + (k >> 1 & 1), s.z + (k >> 2)); node >= 0)
        Kokkos::atomic_inc(&count(node));
  }
};

/// Nodes of the outer faces of columns that end in a range.
template<class Exec>
struct MarkVisible {
  VoxelGrid<Exec> grid;
  ColumnEnds<Exec> ends;
  bool upper;
  int first, last; ///< of the coordinates of faces, inclusive
  std::uint8_t bit;
  Array<std::uint8_t, Exec> sets;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const int at[3] = {s.x, s.y, s.z};
    const int along = at[ends.axis];
    if (along < first || along > last)
      return;
    for (int k = 0; k < 4; ++k) {
      int voxel[3] = {s.x, s.y, s.z};
      voxel[(ends.axis + 1) % 3] -= k & 1;
      voxel[(ends.axis + 2) % 3] -= k >> 1;
      const std::int64_t column = ends.column(voxel);
      if (column >= 0 && (upper ? ends.upper(column) : ends.lower(column)) == along)
        sets(node) = std::uint8_t(sets(node) | bit);
    }
  }
};

/// A set becomes the nodes that are touched, or those of it that are.
template<class Exec>
struct MarkTouched {
  Array<int, Exec> count;
  std::uint8_t bit;
  bool narrows;
  Array<std::uint8_t, Exec> sets;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    if (count(node) > 0 && !narrows)
      sets(node) = std::uint8_t(sets(node) | bit);
    else if (count(node) == 0)
      sets(node) = std::uint8_t(sets(node) & ~bit);
  }
};

template<class Exec>
struct CountInAll {
  Array<std::uint8_t, Exec> sets;
  std::uint8_t bits;
  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    sum += (sets(node) & bits) == bits;
  }
};

template<class Exec>
struct ListLabelVoxels {
  VoxelArray<Exec> labels;
  float label;
  Array<std::uint64_t, Exec> list; ///< empty: counts alone

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    if (labels.value(i) != label)
      return;
    const std::int64_t row = i / labels.shape[0];
    if (final && list.extent(0) > 0)
      list(sum) = pack_site(int(i - row * labels.shape[0]), int(row % labels.shape[1]),
                            labels.first_plane + int(row / labels.shape[1]));
    ++sum;
  }
};

} // namespace detail

/// The voxels with a label in the planes that are here, in their order. Fences.
template<class Exec>
std::vector<std::uint64_t> list_label_voxels(const Exec& exec, const VoxelArray<Exec>& labels,
                                             int label) {
  std::int64_t count = 0;
  const auto list = [&](const Array<std::uint64_t, Exec>& into) {
    Kokkos::parallel_scan("ossatura::list_label_voxels", range(exec, labels.num_voxels()),
                          detail::ListLabelVoxels<Exec>{labels, float(label), into}, count);
  };
  list({});
  const auto voxels =
      make_uninitialized<std::uint64_t>(exec, count, "ossatura::list_label_voxels::list");
  if (count > 0)
    list(voxels);
  return download(exec, voxels);
}

/// [num_nodes]: how many of the listed voxels, bone or not, touch each node of the grid. Fences.
template<class Exec>
Array<int, Exec> count_touching(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const std::vector<std::uint64_t>& voxels) {
  const auto count = make_zeros<int>(exec, grid.num_nodes, "ossatura::count_touching");
  const auto list = upload(exec, "ossatura::count_touching::voxels", voxels);
  Kokkos::parallel_for("ossatura::count_touching", range(exec, voxels.size()),
                       detail::CountTouching<Exec>{grid, list, count});
  fence(exec, "ossatura::count_touching");
  return count;
}

/// Sets `bit` in `sets` [num_nodes] of the nodes of the faces that end columns, at the upper end or
/// the lower, at coordinates first to last along their axis. Does not fence.
template<class Exec>
void mark_visible(const Exec& exec, const VoxelGrid<Exec>& grid, const ColumnEnds<Exec>& ends,
                  bool upper, int first, int last, std::uint8_t bit,
                  const Array<std::uint8_t, Exec>& sets) {
  Kokkos::parallel_for("ossatura::mark_visible", range(exec, grid.num_nodes),
                       detail::MarkVisible<Exec>{grid, ends, upper, first, last, bit, sets});
}

/// Sets `bit` of the nodes that `count` is greater than 0 for or, where it `narrows`, leaves it set
/// at these alone. Does not fence.
template<class Exec>
void mark_touched(const Exec& exec, const Array<int, Exec>& count, std::uint8_t bit, bool narrows,
                  const Array<std::uint8_t, Exec>& sets) {
  Kokkos::parallel_for("ossatura::mark_touched", range(exec, sets.extent(0)),
                       detail::MarkTouched<Exec>{count, bit, narrows, sets});
}

/// How many owned nodes have all of `bits`, over all ranks. Fences.
template<class Exec>
std::int64_t count_in_sets(const Exec& exec, const VoxelGrid<Exec>& grid,
                           const Array<std::uint8_t, Exec>& sets, std::uint8_t bits,
                           const Communicator& comm = {}) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_in_sets", range(exec, grid.owned.begin, grid.owned.end),
                          detail::CountInAll<Exec>{sets, bits}, count);
  return comm.sum(count);
}

} // namespace ossatura
