// SPDX-License-Identifier: Apache-2.0
// The assembled matrix is compared with matrix-free products; host memory, no Kokkos.
#pragma once

#include <ossatura/core/sparse/graph.hpp>

#include <vector>

namespace ossatura::bench {

/// A square matrix.
template<class Scalar>
struct CsrMatrix : HostGraph<int> {
  std::vector<Scalar> value; ///< [num_entries]
};

/// y = A x by Eigen's row-major sparse product, on `threads` threads.
template<class Scalar>
void multiply_by_eigen(const CsrMatrix<Scalar>& a, int threads, const Scalar* x, Scalar* y);

} // namespace ossatura::bench
