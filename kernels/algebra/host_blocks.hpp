// SPDX-License-Identifier: Apache-2.0
// Host blocks bring a large array to the host part by part, so that the memory of the host need not
// hold it and is not touched for the first time by each part.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ossatura {

/// Calls body(values, first, count) for blocks of about 64 MiB of an array [rows, columns], from
/// the first row to the last: `values` are rows first to first + count on the host, until body
/// returns. Of host backends they are those of the array itself. Fences.
template<class T, class Exec, class Body>
void for_host_blocks(const Exec& exec, const Array<T, Exec>& array, std::size_t columns,
                     const Body& body) {
  const std::size_t rows = array.extent(0) / columns;
  const std::size_t most = std::max<std::size_t>(1, (std::size_t(1) << 26) / (columns * sizeof(T)));
  fence(exec, "ossatura::host_blocks");
  if constexpr (BackendTraits<Exec>::is_device) {
    // Of pinned memory, to which a device copies at the speed of the bus.
    const Kokkos::View<T*, Kokkos::SharedHostPinnedSpace> block(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::host_block"),
        std::min(rows, most) * columns);
    for (std::size_t first = 0; first < rows; first += most) {
      const std::size_t count = std::min(most, rows - first);
      const auto all = std::make_pair(std::size_t(0), count * columns);
      const auto from = std::make_pair(first * columns, (first + count) * columns);
      Kokkos::deep_copy(exec, Kokkos::subview(block, all), Kokkos::subview(array, from));
      fence(exec, "ossatura::host_blocks");
      body(static_cast<const T*>(block.data()), first, count);
    }
  } else {
    for (std::size_t first = 0; first < rows; first += most)
      body(static_cast<const T*>(array.data()) + first * columns, first,
           std::min(most, rows - first));
  }
}

} // namespace ossatura
