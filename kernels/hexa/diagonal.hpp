// SPDX-License-Identifier: Apache-2.0
// These kernels compute the block diagonal of the stiffness matrix of a mesh of hexahedra.
#pragma once

#include <ossatura/kernels/algebra/dense/invert_block.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

namespace detail {
template<class Exec, class Source, class Scalar>
struct InvertHexaBlocks {
  HexaArrays<Exec> arrays;
  Source source;
  Array<double, Exec> modulus, spring;
  Array<std::uint8_t, Exec> held;
  bool couplings;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double block[6] = {0, 0, 0, 0, 0, 0}, inverted[6] = {0, 0, 0, 0, 0, 0};
    for (int s = arrays.around_begin(node); s < arrays.around_begin(node + 1); ++s) {
      const int elem = arrays.around(s) / 8;
      double own[6];
      source.diagonal_block(elem, arrays.around(s) % 8, own);
      for (int k = 0; k < 6; ++k)
        block[k] += modulus(elem) * own[k];
    }
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
/// without `couplings`, of the diagonal alone. `source` has K_e for a modulus of 1 (stiffness.hpp).
/// `modulus` [num_elem], `spring` [num_nodes, 3] is added to the diagonal, or empty. Does not
/// fence.
template<class Exec, class Source, class Scalar>
void invert_hexa_blocks(const Exec& exec, const HexaArrays<Exec>& arrays, const Source& source,
                        const Array<double, Exec>& modulus, const Array<double, Exec>& spring,
                        const Array<std::uint8_t, Exec>& held, bool couplings,
                        const Array<Scalar, Exec>& inverse) {
  Kokkos::parallel_for("ossatura::invert_hexa_blocks", range(exec, arrays.num_nodes),
                       detail::InvertHexaBlocks<Exec, Source, Scalar>{
                           arrays, source, modulus, spring, held, couplings, inverse});
}

} // namespace ossatura
