// SPDX-License-Identifier: Apache-2.0
// A BlockMatrix is a sparse matrix of 3 x 3 blocks (BSR).
#pragma once

#include <ossatura/core/base/backend.hpp>

namespace ossatura {

/// Row i has blocks row_begin(i) .. row_begin(i + 1); columns ascend and include the diagonal.
template<class Exec>
struct BlockMatrix {
  int num_rows = 0;           ///< block rows
  Array<int, Exec> row_begin; ///< [num_rows + 1]
  Array<int, Exec> column;    ///< [num_blocks]
  Array<double, Exec> value;  ///< [num_blocks, 9], row-major blocks

  int num_blocks() const { return int(column.extent(0)); }
};

} // namespace ossatura
