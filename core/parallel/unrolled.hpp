// SPDX-License-Identifier: Apache-2.0
// An unrolled loop passes its counter as a constant of the compiler. Tables that the loop reads
// with the counter become operands of instructions.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <utility>

namespace ossatura {

/// An integral constant that device code, too, may convert.
template<int N>
struct IntConstant {
  static constexpr int value = N;
  OSSATURA_FORCEINLINE_FUNCTION constexpr operator int() const { return N; }
};

namespace detail {
template<int first, class Body, int... i>
OSSATURA_FORCEINLINE_FUNCTION void run_unrolled(const Body& body,
                                                std::integer_sequence<int, i...>) {
  (body(IntConstant<first + i>()), ...);
}
} // namespace detail

/// body(i) for i = first .. last - 1, where i is an IntConstant if `known`, else an int up to
/// `end`.
template<bool known, int first, int last, class Body>
OSSATURA_FORCEINLINE_FUNCTION void unrolled(int end, const Body& body) {
  if constexpr (known) {
    detail::run_unrolled<first>(body, std::make_integer_sequence<int, last - first>());
  } else {
    for (int i = first; i < end; ++i)
      body(i);
  }
}

} // namespace ossatura
