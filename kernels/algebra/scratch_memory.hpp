// SPDX-License-Identifier: Apache-2.0
// Scratch memory gives the arrays of one call out of few allocations: on a device an allocation,
// and above all its end, which waits for all work there, takes as long as some kernels.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace ossatura {

/// Gives memory, and takes all of it back when it ends; arrays are not to be used after that.
template<class Exec>
class ScratchMemory {
public:
  /// Allocates `block` bytes at a time, and more for an array that needs more.
  ScratchMemory(const Exec& exec, std::int64_t block, const std::string& label)
      : exec_(exec)
      , block_(block)
      , label_(label) {}

  /// An array of n entries that the caller writes before reading. Does not fence.
  template<class T>
  Array<T, Exec> take(std::int64_t n) {
    static_assert(std::is_trivially_copyable_v<T>, "no constructor is called");
    constexpr std::int64_t line = 256; // where allocations of devices begin
    const std::int64_t bytes = (n * std::int64_t(sizeof(T)) + line - 1) / line * line;
    if (blocks_.empty() || used_ + bytes > std::int64_t(blocks_.back().extent(0))) {
      blocks_.push_back(make_uninitialized<std::byte>(exec_, std::max(block_, bytes), label_));
      used_ = 0;
    }
    T* const begin = reinterpret_cast<T*>(blocks_.back().data() + used_);
    used_ += bytes;
    return Array<T, Exec>(begin, std::size_t(n));
  }

  /// The same, all zero.
  template<class T>
  Array<T, Exec> take_zeros(std::int64_t n) {
    const Array<T, Exec> x = take<T>(n);
    Kokkos::deep_copy(exec_, x, T(0));
    return x;
  }

private:
  Exec exec_;
  std::int64_t block_;
  std::string label_;
  std::vector<Array<std::byte, Exec>> blocks_;
  std::int64_t used_ = 0; ///< of the last
};

} // namespace ossatura
