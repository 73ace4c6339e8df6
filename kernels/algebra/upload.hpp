// SPDX-License-Identifier: Apache-2.0
// upload copies host tables to the memory of a backend, and download copies them back.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// A copy of `values` in the memory of `Exec`; fences, so `values` may go at once.
template<class T, class Exec>
Array<T, Exec> upload(const Exec& exec, const std::string& label, const std::vector<T>& values) {
  Array<T, Exec> copy(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), values.size());
  Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(exec, copy, host);
  fence(exec, "ossatura::upload");
  return copy;
}

/// Copies `values` into an array of that size. Does not fence: `values` stays until the copy is
/// done.
template<class T, class Exec>
void upload_to(const Exec& exec, const std::vector<T>& values, const Array<T, Exec>& array) {
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(exec, array, host);
}

/// The entries of an array. Fences.
template<class T, class Exec>
std::vector<T> download(const Exec& exec, const Array<T, Exec>& array) {
  std::vector<T> values(array.extent(0));
  const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(exec, host, array);
  fence(exec, "ossatura::download");
  return values;
}

} // namespace ossatura
