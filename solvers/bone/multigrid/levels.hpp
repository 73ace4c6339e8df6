// SPDX-License-Identifier: Apache-2.0
// This file defines the smoothers of the levels of the voxel multigrid and the solver of the
// coarsest level.
#pragma once

#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/lanczos.hpp>
#include <ossatura/solvers/krylov/multigrid_level.hpp>

namespace ossatura {

namespace detail {

/// Prepares the smoother of a level; returns the products spent. `bound` is that of its eigenvalues
/// scaled by blocks.
template<class Exec, class Level>
double prepare_smoother(const Exec& exec, const MultigridOptions& options, int degree, double bound,
                        Level& level) {
  double work = 0;
  SmootherOptions smoother = options.smoother;
  smoother.degree = degree;
  if (options.block_jacobi) {
    level.largest_eigenvalue = bound;
    smoother.safety = 1;
  } else {
    const auto& v = level.vectors;
    level.largest_eigenvalue = estimate_largest_eigenvalue(
        exec, options.lanczos_steps, level.jacobi,
        [&](const auto& p, const auto& q) {
          level.multiply(exec, p, q);
          work += level.cost;
        },
        [&](const auto& r) { clear(exec, level.held, r); }, v.b, v.x, v.next);
  }
  // A level on which nothing acts is given any weights.
  const double lmax = level.largest_eigenvalue > 0 ? level.largest_eigenvalue : 1;
  level.weights = smoothing_weights(smoother, lmax);
  return work;
}

} // namespace detail

/// Solves the coarsest level, by a dense inverse or by conjugate gradients.
template<class Exec, class Scalar>
class CoarsestSolver {
public:
  CoarsestSolver() = default;
  /// `assemble()` gives the dense matrix of the level, row by row, if it is asked for. A level with
  /// no free component needs none, however large it is: its inverse is zero. Does not fence.
  template<class Assemble>
  CoarsestSolver(const Exec& exec, CoarseSolver kind, int num_levels, std::int64_t num_nodes,
                 std::int64_t num_held_dofs, const Assemble& assemble)
      : kind_(kind)
      , is_zero_(num_held_dofs == 3 * num_nodes) {
    if (kind != CoarseSolver::direct || is_zero_)
      return;
    if (num_nodes > 4000)
      fail<UsageError>("the coarsest of ", num_levels, " levels has ", num_nodes,
                       " nodes, too many for a direct solve: allow more levels or use the cg "
                       "coarse solver");
    inverse_ = invert_semidefinite<Scalar>(exec, assemble(), 3 * num_nodes);
  }

  /// x = A^-1 b in level.vectors.x, which is returned. Does not fence if direct.
  template<class Level>
  Array<Scalar, Exec> solve(const Exec& exec, const Level& level, const Array<Scalar, Exec>& b,
                            double& work) {
    const LevelVectors<Exec, Scalar>& v = level.vectors;
    if (is_zero_) {
      axpby(exec, Scalar(0), b, Scalar(0), v.x);
      return v.x;
    }
    if (kind_ == CoarseSolver::direct) {
      apply_dense(exec, inverse_, b, v.x);
      return v.x;
    }
    if (r_.extent(0) == 0) {
      const std::int64_t n = v.x.extent(0);
      r_ = make_zeros<Scalar>(exec, n, "ossatura::multigrid::coarse_r");
      p_ = make_zeros<Scalar>(exec, n, "ossatura::multigrid::coarse_p");
      z_ = make_zeros<Scalar>(exec, n, "ossatura::multigrid::coarse_z");
    }
    Kokkos::deep_copy(exec, v.x, Scalar(0));
    conjugate_gradients(
        exec, CgOptions{1e-7, 20, 0},
        [&](const auto& p, const auto& q) {
          level.multiply(exec, p, q);
          work += level.cost;
        },
        [&](const auto& x, double scale, const auto& r) {
          apply_then(
              exec, level.matrix, x, r,
              StoreScaledResidual<Exec, Scalar, Scalar>{level.held.mask, b, Scalar(scale), r});
          work += level.cost;
        },
        [&](const auto& r) {
          apply_jacobi(exec, level.jacobi, Scalar(1), r, z_);
          return z_;
        },
        CgVectors<Exec, Scalar, Scalar, Scalar>{v.x, r_, p_, v.next, r_});
    return v.x;
  }

  /// Whether solving multiplies by inverse().
  bool is_direct() const { return kind_ == CoarseSolver::direct || is_zero_; }
  /// Dense [n * n]; empty where it is zero.
  const Array<Scalar, Exec>& inverse() const { return inverse_; }

private:
  CoarseSolver kind_ = CoarseSolver::direct;
  bool is_zero_ = false;
  Array<Scalar, Exec> inverse_;   ///< dense
  Array<Scalar, Exec> r_, p_, z_; ///< of the conjugate gradients
};

} // namespace ossatura
