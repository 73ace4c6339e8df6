// SPDX-License-Identifier: Apache-2.0
// An ArrayPointer is the bare address of an array of a backend, for kernels that read many arrays.
// Kokkos passes functors of 512 bytes and more through a buffer of its own, which costs a launch
// several microseconds and keeps the launch out of recorded graphs.
#pragma once

#include <ossatura/core/base/function.hpp>

#include <cstdint>

namespace ossatura {

/// Entries of an array that someone else keeps alive.
template<class T>
struct ArrayPointer {
  T* data = nullptr;

  ArrayPointer() = default;
  template<class View>
  ArrayPointer(const View& array)
      : data(array.data()) {}

  OSSATURA_FORCEINLINE_FUNCTION T& operator()(std::int64_t i) const { return data[i]; }
};

} // namespace ossatura
