// SPDX-License-Identifier: Apache-2.0
// Mean strains of elements, and the forces that are dual to them, for every kind of body. A kind
// has
//   is_elem(e)             whether there is an element e,
//   strain(e, u, s)        its mean strain xx, yy, zz, and twice xy, yz, zx, of displacements u
//                          [num_nodes, 3],
//   shear_modulus(e)       for a Young's modulus of 1,
//   at_node(node, visit)   visit(e, g) for each element around a node, in a fixed order, with the
//                          mean g of the gradient of the node's shape function.
// The mean over a cube, a parallelepiped or a tetrahedron of four nodes is the strain at its
// centre.
#pragma once

#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/hexa/ratios.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>
#include <ossatura/kernels/solids/fields.hpp>

namespace ossatura {

/// Of trilinear hexahedra.
template<class Exec>
struct HexaMeanStrains {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  HexaRatioPointers ratios;

  KOKKOS_FUNCTION bool is_elem(std::int64_t) const { return true; }
  KOKKOS_FUNCTION double shear_modulus(std::int64_t e) const { return ratios.at(e, lame).mu; }
  KOKKOS_FUNCTION void strain(std::int64_t e, const Array<double, Exec>& u, double (&s)[6]) const {
    const detail::HexaModes place = modes_of(arrays.point, int(e)), way = modes_of(u, int(e));
    double volume = 0;
    for (double& one : s)
      one = 0;
    for (int g = 0; g < 8; ++g) {
      const Matrix3 jacobian = gauss_jacobian(place, g), to_x = cofactor(jacobian);
      const Matrix3 gradient = times_transposed(gauss_jacobian(way, g), to_x); // times the weight
      volume += dot(jacobian.row[0], to_x.row[0]);
      for (int c = 0; c < 3; ++c) {
        const int d = (c + 1) % 3;
        s[c] += gradient.row[c][c];
        s[3 + c] += gradient.row[c][d] + gradient.row[d][c];
      }
    }
    for (double& one : s)
      one /= volume;
  }
  template<class Visit>
  KOKKOS_FUNCTION void at_node(std::int64_t node, Visit& visit) const {
    for (int s = arrays.around_begin(node); s < arrays.around_begin(node + 1); ++s) {
      const int e = arrays.around(s) / 8, a = arrays.around(s) % 8;
      const detail::HexaModes place = modes_of(arrays.point, e);
      double volume = 0;
      Vector3 sum{{0, 0, 0}};
      for (int g = 0; g < 8; ++g) {
        const Matrix3 jacobian = gauss_jacobian(place, g), to_x = cofactor(jacobian);
        volume += dot(jacobian.row[0], to_x.row[0]);
        sum = sum + to_x * detail::hexa_shape_gradient(a, g);
      }
      visit(std::int64_t(e), (1 / volume) * sum);
    }
  }

private:
  KOKKOS_FUNCTION detail::HexaModes modes_of(const Array<double, Exec>& values, int e) const {
    detail::HexaModes modes = detail::no_modes();
    for (int a = 0; a < 8; ++a) {
      const std::int64_t i = 3 * std::int64_t(arrays.node_of(e, a));
      modes.add_corner(a, Vector3{{values(i), values(i + 1), values(i + 2)}});
    }
    return modes;
  }
};

/// Of solid elements of any kinds.
template<class Exec>
struct SolidMeanStrains {
  SolidArrays<Exec> arrays;
  UnitLame lame;

  KOKKOS_FUNCTION bool is_elem(std::int64_t) const { return true; }
  KOKKOS_FUNCTION double shear_modulus(std::int64_t) const { return lame.mu; }
  KOKKOS_FUNCTION void strain(std::int64_t e, const Array<double, Exec>& u, double (&s)[6]) const {
    double volume = 0;
    for (double& one : s)
      one = 0;
    for (int q = 0; q < arrays.num_points(e); ++q) {
      double own[6];
      detail::solid_strain(arrays, e, q, u, own);
      const double weight = arrays.weight(arrays.point_begin(e) + q);
      volume += weight;
      for (int k = 0; k < 6; ++k)
        s[k] += weight * own[k];
    }
    for (double& one : s)
      one /= volume;
  }
  template<class Visit>
  KOKKOS_FUNCTION void at_node(std::int64_t node, Visit& visit) const {
    for (int i = arrays.around_begin(node); i < arrays.around_begin(node + 1); ++i) {
      const int slot = arrays.around(i);
      const std::int64_t e = arrays.elem(slot);
      const int n = arrays.num_slots(e), a = slot - arrays.begin(e);
      double volume = 0;
      Vector3 sum{{0, 0, 0}};
      for (int q = 0; q < arrays.num_points(e); ++q) {
        const double weight = arrays.weight(arrays.point_begin(e) + q);
        const std::int64_t at = arrays.slope_begin(e) + 3 * (std::int64_t(n) * q + a);
        volume += weight;
        sum =
            sum + weight * Vector3{{arrays.slope(at), arrays.slope(at + 1), arrays.slope(at + 2)}};
      }
      visit(e, (1 / volume) * sum);
    }
  }
};

/// Of voxels, each at the node of its lowest corner.
template<class Exec>
struct VoxelMeanStrains {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;

  KOKKOS_FUNCTION bool is_elem(std::int64_t e) const { return lame.solid(int(e)); }
  KOKKOS_FUNCTION double shear_modulus(std::int64_t) const { return lame.mu_scale; }
  KOKKOS_FUNCTION void strain(std::int64_t e, const Array<double, Exec>& u, double (&s)[6]) const {
    double v[24], stress[6];
    detail::load_voxel(grid, u, int(e), v);
    detail::centre_strain_stress(v, edge, 0, 0, s, stress);
  }
  template<class Visit>
  KOKKOS_FUNCTION void at_node(std::int64_t node, Visit& visit) const {
    const Site s = grid.site(int(node));
    const double slope = 1 / (4 * edge);
    for (int k = 0; k < 8; ++k) {
      const int lowest = grid.find(s.x - (k & 1), s.y - (k >> 1 & 1), s.z - (k >> 2));
      if (lowest >= 0 && lame.solid(lowest))
        visit(std::int64_t(lowest), Vector3{{k & 1 ? slope : -slope, k >> 1 & 1 ? slope : -slope,
                                             k >> 2 ? slope : -slope}});
    }
  }
};

} // namespace ossatura
