// SPDX-License-Identifier: Apache-2.0
// A batch holds the hierarchical hexahedra of one order on a backend: geometry, material and
// points, from which stiffness matrices are made.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/pfem/modes.hpp>
#include <ossatura/kernels/pfem/basis_tables.hpp>
#include <ossatura/kernels/pfem/elasticity_entry.hpp>
#include <ossatura/kernels/pfem/matrix_storage.hpp>

#include <cstdint>

namespace ossatura {

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

} // namespace ossatura
