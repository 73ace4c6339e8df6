// SPDX-License-Identifier: Apache-2.0
// upload copies host tables to the memory of a backend, and download copies them back.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace ossatura {

namespace detail {

/// Between the memory of `Exec` and that of the host, by bytes: instantiated once, where a copy of
/// views is compiled for each of their types. Does not fence.
template<class Exec>
void copy_from_host(const Exec& exec, void* to, const void* from, std::size_t bytes) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      exec,
      Kokkos::View<char*, typename Exec::memory_space, Unmanaged>(static_cast<char*>(to), bytes),
      Kokkos::View<const char*, Kokkos::HostSpace, Unmanaged>(static_cast<const char*>(from),
                                                              bytes));
}
template<class Exec>
void copy_to_host(const Exec& exec, void* to, const void* from, std::size_t bytes) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      exec, Kokkos::View<char*, Kokkos::HostSpace, Unmanaged>(static_cast<char*>(to), bytes),
      Kokkos::View<const char*, typename Exec::memory_space, Unmanaged>(
          static_cast<const char*>(from), bytes));
}

} // namespace detail

/// Copies `values` into an array of that size. Does not fence: `values` stays until the copy is
/// done.
template<class T, class Exec>
void upload_to(const Exec& exec, const std::vector<T>& values, const Array<T, Exec>& array) {
  static_assert(std::is_trivially_copyable_v<T>);
  OSSATURA_REQUIRE(array.extent(0) == values.size(),
                   values.size() << " values for " << array.extent(0) << " entries");
  detail::copy_from_host(exec, array.data(), values.data(), values.size() * sizeof(T));
}

/// A copy of `values` in the memory of `Exec`; fences, so `values` may go at once.
template<class T, class Exec>
Array<T, Exec> upload(const Exec& exec, const std::string& label, const std::vector<T>& values) {
  const Array<T, Exec> copy(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label),
                            values.size());
  upload_to(exec, values, copy);
  fence(exec, "ossatura::upload");
  return copy;
}

/// The first values.size() entries of an array. Fences.
template<class T, class Exec>
void download_to(const Exec& exec, const Array<T, Exec>& array, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  OSSATURA_REQUIRE(values.size() <= array.extent(0),
                   values.size() << " values of " << array.extent(0) << " entries");
  detail::copy_to_host(exec, values.data(), array.data(), values.size() * sizeof(T));
  fence(exec, "ossatura::download");
}

/// The entries of an array. Fences.
template<class T, class Exec>
std::vector<T> download(const Exec& exec, const Array<T, Exec>& array) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> values(array.extent(0));
  download_to(exec, array, values);
  return values;
}

/// The entries of an array in host memory, where host backends have them already. Fences.
template<class T, class Exec>
Kokkos::View<const T*, Kokkos::LayoutRight, Kokkos::HostSpace>
host_view(const Exec& exec, const Array<T, Exec>& array) {
  static_assert(std::is_trivially_copyable_v<T>);
  fence(exec, "ossatura::host_view");
  if constexpr (BackendTraits<Exec>::is_device) {
    const Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace> host(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, array.label()), array.extent(0));
    // The copy is faster into memory that is there, which all threads see to.
    constexpr std::size_t part = (std::size_t(1) << 21) / sizeof(T);
    for_parts(host.extent(0), part, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; i += 4096 / sizeof(T))
        host(i) = T();
    });
    detail::copy_to_host(exec, host.data(), array.data(), host.extent(0) * sizeof(T));
    fence(exec, "ossatura::host_view");
    return host;
  } else {
    return Kokkos::View<const T*, Kokkos::LayoutRight, Kokkos::HostSpace>(array);
  }
}

} // namespace ossatura
