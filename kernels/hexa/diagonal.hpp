// SPDX-License-Identifier: Apache-2.0
// These kernels compute the block diagonal of the stiffness matrix of a mesh of hexahedra.
#pragma once

#include <ossatura/kernels/algebra/invert_block.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

/// Adds E_e K_e,aa of every element around a node: xx, yy, zz, xy, yz, zx.
template<class Exec>
KOKKOS_INLINE_FUNCTION void add_hexa_diagonal(const HexaArrays<Exec>& arrays, const UnitLame& lame,
                                              const Array<double, Exec>& modulus, int node,
                                              double (&block)[6]) {
  for (int s = arrays.around_begin(node); s < arrays.around_begin(node + 1); ++s) {
    const int elem = arrays.around(s) / 8, a = arrays.around(s) % 8;
    double x[24], sum[6] = {0, 0, 0, 0, 0, 0};
    arrays.load_points(elem, x);
    const detail::HexaModes modes = detail::hexa_modes(x);
    for (int g = 0; g < 8; ++g) {
      const Matrix3 jacobian = detail::gauss_jacobian(modes, g);
      const Vector3 d = cofactor(jacobian) * detail::hexa_shape_gradient(a, g);
      const Vector3 weighted = (1 / determinant(jacobian)) * d;
      for (int c = 0; c < 3; ++c) {
        sum[c] += weighted[c] * d[c];
        sum[3 + c] += weighted[c] * d[(c + 1) % 3];
      }
    }
    const double trace = lame.mu * (sum[0] + sum[1] + sum[2]);
    for (int k = 0; k < 6; ++k)
      block[k] += modulus(elem) * ((lame.lambda + lame.mu) * sum[k] + (k < 3 ? trace : 0));
  }
}

namespace detail {
template<class Exec, class Scalar>
struct InvertHexaBlocks {
  HexaArrays<Exec> arrays;
  UnitLame lame;
  Array<double, Exec> modulus, spring;
  Array<std::uint8_t, Exec> held;
  bool couplings;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double block[6] = {0, 0, 0, 0, 0, 0}, inverted[6] = {0, 0, 0, 0, 0, 0};
    add_hexa_diagonal(arrays, lame, modulus, int(node), block);
    if (spring.extent(0) > 0)
      for (int c = 0; c < 3; ++c)
        block[c] += spring(3 * node + c);
    if (!couplings)
      block[3] = block[4] = block[5] = 0;
    if (block[0] + block[1] + block[2] > 0) // a node of no element has nothing to be solved
      invert_block(block, held(node), inverted);
    for (int k = 0; k < 6; ++k)
      inverse(6 * node + k) = Scalar(inverted[k]);
  }
};
} // namespace detail

/// inverse [6 num_nodes] = the inverse 3 x 3 blocks of the nodes' free components as xx, yy, zz,
/// xy, yz, zx, zero rows and columns where `held` (Constraints::mask) and at nodes of no element;
/// without `couplings`, of the diagonal alone. `modulus` [num_elem], `spring` [num_nodes, 3] is
/// added to the diagonal, or empty. Does not fence.
template<class Exec, class Scalar>
void invert_hexa_blocks(const Exec& exec, const HexaArrays<Exec>& arrays, const UnitLame& lame,
                        const Array<double, Exec>& modulus, const Array<double, Exec>& spring,
                        const Array<std::uint8_t, Exec>& held, bool couplings,
                        const Array<Scalar, Exec>& inverse) {
  Kokkos::parallel_for("ossatura::invert_hexa_blocks", range(exec, arrays.num_nodes),
                       detail::InvertHexaBlocks<Exec, Scalar>{arrays, lame, modulus, spring, held,
                                                              couplings, inverse});
}

} // namespace ossatura
