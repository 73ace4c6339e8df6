// SPDX-License-Identifier: Apache-2.0
// Arrays larger than the memory of the machine, of which only the pages that are touched exist: for
// index arithmetic beyond 2^31 in the bodies of kernels.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <sys/mman.h>

#include <cstdint>

namespace ossatura::test {

/// n zeros in reserved addresses; `ok()` is false where the system refuses.
template<class T>
class SparseMemory {
public:
  explicit SparseMemory(std::int64_t n)
      : bytes_(std::size_t(n) * sizeof(T))
      , data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
      , size_(n) {}
  ~SparseMemory() {
    if (ok())
      munmap(data_, bytes_);
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  bool ok() const { return data_ != MAP_FAILED; }
  T& operator[](std::int64_t i) const { return static_cast<T*>(data_)[i]; }
  /// Not managed: must not outlive this.
  template<class Exec>
  Array<T, Exec> array() const {
    return Array<T, Exec>(static_cast<T*>(data_), std::size_t(size_));
  }

private:
  std::size_t bytes_;
  void* data_;
  std::int64_t size_;
};

} // namespace ossatura::test
