// SPDX-License-Identifier: Apache-2.0
// These kernels multiply sparse matrices of 3 x 3 blocks, stored as blocks or as scalars, with
// vectors.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/operator.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/algebra/sparse/csr_matrix.hpp>

#include <limits>

namespace ossatura {

/// Of a matrix in rows of `width` x `width` blocks of Scalar, with an Offset where a row begins:
/// everything moves once, a multiply-add for each number.
template<class Scalar, class Offset, int width>
OperatorCost cost_of_rows(std::int64_t num_blocks, std::int64_t num_rows) {
  const std::int64_t kept = num_blocks * std::int64_t(width * width * sizeof(Scalar) + 4) +
                            std::int64_t(sizeof(Offset)) * (num_rows + 1);
  return {kept, double(kept) + 2.0 * width * double(sizeof(Scalar)) * double(num_rows),
          2.0 * width * width * double(num_blocks)};
}

namespace detail {

/// Sums in Scalar; Offset counts blocks.
template<class Exec, class Scalar, class Offset>
struct BlockMultiply {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;

  int num_rows; ///< of blocks
  const Offset* row_begin;
  const int* column;
  const Scalar *value, *x;
  Scalar* y;

  /// On cores: three scalar rows.
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Scalar sum[3] = {};
    for (Offset k = row_begin[row]; k < row_begin[row + 1]; ++k) {
      const Scalar* const a = value + 9 * std::int64_t(k);
      const Scalar* const xj = x + 3 * std::int64_t(column[k]);
      const Scalar x0 = xj[0], x1 = xj[1], x2 = xj[2];
      for (int r = 0; r < 3; ++r)
        sum[r] += a[3 * r] * x0 + a[3 * r + 1] * x1 + a[3 * r + 2] * x2;
    }
    for (int r = 0; r < 3; ++r)
      y[3 * row + r] = sum[r];
  }

  /// On devices: a thread with its lanes for a scalar row. The three of a block row are in one
  /// team, so that their pieces of a block, 24 bytes each, come from memory once.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t scalar_row =
        std::int64_t(team.league_rank()) * team.team_size() + team.team_rank();
    const int row = int(scalar_row / 3), r = int(scalar_row % 3);
    if (row >= num_rows)
      return;
    const Offset begin = row_begin[row];
    const Scalar* const a = value + 9 * std::int64_t(begin) + 3 * r;
    const int* const columns = column + begin;
    const Scalar* const vector = x;
    Scalar sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, 3 * int(row_begin[row + 1] - begin)),
        [&](int k, Scalar& partial) {
          const int block = k / 3, c = k % 3;
          partial += a[9 * block + c] * vector[3 * std::int64_t(columns[block]) + c];
        },
        sum);
    Scalar* const result = y;
    Kokkos::single(Kokkos::PerThread(team), [&] { result[scalar_row] = sum; });
  }
};

/// With the kernel of devices or that of cores; both run everywhere.
template<bool by_lanes, class Exec, class Scalar, class Offset>
void multiply_block_rows(const Exec& exec, const BlockMultiply<Exec, Scalar, Offset>& rows) {
  if constexpr (by_lanes) {
    const std::int64_t scalar_rows = 3 * std::int64_t(rows.num_rows);
    constexpr int team_size = BackendTraits<Exec>::is_device ? 12 : 1; // block rows stay together
    constexpr int lanes = BackendTraits<Exec>::is_device ? 16 : 1; // a row has 36 entries or more
    Kokkos::parallel_for("ossatura::multiply",
                         Kokkos::TeamPolicy<Exec>(exec,
                                                  int((scalar_rows + team_size - 1) / team_size),
                                                  team_size, lanes),
                         rows);
  } else {
    Kokkos::parallel_for("ossatura::multiply", range(exec, rows.num_rows), rows);
  }
}

template<bool by_lanes, class Exec>
void multiply(const Exec& exec, const BlockMatrix<Exec>& matrix, const Array<double, Exec>& x,
              const Array<double, Exec>& y) {
  multiply_block_rows<by_lanes>(
      exec, BlockMultiply<Exec, double, int>{matrix.num_rows, matrix.row_begin.data(),
                                             matrix.column.data(), matrix.value.data(), x.data(),
                                             y.data()});
}

} // namespace detail

/// y = A x; x, y [num_rows, 3], not the same. Does not fence.
template<class Exec>
void multiply(const Exec& exec, const BlockMatrix<Exec>& matrix, const Array<double, Exec>& x,
              const Array<double, Exec>& y) {
  detail::multiply<BackendTraits<Exec>::is_device>(exec, matrix, x, y);
}

namespace detail {
/// A scalar row.
struct ExpandBlocks {
  int num_rows; ///< of blocks
  const int *block_begin, *block_column;
  const double* block;
  int *row_begin, *column;
  double* value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int row = int(i / 3), r = int(i % 3);
    const int begin = block_begin[row], end = block_begin[row + 1];
    int place = 9 * begin + 3 * r * (end - begin);
    row_begin[i] = place;
    for (int k = begin; k < end; ++k)
      for (int c = 0; c < 3; ++c, ++place) {
        column[place] = 3 * block_column[k] + c;
        value[place] = block[9 * std::int64_t(k) + 3 * r + c];
      }
    if (i == 3 * std::int64_t(num_rows) - 1)
      row_begin[i + 1] = place;
  }
};
} // namespace detail

/// Rows, columns and values of `csr`, as to_csr made it, afresh from a matrix with the same
/// pattern. Does not fence.
template<class Exec>
void update_csr(const Exec& exec, const BlockMatrix<Exec>& blocks, const CsrMatrix<Exec>& csr) {
  Kokkos::parallel_for("ossatura::to_csr", range(exec, csr.num_rows),
                       detail::ExpandBlocks{blocks.num_rows, blocks.row_begin.data(),
                                            blocks.column.data(), blocks.value.data(),
                                            csr.row_begin.data(), csr.column.data(),
                                            csr.value.data()});
}

/// The same matrix with a row for each scalar. Throws std::invalid_argument if 32 bits do not count
/// its entries. Does not fence.
template<class Exec>
CsrMatrix<Exec> to_csr(const Exec& exec, const BlockMatrix<Exec>& blocks) {
  const std::int64_t rows = 3 * std::int64_t(blocks.num_rows);
  const std::int64_t entries = 9 * std::int64_t(blocks.num_entries());
  OSSATURA_REQUIRE(entries <= std::numeric_limits<int>::max(),
                   entries << " entries: more than 32 bits count");
  CsrMatrix<Exec> csr{{int(rows), make_zeros<int>(exec, rows + 1, "ossatura::csr::row_begin"),
                       make_uninitialized<int>(exec, entries, "ossatura::csr::column")},
                      make_uninitialized<double>(exec, entries, "ossatura::csr")};
  update_csr(exec, blocks, csr);
  return csr;
}

} // namespace ossatura
