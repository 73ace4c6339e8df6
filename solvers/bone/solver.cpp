// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/solver.hpp>

#include <ossatura/solvers/bone/multigrid/cut_hierarchy.hpp>
#include <ossatura/solvers/bone/multigrid/periodic_hierarchy.hpp>
#include <ossatura/solvers/bone/pcg.hpp>
#include <ossatura/solvers/krylov/solve_with_fallback.hpp>

namespace ossatura {

namespace {

template<class Exec>
std::unique_ptr<detail::VoxelPcg<Exec>> make_pcg(const Exec& exec,
                                                 const VoxelHierarchy<Exec>& hierarchy,
                                                 const VoxelSolverOptions& options) {
  std::unique_ptr<detail::VoxelPcg<Exec>> pcg;
  VoxelOperators<Exec>::find(options.matrix, [&](auto entry) {
    using Operator = typename decltype(entry)::type;
    pcg = detail::make_voxel_pcg<Exec, Operator>(exec, hierarchy, options.precision,
                                                 options.multigrid);
  });
  return pcg;
}

template<class Exec>
VoxelHierarchy<Exec> make_hierarchy(const Exec& exec, const VoxelProblem<Exec>& problem,
                                    const MultigridOptions& options) {
  if (problem.ranks)
    return make_cut_hierarchy(exec, *problem.ranks, problem.grid, problem.lame, problem.held,
                              problem.edge, options);
  if (problem.rim)
    return make_periodic_hierarchy(exec, *problem.rim, problem.grid, problem.lame, problem.held,
                                   problem.edge, options);
  return make_voxel_hierarchy(exec, problem.grid, problem.lame, problem.held, problem.edge,
                              options);
}

/// Called by all processes of the cut.
template<class Exec>
VoxelCutInfo describe_cut(const VoxelHierarchy<Exec>& hierarchy, int bits) {
  const Communicator& comm = hierarchy.comm.communicator();
  VoxelCutInfo info;
  info.transport = hierarchy.comm.transport();
  info.bits = bits;
  const auto add = [&](const OwnedNodes& owned, std::int64_t num_nodes,
                       const HaloPlan<Exec>& plan) {
    const std::int64_t ghosts = num_nodes - owned.count();
    info.levels.push_back({comm.max(std::int64_t(owned.count())), comm.max(ghosts),
                           comm.sum(ghosts), comm.max(int(plan.receives.size()))});
  };
  add(hierarchy.grid.owned, hierarchy.grid.num_nodes, hierarchy.share.plan);
  for (const CoarseLevel<Exec>& level : hierarchy.coarse)
    if (!level.share.is_everywhere)
      add(level.cells.owned, level.cells.num_nodes, level.share.plan);
  return info;
}

} // namespace

template<class Exec>
struct VoxelSolver<Exec>::Implementation {
  VoxelHierarchy<Exec> hierarchy;
  VoxelSolverOptions options;
  std::optional<VoxelCutInfo> cut_info;
  std::unique_ptr<detail::VoxelPcg<Exec>> pcg;
  double previous_work = 0; ///< of the iteration that was given up
  bool has_fallen_back = false;

  Implementation(const Exec& exec, const VoxelProblem<Exec>& problem,
                 const VoxelSolverOptions& solver_options)
      : hierarchy(make_hierarchy(exec, problem, solver_options.multigrid))
      , options(solver_options)
      , cut_info(describe(problem))
      , pcg(make_pcg(exec, hierarchy, options)) {}

  std::optional<VoxelCutInfo> describe(const VoxelProblem<Exec>& problem) const {
    if (!problem.ranks)
      return {};
    return describe_cut(hierarchy, problem.ranks->cut.bits);
  }

  bool is_safest() const {
    return options.precision == Precision::fp64 &&
           options.multigrid.repetition == Repetition::smoothed;
  }

  SolveResult solve(const Exec& exec, const CgOptions& cg_options,
                    const VoxelCorrection<Exec>* correction, const Array<double, Exec>& f,
                    const PointForces<Exec>* points, const Array<double, Exec>& u,
                    const IterationObserver& observe) {
    const auto iterate = [&](CgOptions cg, const IterationObserver& watch) {
      if (options.precision == Precision::lean && !has_fallen_back && cg.replacement == 0)
        cg.replacement = 1e-3;
      return pcg->solve(exec, cg, f, u, watch, correction, points);
    };
    if (has_fallen_back || is_safest())
      return iterate(cg_options, observe);
    return solve_with_fallback(
        cg_options, cg_options.max_iterations, iterate,
        [&](const SolveResult&) { fall_back(exec); }, observe);
  }

  /// Replaces the iteration by one in double, with W-cycles, which do not rest on estimates of
  /// their spectrum; the old one's memory goes first.
  void fall_back(const Exec& exec) {
    has_fallen_back = true;
    set_up_again(exec);
  }

  void set_up_again(const Exec& exec) {
    VoxelSolverOptions present = options;
    if (has_fallen_back) {
      present.precision = Precision::fp64;
      present.multigrid.repetition = Repetition::smoothed;
    }
    replace_pcg(exec, present);
  }

  void replace_pcg(const Exec& exec, const VoxelSolverOptions& by) {
    previous_work += pcg->work();
    pcg.reset();
    pcg = make_pcg(exec, hierarchy, by);
  }

  void renew(const Exec& exec) {
    OSSATURA_REQUIRE(options.multigrid.renewable,
                     "only solvers that were made renewable take other moduli");
    OSSATURA_REQUIRE(!hierarchy.is_periodic(), "a unit cell takes no other moduli");
    renew_means(exec, hierarchy);
    if (has_fallen_back)
      replace_pcg(exec, options);
    else
      pcg->renew(exec, hierarchy);
    has_fallen_back = false;
  }
};

template<class Exec>
VoxelSolver<Exec>::VoxelSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                               const VoxelSolverOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, problem, options)) {}

template<class Exec>
VoxelSolver<Exec>::~VoxelSolver() = default;

template<class Exec>
void VoxelSolver<Exec>::set_tolerance(double tolerance) {
  OSSATURA_REQUIRE(tolerance > 0 && tolerance < 1,
                   "tolerance " << tolerance << ": between 0 and 1, such as 1e-6");
  implementation_->options.cg.tolerance = tolerance;
}

template<class Exec>
SolveResult VoxelSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                     const Array<double, Exec>& u, const IterationObserver& observe,
                                     double reference) {
  CgOptions cg = implementation_->options.cg;
  if (reference > 0)
    cg.reference = reference;
  return implementation_->solve(exec, cg, nullptr, f, nullptr, u, observe);
}

template<class Exec>
SolveResult VoxelSolver<Exec>::solve_points(const Exec& exec, const PointForces<Exec>& f,
                                            const Array<double, Exec>& u,
                                            const IterationObserver& observe, double reference) {
  OSSATURA_REQUIRE(!implementation_->hierarchy.is_cut, "point forces on a model that is cut");
  CgOptions cg = implementation_->options.cg;
  if (reference > 0)
    cg.reference = reference;
  return implementation_->solve(exec, cg, nullptr, {}, &f, u, observe);
}

template<class Exec>
const Array<double, Exec>& VoxelSolver<Exec>::spare() const {
  return implementation_->pcg->spare();
}

template<class Exec>
SolveResult VoxelSolver<Exec>::solve_corrected(const Exec& exec, const CgOptions& cg,
                                               const VoxelCorrection<Exec>& correction,
                                               const Array<double, Exec>& f,
                                               const Array<double, Exec>& u,
                                               const IterationObserver& observe) {
  return implementation_->solve(exec, cg, &correction, f, nullptr, u, observe);
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
void VoxelSolver<Exec>::renew(const Exec& exec) {
  implementation_->renew(exec);
}

template<class Exec>
void VoxelSolver<Exec>::set_up_again(const Exec& exec) {
  implementation_->set_up_again(exec);
}

template<class Exec>
std::vector<MultigridLevelInfo> VoxelSolver<Exec>::level_info() const {
  return implementation_->pcg->level_info();
}

template<class Exec>
const std::optional<VoxelCutInfo>& VoxelSolver<Exec>::cut_info() const {
  return implementation_->cut_info;
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
