// SPDX-License-Identifier: Apache-2.0
// These kernels invert the diagonal, or the diagonal blocks, of a matrix for Jacobi's and the block
// preconditioner.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/block_matrix.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct InvertNodeBlocks {
  ArrayPointer<int> row_begin, column;
  ArrayPointer<double> value, inverse;
  bool whole; ///< else the diagonal alone

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    int k = row_begin(row);
    while (column(k) != row)
      ++k;
    const double* const a = &value(9 * std::int64_t(k));
    double* const b = &inverse(9 * row);
    if (!whole) {
      for (int i = 0; i < 9; ++i)
        b[i] = i % 4 == 0 ? 1 / a[i] : 0;
      return;
    }
    const double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8],
                 c2 = a[3] * a[7] - a[4] * a[6], d = 1 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
    b[0] = c0 * d;
    b[1] = b[3] = c1 * d; // a is symmetric
    b[2] = b[6] = c2 * d;
    b[4] = (a[0] * a[8] - a[2] * a[6]) * d;
    b[5] = b[7] = (a[2] * a[3] - a[0] * a[5]) * d;
    b[8] = (a[0] * a[4] - a[1] * a[3]) * d;
  }
};
} // namespace detail

/// The inverses of the diagonal blocks of a symmetric matrix, or of its diagonal, as blocks
/// [num_rows, 9]. Does not fence.
template<class Exec>
void invert_node_blocks(const Exec& exec, const BlockMatrix<Exec>& matrix, bool whole,
                        const Array<double, Exec>& inverse) {
  Kokkos::parallel_for("ossatura::invert_node_blocks", range(exec, matrix.num_rows),
                       detail::InvertNodeBlocks<Exec>{matrix.row_begin, matrix.column, matrix.value,
                                                      inverse, whole});
}

} // namespace ossatura
