// SPDX-License-Identifier: BSD-3-Clause
// Geometric multigrid on voxels as a preconditioner: matrix-free on every level [1], [2].
//
// The finest level is the voxels themselves, its smoother scaled by a number per node. Coarse
// levels are cells with explicit corners (cell_grid.hpp), of averaged moduli, by place (eq. 5, 6 of
// [2]) or by connection (cell_coarsen.hpp), their smoothers scaled by 3 x 3 blocks. Smoothing steps
// and residuals are updates of products (node_update.hpp): a level keeps two iterates and a
// right-hand side. With equal pre- and post-smoothing the cycle is symmetric positive definite, as
// conjugate gradients need (tested).
//
// [1] C. Flaig, P. Arbenz. A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images. Parallel Computing 37 (2011) 846-854.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include "kernels/block_diagonal.hpp"
#include "kernels/cell_operator.hpp"
#include "kernels/dense_operator.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/free_updates.hpp"
#include "kernels/upload.hpp"
#include "kernels/voxel_operator.hpp"
#include "solvers/cg.hpp"
#include "solvers/dense_inverse.hpp"
#include "solvers/lanczos.hpp"
#include "solvers/polynomial_smoother.hpp"
#include "solvers/voxel_hierarchy.hpp"

#include <optional>

namespace femura {

/// The vectors of a level [3 num_nodes]: two iterates and the right-hand side.
template<class Exec, class Scalar>
struct LevelVectors {
  Array<Scalar, Exec> x, next, b;
};

namespace detail {

/// The matrix of a level with what solves it; its grid is in the hierarchy.
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

  SmoothedSystem<Exec, Scalar, Operator, Jacobi> system() const {
    return {matrix, jacobi, held.mask, scratch};
  }
  /// q = A x, zero at held components.
  void multiply(const Exec& exec, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& q) const {
    apply_then(exec, matrix, x, q, StoreFreeProduct<Exec, Scalar>{held.mask, q});
  }
  /// r = b - A x, zero at held components.
  void residual(const Exec& exec, const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& b,
                const Array<Scalar, Exec>& r) const {
    apply_then(exec, matrix, x, Operator::fuses_updates ? scratch : r,
               StoreResidual<Exec, Scalar>{held.mask, b, r});
  }
};

} // namespace detail

/// Preconditioner z = M b for the voxels of a hierarchy, in arithmetic of `Scalar`. `Operator` is a
/// voxel operator (kernels/voxel_operator.hpp).
template<class Exec, template<class> class Operator, class Scalar>
class Multigrid {
  static_assert(is_voxel_operator<Operator<Exec>, Exec, Scalar>,
                "Multigrid needs a voxel operator: see kernels/voxel_operator.hpp");
  using Fine = detail::MultigridLevel<Exec, Scalar, Operator<Exec>, PointJacobi<Exec, Scalar>>;
  using Coarse =
      detail::MultigridLevel<Exec, Scalar, CellOperator<Exec>, BlockJacobi<Exec, Scalar>>;

public:
  /// Works on the voxels in the given vectors, whose contents are lost. Fences.
  Multigrid(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
            const Operator<Exec>& fine_operator, const MultigridOptions& options,
            const LevelVectors<Exec, Scalar>& fine_vectors)
      : options_(options)
      , hierarchy_(hierarchy)
      , fine_{fine_operator,
              {fine_scaling(exec, hierarchy, options)},
              hierarchy.held,
              1,
              fine_vectors,
              {},
              0,
              {}}
      , graph_(options.launch_graphs && options.coarse_solver == CoarseSolver::direct) {
    if (!Operator<Exec>::fuses_updates)
      fine_.scratch =
          make_zeros<Scalar>(exec, hierarchy.grid.num_dofs(), "femura::multigrid::scratch");
    for (const CoarseLevel<Exec>& level : hierarchy.coarse)
      add_level(exec, level);
    prepare_coarsest(exec);
    prepare_smoother(exec, fine_, options.smoother.degree, coarse_.empty());
    const int coarse_degree =
        options.coarse_degree > 0 ? options.coarse_degree : options.smoother.degree;
    for (Coarse& level : coarse_)
      prepare_smoother(exec, level, coarse_degree, &level == &coarse_.back());
  }

  /// M b, in one of the two iterates of the finest level, where it stays until these are written
  /// to. b [3 num_nodes], zero at held components as the result is, may be the b of the finest
  /// level's vectors but not its iterates. Does not fence (with the direct coarse solver).
  Array<Scalar, Exec> apply(const Exec& exec, const Array<Scalar, Exec>& b) {
    if (coarse_.empty())
      return solve_coarsest(exec, fine_, b);
    return cycle(exec, fine_, b, options_.fine_cycles, [&](const auto& residual) {
      restrict_residual(exec, hierarchy_.coarse[0].transfer, hierarchy_.grid,
                        hierarchy_.coarse[0].cells, residual, coarse_[0].held.mask,
                        coarse_[0].vectors.b);
      const double before = work_;
      if (graph_.run(exec, [&] { correction_ = visit(exec, 0); }))
        visit_work_ = work_ - before;
      else
        work_ += visit_work_;
      return prolongation(exec, 0, correction_);
    });
  }

  std::vector<MultigridLevelInfo> level_info() const {
    std::vector<MultigridLevelInfo> info{{hierarchy_.grid.num_elem, hierarchy_.grid.num_nodes,
                                          fine_.held.num_dofs, fine_.largest_eigenvalue}};
    for (std::size_t l = 0; l < coarse_.size(); ++l)
      info.push_back({hierarchy_.coarse[l].cells.num_elem, hierarchy_.coarse[l].cells.num_nodes,
                      coarse_[l].held.num_dofs, coarse_[l].largest_eigenvalue});
    return info;
  }

  /// Operator products so far, set-up included, each level weighted by its share of elements.
  double work() const { return work_; }

  LaunchGraphState launch_graph() const { return graph_.state(); }

private:
  static Array<Scalar, Exec> fine_scaling(const Exec& exec, const VoxelHierarchy<Exec>& h,
                                          const MultigridOptions& options) {
    return options.block_jacobi ? make_inverse_block_norm<Scalar>(exec, h.grid, h.lame, h.edge)
                                : make_inverse_diagonal<Scalar>(exec, h.grid, h.lame, h.edge);
  }

  /// The coarse correction of a level, to be added to its iterate.
  struct Prolongation {
    const Exec& exec;
    const CoarseLevel<Exec>& level;
    const Array<Scalar, Exec>& correction;

    void add_to(const Array<std::uint8_t, Exec>& held, const Array<Scalar, Exec>& x) const {
      prolong_add(exec, level.transfer, level.cells, correction, held, x);
    }
  };
  Prolongation prolongation(const Exec& exec, std::size_t l,
                            const Array<Scalar, Exec>& correction) const {
    return {exec, hierarchy_.coarse[l], correction};
  }

  void add_level(const Exec& exec, const CoarseLevel<Exec>& level) {
    const std::int64_t n = level.cells.num_dofs();
    const auto vector = [&](const char* label) { return make_zeros<Scalar>(exec, n, label); };
    coarse_.push_back(
        {CellOperator<Exec>(exec, level.cells, level.edge),
         {make_inverse_diagonal_blocks<Scalar>(exec, level.cells, level.edge, level.held.mask)},
         level.held,
         double(level.cells.num_elem) / double(hierarchy_.grid.num_elem),
         {vector("femura::multigrid::x"), vector("femura::multigrid::next"),
          vector("femura::multigrid::b")},
         {},
         0,
         {}});
    if (!options_.block_jacobi)
      drop_couplings(exec, coarse_.back().jacobi);
  }

  void prepare_coarsest(const Exec& exec) {
    if (options_.coarse_solver != CoarseSolver::direct)
      return;
    const bool voxels = coarse_.empty();
    const std::int64_t num_nodes =
        voxels ? hierarchy_.grid.num_nodes : hierarchy_.coarse.back().cells.num_nodes;
    if (num_nodes > 4000)
      fail<UsageError>("the coarsest of ", coarse_.size() + 1, " levels has ", num_nodes,
                       " nodes, too many for a direct solve: allow more levels or use the cg "
                       "coarse solver");
    const std::vector<double> matrix =
        voxels ? assemble_dense(exec, hierarchy_.grid, hierarchy_.lame, hierarchy_.held,
                                hierarchy_.edge)
               : assemble_dense(exec, hierarchy_.coarse.back().cells, hierarchy_.coarse.back().held,
                                hierarchy_.coarse.back().edge);
    inverse_ = invert_semidefinite<Scalar>(exec, upload(exec, "femura::coarse_matrix", matrix),
                                           3 * num_nodes);
  }

  template<class Level>
  void prepare_smoother(const Exec& exec, Level& level, int degree, bool coarsest) {
    if (coarsest && !coarse_.empty())
      return;
    const LevelVectors<Exec, Scalar>& v = level.vectors;
    level.largest_eigenvalue = estimate_largest_eigenvalue(
        exec, options_.lanczos_steps, level.jacobi,
        [&](const auto& p, const auto& q) {
          level.multiply(exec, p, q);
          work_ += level.cost;
        },
        [&](const auto& r) { clear(exec, level.held, r); }, v.b, v.x, v.next);
    SmootherOptions smoother = options_.smoother;
    smoother.degree = degree;
    // A level on which nothing acts is given any weights.
    const double lmax = level.largest_eigenvalue > 0 ? level.largest_eigenvalue : 1;
    level.weights = smoothing_weights(smoother, lmax);
  }

  /// One cycle from zero on a level above the coarsest. `correct(r)` solves the next level for the
  /// residual r and returns what to add.
  template<class Level, class Correct>
  Array<Scalar, Exec> cycle(const Exec& exec, const Level& level, const Array<Scalar, Exec>& b,
                            int visits, const Correct& correct) {
    Array<Scalar, Exec> x = level.vectors.x, next = level.vectors.next;
    smooth_from_zero(exec, level.system(), level.weights, b, x, next);
    work_ += level.cost * double(level.weights.size() - 1);
    for (int visit = 0; visit < visits; ++visit) {
      level.residual(exec, x, b, next);
      correct(next).add_to(level.held.mask, x);
      smooth(exec, level.system(), level.weights, b, x, next);
      work_ += level.cost * double(level.weights.size() + 1);
    }
    return x;
  }

  /// Solves coarse level l for its right-hand side: a cycle, or the coarsest solve.
  Array<Scalar, Exec> visit(const Exec& exec, std::size_t l) {
    if (l + 1 == coarse_.size())
      return solve_coarsest(exec, coarse_[l], coarse_[l].vectors.b);
    Array<Scalar, Exec> correction;
    return cycle(exec, coarse_[l], coarse_[l].vectors.b, options_.coarse_cycles,
                 [&](const auto& residual) {
                   const CoarseLevel<Exec>& next = hierarchy_.coarse[l + 1];
                   restrict_residual(exec, next.transfer, hierarchy_.coarse[l].cells, next.cells,
                                     residual, next.held.mask, coarse_[l + 1].vectors.b);
                   correction = visit(exec, l + 1);
                   return prolongation(exec, l + 1, correction);
                 });
  }

  template<class Level>
  Array<Scalar, Exec> solve_coarsest(const Exec& exec, Level& level, const Array<Scalar, Exec>& b) {
    const LevelVectors<Exec, Scalar>& v = level.vectors;
    if (options_.coarse_solver == CoarseSolver::direct) {
      apply_dense(exec, inverse_, b, v.x);
      return v.x;
    }
    if (coarse_r_.extent(0) == 0) {
      const std::int64_t n = v.x.extent(0);
      coarse_r_ = make_zeros<Scalar>(exec, n, "femura::multigrid::coarse_r");
      coarse_p_ = make_zeros<Scalar>(exec, n, "femura::multigrid::coarse_p");
      coarse_z_ = make_zeros<Scalar>(exec, n, "femura::multigrid::coarse_z");
    }
    Kokkos::deep_copy(exec, v.x, Scalar(0));
    const auto precondition = [&](const auto& r) {
      apply_jacobi(exec, level.jacobi, Scalar(1), r, coarse_z_);
      return coarse_z_;
    };
    const CgVectors<Exec, Scalar, Scalar, Scalar> vectors{v.x, coarse_r_, coarse_p_, v.next,
                                                          coarse_r_};
    conjugate_gradients(
        exec, CgOptions{1e-7, 20, 0},
        [&](const auto& p, const auto& q) {
          level.multiply(exec, p, q);
          work_ += level.cost;
        },
        [&](const auto& x, double scale, const auto& r) {
          apply_then(
              exec, level.matrix, x, r,
              StoreScaledResidual<Exec, Scalar, Scalar>{level.held.mask, b, Scalar(scale), r});
          work_ += level.cost;
        },
        precondition, vectors);
    return v.x;
  }

  MultigridOptions options_;
  VoxelHierarchy<Exec> hierarchy_;
  Fine fine_;
  std::vector<Coarse> coarse_;
  LaunchGraph<Exec> graph_;                            ///< a visit of the first coarse level
  Array<Scalar, Exec> correction_;                     ///< its result
  double visit_work_ = 0;                              ///< its products
  Array<Scalar, Exec> inverse_;                        ///< dense inverse of the coarsest level
  Array<Scalar, Exec> coarse_r_, coarse_p_, coarse_z_; ///< of the conjugate gradients there
  double work_ = 0;
};

} // namespace femura
