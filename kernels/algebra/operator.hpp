// SPDX-License-Identifier: Apache-2.0
// An Operator is the product with a square matrix that is chosen at run time.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

template<class Exec, class Scalar>
class Operator {
public:
  static constexpr bool fuses_updates = false; ///< for apply_then (fused_updates.hpp)

  virtual ~Operator() = default;
  /// y = A x; no component is held. y must not alias x. Does not fence.
  virtual void apply(const Exec& exec, const Array<Scalar, Exec>& x,
                     const Array<Scalar, Exec>& y) const = 0;
};

/// Refers to one, which must stay: an operator that can be copied and set.
template<class Exec, class Scalar>
struct OperatorReference {
  static constexpr bool fuses_updates = false;
  const Operator<Exec, Scalar>* target = nullptr;

  void apply(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) const {
    target->apply(exec, x, y);
  }
};

} // namespace ossatura
