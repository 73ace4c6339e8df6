// SPDX-License-Identifier: BSD-3-Clause
// Geometric multigrid on voxels as a preconditioner: matrix-free on every level [1], [2].
//
// Coarse levels are images of half the resolution with averaged moduli; their operators are the
// same element matrices with twice the edge (eq. 5, 6 of [2]). With equal pre- and post-smoothing
// the cycle is symmetric positive definite, as conjugate gradients need (tested).
//
// [1] C. Flaig, P. Arbenz. A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images. Parallel Computing 37 (2011) 846-854.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include "kernels/coarsen.hpp"
#include "kernels/dense_operator.hpp"
#include "kernels/diagonal.hpp"
#include "kernels/transfer.hpp"
#include "kernels/voxel_operator.hpp"
#include "solvers/cg.hpp"
#include "solvers/chebyshev.hpp"
#include "solvers/dense_inverse.hpp"
#include "solvers/lanczos.hpp"
#include "solvers/multigrid_options.hpp"

#include <vector>

namespace femura {

/// Preconditioner z = M r for the voxel model of `grid`, in arithmetic of `Scalar`. `Operator` is a
/// voxel operator (kernels/voxel_operator.hpp).
template<class Exec, template<class> class Operator, class Scalar>
class Multigrid {
  static_assert(is_voxel_operator<Operator<Exec>, Exec, Scalar>,
                "Multigrid needs a voxel operator: see kernels/voxel_operator.hpp");

public:
  /// `edge` in mm. The finest level uses `grid`, `held` and `fine_operator` as they are. Fences.
  Multigrid(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
            const MaterialImage<Exec>& material, const Constraints<Exec>& held, double edge,
            const Operator<Exec>& fine_operator, const MultigridOptions& options)
      : options_(options) {
    MaterialImage<Exec> image = material;
    add_level(exec, grid, lame, held, edge, fine_operator);
    while (int(levels_.size()) < options.max_levels && !is_coarsest(levels_.back())) {
      image = coarsen_material(exec, image);
      edge *= 2;
      const VoxelGrid<Exec> coarse = make_voxel_grid(exec, image.solid());
      const LameField<Exec> coarse_lame = make_lame_field(exec, coarse, image);
      const Constraints<Exec> coarse_held =
          coarsen_constraints(exec, levels_.back().grid, levels_.back().held, coarse);
      add_level(exec, coarse, coarse_lame, coarse_held, edge,
                Operator<Exec>(exec, coarse, coarse_lame, edge));
    }
    prepare_coarsest(exec);
    for (Level& level : levels_)
      estimate_spectrum(exec, level);
  }

  /// z = M r. r and z [3 num_nodes] must not alias; r is zero at held components, and so is z.
  /// Does not fence (with the direct coarse solver).
  template<class S>
  void apply(const Exec& exec, const Array<S, Exec>& r, const Array<S, Exec>& z) {
    if constexpr (std::is_same_v<S, Scalar>) {
      cycle(exec, 0, r, z);
    } else {
      copy(exec, r, levels_[0].b);
      cycle(exec, 0, levels_[0].b, levels_[0].x);
      copy(exec, levels_[0].x, z);
    }
  }

  std::vector<MultigridLevelInfo> level_info() const {
    std::vector<MultigridLevelInfo> info;
    for (const Level& level : levels_)
      info.push_back({level.grid.num_elem, level.grid.num_nodes, level.held.num_dofs,
                      level.largest_eigenvalue});
    return info;
  }

  /// Operator products since construction, each counted as its share of the finest level's
  /// elements.
  double work() const { return work_; }

  /// A vector of the finest level that is free between applications.
  Array<Scalar, Exec> scratch() const { return levels_[0].q; }

private:
  struct Level {
    VoxelGrid<Exec> grid;
    Constraints<Exec> held;
    LameField<Exec> lame;
    double edge;
    Operator<Exec> matrix;
    Array<Scalar, Exec> inverse_diagonal;
    Array<Scalar, Exec> b, x, p, q; ///< right-hand side, solution, step, product
    double largest_eigenvalue = 0;
  };

  bool is_coarsest(const Level& level) const {
    const auto& shape = level.grid.shape;
    return level.grid.num_nodes <= options_.direct_nodes ||
           level.held.num_dofs == level.grid.num_dofs() ||
           (shape[0] == 1 && shape[1] == 1 && shape[2] == 1);
  }

  void add_level(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                 const Constraints<Exec>& held, double edge, const Operator<Exec>& matrix) {
    const std::int64_t n = grid.num_dofs();
    Level level{
        grid, held, lame, edge, matrix, make_inverse_diagonal<Scalar>(exec, grid, lame, edge),
        {},   {},   {},   {},   0};
    const bool finest = levels_.empty();
    if (!finest || !std::is_same_v<Scalar, double>) {
      level.b = make_zeros<Scalar>(exec, n, "femura::multigrid::b");
      level.x = make_zeros<Scalar>(exec, n, "femura::multigrid::x");
    }
    level.p = make_zeros<Scalar>(exec, n, "femura::multigrid::p");
    level.q = make_zeros<Scalar>(exec, n, "femura::multigrid::q");
    levels_.push_back(level);
  }

  /// q = A x, zero at held components.
  void multiply(const Exec& exec, Level& level, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& q) {
    level.matrix.apply(exec, x, q);
    clear(exec, level.held, q);
    work_ += double(level.grid.num_elem) / double(levels_[0].grid.num_elem);
  }

  void prepare_coarsest(const Exec& exec) {
    Level& level = levels_.back();
    const std::size_t n = std::size_t(level.grid.num_dofs());
    if (options_.coarse_solver != CoarseSolver::direct)
      return;
    if (level.grid.num_nodes > 4000)
      fail<UsageError>("the coarsest of ", levels_.size(), " levels has ", level.grid.num_nodes,
                       " nodes, too many for a direct solve: allow more levels or use the cg "
                       "coarse solver");
    const std::vector<double> inverse = invert_semidefinite(
        assemble_dense(exec, level.grid, level.lame, level.held, level.edge), n);
    inverse_ = make_uninitialized<Scalar>(exec, std::int64_t(n * n), "femura::coarse_inverse");
    const auto host = Kokkos::create_mirror_view(inverse_);
    for (std::size_t i = 0; i < n * n; ++i)
      host(i) = Scalar(inverse[i]);
    Kokkos::deep_copy(exec, inverse_, host);
    fence(exec, "femura::Multigrid::prepare_coarsest");
  }

  void estimate_spectrum(const Exec& exec, Level& level) {
    if (&level == &levels_.back() && levels_.size() > 1)
      return;
    const std::int64_t n = level.grid.num_dofs();
    const auto or_new = [&](const Array<Scalar, Exec>& x) {
      return x.extent(0) > 0 ? x : make_zeros<Scalar>(exec, n, "femura::multigrid::lanczos");
    };
    level.largest_eigenvalue = estimate_largest_eigenvalue(
        exec, options_.lanczos_steps, level.inverse_diagonal,
        [&](const auto& p, const auto& q) { multiply(exec, level, p, q); },
        [&](const auto& r) { clear(exec, level.held, r); }, or_new(level.b), or_new(level.x),
        level.p, level.q);
  }

  void cycle(const Exec& exec, std::size_t l, const Array<Scalar, Exec>& b,
             const Array<Scalar, Exec>& x) {
    Level& level = levels_[l];
    if (l + 1 == levels_.size()) {
      solve_coarsest(exec, level, b, x);
      return;
    }
    const auto product = [&](const auto& v, const auto& q) { multiply(exec, level, v, q); };
    chebyshev_smooth(exec, options_.smoother, level.largest_eigenvalue, level.inverse_diagonal,
                     product, b, x, true, level.p, level.q);
    Level& coarse = levels_[l + 1];
    const int visits = l == 0 ? options_.fine_cycles : options_.coarse_cycles;
    for (int visit = 0; visit < visits; ++visit) {
      multiply(exec, level, x, level.q);
      axpby(exec, Scalar(1), b, Scalar(-1), level.q);
      restrict_residual(exec, level.grid, level.q, coarse.grid, coarse.held, coarse.b);
      cycle(exec, l + 1, coarse.b, coarse.x);
      prolong_add(exec, coarse.grid, coarse.x, level.grid, level.held, x);
      chebyshev_smooth(exec, options_.smoother, level.largest_eigenvalue, level.inverse_diagonal,
                       product, b, x, false, level.p, level.q);
    }
  }

  void solve_coarsest(const Exec& exec, Level& level, const Array<Scalar, Exec>& b,
                      const Array<Scalar, Exec>& x) {
    if (options_.coarse_solver == CoarseSolver::direct) {
      apply_dense(exec, inverse_, b, x);
      return;
    }
    const std::int64_t n = level.grid.num_dofs();
    if (coarse_r_.extent(0) == 0) {
      coarse_r_ = make_zeros<Scalar>(exec, n, "femura::multigrid::coarse_r");
      coarse_z_ = make_zeros<Scalar>(exec, n, "femura::multigrid::coarse_z");
    }
    Kokkos::deep_copy(exec, x, Scalar(0));
    const CgOptions cg{1e-7, 20};
    conjugate_gradients(
        exec, cg, [&](const auto& p, const auto& q) { multiply(exec, level, p, q); },
        [&](const auto& y, const auto& r) {
          multiply(exec, level, y, r);
          axpby(exec, Scalar(1), b, Scalar(-1), r);
        },
        [&](const auto& r, const auto& z) {
          apply_inverse_diagonal(exec, level.inverse_diagonal, r, z);
        },
        x, coarse_r_, coarse_z_, level.p, level.q);
  }

  MultigridOptions options_;
  std::vector<Level> levels_;
  Array<Scalar, Exec> inverse_;             ///< dense inverse of the coarsest level
  Array<Scalar, Exec> coarse_r_, coarse_z_; ///< of the conjugate gradients there
  double work_ = 0;
};

} // namespace femura
