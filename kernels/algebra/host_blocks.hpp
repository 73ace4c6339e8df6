// SPDX-License-Identifier: Apache-2.0
// Host blocks bring large arrays to the host part by part, through one piece of memory.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ossatura {

/// One object for several arrays of a backend: the memory that its blocks need is pinned, which
/// takes as long as to copy many times as much.
template<class Exec>
class HostBlocks {
public:
  explicit HostBlocks(const Exec& exec)
      : exec_(exec) {}

  /// Calls body(values, first, count) for blocks of an array [rows, columns], from the first row to
  /// the last: `values` are rows first to first + count on the host, until body returns. On a host
  /// backend they are the array itself, and there is one block. Fences.
  template<class T, class Body>
  void for_each(const Array<T, Exec>& array, std::size_t columns, const Body& body) {
    const std::size_t rows = array.extent(0) / columns;
    fence(exec_, "ossatura::host_blocks");
    if constexpr (BackendTraits<Exec>::is_device) {
      const std::size_t most = std::max<std::size_t>(1, block_bytes / (columns * sizeof(T)));
      const std::size_t bytes = std::min(rows, most) * columns * sizeof(T);
      if (memory_.extent(0) < bytes)
        memory_ =
            Memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ossatura::host_blocks"), bytes);
      for (std::size_t first = 0; first < rows; first += most) {
        const std::size_t count = std::min(most, rows - first);
        const Kokkos::View<T*, Kokkos::SharedHostPinnedSpace,
                           Kokkos::MemoryTraits<Kokkos::Unmanaged>>
            block(reinterpret_cast<T*>(memory_.data()), count * columns);
        Kokkos::deep_copy(
            exec_, block,
            Kokkos::subview(array, std::make_pair(first * columns, (first + count) * columns)));
        fence(exec_, "ossatura::host_blocks");
        body(static_cast<const T*>(block.data()), first, count);
      }
    } else if (rows > 0) {
      body(static_cast<const T*>(array.data()), std::size_t(0), rows);
    }
  }

private:
  static constexpr std::size_t block_bytes = std::size_t(1) << 27;
  using Memory = Kokkos::View<char*, Kokkos::SharedHostPinnedSpace>;

  Exec exec_;
  Memory memory_;
};

} // namespace ossatura
