// SPDX-License-Identifier: Apache-2.0
// A LatticeBody is a mesh of hexahedra that is stated by cells of a lattice: two bits a cell in the
// place of nodes, points and the lists of elements, which can be made from it. Host memory, without
// Kokkos.
#pragma once

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Which places of a lattice are taken, a bit each. Those that are taken have numbers, x fastest,
/// then y.
struct LatticeRows {
  std::array<int, 3> shape{};      ///< places along x, y, z
  int words = 0;                   ///< of 64 places, that a row along x has
  std::vector<std::uint64_t> bits; ///< [shape[1] * shape[2], words]
  std::vector<std::int32_t> begin; ///< [rows + 1] the number of the first of a row, then the count

  void resize(const std::array<int, 3>& places); ///< nothing is taken
  void count();                                  ///< sets `begin`; throws InputError above 2^31 - 1

  std::int64_t size() const { return begin.back(); }
  std::size_t row(int y, int z) const {
    return std::size_t(y) + std::size_t(shape[1]) * std::size_t(z);
  }
  const std::uint64_t* of_row(std::size_t row) const { return &bits[row * std::size_t(words)]; }
  std::uint64_t* of_row(std::size_t row) { return &bits[row * std::size_t(words)]; }
  /// False off the lattice, too.
  bool has(const std::array<int, 3>& place) const;
  /// The number of a place, which is taken.
  std::int32_t number(const std::array<int, 3>& place) const;
  std::array<int, 3> place(std::int32_t number) const;
};

/// Flags of planes normal to each axis.
using ChosenPlanes = std::array<std::vector<bool>, 3>;

class LatticeBody {
public:
  using Place = std::array<int, 3>;
  /// Cells from low[axis] to high[axis] - 1.
  struct CellBox {
    Place low, high;
  };

  /// `plane`: coordinates of the planes between cells along each axis, ascending, in m; `solid`:
  /// where cells are, boxes that may overlap. Throws std::invalid_argument for fewer than two
  /// planes along an axis, planes that do not ascend, boxes outside and no cell, InputError for
  /// more nodes than 2^31 - 1.
  LatticeBody(std::array<std::vector<double>, 3> plane, const std::vector<CellBox>& solid);

  const Place& cells() const { return cell_.shape; }
  const std::vector<double>& plane(int axis) const { return plane_[std::size_t(axis)]; }
  /// Numbers of cells and their corners, in the order of those that make_hexa_box and
  /// make_voxel_mesh give elements and nodes.
  const LatticeRows& elem() const { return cell_; }
  const LatticeRows& node() const { return node_; }
  std::int64_t num_elem() const { return cell_.size(); }
  std::int64_t num_nodes() const { return node_.size(); }

  std::array<double, 3> point(const Place& node) const {
    return {plane_[0][std::size_t(node[0])], plane_[1][std::size_t(node[1])],
            plane_[2][std::size_t(node[2])]};
  }
  /// The box around all nodes.
  Box bounds() const;
  /// Of the cells along the longest axis, the edge that find_cube_lattice finds.
  double edge() const;
  /// Whether cells are cubes, but for 1e-5 of an edge, and the box around all of them is the
  /// lattice.
  bool is_of_cubes() const;
  /// The faces of cells that x lies in, to a thousandth of a cell, and that have no cell on their
  /// other side: bits 2 d and 2 d + 1 of those that face down and up axis d.
  std::uint8_t faces_at(const std::array<double, 3>& x) const;
  /// Whether cells share nodes with one another all the way.
  bool is_one_part() const;

  /// Points [nodes in the plane z of the lattice, 3], nodes of elements [elements in the layer z,
  /// 8] in the order of VTK.
  std::vector<double> points_in_plane(int z) const;
  std::vector<std::int32_t> elements_in_layer(int z) const;
  /// The mesh, whole.
  ElementMesh mesh() const;
  /// The elements around `nodes` (ascending), and nothing else, with points of their own; `number`
  /// becomes the number here of each of these points. Both keep their order.
  ElementMesh mesh_around(const std::vector<std::int32_t>& nodes,
                          std::vector<std::int32_t>& number) const;

  /// Calls visit(place, number), numbers ascending, for what is at places whose planes are chosen.
  template<class Visit>
  static void for_places(const LatticeRows& rows, const ChosenPlanes& chosen, const Visit& visit) {
    std::vector<int> along;
    for (int x = 0; x < rows.shape[0]; ++x)
      if (chosen[0][std::size_t(x)])
        along.push_back(x);
    for (int z = 0; z < rows.shape[2]; ++z)
      for (int y = 0; y < rows.shape[1] && chosen[2][std::size_t(z)]; ++y)
        if (chosen[1][std::size_t(y)])
          for (const int x : along)
            if (const Place place{x, y, z}; rows.has(place))
              visit(place, rows.number(place));
  }

private:
  std::array<std::vector<double>, 3> plane_;
  LatticeRows cell_, node_;
};

/// A box of cells from the origin to `size`, as make_hexa_box and make_hexa_box_without make them:
/// without those from first[axis] to last[axis] - 1, if first[0] < last[0]. Throws as these do.
LatticeBody make_lattice_box(const std::array<int, 3>& cells, const std::array<double, 3>& size,
                             const std::array<int, 3>& first = {},
                             const std::array<int, 3>& last = {});

/// The voxels greater than 0, as make_voxel_mesh takes them. Throws as it does.
LatticeBody make_lattice_body(const VoxelImage& image, double unit = 1);

} // namespace ossatura
