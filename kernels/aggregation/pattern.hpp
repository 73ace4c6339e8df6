// SPDX-License-Identifier: Apache-2.0
// The patterns of the products of smoothed aggregation [1] depend on the graph of a matrix and its
// aggregates alone, and serve for all its values.
//
// [1] P. Vanek, J. Mandel, M. Brezina. Algebraic multigrid by smoothed aggregation for second and
//     fourth order elliptic problems. Computing 56 (1996) 179-196, doi:10.1007/BF02238511.
#pragma once

#include <ossatura/kernels/aggregation/products.hpp>
#include <ossatura/kernels/algebra/sparse/collect_rows.hpp>
#include <ossatura/kernels/algebra/sparse/transpose.hpp>

namespace ossatura {

namespace detail {

/// P: a row with an aggregate has those of its neighbours.
struct ProlongatorColumns {
  static constexpr int usual = 32;
  ArrayPointer<const std::int64_t> a_begin;
  ArrayPointer<const int> a_column, aggregate;

  template<class Found>
  KOKKOS_FUNCTION void add_row(int row, Found& found) const {
    if (aggregate(row) < 0)
      return;
    for (std::int64_t k = a_begin(row); k < a_begin(row + 1); ++k)
      if (const int of = aggregate(a_column(k)); of >= 0)
        found.add(of);
  }
};

/// A B. Rows without an aggregate have no columns, where `aggregate` is given.
template<int usual_columns>
struct ProductColumns {
  static constexpr int usual = usual_columns;
  ArrayPointer<const std::int64_t> a_begin, b_begin;
  ArrayPointer<const int> a_column, b_column;
  ArrayPointer<const int> aggregate;

  template<class Found>
  KOKKOS_FUNCTION void add_row(int row, Found& found) const {
    if (aggregate.data && aggregate(row) < 0)
      return;
    for (std::int64_t k = a_begin(row); k < a_begin(row + 1); ++k) {
      const std::int64_t inner = a_column(k);
      for (std::int64_t e = b_begin(inner); e < b_begin(inner + 1); ++e)
        found.add(b_column(e));
    }
  }
};

struct FindEntries {
  ArrayPointer<const std::int64_t> restriction_begin, prolongator_begin;
  ArrayPointer<const int> restriction_column, prolongator_column;
  ArrayPointer<int> entry;

  /// An aggregate.
  KOKKOS_FUNCTION void operator()(std::int64_t a) const {
    for (std::int64_t k = restriction_begin(a); k < restriction_begin(a + 1); ++k) {
      const std::int64_t row = restriction_column(k);
      entry(k) = int(find_column(prolongator_column.data, prolongator_begin(row),
                                 prolongator_begin(row + 1), int(a)));
    }
  }
};

} // namespace detail

/// Everything of `level` but P0, from its matrix and `aggregate` [num_rows], -1 for rows that have
/// none, which have none in P either; of `count` aggregates. The same for any number of threads.
/// Fences.
template<class Exec>
void make_aggregation_patterns(const Exec& exec, int count, AggregationArrays<Exec>& level) {
  const Graph<Exec>& matrix = level.matrix;
  OSSATURA_REQUIRE(std::int64_t(level.aggregate.extent(0)) == matrix.num_rows,
                   level.aggregate.extent(0)
                       << " aggregates of rows for " << matrix.num_rows << " rows");
  level.prolongator =
      collect_rows(exec, matrix.num_rows,
                   detail::ProlongatorColumns{matrix.row_begin, matrix.column, level.aggregate});
  OSSATURA_REQUIRE(level.prolongator.num_entries() <= std::numeric_limits<int>::max(),
                   level.prolongator.num_entries() << " blocks of a prolongator");
  level.restriction = transpose(exec, level.prolongator, count);
  level.entry = make_uninitialized<int>(exec, level.prolongator.num_entries(),
                                        "ossatura::aggregation::entry");
  Kokkos::parallel_for("ossatura::find_entries", range(exec, count),
                       detail::FindEntries{level.restriction.row_begin, level.prolongator.row_begin,
                                           level.restriction.column, level.prolongator.column,
                                           level.entry});
  {
    const Graph<Exec> product = collect_rows(
        exec, matrix.num_rows,
        detail::ProductColumns<32>{matrix.row_begin, level.prolongator.row_begin, matrix.column,
                                   level.prolongator.column, level.aggregate});
    level.product = transpose(exec, product, count);
    fence(exec, "ossatura::make_aggregation_patterns"); // `product` goes
  }
  level.coarse = collect_rows(exec, count,
                              detail::ProductColumns<64>{level.product.row_begin,
                                                         level.prolongator.row_begin,
                                                         level.product.column,
                                                         level.prolongator.column,
                                                         {}});
}

} // namespace ossatura
