// SPDX-License-Identifier: Apache-2.0
// A BlockMatrix is a sparse matrix of 3 x 3 blocks (BSR).
#pragma once

#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

/// Rows and columns of the graph are of blocks; each row has its diagonal.
template<class Exec>
struct BlockMatrix : Graph<Exec, int> {
  Array<double, Exec> value; ///< [num_entries, 9], row-major blocks
};

} // namespace ossatura
