// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/solver.hpp>

#include <ossatura/solvers/bone/pcg.hpp>

namespace ossatura {

template<class Exec>
class OffsetOperator;
template<class Exec>
class HashOperator;
template<class Exec>
class GatherOperator;
template<class Exec>
class BrickOperator;

namespace {

template<class Exec>
std::unique_ptr<detail::VoxelPcg<Exec>> make_pcg(const Exec& exec,
                                                 const VoxelHierarchy<Exec>& hierarchy,
                                                 const VoxelSolverOptions& options) {
  const auto make = [&](auto maker) {
    return maker(exec, hierarchy, options.precision, options.multigrid);
  };
  switch (options.matrix) {
  case VoxelOperatorKind::offset:
    return make(detail::make_voxel_pcg<Exec, OffsetOperator>);
  case VoxelOperatorKind::hash:
    return make(detail::make_voxel_pcg<Exec, HashOperator>);
  case VoxelOperatorKind::gather:
    return make(detail::make_voxel_pcg<Exec, GatherOperator>);
  case VoxelOperatorKind::brick:
    break;
  }
  return make(detail::make_voxel_pcg<Exec, BrickOperator>);
}

} // namespace

template<class Exec>
struct VoxelSolver<Exec>::Implementation {
  VoxelHierarchy<Exec> hierarchy;
  VoxelSolverOptions options;
  std::unique_ptr<detail::VoxelPcg<Exec>> pcg;
  double previous_work = 0; ///< of the iteration that was given up

  Implementation(const Exec& exec, const VoxelProblem<Exec>& problem,
                 const VoxelSolverOptions& solver_options)
      : hierarchy(make_voxel_hierarchy(exec, problem.grid, problem.lame, problem.held, problem.edge,
                                       solver_options.multigrid))
      , options(solver_options) {
    if (options.precision == VoxelPrecision::lean && options.cg.replacement == 0)
      options.cg.replacement = 1e-3;
    set_up(exec);
  }

  void set_up(const Exec& exec) { pcg = make_pcg(exec, hierarchy, options); }

  /// Replaces the iteration by one in double, with W-cycles, which do not rest on estimates of
  /// their spectrum; the old one's memory goes first.
  void fall_back(const Exec& exec) {
    previous_work += pcg->work();
    pcg.reset();
    options.precision = VoxelPrecision::fp64;
    options.multigrid.repetition = Repetition::smoothed;
    options.cg.replacement = 0;
    set_up(exec);
  }
};

template<class Exec>
VoxelSolver<Exec>::VoxelSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                               const VoxelSolverOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, problem, options)) {}

template<class Exec>
VoxelSolver<Exec>::~VoxelSolver() = default;

template<class Exec>
VoxelSolveResult VoxelSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                          const Array<double, Exec>& u,
                                          const IterationObserver& observe) {
  Implementation& solver = *implementation_;
  VoxelSolveResult result{solver.pcg->solve(exec, solver.options.cg, f, u, observe)};
  const bool stalled = !result.converged && std::isfinite(result.true_relative_residual) &&
                       result.iterations < solver.options.cg.max_iterations;
  const bool safest = solver.options.precision == VoxelPrecision::fp64 &&
                      solver.options.multigrid.repetition == Repetition::smoothed;
  if (!stalled || safest)
    return result;

  solver.fall_back(exec);
  // Continues to the same residual, with what is left of the iterations.
  const int before = result.iterations;
  const double reached = result.true_relative_residual;
  CgOptions rest = solver.options.cg;
  rest.tolerance /= reached;
  rest.max_iterations -= before;
  const SolveResult second =
      solver.pcg->solve(exec, rest, f, u, [&](int iteration, double relative_residual) {
        if (observe && iteration > 0)
          observe(before + iteration, reached * relative_residual);
      });
  result.fell_back = true;
  result.iterations += second.iterations;
  result.relative_residual = reached * second.relative_residual;
  result.true_relative_residual = reached * second.true_relative_residual;
  result.converged = second.converged;
  return result;
}

template<class Exec>
void VoxelSolver<Exec>::apply(const Exec& exec, const Array<double, Exec>& u,
                              const Array<double, Exec>& y) const {
  implementation_->pcg->apply(exec, u, y);
}

template<class Exec>
void VoxelSolver<Exec>::precondition(const Exec& exec, const Array<double, Exec>& r,
                                     const Array<double, Exec>& z) {
  implementation_->pcg->precondition(exec, r, z);
}

template<class Exec>
std::vector<MultigridLevelInfo> VoxelSolver<Exec>::level_info() const {
  return implementation_->pcg->level_info();
}

template<class Exec>
double VoxelSolver<Exec>::work() const {
  return implementation_->previous_work + implementation_->pcg->work();
}

template<class Exec>
LaunchGraphState VoxelSolver<Exec>::launch_graph() const {
  return implementation_->pcg->launch_graph();
}

#define OSSATURA_INSTANTIATE(Exec) template class VoxelSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
