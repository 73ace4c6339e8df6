// SPDX-License-Identifier: Apache-2.0
// Lane shuffles move the lanes of vectors (lanes.hpp) in kernels that are compiled for one
// instruction set each. All are inlined, so that the linker cannot mix what is compiled with
// different flags.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <type_traits>
#include <utility>

namespace ossatura::detail {

/// Lanes of `a`, and behind them of `b`, by their numbers.
template<int... I, class Vector>
OSSATURA_FORCEINLINE_FUNCTION auto select_lanes(Vector a, [[maybe_unused]] Vector b) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define OSSATURA_HAS_SHUFFLE 1
#endif
#endif
#if defined(OSSATURA_HAS_SHUFFLE)
  return __builtin_shufflevector(a, b, I...);
#else // GCC before 12
  using Scalar = std::remove_cv_t<std::remove_reference_t<decltype(a[0])>>;
  constexpr int n = sizeof(Vector) / sizeof(Scalar);
  typedef Scalar Result __attribute__((vector_size(sizeof...(I) * sizeof(Scalar))));
  return Result{(I < n ? a[I % n] : b[I % n])...};
#endif
}

/// Lanes of a vector in groups of four: element k of every group of the result is element
/// pattern[k] of the group of `a`, or, from 4 on, of `b`.
template<int... Pattern, class Vector, int... I>
OSSATURA_FORCEINLINE_FUNCTION Vector shuffle_groups(Vector a, Vector b,
                                                    std::integer_sequence<int, I...>) {
  constexpr int pattern[4] = {Pattern...}, n = sizeof...(I);
  return select_lanes<(I / 4 * 4 +
                       (pattern[I % 4] < 4 ? pattern[I % 4] : n + pattern[I % 4] - 4))...>(a, b);
}

/// One after the other.
template<class Quad, int... I>
OSSATURA_FORCEINLINE_FUNCTION auto join(Quad a, Quad b, std::integer_sequence<int, I...>) {
  return select_lanes<I...>(a, b);
}

/// Group number `Group` of four lanes.
template<int Group, class Vector, int... I>
OSSATURA_FORCEINLINE_FUNCTION auto group_of(Vector a, std::integer_sequence<int, I...>) {
  return select_lanes<(4 * Group + I)...>(a, a);
}

} // namespace ossatura::detail
