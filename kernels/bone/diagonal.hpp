// SPDX-License-Identifier: Apache-2.0
// The diagonal scales residuals by one number per node: the inverse of the diagonal of the voxel
// stiffness matrix, or the inverse norms of its diagonal blocks.
#pragma once

#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <cmath>

namespace ossatura {

namespace detail {
template<class Exec, class Scalar>
struct InvertDiagonal {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double lambda = 0, mu = 0;
    for (int q = 0; q < 8; ++q) {
      const int lowest = grid.find(s.x - (q & 1), s.y - (q >> 1 & 1), s.z - (q >> 2));
      if (lowest >= 0 && lame.solid(lowest)) {
        lambda += lame.lambda(lowest);
        mu += lame.mu(lowest);
      }
    }
    inverse(node) = Scalar(1 / VoxelStiffnessEntries<double>(edge * lambda, edge * mu).diagonal());
  }
};
} // namespace detail

/// [num_nodes] inverse of the diagonal entry, which a node's three components share because the
/// cube is isotropic in its axes. `edge` in mm. Does not fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal(const Exec& exec, const VoxelGrid<Exec>& grid,
                                          const LameField<Exec>& lame, double edge) {
  Array<Scalar, Exec> inverse =
      make_uninitialized<Scalar>(exec, grid.num_nodes, "ossatura::inverse_diagonal");
  Kokkos::parallel_for("ossatura::make_inverse_diagonal", range(exec, grid.num_nodes),
                       detail::InvertDiagonal<Exec, Scalar>{grid, lame, edge, inverse});
  return inverse;
}

namespace detail {
template<class Exec, class Scalar>
struct InvertBlockNorms {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double diagonal = 0, xy = 0, yz = 0, zx = 0;
    for (int v = 0; v < 8; ++v) {
      const int lowest = grid.find(s.x - (v & 1), s.y - (v >> 1 & 1), s.z - (v >> 2));
      if (lowest < 0 || !lame.solid(lowest))
        continue;
      const VoxelStiffnessEntries<double> k(edge * lame.lambda(lowest), edge * lame.mu(lowest));
      diagonal += k.diagonal();
      xy += k(v, 0, v, 1);
      yz += k(v, 1, v, 2);
      zx += k(v, 2, v, 0);
    }
    // The block is the diagonal, the same for x, y and z, plus couplings, whose largest eigenvalue
    // is the largest root of t^3 - (xy^2 + yz^2 + zx^2) t - 2 xy yz zx. All by the diagonal, so
    // that neither large nor small moduli overflow.
    xy /= diagonal;
    yz /= diagonal;
    zx /= diagonal;
    const double radius = std::sqrt((xy * xy + yz * yz + zx * zx) / 3);
    double largest = 0;
    if (radius > 0) {
      const double cosine = xy * yz * zx / (radius * radius * radius);
      largest = 2 * radius * std::cos(std::acos(Kokkos::clamp(cosine, -1.0, 1.0)) / 3);
    }
    inverse(node) = Scalar(1 / (diagonal * (1 + largest)));
  }
};
} // namespace detail

/// [num_nodes] inverse of the largest eigenvalue of a node's 3 x 3 diagonal block. Inside a
/// homogeneous body that is the diagonal entry; on surfaces it is larger. As S = 1 / norm is no
/// larger than the inverse of the block, the largest eigenvalue of S A is bounded by that of the
/// block scaling, about 2.9, where the diagonal alone has up to 4.4. `edge` in mm. Does not fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_block_norm(const Exec& exec, const VoxelGrid<Exec>& grid,
                                            const LameField<Exec>& lame, double edge) {
  Array<Scalar, Exec> inverse =
      make_uninitialized<Scalar>(exec, grid.num_nodes, "ossatura::inverse_block_norm");
  Kokkos::parallel_for("ossatura::make_inverse_block_norm", range(exec, grid.num_nodes),
                       detail::InvertBlockNorms<Exec, Scalar>{grid, lame, edge, inverse});
  return inverse;
}

} // namespace ossatura
