// SPDX-License-Identifier: BSD-3-Clause
// Small host tables in the memory of a backend.
#pragma once

#include "core/backend.hpp"

#include <string>
#include <vector>

namespace femura {

/// A copy of `values` in the memory of `Exec`; fences, so `values` may go at once.
template<class T, class Exec>
Array<T, Exec> upload(const Exec& exec, const std::string& label, const std::vector<T>& values) {
  Array<T, Exec> copy(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), values.size());
  Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(exec, copy, host);
  fence(exec, "femura::upload");
  return copy;
}

} // namespace femura
