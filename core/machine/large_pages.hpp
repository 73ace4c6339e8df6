// SPDX-License-Identifier: Apache-2.0
// Large pages make the first touch of large arrays, a fault for each page, much shorter.
#pragma once

#include <cstddef>
#include <vector>

namespace ossatura {

/// Asks the system to give the memory at `data`, which nobody has touched, pages of 2 MiB. Where it
/// has none to give nothing changes. For processes that do not start with GLIBC_TUNABLES as
/// `ossatura` does, such as Python's.
void prefer_large_pages(void* data, std::size_t bytes) noexcept;

/// A copy of the n entries at `data`, in such pages.
template<class T>
std::vector<T> copy_in_large_pages(const T* data, std::size_t n) {
  std::vector<T> copy;
  copy.reserve(n);
  prefer_large_pages(copy.data(), n * sizeof(T));
  copy.assign(data, data + n);
  return copy;
}

} // namespace ossatura
