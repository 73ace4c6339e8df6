// SPDX-License-Identifier: Apache-2.0
// The host factorisation computes A = L D L^T left-looking over panels [1], in plain loops on one
// thread, so that it may run beside whatever Kokkos does.
//
// [1] E. Ng, B. Peyton. Block sparse Cholesky algorithms on advanced uniprocessor computers. SIAM
//     J. Sci. Comput. 14 (1993) 1034-1056, doi:10.1137/0914063.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <vector>

namespace ossatura {

struct HostFactor {
  std::vector<double> panel; ///< L, as in SupernodalFactor
  std::vector<double> pivot; ///< [3 num_nodes], D; positive
  /// Pivots that were not positive, or tiny beside the diagonal of A, and were replaced by that
  /// diagonal: A is not positive definite, and L D L^T is not A.
  int num_replaced = 0;
};

/// Factors the matrix of 3 x 3 blocks with the given rows (both triangles), numbered as `pattern`
/// is; blocks below the diagonal are not read. Pivots that are not a number count as replaced;
/// other entries that are not finite lead to a factor that is not either. `factor` keeps its memory
/// from call to call. `polls`: poll_region() may end it between two panels.
void factor_on_host(const FactorPattern& pattern, const std::vector<int>& row_begin,
                    const std::vector<int>& column, const double* value, HostFactor& factor,
                    bool polls = false);

} // namespace ossatura
