// SPDX-License-Identifier: Apache-2.0
// The transpose of a graph lists for each column the rows that have it.
#pragma once

#include <ossatura/kernels/algebra/sparse/graph.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>

namespace ossatura {

namespace detail {

/// count(c + 1) counts the entries of column c.
struct CountRowsOfColumns {
  ArrayPointer<const int> column;
  ArrayPointer<std::int64_t> count;

  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    Kokkos::atomic_add(&count(std::int64_t(column(k)) + 1), std::int64_t(1));
  }
};

/// Counts become beginnings, each one place behind its own: once its list is filled it is the end
/// of that, where the next begins.
struct BeginBehindCount {
  ArrayPointer<std::int64_t> begin;

  KOKKOS_FUNCTION void operator()(std::int64_t c, std::int64_t& sum, bool final) const {
    const std::int64_t count = begin(c + 1); // before it is overwritten
    if (final)
      begin(c + 1) = sum;
    sum += count;
  }
};

/// The order within a list is that of the threads until it is sorted.
struct PlaceRows {
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<std::int64_t> next;
  ArrayPointer<int> row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = row_begin(i); k < row_begin(i + 1); ++k)
      row(Kokkos::atomic_fetch_add(&next(std::int64_t(column(k)) + 1), std::int64_t(1))) = int(i);
  }
};

/// For few threads, whose order is nearly that of rows.
struct SortRows {
  ArrayPointer<const std::int64_t> begin;
  ArrayPointer<int> row;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    sort_list(row.data + begin(c), int(begin(c + 1) - begin(c)));
  }
};

/// For many threads, whose order is none: an entry goes behind those of its list that are less.
struct PlaceSortedRows {
  ArrayPointer<const std::int64_t> row_begin;
  ArrayPointer<const int> column;
  ArrayPointer<const std::int64_t> begin;
  ArrayPointer<const int> unsorted;
  ArrayPointer<int> row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = row_begin(i); k < row_begin(i + 1); ++k) {
      const std::int64_t first = begin(column(k)), end = begin(std::int64_t(column(k)) + 1);
      std::int64_t place = first;
      for (std::int64_t j = first; j < end; ++j)
        place += unsorted(j) < int(i) ? 1 : 0;
      row(place) = int(i);
    }
  }
};

} // namespace detail

/// Columns of `graph` are less than `num_columns`, none of them twice in a row. The same for any
/// number of threads. Does not fence.
template<class Exec>
Graph<Exec> transpose(const Exec& exec, const Graph<Exec>& graph, int num_columns) {
  Graph<Exec> result;
  result.num_rows = num_columns;
  result.row_begin = make_zeros<std::int64_t>(exec, std::int64_t(num_columns) + 1,
                                              "ossatura::transpose::row_begin");
  result.column = make_uninitialized<int>(exec, graph.num_entries(), "ossatura::transpose::column");
  Kokkos::parallel_for("ossatura::transpose::count", range(exec, graph.num_entries()),
                       detail::CountRowsOfColumns{graph.column, result.row_begin});
  Kokkos::parallel_scan("ossatura::transpose::begin", range(exec, num_columns),
                        detail::BeginBehindCount{result.row_begin});
  Kokkos::parallel_for(
      "ossatura::transpose::place", range(exec, graph.num_rows),
      detail::PlaceRows{graph.row_begin, graph.column, result.row_begin, result.column});
  if constexpr (BackendTraits<Exec>::is_device) {
    const Array<int, Exec> unsorted = result.column;
    result.column =
        make_uninitialized<int>(exec, graph.num_entries(), "ossatura::transpose::column");
    Kokkos::parallel_for("ossatura::transpose::sort", range(exec, graph.num_rows),
                         detail::PlaceSortedRows{graph.row_begin, graph.column, result.row_begin,
                                                 unsorted, result.column});
  } else {
    Kokkos::parallel_for("ossatura::transpose::sort", range(exec, num_columns),
                         detail::SortRows{result.row_begin, result.column});
  }
  return result;
}

} // namespace ossatura
