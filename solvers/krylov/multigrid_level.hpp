// SPDX-License-Identifier: Apache-2.0
// A level of a multigrid cycle has a matrix, a smoother and vectors.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/solvers/krylov/polynomial_smoother.hpp>

namespace ossatura {

/// The vectors of a level [3 num_nodes]: two iterates and the right-hand side.
template<class Exec, class Scalar>
struct LevelVectors {
  Array<Scalar, Exec> x, next, b;
};

namespace detail {

/// The matrix of a level with its smoother; its grid is in the hierarchy.
template<class Exec, class Scalar, class Operator, class Jacobi>
struct MultigridLevel {
  Operator matrix;
  Jacobi jacobi;
  Constraints<Exec> held;
  double cost; ///< of a product, in products of the finest level
  LevelVectors<Exec, Scalar> vectors;
  Array<Scalar, Exec> scratch; ///< for operators that do not fuse updates
  double largest_eigenvalue = 0;
  std::vector<double> weights; ///< of the smoother
  Halo<Exec, Scalar> halo{};   ///< of a level that is cut among processes

  SmoothedSystem<Exec, Scalar, Operator, Jacobi> system() const {
    return {matrix, jacobi, held.mask, scratch, &halo};
  }
  /// q = A x, zero at held components.
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& q) const {
    halo.exchange(exec, x);
    apply_then(exec, matrix, x, q, StoreFreeProduct<Exec, Scalar>{held.mask, q});
  }
  /// r = b - A x, zero at held components.
  void residual(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& b,
                const Array<Scalar, Exec>& r) const {
    halo.exchange(exec, x);
    apply_then(exec, matrix, x, Operator::fuses_updates ? scratch : r,
               StoreResidual<Exec, Scalar>{held.mask, b, r});
  }
};

/// One cycle from zero on a level above the coarsest; returns the iterate. `add_correction(r, x)`
/// solves the next level for the residual r, at ghosts, too, and adds the correction to x. The last
/// smoothing step is that of `last` (see smooth). Adds the products of this level to `work`.
template<class Exec, class Scalar, class Level, class AddCorrection, class Last>
Array<Scalar, Exec> cycle(const Exec& exec, const Level& level, const Array<Scalar, Exec>& b,
                          int visits, double& work, const AddCorrection& add_correction,
                          const Last& last) {
  Array<Scalar, Exec> x = level.vectors.x, next = level.vectors.next;
  smooth_from_zero(exec, level.system(), level.weights, b, x, next);
  work += level.cost * double(level.weights.size() - 1);
  for (int visit = 0; visit < visits; ++visit) {
    level.residual(exec, x, b, next);
    level.halo.exchange(exec, next);
    add_correction(next, x);
    if (visit + 1 < visits)
      smooth(exec, level.system(), level.weights, b, x, next);
    else
      smooth(exec, level.system(), level.weights, b, x, next, last);
    work += level.cost * double(level.weights.size() + 1);
  }
  return x;
}
template<class Exec, class Scalar, class Level, class AddCorrection>
Array<Scalar, Exec> cycle(const Exec& exec, const Level& level, const Array<Scalar, Exec>& b,
                          int visits, double& work, const AddCorrection& add_correction) {
  return cycle(exec, level, b, visits, work, add_correction, [](const auto& step) { return step; });
}

} // namespace detail

} // namespace ossatura
