// SPDX-License-Identifier: Apache-2.0
// cuSPARSE's triangular solves take bare addresses here, without Kokkos, so that a host compiler
// compiles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ossatura::bench {

/// What cuSPARSE needs of the caller: addresses on the device, rows with their unit diagonal.
struct CusparseTriangle {
  void* stream; ///< cudaStream_t
  std::int64_t num_rows, num_entries;
  int* row_begin;
  int* column;
  void* value;
  void *r, *y, *z;
  bool single_precision;
  std::function<void*(std::size_t)> allocate; ///< on the device, kept by the caller
};

/// SpSV with its analysis done. Throws std::runtime_error where the library is not here or refuses.
class CusparseSolve {
public:
  explicit CusparseSolve(const CusparseTriangle& triangle);
  ~CusparseSolve();
  CusparseSolve(const CusparseSolve&) = delete;
  CusparseSolve& operator=(const CusparseSolve&) = delete;
  void lower(); ///< y = L^-1 r
  void upper(); ///< z = L^-T y

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura::bench
