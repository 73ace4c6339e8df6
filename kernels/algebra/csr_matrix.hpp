// SPDX-License-Identifier: Apache-2.0
// A CsrMatrix is a sparse matrix of scalars, row by row (CSR).
#pragma once

#include <ossatura/core/base/backend.hpp>

namespace ossatura {

/// Row i has entries row_begin(i) .. row_begin(i + 1); columns ascend.
template<class Exec>
struct CsrMatrix {
  int num_rows = 0;
  Array<int, Exec> row_begin; ///< [num_rows + 1]
  Array<int, Exec> column;    ///< [num_entries]
  Array<double, Exec> value;  ///< [num_entries]

  int num_entries() const { return int(column.extent(0)); }
};

} // namespace ossatura
