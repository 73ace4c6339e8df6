// SPDX-License-Identifier: Apache-2.0
// A FieldMesh is the mesh of a file of fields, on the host: threads make its nodes and the corners
// of its voxels while they compress them.
#pragma once

#include "apps/bone/input/model.hpp"
#include <ossatura/core/io/hdf5/vtkhdf.hpp>
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace ossatura {

/// Where the lattice of an image lies in the world.
struct LatticePlace {
  double edge;                  ///< of a voxel, mm
  std::array<double, 3> origin; ///< of the lattice, mm
  ImageDirection direction;     ///< of its axes
};

template<class Exec>
LatticePlace lattice_place(const BoneModel<Exec>& model) {
  return {model.edge, model.origin, model.direction};
}

/// Coordinates [count, 3] in mm of the packed sites (pack_site), to `points`.
void place_sites(const LatticePlace& place, const std::uint64_t* sites, std::size_t count,
                 double* points);

/// VTK's voxels lie along its axes.
inline VtkCell cell_of_voxel(const LatticePlace& place) {
  return is_identity(place.direction) ? VtkCell::voxel : VtkCell::hexahedron;
}

/// The corners of voxels (list_corners), entries first to first + count, as those of hexahedra:
/// around the lower face, then around the upper one; where the image is mirrored, the faces change
/// places, so that volumes stay positive.
template<class Corner, class Index>
void order_hexahedra(const LatticePlace& place, const Corner* corners, std::size_t first,
                     std::size_t count, Index* hexahedra) {
  constexpr std::size_t order[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  const std::size_t swap = is_mirrored(place.direction) ? 4 : 0;
  for (std::size_t i = first; i < first + count; ++i)
    hexahedra[i - first] = Index(corners[i - i % 8 + order[(i % 8 + swap) % 8]]);
}

/// The same as those of cell_of_voxel().
template<class Corner, class Index>
void order_cells(const LatticePlace& place, const Corner* corners, std::size_t first,
                 std::size_t count, Index* cells) {
  if (cell_of_voxel(place) == VtkCell::hexahedron)
    order_hexahedra(place, corners, first, count, cells);
  else
    std::copy_n(corners + first, count, cells);
}

/// Voxels of a grid that one process has as a whole.
class FieldMesh {
public:
  /// `element` lists lowest corners of voxels in node order (list_elements). Copies both: about 1
  /// byte a node and 4 a voxel. Fences.
  template<class Exec>
  FieldMesh(const Exec& exec, const LatticePlace& place, const VoxelGrid<Exec>& grid,
            const Array<int, Exec>& element)
      : place_(place)
      , shape_(grid.num_blocks)
      , num_nodes_(std::uint64_t(grid.num_nodes))
      , block_(download(exec, grid.block))
      , solid_block_(download(exec, grid.solid_block))
      , element_(download(exec, element)) {}

  std::uint64_t num_nodes() const { return num_nodes_; }
  std::uint64_t num_voxels() const { return element_.size(); }

  /// Coordinates [count, 3] in mm of nodes from `first` on.
  void make_points(std::uint64_t first, std::uint64_t count, double* points) const;
  /// Nodes [count, 8] of the voxels from `first` on: corner v at (v & 1, v >> 1 & 1, v >> 2).
  void list_corners(std::uint64_t first, std::uint64_t count, int* corners) const;

  void write_to(VtkHdfWriter& file) const;

private:
  std::size_t block_of(int node) const;
  Site place_of(std::uint32_t block) const;
  const detail::NodeBlock* find_block(int x, int y, int z) const;

  LatticePlace place_;
  Kokkos::Array<int, 3> shape_; ///< in blocks
  std::uint64_t num_nodes_;
  std::vector<detail::NodeBlock> block_;
  std::vector<std::uint32_t> solid_block_;
  std::vector<int> element_;
};

} // namespace ossatura
