// SPDX-License-Identifier: BSD-3-Clause
// Loops over all voxels of an image, which may have more than 2^31 of them.
#pragma once

#include "core/backend.hpp"

#include <cstdint>

namespace femura {

/// The policy of 0 <= i < n on `exec` with a 64-bit i.
template<class Exec>
Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> voxel_range(const Exec& exec,
                                                                       std::int64_t n) {
  return {exec, 0, n};
}

} // namespace femura
