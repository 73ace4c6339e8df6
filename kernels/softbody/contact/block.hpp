// SPDX-License-Identifier: Apache-2.0
// A contact block solves one contact by itself: Signorini's and Coulomb's conditions for a pair
// whose force moves the pair by a 3 x 3 block of the compliance.
//
// The normal force comes first, then friction for that normal force [1]: the tangential force that
// stops all sliding, where the cone has it. Where not, one step of the projection by which
// Coulomb's law is written as an equation [2], f = P(f - rho u) with the disc of radius mu f_n: a
// force that does not change any more is on the rim of the disc and opposite to the sliding u.
//
// [1] C. Duriez, F. Dubois, A. Kheddar, C. Andriot. Realistic haptic rendering of interacting
//     deformable objects in virtual environments. IEEE Trans. Vis. Comput. Graph. 12 (2006) 36-47,
//     doi:10.1109/TVCG.2006.13.
// [2] F. Jourdan, P. Alart, M. Jean. A Gauss-Seidel like algorithm to solve frictional contact
//     problems. Comput. Methods Appl. Mech. Eng. 155 (1998) 31-47,
//     doi:10.1016/S0045-7825(97)00137-0.
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>

namespace ossatura {

/// The numbers of its block that the update of a contact needs.
struct ContactBlock {
  double tangent_normal[2];  ///< sliding for a unit of normal force
  double inverse_normal;     ///< 0 where the pair does not give
  double inverse_tangent[3]; ///< of the tangential block: 00, 01, 11
  double step;               ///< rho: 1 over the largest eigenvalue of the tangential block
  double give[2];            ///< along the normal, and that eigenvalue
  double friction;
};

/// From rows of `stride` entries, the first at `block`.
KOKKOS_INLINE_FUNCTION ContactBlock make_contact_block(const double* block, std::int64_t stride,
                                                       double friction) {
  ContactBlock result{};
  const double normal = block[0], a = block[stride + 1], b = block[stride + 2],
               c = block[2 * stride + 2];
  result.tangent_normal[0] = block[stride];
  result.tangent_normal[1] = block[2 * stride];
  result.inverse_normal = normal > 0 ? 1 / normal : 0;
  const double difference = 0.5 * (a - c);
  const double largest = 0.5 * (a + c) + sqrt(difference * difference + b * b);
  result.step = largest > 0 ? 1 / largest : 0;
  result.give[0] = normal;
  result.give[1] = largest;
  const double det = a * c - b * b;
  if (det > 1e-12 * largest * largest) {
    result.inverse_tangent[0] = c / det;
    result.inverse_tangent[1] = -b / det;
    result.inverse_tangent[2] = a / det;
  } else { // gives in one direction alone
    result.inverse_tangent[0] = result.inverse_tangent[2] = result.step;
  }
  result.friction = friction;
  return result;
}

/// (x, y) cut to the disc of radius r.
KOKKOS_INLINE_FUNCTION void project_on_disc(double r, double& x, double& y) {
  const double square = x * x + y * y;
  if (square <= r * r)
    return;
#if defined(__CUDA_ARCH__)
  const double factor = r * rsqrt(square); // a third of the time, where one pair waits for another
#else
  const double factor = r / sqrt(square);
#endif
  x *= factor;
  y *= factor;
}

/// The new force of a contact with the force `force` and, under all forces, the motion `motion`:
/// the gap and the sliding. Returns the change.
KOKKOS_INLINE_FUNCTION void update_contact(const ContactBlock& block, const double* motion,
                                           const double* force, double* change) {
  const double normal = force[0] - motion[0] * block.inverse_normal;
  const double pressed = normal > 0 ? normal : 0;
  change[0] = pressed - force[0];
  const double rim = block.friction * pressed;
  const double u = motion[1] + block.tangent_normal[0] * change[0];
  const double v = motion[2] + block.tangent_normal[1] * change[0];
  double x = force[1] - block.inverse_tangent[0] * u - block.inverse_tangent[1] * v;
  double y = force[2] - block.inverse_tangent[1] * u - block.inverse_tangent[2] * v;
  if (x * x + y * y > rim * rim) {
    x = force[1] - block.step * u;
    y = force[2] - block.step * v;
    project_on_disc(rim, x, y);
  }
  change[1] = x - force[1];
  change[2] = y - force[2];
}

/// The square of the motion that a change of force would be for the pair alone.
KOKKOS_INLINE_FUNCTION double own_motion_square(const ContactBlock& block, const double* change) {
  const double normal = block.give[0] * block.give[0] * change[0] * change[0];
  const double tangent =
      block.give[1] * block.give[1] * (change[1] * change[1] + change[2] * change[2]);
  return Kokkos::max(tangent, normal);
}

/// The distance of a contact from the conditions, as motions: what one projected step along the
/// normal and along the tangents would change, m.
struct ContactDefect {
  double normal, tangent;
};

KOKKOS_INLINE_FUNCTION ContactDefect contact_defect(const ContactBlock& block, const double* motion,
                                                    const double* force) {
  const double normal = force[0] - motion[0] * block.inverse_normal;
  double x = force[1] - block.step * motion[1], y = force[2] - block.step * motion[2];
  project_on_disc(block.friction * (force[0] > 0 ? force[0] : 0), x, y);
  const double lift = (normal > 0 ? normal : 0) - force[0], dx = x - force[1], dy = y - force[2];
  return {block.give[0] * (lift < 0 ? -lift : lift), block.give[1] * sqrt(dx * dx + dy * dy)};
}

} // namespace ossatura
