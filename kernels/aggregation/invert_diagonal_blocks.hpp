// SPDX-License-Identifier: Apache-2.0
// invert_diagonal_blocks inverts the block diagonal of a sparse matrix of 3 x 3 blocks.
#pragma once

#include <ossatura/kernels/algebra/dense/invert_block.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

namespace detail {
template<class Exec, class Scalar>
struct InvertDiagonalBlocks {
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<const double> value;
  ArrayPointer<Scalar> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double block[6] = {0, 0, 0, 0, 0, 0}, inverted[6] = {0, 0, 0, 0, 0, 0};
    if (row_begin(i) < row_begin(i + 1)) {
      const double* const a =
          value.data + 9 * find_column(column.data, row_begin(i), row_begin(i + 1), int(i));
      for (int c = 0; c < 3; ++c) {
        block[c] = a[4 * c];
        block[3 + c] = a[3 * c + (c + 1) % 3];
      }
      if (block[0] + block[1] + block[2] > 0)
        invert_block(block, held(i), inverted);
    }
    for (int k = 0; k < 6; ++k)
      inverse(6 * i + k) = Scalar(inverted[k]);
  }
};
} // namespace detail

/// inverse [6 num_rows] = the inverses of the blocks on the diagonal of value [num_blocks, 3, 3] as
/// xx, yy, zz, xy, yz, zx; zero in rows without blocks, and rows and columns of them where `held`
/// (Constraints::mask). Does not fence.
template<class Exec, class Scalar>
void invert_diagonal_blocks(const Exec& exec, const Graph<Exec>& graph,
                            const Array<std::uint8_t, Exec>& held, const Array<double, Exec>& value,
                            const Array<Scalar, Exec>& inverse) {
  Kokkos::parallel_for("ossatura::invert_diagonal_blocks", range(exec, graph.num_rows),
                       detail::InvertDiagonalBlocks<Exec, Scalar>{graph.row_begin, graph.column,
                                                                  held, value, inverse});
}

} // namespace ossatura
