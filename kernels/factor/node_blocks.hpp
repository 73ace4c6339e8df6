// SPDX-License-Identifier: Apache-2.0
// These kernels invert the diagonal, or the diagonal blocks, of a matrix for Jacobi's and the block
// preconditioner.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/dense/small_matrix.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct InvertNodeBlocks {
  ArrayPointer<int> row_begin, column;
  ArrayPointer<double> value, inverse;
  bool whole; ///< else the diagonal alone

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t k = find_column(column.data, row_begin(row), row_begin(row + 1), int(row));
    const double* const a = &value(9 * k);
    double* const b = &inverse(9 * row);
    if (!whole) {
      for (int i = 0; i < 9; ++i)
        b[i] = i % 4 == 0 ? 1 / a[i] : 0;
      return;
    }
    const Matrix3 inverted =
        ossatura::inverse({{{{a[0], a[1], a[2]}}, {{a[3], a[4], a[5]}}, {{a[6], a[7], a[8]}}}});
    for (int i = 0; i < 9; ++i)
      b[i] = inverted(i / 3, i % 3);
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
