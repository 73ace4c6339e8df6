// SPDX-License-Identifier: Apache-2.0
// A Preconditioner is the approximate inverse of conjugate gradients, chosen at run time.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

/// z = M b, M symmetric positive definite on the free components; b and z are zero at held ones.
template<class Exec, class Scalar>
class Preconditioner {
public:
  virtual ~Preconditioner() = default;
  /// Returns z, which the next call overwrites. b must not alias it. Does not fence.
  virtual Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) = 0;
};

} // namespace ossatura
