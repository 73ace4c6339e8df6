// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/coarse_cycle.hpp"

#include "kernels/block_diagonal.hpp"
#include "kernels/cell_transfer.hpp"
#include "kernels/dense_operator.hpp"

namespace femura {

template<class Exec, class Scalar>
CoarseCycle<Exec, Scalar>::CoarseCycle(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
                                       const MultigridOptions& options)
    : options_(options)
    , hierarchy_(hierarchy)
    , graph_(options.launch_graphs && options.coarse_solver == CoarseSolver::direct) {
  if (hierarchy.coarse.empty())
    return;
  if (options_.repeated_levels == 0)
    options_.repeated_levels = default_repeated_levels<Exec>;
  for (const CoarseLevel<Exec>& level : hierarchy.coarse)
    add_level(exec, level);
  const CoarseLevel<Exec>& last = hierarchy.coarse.back();
  coarsest_ = {exec, options.coarse_solver, int(levels_.size()) + 1, last.cells.num_nodes,
               [&] { return assemble_dense(exec, last.cells, last.held, last.edge); }};
  const int degree = options.coarse_degree > 0 ? options.coarse_degree : options.smoother.degree;
  for (Level& level : levels_)
    if (&level != &levels_.back())
      work_ += detail::prepare_smoother(exec, options_, degree, level);
}

template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::add_level(const Exec& exec, const CoarseLevel<Exec>& level) {
  const std::int64_t n = level.cells.num_dofs();
  const auto vector = [&](const char* label) { return make_zeros<Scalar>(exec, n, label); };
  levels_.push_back(
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
    drop_couplings(exec, levels_.back().jacobi);
}

template<class Exec, class Scalar>
void CoarseCycle<Exec, Scalar>::add_correction(const Exec& exec,
                                               const Array<Scalar, Exec>& residual,
                                               const Array<Scalar, Exec>& x) {
  const CoarseLevel<Exec>& first = hierarchy_.coarse[0];
  restrict_residual(exec, first.transfer, hierarchy_.grid, first.cells, residual, first.held.mask,
                    levels_[0].vectors.b);
  const double before = work_;
  if (graph_.run(exec, [&] { correction_ = visit(exec, 0); }))
    visit_work_ = work_ - before;
  else
    work_ += visit_work_;
  prolong_add(exec, first.transfer, first.cells, correction_, hierarchy_.held.mask, x);
}

/// Solves coarse level l for its right-hand side: a cycle, or the coarsest solve.
template<class Exec, class Scalar>
Array<Scalar, Exec> CoarseCycle<Exec, Scalar>::visit(const Exec& exec, std::size_t l) {
  const Level& level = levels_[l];
  if (l + 1 == levels_.size())
    return coarsest_.solve(exec, level, level.vectors.b, work_);
  const int visits = int(l) < options_.repeated_levels ? options_.coarse_cycles : 1;
  return detail::cycle(
      exec, level, level.vectors.b, visits, work_, [&](const auto& residual, const auto& x) {
        const CoarseLevel<Exec>& next = hierarchy_.coarse[l + 1];
        restrict_residual(exec, next.transfer, hierarchy_.coarse[l].cells, next.cells, residual,
                          next.held.mask, levels_[l + 1].vectors.b);
        prolong_add(exec, next.transfer, next.cells, visit(exec, l + 1), level.held.mask, x);
      });
}

template<class Exec, class Scalar>
std::vector<MultigridLevelInfo> CoarseCycle<Exec, Scalar>::level_info() const {
  std::vector<MultigridLevelInfo> info;
  for (std::size_t l = 0; l < levels_.size(); ++l)
    info.push_back({hierarchy_.coarse[l].cells.num_elem, hierarchy_.coarse[l].cells.num_nodes,
                    levels_[l].held.num_dofs, levels_[l].largest_eigenvalue});
  return info;
}

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template class CoarseCycle<Exec, double>;                                                        \
  template class CoarseCycle<Exec, float>;
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)

} // namespace femura
