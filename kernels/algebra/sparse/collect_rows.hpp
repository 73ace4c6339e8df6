// SPDX-License-Identifier: Apache-2.0
// collect_rows makes the graph whose rows are unions of lists, such as the pattern of a product of
// two matrices.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

namespace detail {

/// Of the numbers that are added, the least that are greater than `above`, ascending, each once.
template<int capacity>
struct LeastNumbers {
  int above = -1, count = 0;
  int next = 0; ///< place behind the last one that was added: lists are alike
  int number[capacity];

  KOKKOS_FORCEINLINE_FUNCTION void add(int n) {
    if (next < count && number[next] == n) {
      ++next;
      return;
    }
    if (n <= above || (count == capacity && n > number[capacity - 1]))
      return;
    int place = 0; // how many are less
    for (int left = count; left > 0;) {
      const int half = left / 2;
      const bool less = number[place + half] < n;
      place += less ? half + 1 : 0;
      left = less ? left - half - 1 : half;
    }
    next = place + 1;
    if (place < count && number[place] == n)
      return;
    count += count < capacity ? 1 : 0;
    for (int moved = count - 1; moved > place; --moved)
      number[moved] = number[moved - 1];
    number[place] = n;
  }
};

/// Counts the columns of a row, or stores them once their place is known.
template<class Columns, bool stores>
struct CollectRow {
  Columns columns;
  ArrayPointer<std::int64_t> row_begin; ///< lengths while they are counted
  ArrayPointer<int> column;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    LeastNumbers<Columns::usual> found;
    std::int64_t length = 0;
    do { // again for what a longer row has more
      found.count = found.next = 0;
      columns.add_row(int(row), found);
      if constexpr (stores)
        for (int k = 0; k < found.count; ++k)
          column(row_begin(row) + length + k) = found.number[k];
      length += found.count;
      if (found.count > 0)
        found.above = found.number[found.count - 1];
    } while (found.count == Columns::usual);
    if constexpr (!stores)
      row_begin(row) = length;
  }
};

} // namespace detail

/// The graph of `num_rows` rows whose columns `columns` adds, each any number of times and in any
/// order; columns are not negative:
///
///     static constexpr int usual = ..;  // columns of a row; more take another visit each
///     template<class Found> KOKKOS_FUNCTION void add_row(int row, Found& found) const {
///       found.add(column); ..
///     }
///
/// A row is visited twice, which takes no memory but that of the graph. Fences.
template<class Exec, class Columns>
Graph<Exec> collect_rows(const Exec& exec, int num_rows, const Columns& columns) {
  Graph<Exec> graph;
  graph.num_rows = num_rows;
  graph.row_begin = make_uninitialized<std::int64_t>(exec, std::int64_t(num_rows) + 1,
                                                     "ossatura::collect_rows::row_begin");
  Kokkos::parallel_for("ossatura::collect_rows::count", range(exec, num_rows),
                       detail::CollectRow<Columns, false>{columns, graph.row_begin, {}});
  const std::int64_t num_entries = lengths_to_begins(exec, graph.row_begin, "entries");
  graph.column = make_uninitialized<int>(exec, num_entries, "ossatura::collect_rows::column");
  Kokkos::parallel_for("ossatura::collect_rows", range(exec, num_rows),
                       detail::CollectRow<Columns, true>{columns, graph.row_begin, graph.column});
  fence(exec, "ossatura::collect_rows");
  return graph;
}

} // namespace ossatura
