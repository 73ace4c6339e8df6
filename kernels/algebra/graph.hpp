// SPDX-License-Identifier: Apache-2.0
// A graph lists the entries or blocks that a sparse matrix has, row by row.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

#include <cstdint>

namespace ossatura {

/// Row i has the blocks row_begin(i) .. row_begin(i + 1); a matrix is a graph and the numbers of
/// each block.
template<class Exec>
struct Graph {
  int num_rows = 0;
  Array<std::int64_t, Exec> row_begin; ///< [num_rows + 1]
  Array<int, Exec> column;             ///< [num_blocks], ascending in a row

  std::int64_t num_blocks() const { return std::int64_t(column.extent(0)); }
};

namespace detail {
/// The place of `column` in the ascending row begin .. end; end if the row lacks it.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t find_column(const int* columns, std::int64_t begin,
                                                     std::int64_t end, int column) {
  std::int64_t low = begin, high = end;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (columns[middle] <= column)
      low = middle;
    else
      high = middle;
  }
  return low < high && columns[low] == column ? low : end;
}
} // namespace detail

} // namespace ossatura
