// SPDX-License-Identifier: Apache-2.0
// A batch holds the hierarchical hexahedra of one order on a backend: geometry, material and
// points, from which stiffness matrices are made.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/pfem/modes.hpp>
#include <ossatura/kernels/pfem/basis_tables.hpp>

#include <cstdint>

namespace ossatura {

/// Elasticity, D of sigma = D epsilon with epsilon = (xx, yy, zz, yz, zx, xy), shear strains
/// doubled (engineering): the upper triangle, row by row.
inline constexpr int elasticity_entries = 21;

/// Place of D(i, j) among these.
KOKKOS_FORCEINLINE_FUNCTION constexpr int elasticity_entry(int i, int j) {
  return i <= j ? i * (11 - i) / 2 + j : j * (11 - j) / 2 + i;
}

/// Row of D of the strain (i, j).
KOKKOS_FORCEINLINE_FUNCTION constexpr int voigt(int i, int j) {
  return i == j ? i : 6 - i - j;
}

/// Points of an element are numbered as modes are, (q0 points + q1) points + q2 with q0 along xi.
template<class Exec>
struct HexaBatch {
  HexaSpace space = HexaSpace::trunk;
  ModeScaling scaling = ModeScaling::orthonormal;
  int order = 1;
  int points = 2; ///< along each axis
  int num_modes = 8;
  std::int64_t num_elem = 0;

  Array<double, Exec> corner;     ///< [num_elem, 8, 3] vertices, in the order of ElementShape::hexa
  Array<double, Exec> jacobian;   ///< [num_elem, points^3, 9] dx_i / dxi_k, or empty: trilinear
  Array<double, Exec> elasticity; ///< [..., 21], of element e at point q at
                                  ///< e elem_stride + q point_stride
  std::int64_t elem_stride = 0, point_stride = 0;

  Array<int, Exec> elem;        ///< [num_elem] number in the mesh
  Array<int, Exec> signed_mode; ///< [num_elem, num_modes] HierarchicNumbering::signed_mode; empty
                                ///< where only matrices are wanted

  Array<double, Exec> point, weight;     ///< [points] along an axis
  Array<double, Exec> value, derivative; ///< [points, order + 1] psi_n and its derivative
  Array<int, Exec> mode;                 ///< [num_modes, 3] hierarchic_modes

  int num_dofs() const { return 3 * num_modes; }
  int num_points() const { return points * points * points; }
  bool is_trilinear() const { return jacobian.extent(0) == 0; }
};

enum class MatrixStorage {
  packed, ///< the lower triangle row by row: (i, j), j <= i, at i (i + 1) / 2 + j
  full    ///< row-major
};

constexpr Names<MatrixStorage> names_of(MatrixStorage) {
  return {{MatrixStorage::packed, "packed"}, {MatrixStorage::full, "full"}};
}

/// Numbers a matrix of n rows takes. Row and column 3 a + c are component c of mode a.
KOKKOS_INLINE_FUNCTION constexpr std::int64_t matrix_entries(MatrixStorage storage,
                                                             std::int64_t n) {
  return storage == MatrixStorage::packed ? n * (n + 1) / 2 : n * n;
}

} // namespace ossatura
