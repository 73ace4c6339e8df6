// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of matrix_free_batches.hpp; the sources beside it alone include
// them, each for a `Target` of its own as in stiffness_kernel.hpp.
#pragma once

#include <ossatura/kernels/pfem/batches/matrix_free_batches.hpp>

namespace ossatura::detail {

template<class Target>
struct MatrixFreeLanes {
  static constexpr int lanes = Target::register_bytes / int(sizeof(double));

  struct NoBarrier {
    OSSATURA_FORCEINLINE_FUNCTION void operator()() const {}
  };

  static void multiply(const MatrixFreeArrays& arrays, std::int64_t batch, double* scratch) {
    const MatrixFreeSums<Target, false, host_tile, lanes> sums{arrays};
    sums.multiply(batch, 0, 1, reinterpret_cast<char*>(scratch), NoBarrier());
  }
};

template<class Target>
constexpr MatrixFreeBatches make_matrix_free_batches() {
  return {MatrixFreeLanes<Target>::lanes, &MatrixFreeLanes<Target>::multiply};
}

} // namespace ossatura::detail
