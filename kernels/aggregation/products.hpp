// SPDX-License-Identifier: Apache-2.0
// These kernels form the products of smoothed aggregation on fixed patterns
// (pattern.hpp). One work item gathers each block of a result, so that results are
// the same for any number of threads. All sums are in double.
//
//   P = (I - omega D^-1 A) P0,   W = A P,   A_coarse = W^T P
//
// Blocks are row-major: of A height x height, of P, P0 and W height x 6, of A_coarse 6 x 6; height
// is 3 on a mesh and 6 on coarser levels.
#pragma once

#include <ossatura/kernels/algebra/jacobi.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

/// The patterns that the products of a level need, without values.
template<class Exec>
struct AggregationArrays {
  Graph<Exec> matrix;            ///< A
  Graph<Exec> prolongator;       ///< P
  Graph<Exec> restriction;       ///< P^T
  Array<int, Exec> entry;        ///< of each block of P^T: its place in the prolongator
  Graph<Exec> product;           ///< W^T
  Graph<Exec> coarse;            ///< A_coarse
  Array<int, Exec> aggregate;    ///< [num_rows]
  Array<double, Exec> tentative; ///< P0 [num_rows, height, 6]
};

namespace detail {

template<int height, class Scalar, class Jacobi>
struct SmoothProlongator {
  ArrayPointer<std::int64_t> a_begin, p_begin;
  ArrayPointer<int> a_column, p_column, aggregate;
  ArrayPointer<double> a, tentative;
  Jacobi jacobi;
  double omega;
  ArrayPointer<Scalar> p;

  /// A row of A and of P.
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (std::int64_t e = p_begin(row); e < p_begin(row + 1); ++e) {
      double sum[height][6] = {};
      for (std::int64_t k = a_begin(row); k < a_begin(row + 1); ++k) {
        const std::int64_t i = a_column(k);
        if (aggregate(i) != p_column(e))
          continue;
        for (int r = 0; r < height; ++r)
          for (int j = 0; j < height; ++j) {
            const double factor = a(height * height * k + height * r + j);
            for (int c = 0; c < 6; ++c)
              sum[r][c] += factor * tentative(6 * height * i + 6 * j + c);
          }
      }
      const bool own = aggregate(row) == p_column(e);
      for (int c = 0; c < 6; ++c) {
        Scalar column[height], scaled[height];
        for (int r = 0; r < height; ++r)
          column[r] = Scalar(omega * sum[r][c]);
        jacobi.multiply(row, column, scaled);
        for (int r = 0; r < height; ++r)
          p(6 * (height * e + r) + c) =
              Scalar(own ? tentative(6 * (height * row + r) + c) : 0) - scaled[r];
      }
    }
  }
};

} // namespace detail

/// p [blocks, height, 6] = P for A `a` [blocks, height, height]; D^-1 is `jacobi`, zero where
/// components are held. Does not fence.
template<class Exec, class Scalar, class Jacobi>
void smooth_prolongator(const Exec& exec, const AggregationArrays<Exec>& level,
                        const Array<double, Exec>& a, const Jacobi& jacobi, double omega,
                        const Array<Scalar, Exec>& p) {
  Kokkos::parallel_for("ossatura::smooth_prolongator", range(exec, level.matrix.num_rows),
                       detail::SmoothProlongator<Jacobi::components, Scalar, Jacobi>{
                           level.matrix.row_begin, level.prolongator.row_begin, level.matrix.column,
                           level.prolongator.column, level.aggregate, a, level.tentative, jacobi,
                           omega, p});
}

namespace detail {
template<int height, class Exec, class Scalar>
struct MultiplyProlongator {
  ArrayPointer<std::int64_t> a_begin, p_begin, w_begin;
  ArrayPointer<int> a_column, p_column, w_column;
  ArrayPointer<double> a;
  ArrayPointer<Scalar> p;
  int first, last; ///< aggregates
  ArrayPointer<double> w;

  /// A block of W^T, counted from the first of aggregate `first`.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t block = w_begin(first) + item;
    int low = first, high = last; // the aggregate that has it
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (w_begin(middle) <= block ? low : high) = middle;
    }
    const std::int64_t row = w_column(block);
    double sum[height][6] = {};
    for (std::int64_t k = a_begin(row); k < a_begin(row + 1); ++k) {
      const std::int64_t i = a_column(k), end = p_begin(i + 1);
      const std::int64_t e = find_column(p_column.data, p_begin(i), end, low);
      if (e == end)
        continue;
      for (int j = 0; j < height; ++j) {
        double own[6];
        for (int c = 0; c < 6; ++c)
          own[c] = double(p(6 * height * e + 6 * j + c));
        for (int r = 0; r < height; ++r) {
          const double factor = a(height * height * k + height * r + j);
          for (int c = 0; c < 6; ++c)
            sum[r][c] += factor * own[c];
        }
      }
    }
    for (int r = 0; r < height; ++r)
      for (int c = 0; c < 6; ++c)
        w(6 * height * item + 6 * r + c) = sum[r][c];
  }
};

template<int height, class Exec, class Scalar>
struct MultiplyTransposed {
  static constexpr int columns = BackendTraits<Exec>::is_device ? 1 : 6; ///< of a work item
  ArrayPointer<std::int64_t> p_begin, w_begin, c_begin;
  ArrayPointer<int> p_column, w_column, c_column;
  ArrayPointer<double> w;
  ArrayPointer<Scalar> p;
  int first, last; ///< aggregates
  ArrayPointer<double> coarse;

  /// Some columns of a block of A_coarse, counted from the first of aggregate `first`.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t block = c_begin(first) + item * columns / 6;
    const int begin = int(item * columns % 6);
    int low = first, high = last;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (c_begin(middle) <= block ? low : high) = middle;
    }
    double sum[6][columns] = {};
    for (std::int64_t k = w_begin(low); k < w_begin(low + 1); ++k) {
      const std::int64_t row = w_column(k), end = p_begin(row + 1);
      const std::int64_t e = find_column(p_column.data, p_begin(row), end, c_column(block));
      if (e == end)
        continue;
      const std::int64_t from = 6 * height * (k - w_begin(first));
      for (int j = 0; j < height; ++j)
        for (int r = 0; r < 6; ++r)
          for (int c = 0; c < columns; ++c)
            sum[r][c] += w(from + 6 * j + r) * double(p(6 * height * e + 6 * j + begin + c));
    }
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < columns; ++c)
        coarse(36 * block + 6 * r + begin + c) = sum[r][c];
  }
};
} // namespace detail

/// Rows first .. last of coarse [blocks, 6, 6] = P^T A P for aggregates; w [blocks of these rows of
/// W^T, height, 6] is scratch; they are `num_products` and `num_coarse` blocks. Does not fence.
template<int height, class Exec, class Scalar>
void coarse_rows(const Exec& exec, const AggregationArrays<Exec>& level,
                 const Array<double, Exec>& a, const Array<Scalar, Exec>& p, int first, int last,
                 std::int64_t num_products, std::int64_t num_coarse, const Array<double, Exec>& w,
                 const Array<double, Exec>& coarse) {
  Kokkos::parallel_for("ossatura::coarse_rows::multiply", range(exec, num_products),
                       detail::MultiplyProlongator<height, Exec, Scalar>{
                           level.matrix.row_begin, level.prolongator.row_begin,
                           level.product.row_begin, level.matrix.column, level.prolongator.column,
                           level.product.column, a, p, first, last, w});
  using Transposed = detail::MultiplyTransposed<height, Exec, Scalar>;
  Kokkos::parallel_for("ossatura::coarse_rows", range(exec, num_coarse * (6 / Transposed::columns)),
                       Transposed{level.prolongator.row_begin, level.product.row_begin,
                                  level.coarse.row_begin, level.prolongator.column,
                                  level.product.column, level.coarse.column, w, p, first, last,
                                  coarse});
}

namespace detail {
template<class Exec>
struct AddBlockDiagonal {
  ArrayPointer<std::int64_t> begin;
  ArrayPointer<int> column;
  ArrayPointer<double> diagonal, a;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t end = begin(row + 1);
    const std::int64_t k = find_column(column.data, begin(row), end, int(row));
    for (int c = 0; c < 3 && k < end; ++c)
      a(9 * k + 4 * c) += diagonal(3 * row + c);
  }
};
} // namespace detail

/// Adds diagonal [num_rows, 3] to a [blocks, 3, 3]. Does not fence.
template<class Exec>
void add_block_diagonal(const Exec& exec, const Graph<Exec>& graph,
                        const Array<double, Exec>& diagonal, const Array<double, Exec>& a) {
  Kokkos::parallel_for("ossatura::add_block_diagonal", range(exec, graph.num_rows),
                       detail::AddBlockDiagonal<Exec>{graph.row_begin, graph.column, diagonal, a});
}

} // namespace ossatura
