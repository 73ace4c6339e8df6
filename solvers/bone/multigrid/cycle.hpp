// SPDX-License-Identifier: Apache-2.0
// The multigrid cycle preconditions voxel models geometrically and matrix-free on every level [1],
// [2].
//
// The finest level is the voxels themselves, its smoother scaled by a number per node. Coarse
// levels are cells with explicit corners (kernels/bone/cells/grid.hpp), of averaged moduli, by
// place (eq. 5, 6 of [2]) or by connection (kernels/bone/cells/coarsen.hpp), their smoothers scaled
// by 3 x 3 blocks. Smoothing steps and residuals are updates of products
// (kernels/algebra/fused_updates/fused.hpp): a level keeps two iterates and a right-hand side. With
// equal pre- and post-smoothing the cycle is symmetric positive definite, as conjugate gradients
// need (tested).
//
// [1] C. Flaig, P. Arbenz. A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images. Parallel Computing 37 (2011) 846-854.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include <ossatura/kernels/algebra/dense/operator.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/integers.hpp>
#include <ossatura/kernels/bone/assemble_dense.hpp>
#include <ossatura/kernels/bone/diagonal.hpp>
#include <ossatura/kernels/bone/operator.hpp>
#include <ossatura/solvers/bone/multigrid/coarse_cycle.hpp>

namespace ossatura {

/// Preconditioner z = M b for the voxels of a hierarchy, in arithmetic of `Scalar`. `Operator` is a
/// voxel operator (kernels/bone/operator.hpp).
template<class Exec, class Operator, class Scalar>
class Multigrid {
  static_assert(is_voxel_operator<Operator, Exec, Scalar>,
                "Multigrid needs a voxel operator: see kernels/bone/operator.hpp");
  using Finest = detail::MultigridLevel<Exec, Scalar, Operator, PointJacobi<Exec, Scalar>>;

public:
  /// Works on the voxels in the given vectors, whose contents are lost. Fences.
  Multigrid(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy, const Operator& fine_operator,
            const MultigridOptions& options, const LevelVectors<Exec, Scalar>& fine_vectors)
      : options_(options)
      , finest_{fine_operator,
                {fine_scaling(exec, hierarchy, options)},
                hierarchy.held,
                1,
                fine_vectors,
                {},
                0,
                {},
                {}}
      , info_{hierarchy.share.num_elem, hierarchy.share.num_nodes, hierarchy.share.num_held_dofs, 0}
      , coarse_(exec, hierarchy, options) {
    if (hierarchy.is_cut || hierarchy.is_periodic())
      finest_.halo = {exec, hierarchy.comm, hierarchy.share.plan};
    if (!Operator::fuses_updates)
      finest_.scratch =
          make_zeros<Scalar>(exec, hierarchy.grid.num_dofs(), "ossatura::multigrid::scratch");
    prepare(exec, hierarchy);
  }

  /// Takes over that the constants of voxels and cells have changed in place (renew_means). The
  /// contents of the vectors are lost. Fences.
  void renew(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy) {
    finest_.jacobi = {}; // before the new one, for memory
    finest_.jacobi = {fine_scaling(exec, hierarchy, options_)};
    coarse_.renew(exec, hierarchy.eigenvalue_bound);
    prepare(exec, hierarchy);
  }

  /// M b at owned nodes, in one of the two iterates of the finest level, where it stays until these
  /// are written to. b [3 num_nodes], zero at held components as the result is, may be the b of the
  /// finest level's vectors but not its iterates. Does not fence (with the direct coarse solver).
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) {
    return apply_with(exec, b, [](const auto& step) { return step; });
  }

  /// The same, and partial sums of b . M b, as many as the operator has, if has_coarse_levels(): in
  /// double, or of a model that is cut among processes as integers.
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b,
                            const Array<double, Exec>& partial_sum) {
    return apply_with(exec, b, [&](const auto& step) {
      return SmoothingStepDot<Exec, Scalar>{step, partial_sum.data()};
    });
  }

  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b,
                            const IntegerScale& scale, IntegerSum* partial_sum) {
    return apply_with(exec, b, [&](const auto& step) {
      using Dot = SmoothingStepDot<Exec, Scalar>;
      return SumAsIntegers<Dot>{Dot{step, nullptr}, scale, partial_sum};
    });
  }

  bool has_coarse_levels() const { return !coarse_.empty(); }

  std::vector<MultigridLevelInfo> level_info() const {
    std::vector<MultigridLevelInfo> info = coarse_.level_info();
    info.insert(info.begin(), info_);
    return info;
  }

  /// Operator products so far, set-up included, each level weighted by its share of elements.
  double work() const { return work_ + coarse_.work(); }

  LaunchGraphState launch_graph() const { return coarse_.launch_graph(); }

private:
  /// The solver of the finest level, where it is the only one, and its smoother.
  void prepare(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy) {
    if (coarse_.empty())
      coarsest_ = {
          exec, options_.coarse_solver, 1, hierarchy.grid.num_nodes, hierarchy.held.num_dofs, [&] {
            return assemble_dense(exec, hierarchy.grid, hierarchy.lame, hierarchy.held,
                                  hierarchy.edge);
          }};
    work_ += detail::prepare_smoother(exec, options_, options_.smoother.degree,
                                      hierarchy.eigenvalue_bound, finest_);
    info_.largest_eigenvalue = finest_.largest_eigenvalue;
  }

  template<class Last>
  Array<Scalar, Exec> apply_with(const Exec& exec, const Array<Scalar, Exec>& b, const Last& last) {
    if (coarse_.empty())
      return coarsest_.solve(exec, finest_, b, work_);
    const int visits = options_.repetition == Repetition::smoothed ? options_.fine_cycles : 1;
    return detail::cycle(
        exec, finest_, b, visits, work_,
        [&](const auto& residual, const auto& x) { coarse_.add_correction(exec, residual, x); },
        last);
  }

  static Array<Scalar, Exec> fine_scaling(const Exec& exec, const VoxelHierarchy<Exec>& h,
                                          const MultigridOptions& options) {
    return options.block_jacobi ? make_inverse_block_norm<Scalar>(exec, h.grid, h.lame, h.edge)
                                : make_inverse_diagonal<Scalar>(exec, h.grid, h.lame, h.edge);
  }

  MultigridOptions options_;
  Finest finest_;
  MultigridLevelInfo info_; ///< of the finest level
  CoarseCycle<Exec, Scalar> coarse_;
  CoarsestSolver<Exec, Scalar> coarsest_; ///< of the finest level where it is the only one
  double work_ = 0;
};

} // namespace ossatura
