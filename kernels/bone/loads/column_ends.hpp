// SPDX-License-Identifier: Apache-2.0
// The ends of the columns of voxels along an axis are what is seen of a specimen from its two
// sides, as FAIM's uneven surfaces and the caps of parosol-py have it.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace ossatura {

/// For each column of voxels along `axis` the lattice coordinates, along it, of the outer faces of
/// its first and last solid voxel.
template<class Exec>
struct ColumnEnds {
  int axis = 2;
  Kokkos::Array<int, 2> extent{}; ///< columns along the axes (axis + 1) % 3 and (axis + 2) % 3
  Array<int, Exec> lower, upper; ///< [extent[0] extent[1]]; no_lower and no_upper where all is void

  static constexpr int no_lower = std::numeric_limits<int>::max(), no_upper = -1;

  /// The column through a voxel; -1 outside of the image.
  KOKKOS_FUNCTION std::int64_t column(const int (&voxel)[3]) const {
    const int a = voxel[(axis + 1) % 3], b = voxel[(axis + 2) % 3];
    const bool inside = a >= 0 && b >= 0 && a < extent[0] && b < extent[1];
    return inside ? a + std::int64_t(extent[0]) * b : -1;
  }
};

namespace detail {

/// The solid voxels of a grid, by their lowest corners.
template<class Exec>
struct GridVoxels {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid;

  KOKKOS_FUNCTION bool get(std::int64_t i, int (&voxel)[3]) const {
    if (!(solid(i) > 0))
      return false;
    const Site s = grid.site(int(i));
    voxel[0] = s.x;
    voxel[1] = s.y;
    voxel[2] = s.z;
    return true;
  }
};

/// The solid voxels of the planes of an image.
template<class Exec>
struct ImageVoxels {
  VoxelArray<Exec> image;

  KOKKOS_FUNCTION bool get(std::int64_t i, int (&voxel)[3]) const {
    if (!(image.value(i) > 0))
      return false;
    const std::int64_t row = i / image.shape[0];
    voxel[0] = int(i - row * image.shape[0]);
    voxel[1] = int(row % image.shape[1]);
    voxel[2] = image.first_plane + int(row / image.shape[1]);
    return true;
  }
};

template<class Exec, class Voxels>
struct NoteColumnEnds {
  Voxels voxels;
  ColumnEnds<Exec> ends;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int voxel[3];
    if (!voxels.get(i, voxel))
      return;
    const std::int64_t column = ends.column(voxel);
    Kokkos::atomic_min(&ends.lower(column), voxel[ends.axis]);
    Kokkos::atomic_max(&ends.upper(column), voxel[ends.axis] + 1);
  }
};

/// The least (or greatest) of what all ranks have of each entry: by all. Each reduces a part.
inline std::vector<int> reduce_columns(const Communicator& comm, const std::vector<int>& mine,
                                       bool least) {
  std::vector<std::vector<int>> to(std::size_t(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const std::int64_t size = std::int64_t(mine.size());
    to[std::size_t(rank)].assign(mine.begin() + size * rank / comm.size(),
                                 mine.begin() + size * (rank + 1) / comm.size());
  }
  std::vector<int> part = to[std::size_t(comm.rank())];
  for (const std::vector<int>& other : comm.exchange(to))
    for (std::size_t i = 0; i < other.size(); ++i)
      part[i] = least ? std::min(part[i], other[i]) : std::max(part[i], other[i]);
  return comm.gather(part);
}

template<class Exec, class Voxels>
ColumnEnds<Exec> find_column_ends(const Exec& exec, const Kokkos::Array<int, 3>& shape, int axis,
                                  std::int64_t count, const Voxels& voxels,
                                  const Communicator& comm) {
  ColumnEnds<Exec> ends;
  ends.axis = axis;
  ends.extent = {shape[(axis + 1) % 3], shape[(axis + 2) % 3]};
  const std::int64_t size = std::int64_t(ends.extent[0]) * ends.extent[1];
  ends.lower = make_uninitialized<int>(exec, size, "ossatura::column_ends::lower");
  ends.upper = make_uninitialized<int>(exec, size, "ossatura::column_ends::upper");
  Kokkos::deep_copy(exec, ends.lower, ColumnEnds<Exec>::no_lower);
  Kokkos::deep_copy(exec, ends.upper, ColumnEnds<Exec>::no_upper);
  Kokkos::parallel_for("ossatura::find_column_ends", range(exec, count),
                       NoteColumnEnds<Exec, Voxels>{voxels, ends});
  fence(exec, "ossatura::find_column_ends");
  if (comm.size() > 1) {
    ends.lower = upload(exec, "ossatura::column_ends::lower",
                        reduce_columns(comm, download(exec, ends.lower), true));
    ends.upper = upload(exec, "ossatura::column_ends::upper",
                        reduce_columns(comm, download(exec, ends.upper), false));
  }
  return ends;
}

} // namespace detail

/// The ends of the columns of a grid; `solid` [num_nodes] is greater than 0 at the lowest corners
/// of solid voxels. Of a cut model, with all ranks of `comm`, those of the whole. Fences.
template<class Exec>
ColumnEnds<Exec> find_column_ends(const Exec& exec, const VoxelGrid<Exec>& grid,
                                  const Array<float, Exec>& solid, int axis,
                                  const Communicator& comm = {}) {
  return detail::find_column_ends(exec, grid.shape, axis, grid.num_nodes,
                                  detail::GridVoxels<Exec>{grid, solid}, comm);
}

/// The same of an image, solid where it is greater than 0, whose planes the ranks of `comm` share.
template<class Exec>
ColumnEnds<Exec> find_column_ends(const Exec& exec, const VoxelArray<Exec>& image, int axis,
                                  const Communicator& comm = {}) {
  return detail::find_column_ends(exec, image.shape, axis, image.num_voxels(),
                                  detail::ImageVoxels<Exec>{image}, comm);
}

} // namespace ossatura
