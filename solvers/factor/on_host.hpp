// SPDX-License-Identifier: Apache-2.0
// The host factorisation computes A = L D L^T left-looking over chains of panels [1], in plain
// loops on threads of its own, so that it may run beside whatever Kokkos does.
//
// [1] E. Ng, B. Peyton. Block sparse Cholesky algorithms on advanced uniprocessor computers. SIAM
//     J. Sci. Comput. 14 (1993) 1034-1056, doi:10.1137/0914063.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>

#include <vector>

namespace ossatura {

/// The caller alone, or io_threads(): subtrees side by side, then chains above them by all.
enum class FactorThreads { one, all };

struct HostFactor {
  std::vector<double> panel; ///< L, as in SupernodalFactor
  std::vector<double> pivot; ///< [3 num_nodes], D; positive
  /// Pivots that were not positive, or tiny beside the diagonal of A, and were replaced by that
  /// diagonal: A is not positive definite, and L D L^T is not A.
  int num_replaced = 0;

  /// Room for the factor of a matrix with this pattern; memory is kept.
  void resize(const FactorPattern& pattern) {
    panel.resize(std::size_t(pattern.begin.back()));
    pivot.resize(std::size_t(3) * pattern.num_nodes);
  }
};

/// Factors the matrix of 3 x 3 blocks with the given rows (both triangles), numbered as `pattern`
/// is; blocks below the diagonal are not read. Pivots that are not a number count as replaced;
/// other entries that are not finite lead to a factor that is not either. The factor does not
/// depend on the number of threads. `panel`, `pivot`: as in HostFactor, overwritten; they share no
/// memory with the matrix. Returns HostFactor::num_replaced. With FactorThreads::all
/// poll_region() may end it, when the other threads have done the part that they are at.
int factor_on_host(const FactorPattern& pattern, const std::vector<int>& row_begin,
                   const std::vector<int>& column, const double* value, double* panel,
                   double* pivot, FactorThreads threads = FactorThreads::one);

/// The same into `factor`, resized.
inline void factor_on_host(const FactorPattern& pattern, const std::vector<int>& row_begin,
                           const std::vector<int>& column, const double* value, HostFactor& factor,
                           FactorThreads threads = FactorThreads::one) {
  factor.resize(pattern);
  factor.num_replaced = factor_on_host(pattern, row_begin, column, value, factor.panel.data(),
                                       factor.pivot.data(), threads);
}

} // namespace ossatura
