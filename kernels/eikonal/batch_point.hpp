// SPDX-License-Identifier: Apache-2.0
// A batch point is a point that is being updated together with a few others.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <cstdint>

namespace ossatura {

/// Items are 32-bit: index into times, with the highest bit for "changed in the iteration before".
constexpr std::uint32_t changed_bit = 0x80000000u;

/// First index of the set of times that `index` belongs to.
OSSATURA_FORCEINLINE_FUNCTION int first_of_set(int index, int num_points) {
  return index < num_points ? 0 : index / num_points * num_points;
}

template<class Real>
struct BatchPoint {
  std::uint32_t item;
  int index;                ///< of its time
  int base;                 ///< first index of its set
  int ring_begin, ring_end; ///< its tetrahedra
  int star_begin;           ///< its neighbours
  int num_neighbours;       ///< 0: more than there is room for
  Real current, best;
};

} // namespace ossatura
