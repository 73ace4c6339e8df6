// SPDX-License-Identifier: Apache-2.0
// The assembled matrix is compared with matrix-free products; host memory, no Kokkos.
#pragma once

#include <cstddef>
#include <vector>

namespace ossatura::bench {

/// Square, row by row, columns ascending: entries row_begin[i] .. row_begin[i + 1] of row i.
template<class Scalar>
struct CsrMatrix {
  std::vector<int> row_begin; ///< [num_rows + 1]
  std::vector<int> column;    ///< [num_entries]
  std::vector<Scalar> value;  ///< [num_entries]

  std::size_t num_rows() const { return row_begin.size() - 1; }
  std::size_t num_entries() const { return column.size(); }
};

/// y = A x by Eigen's row-major sparse product, on `threads` threads.
template<class Scalar>
void multiply_by_eigen(const CsrMatrix<Scalar>& a, int threads, const Scalar* x, Scalar* y);

} // namespace ossatura::bench
