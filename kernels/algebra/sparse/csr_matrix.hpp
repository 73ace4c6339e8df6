// SPDX-License-Identifier: Apache-2.0
// A CsrMatrix is a sparse matrix of scalars, row by row (CSR).
#pragma once

#include <ossatura/kernels/algebra/sparse/graph.hpp>

namespace ossatura {

template<class Exec>
struct CsrMatrix : Graph<Exec, int> {
  Array<double, Exec> value; ///< [num_entries]
};

} // namespace ossatura
