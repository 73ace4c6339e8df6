// SPDX-License-Identifier: Apache-2.0
// cut_lattice fills the region where a function is negative with tetrahedra, by isosurface stuffing
// [1]: points of a body-centred cubic lattice near the surface are moved onto it, and edges across
// the surface are cut.
//
// [1] F. Labelle, J. R. Shewchuk. Isosurface stuffing: fast tetrahedral meshes with good dihedral
//     angles. ACM Transactions on Graphics 26 (2007), doi:10.1145/1276377.1276448
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <array>
#include <cstdint>
#include <functional>

namespace ossatura::detail {

using Array3 = std::array<double, 3>;

using LevelFunction = std::function<double(const Array3&)>;

struct CutLattice {
  Array3 lower, upper; ///< a box around the region
  double h;            ///< edge of a cube for each lattice point, of which there are 1 / h^3
  double jitter = 0;   ///< lattice points are moved by up to this part of h
  std::uint64_t seed = 0;
};

/// Points and tetrahedra (all positive) of the region where `level` is negative; no tags. `level`
/// is continuous and near its zeros about the signed distance. Points are numbered by planes of
/// rising z, rows of rising y and rising x.
TetraMesh cut_lattice(const CutLattice& lattice, const LevelFunction& level);

} // namespace ossatura::detail
