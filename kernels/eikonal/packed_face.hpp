// SPDX-License-Identifier: Apache-2.0
// A packed face is a tetrahedron as seen from a point, in 32 bits: the places of its other three
// points among the neighbours of that point, 7 bits each, and 11 bits of its height.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <cstdint>
#include <cstring>

namespace ossatura {

OSSATURA_FORCEINLINE_FUNCTION constexpr int face_place(std::uint32_t face, int which) {
  return int(face >> 7 * which & 127);
}

/// A lower bound of a height, in the room that a face has for it: the exponent and three more bits
/// of a float, which cuts off at most a ninth.
OSSATURA_FORCEINLINE_FUNCTION std::uint32_t pack_height(std::uint32_t face, float height) {
  std::uint32_t bits;
  memcpy(&bits, &height, sizeof(bits));
  return (bits & 0x7ff00000u) << 1 | (face & 0x1fffffu);
}

OSSATURA_FORCEINLINE_FUNCTION float unpack_height(std::uint32_t face) {
  const std::uint32_t bits = face >> 1 & 0x7ff00000u;
  float height;
  memcpy(&height, &bits, sizeof(height));
  return height;
}

} // namespace ossatura
