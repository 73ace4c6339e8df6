// SPDX-License-Identifier: Apache-2.0
// Polynomial smoothers multiply the error by a polynomial in the form of its roots: each factor is
// one fused product, and nothing is kept between factors but the iterate (12 bytes per degree of
// freedom and factor in single precision, where the three-term recurrence moves 20).
#pragma once

#include <ossatura/kernels/algebra/jacobi.hpp>
#include <ossatura/kernels/algebra/ranks/halo.hpp>
#include <ossatura/solvers/krylov/smoothing_weights.hpp>

#include <utility>

namespace ossatura {

/// The system that smoothing acts on: A x = b at the free components. Held components are zero in b
/// and x.
template<class Exec, class Scalar, class Operator, class Jacobi>
struct SmoothedSystem {
  const Operator& matrix;
  const Jacobi& jacobi;
  const Array<std::uint8_t, Exec>& held;    ///< Constraints::mask
  const Array<Scalar, Exec>& scratch;       ///< for operators that do not fuse updates, else empty
  const Halo<Exec, Scalar>* halo = nullptr; ///< of x where the system is cut among processes

  /// Finishes every node with an update of A x.
  template<class Update>
  void apply_then(const Exec& exec, const Array<Scalar, Exec>& x, const Update& update) const {
    if (halo)
      halo->exchange(exec, x);
    ossatura::apply_then(exec, matrix, x, scratch, update);
  }
};

/// x = (the smoother from x = 0) b, for the weights of `smoothing_weights`. The iterate moves
/// between x and `next`, which swap: on return x is the result and next is free. b must alias
/// neither. As a polynomial in S A the smoother is symmetric in the inner product of A. Does not
/// fence.
template<class Exec, class Scalar, class Operator, class Jacobi>
void smooth_from_zero(const Exec& exec,
                      const SmoothedSystem<Exec, Scalar, Operator, Jacobi>& system,
                      const std::vector<double>& weights, const Array<Scalar, Exec>& b,
                      Array<Scalar, Exec>& x, Array<Scalar, Exec>& next) {
  apply_jacobi(exec, system.jacobi, Scalar(weights[0]), b, x);
  for (std::size_t i = 1; i < weights.size(); ++i) {
    system.apply_then(exec, x, system.jacobi.step(Scalar(weights[i]), system.held, b, next));
    std::swap(x, next);
  }
}

/// The same from the given x. The last step is `last(update of a smoothing step)`, which takes the
/// place of that update, if it is given.
template<class Exec, class Scalar, class Operator, class Jacobi, class Last>
void smooth(const Exec& exec, const SmoothedSystem<Exec, Scalar, Operator, Jacobi>& system,
            const std::vector<double>& weights, const Array<Scalar, Exec>& b,
            Array<Scalar, Exec>& x, Array<Scalar, Exec>& next, const Last& last) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto step = system.jacobi.step(Scalar(weights[i]), system.held, b, next);
    if (i + 1 < weights.size())
      system.apply_then(exec, x, step);
    else
      system.apply_then(exec, x, last(step));
    std::swap(x, next);
  }
}
template<class Exec, class Scalar, class Operator, class Jacobi>
void smooth(const Exec& exec, const SmoothedSystem<Exec, Scalar, Operator, Jacobi>& system,
            const std::vector<double>& weights, const Array<Scalar, Exec>& b,
            Array<Scalar, Exec>& x, Array<Scalar, Exec>& next) {
  smooth(exec, system, weights, b, x, next, [](const auto& step) { return step; });
}

} // namespace ossatura
