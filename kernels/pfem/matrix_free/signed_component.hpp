// SPDX-License-Identifier: Apache-2.0
// signed_component reads a vector of modes as an element sees it.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {

/// Component c of the mode that an element sees as signed mode `mode`.
OSSATURA_FORCEINLINE_FUNCTION double signed_component(const double* x, int mode, int c) {
  if (mode < 0)
    return 0;
  const double value = x[3 * std::int64_t(mode >> 1) + c];
  return mode & 1 ? -value : value;
}

} // namespace detail

} // namespace ossatura
