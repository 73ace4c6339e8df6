// SPDX-License-Identifier: Apache-2.0
// Arrays of the caller as those of a backend: they are used in place where the backend reaches
// them, and copied where it does not.
#pragma once

#include "python/engine/device_memory.hpp"
#include <ossatura/core/base/backend.hpp>

#include <cstdint>
#include <string>

namespace ossatura::python {

template<class T>
using HostArray = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A copy in memory of Exec. Fences.
template<class T, class Exec, class Values>
Array<T, Exec> copied(const Exec& exec, const Values& values) {
  const Array<T, Exec> copy(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string("ossatura::python::input")),
      values.extent(0));
  Kokkos::deep_copy(exec, copy, values);
  fence(exec, "ossatura::python::copied");
  return copy;
}

/// The n values at `data`, in memory of the host or of the GPU, which stay there as long as the
/// array and are not written to. What other libraries do on the GPU is done by then. Throws
/// UsageError for memory of a GPU and a backend of the host.
template<class T, class Exec>
Array<T, Exec> array_of(const Exec& exec, const T* data, std::int64_t n) {
  const bool is_on_device = is_device_memory(data);
  if (is_on_device)
    wait_for_device();
  T* const own = const_cast<T*>(data); // a view without const has the library's type
  if constexpr (BackendTraits<Exec>::is_device) {
    if (!is_on_device)
      return copied<T>(exec, HostArray<const T>(data, n));
    constexpr std::uintptr_t alignment = 16; // of what kernels load at once
    const Array<T, Exec> in_place(own, n);
    return reinterpret_cast<std::uintptr_t>(data) % alignment == 0 ? in_place
                                                                   : copied<T>(exec, in_place);
  } else {
    if (is_on_device)
      fail<UsageError>("an array on a GPU for the backend ", BackendTraits<Exec>::name,
                       ": take backend=\"cuda\", or copy the array to the host");
    return Array<T, Exec>(own, n);
  }
}

/// Has fill(array) set the n values at `data`, whose present values it sees. Fences. Throws as
/// array_of().
template<class T, class Exec, class Fill>
void fill_array(const Exec& exec, T* data, std::int64_t n, const Fill& fill) {
  const Array<T, Exec> array = array_of(exec, static_cast<const T*>(data), n);
  fill(array);
  if (array.data() != data) {
    if (is_device_memory(data))
      Kokkos::deep_copy(exec, Array<T, Exec>(data, n), array);
    else
      Kokkos::deep_copy(exec, HostArray<T>(data, n), array);
  }
  fence(exec, "ossatura::python::fill_array");
}

/// Has fill(array) set the n values at `data`, in memory of the host or of the GPU, whatever they
/// are by now. What other libraries do on the GPU is done by then. Fences.
template<class T, class Exec, class Fill>
void write_array(const Exec& exec, T* data, std::int64_t n, const Fill& fill) {
  constexpr bool is_device = BackendTraits<Exec>::is_device;
  const bool to_device = is_device_memory(data);
  if (to_device)
    wait_for_device();
  if (to_device == is_device) {
    fill(Array<T, Exec>(data, n));
    fence(exec, "ossatura::python::write_array");
    return;
  }
  const Array<T, Exec> array(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                                                std::string("ossatura::python::output")),
                             n);
  fill(array);
  if constexpr (is_device)
    Kokkos::deep_copy(exec, HostArray<T>(data, n), array);
  fence(exec, "ossatura::python::write_array");
  if constexpr (!is_device)
    copy_from_host(data, array.data(), std::size_t(n) * sizeof(T));
}

} // namespace ossatura::python
