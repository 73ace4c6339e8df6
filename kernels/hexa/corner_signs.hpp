// SPDX-License-Identifier: Apache-2.0
// Corners of the reference hexahedron.
#pragma once

#include <ossatura/core/base/function.hpp>

namespace ossatura::detail {

/// Corner a of a hexahedron is at (xi, eta, zeta) = (+1 or -1)^3.
OSSATURA_FORCEINLINE_FUNCTION double hexa_xi(int a) {
  return (a & 3) == 1 || (a & 3) == 2 ? 1 : -1;
}
OSSATURA_FORCEINLINE_FUNCTION double hexa_eta(int a) {
  return a & 2 ? 1 : -1;
}
OSSATURA_FORCEINLINE_FUNCTION double hexa_zeta(int a) {
  return a & 4 ? 1 : -1;
}

} // namespace ossatura::detail
