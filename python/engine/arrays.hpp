// SPDX-License-Identifier: Apache-2.0
// Arrays of the caller as those of a backend: host backends use them in place, devices have copies.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstdint>
#include <string>

namespace ossatura::python {

template<class T>
using HostArray = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The n values at `data`, which stay there as long as the array, and are not written to. Fences.
template<class T, class Exec>
Array<T, Exec> array_of(const Exec& exec, const T* data, std::int64_t n) {
  if constexpr (BackendTraits<Exec>::is_device) {
    const Array<T, Exec> copy(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                                 std::string("ossatura::python::input")),
                              n);
    Kokkos::deep_copy(exec, copy, HostArray<const T>(data, n));
    fence(exec, "ossatura::python::array_of");
    return copy;
  } else {
    return Array<T, Exec>(const_cast<T*>(data), n); // a view without const has the library's type
  }
}

/// Has fill(array) set the n values at `data`, whose present values it sees. Fences.
template<class T, class Exec, class Fill>
void fill_array(const Exec& exec, T* data, std::int64_t n, const Fill& fill) {
  const Array<T, Exec> array = array_of(exec, data, n);
  fill(array);
  if constexpr (BackendTraits<Exec>::is_device)
    Kokkos::deep_copy(exec, HostArray<T>(data, n), array);
  fence(exec, "ossatura::python::fill_array");
}

} // namespace ossatura::python
