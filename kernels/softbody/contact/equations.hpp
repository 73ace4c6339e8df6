// SPDX-License-Identifier: Apache-2.0
// The conditions of contact with friction as equations with projections [1], whose kinks Newton's
// method takes as they come (a semismooth method [2]):
//   open pairs      no force
//   pressed pairs   no gap
//   that stick      no sliding
//   that slide      f = mu f_n d, with d the direction of f - rho u
//
// [1] F. Jourdan, P. Alart, M. Jean. A Gauss-Seidel like algorithm to solve frictional contact
//     problems. Comput. Methods Appl. Mech. Eng. 155 (1998) 31-47,
//     doi:10.1016/S0045-7825(97)00137-0.
// [2] P. Alart, A. Curnier. A mixed formulation for frictional contact problems prone to
//     Newton like solution methods. Comput. Methods Appl. Mech. Eng. 92 (1991) 353-375,
//     doi:10.1016/0045-7825(91)90022-X.
#pragma once

#include <ossatura/kernels/softbody/contact/block.hpp>

namespace ossatura {

/// That press: what a block of a device eliminates in its registers, with the right-hand side 127
/// columns.
constexpr int most_pairs_of_block_newton = 42;

/// An equation: `of` times the rows of the compliance of its pair, and `own` times the pair's own
/// changes of force, are `base` less `of` times the motions.
struct ContactEquation {
  double of[3], own[3], base;
};

/// Whether a pair with this motion and force is not open.
KOKKOS_INLINE_FUNCTION bool contact_presses(const ContactBlock& block, const double* motion,
                                            const double* force) {
  return force[0] - motion[0] * block.inverse_normal > 0;
}

/// The three equations of a pair that is not open at its motion and force.
KOKKOS_INLINE_FUNCTION void set_contact_equations(const ContactBlock& block, const double* motion,
                                                  const double* force, ContactEquation* row) {
  for (int k = 0; k < 3; ++k)
    row[k] = ContactEquation{};
  row[0].of[0] = block.inverse_normal;
  const double x = force[1] - block.step * motion[1], y = force[2] - block.step * motion[2];
  const double rim = block.friction * (force[0] - motion[0] * block.inverse_normal);
  const double square = x * x + y * y;
  if (square <= rim * rim) {
    row[1].of[1] = row[2].of[2] = block.step;
    return;
  }
#if defined(__CUDA_ARCH__)
  const double inverse = rsqrt(square);
#else
  const double inverse = 1 / sqrt(square);
#endif
  const double pressed = block.friction * (force[0] > 0 ? force[0] : 0);
  const double d[2] = {x * inverse, y * inverse};
  const double turn = pressed * inverse < 1 ? pressed * inverse : 1;
  for (int k = 0; k < 2; ++k) {
    ContactEquation& to = row[1 + k];
    to.base = pressed * d[k] - force[1 + k];
    to.own[0] = -block.friction * d[k];
    for (int l = 0; l < 2; ++l) {
      const double part = turn * ((k == l) - d[k] * d[l]);
      to.of[1 + l] = part * block.step;
      to.own[1 + l] = (k == l) - part;
      to.base += to.of[1 + l] * motion[1 + l];
    }
  }
}

} // namespace ossatura
