// SPDX-License-Identifier: Apache-2.0
// A graph lists the entries or blocks that a sparse matrix has, row by row.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

#include <cstdint>

namespace ossatura {

/// Row i has the entries row_begin(i) .. row_begin(i + 1). A matrix is a graph and the numbers of
/// each entry, one or a block of them: BlockMatrix, CsrMatrix.
template<class Exec, class Index = std::int64_t>
struct Graph {
  int num_rows = 0;
  Array<Index, Exec> row_begin; ///< [num_rows + 1]
  Array<int, Exec> column;      ///< [num_entries], ascending in a row

  Index num_entries() const { return Index(column.extent(0)); }
};

namespace detail {
/// The place of `column` in the ascending row begin .. end; end if the row lacks it.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t find_column(const int* columns, std::int64_t begin,
                                                     std::int64_t end, int column) {
  // What is left is halved without a branch: which half it is in is anybody's guess.
  std::int64_t low = begin;
  for (std::int64_t left = end - begin; left > 1;) {
    const std::int64_t half = left / 2;
    low += columns[low + half] <= column ? half : 0;
    left -= half;
  }
  return low < end && columns[low] == column ? low : end;
}
} // namespace detail

} // namespace ossatura
