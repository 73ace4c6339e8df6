// SPDX-License-Identifier: Apache-2.0
// Block rows are sparse matrices of 6 x 6 blocks, the coarse levels of smoothed aggregation. This
// file has their product, Jacobi's scaling by the blocks of the diagonal, and their dense form.
#pragma once

#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/aggregation/products.hpp>

namespace ossatura {

/// y = x + omega D^-1 (b - A x), D^-1 of 6 x 6 blocks [num_rows, 36] with zero rows and columns at
/// held components. y must not alias x, which neighbours still read.
template<class Exec, class Scalar>
struct RowSmoothingStep {
  Scalar omega;
  Array<Scalar, Exec> blocks, b, y;
};

/// S = the inverse of the diagonal of 6 x 6 blocks.
template<class Exec, class Scalar>
struct RowJacobi {
  static constexpr int components = 6;
  Array<Scalar, Exec> blocks; ///< [num_rows, 36], symmetric

  int num_nodes() const { return int(blocks.extent(0) / 36); }

  KOKKOS_FUNCTION void multiply(std::int64_t row, const Scalar (&r)[6], Scalar (&z)[6]) const {
    for (int i = 0; i < 6; ++i) {
      z[i] = 0;
      for (int j = 0; j < 6; ++j)
        z[i] += blocks(36 * row + 6 * i + j) * r[j];
    }
  }
  /// About the diagonal of S^-1.
  KOKKOS_FUNCTION Scalar diagonal(std::int64_t row, int c) const {
    const Scalar inverse = blocks(36 * row + 7 * c);
    return inverse > 0 ? 1 / inverse : Scalar(0);
  }
  RowSmoothingStep<Exec, Scalar> step(Scalar omega, const Array<std::uint8_t, Exec>&,
                                      const Array<Scalar, Exec>& b,
                                      const Array<Scalar, Exec>& y) const {
    return {omega, blocks, b, y};
  }
};

namespace detail {
/// A row as two nodes.
template<class Update, class Exec, class Scalar>
KOKKOS_INLINE_FUNCTION void finish_row(const Update& update, std::int64_t row,
                                       const Array<Scalar, Exec>& x, const Scalar (&product)[6],
                                       const Exec*) {
  for (int half = 0; half < 2; ++half) {
    const Scalar part[3] = {product[3 * half], product[3 * half + 1], product[3 * half + 2]};
    finish_node(update, int(2 * row + half), x, part);
  }
}

template<class Exec, class Scalar>
KOKKOS_INLINE_FUNCTION void finish_row(const RowSmoothingStep<Exec, Scalar>& update,
                                       std::int64_t row, const Array<Scalar, Exec>& x,
                                       const Scalar (&product)[6], const Exec*) {
  Scalar r[6], z[6];
  for (int c = 0; c < 6; ++c)
    r[c] = update.b(6 * row + c) - product[c];
  RowJacobi<Exec, Scalar>{update.blocks}.multiply(row, r, z);
  for (int c = 0; c < 6; ++c)
    update.y(6 * row + c) = x(6 * row + c) + update.omega * z[c];
}

template<class Exec, class Scalar, class Update>
struct MultiplyBlockRows {
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 16 : 1; ///< of a row
  std::int64_t num_rows;
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column;
  ArrayPointer<Scalar> value;
  Array<Scalar, Exec> x;
  Update update;

  /// A lane of a row. Lanes past the end work on the last row, so that warps are whole.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const bool inside = item / lanes < num_rows;
    const std::int64_t row = inside ? item / lanes : num_rows - 1;
    const int lane = int(item % lanes);
    Scalar sum[6] = {};
    for (std::int64_t k = begin(row) + lane; k < begin(row + 1); k += lanes) {
      const std::int64_t at = 6 * std::int64_t(column(k));
      Scalar entry[6];
      for (int c = 0; c < 6; ++c)
        entry[c] = x(at + c);
      for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
          sum[r] += value(36 * k + 6 * r + c) * entry[c];
    }
    for (int r = 0; r < 6; ++r)
      sum[r] = warp_sum<lanes>(sum[r]);
    if (inside && lane == 0)
      finish_row(update, row, x, sum, static_cast<const Exec*>(nullptr));
  }
};
} // namespace detail

/// A static operator (kernels/algebra/operator.hpp) for apply_then: an update of nodes of three
/// components (kernels/algebra/fused_updates/fused.hpp) sees a row as two; RowSmoothingStep takes
/// it whole.
template<class Exec, class Scalar>
struct BlockRows {
  static constexpr bool fuses_updates = true;

  Graph<Exec> graph;
  Array<Scalar, Exec> value; ///< [num_blocks, 6, 6]

  /// Does not fence.
  template<class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    using Functor = detail::MultiplyBlockRows<Exec, Scalar, Update>;
    const std::int64_t items = std::int64_t(graph.num_rows) * Functor::lanes;
    Kokkos::parallel_for(
        "ossatura::multiply_block_rows",
        range(exec, BackendTraits<Exec>::is_device ? (items + 31) / 32 * 32 : items),
        Functor{graph.num_rows, graph.row_begin, graph.column, value, x, update});
  }
};

namespace detail {

/// The inverse of a symmetric positive definite 6 x 6 matrix by Cholesky's factors of the matrix
/// scaled to a diagonal of 1; of the diagonal alone where that has pivots lost to rounding. Rows
/// and columns with nothing positive on the diagonal are zero in it.
KOKKOS_INLINE_FUNCTION void invert_six(const double (&a)[36], double (&inverse)[36]) {
  double scale[6], l[36] = {}; // l becomes the inverse of the factor
  for (int i = 0; i < 6; ++i)
    scale[i] = a[7 * i] > 0 ? 1 / sqrt(a[7 * i]) : 0;
  bool sound = true;
  double factor[36] = {};
  for (int j = 0; j < 6; ++j) {
    double pivot = scale[j] > 0 ? 1 : 0;
    for (int k = 0; k < j; ++k)
      pivot -= factor[6 * j + k] * factor[6 * j + k];
    if (!(scale[j] > 0)) {
      factor[7 * j] = 1;
      continue;
    }
    sound = sound && pivot > 1e-13;
    factor[7 * j] = sqrt(pivot > 1e-13 ? pivot : 1.0);
    for (int i = j + 1; i < 6; ++i) {
      // The two halves of the matrix differ by rounding.
      double sum = 0.5 * (a[6 * i + j] + a[6 * j + i]) * scale[i] * scale[j];
      for (int k = 0; k < j; ++k)
        sum -= factor[6 * i + k] * factor[6 * j + k];
      factor[6 * i + j] = sum / factor[7 * j];
    }
  }
  for (int j = 0; j < 6; ++j)
    for (int i = j; i < 6; ++i) {
      double sum = i == j ? 1 : 0;
      for (int k = j; k < i; ++k)
        sum -= factor[6 * i + k] * l[6 * k + j];
      l[6 * i + j] = sum / factor[7 * i];
    }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      double sum = i == j ? 1 : 0;
      if (sound) {
        sum = 0;
        for (int k = Kokkos::max(j, i); k < 6; ++k)
          sum += l[6 * k + i] * l[6 * k + j];
      }
      inverse[6 * i + j] = sum * (scale[i] * scale[j]);
    }
}

template<class Exec, class Scalar>
struct InvertRowBlocks {
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column;
  ArrayPointer<double> value;
  ArrayPointer<Scalar> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t k = find_column(column.data, begin(row), begin(row + 1), int(row));
    double block[36], inverted[36];
    for (int i = 0; i < 36; ++i)
      block[i] = value(36 * k + i);
    invert_six(block, inverted);
    for (int i = 0; i < 36; ++i)
      inverse(36 * row + i) = Scalar(inverted[i]);
  }
};
} // namespace detail

/// inverse [num_rows, 36] = the inverses of the blocks on the diagonal of value [num_blocks, 6, 6]
/// (rows have their diagonal), zero where that is. Does not fence.
template<class Exec, class Scalar>
void invert_row_blocks(const Exec& exec, const Graph<Exec>& graph, const Array<double, Exec>& value,
                       const Array<Scalar, Exec>& inverse) {
  Kokkos::parallel_for(
      "ossatura::invert_row_blocks", range(exec, graph.num_rows),
      detail::InvertRowBlocks<Exec, Scalar>{graph.row_begin, graph.column, value, inverse});
}

namespace detail {
template<class Exec>
struct SpreadBlocks {
  std::int64_t n; ///< scalar rows
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column;
  ArrayPointer<double> value, dense;

  /// A scalar row.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / 6, r = i % 6;
    for (std::int64_t k = begin(row); k < begin(row + 1); ++k)
      for (int c = 0; c < 6; ++c)
        dense(n * i + 6 * std::int64_t(column(k)) + c) = value(36 * k + 6 * r + c);
  }
};
} // namespace detail

/// The matrix [n, n], n = 6 num_rows. Does not fence.
template<class Exec>
Array<double, Exec> dense_block_rows(const Exec& exec, const Graph<Exec>& graph,
                                     const Array<double, Exec>& value) {
  const std::int64_t n = 6 * std::int64_t(graph.num_rows);
  const auto dense = make_zeros<double>(exec, n * n, "ossatura::dense_block_rows");
  Kokkos::parallel_for("ossatura::dense_block_rows", range(exec, n),
                       detail::SpreadBlocks<Exec>{n, graph.row_begin, graph.column, value, dense});
  return dense;
}

} // namespace ossatura
