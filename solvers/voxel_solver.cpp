// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/voxel_solver.hpp"

#include "kernels/brick_operator.hpp"
#include "kernels/gather_operator.hpp"
#include "kernels/hash_operator.hpp"
#include "kernels/offset_operator.hpp"
#include "solvers/multigrid.hpp"

namespace femura {

namespace {

/// Conjugate gradients with multigrid in fixed precisions.
template<class Exec>
struct Pcg {
  virtual ~Pcg() = default;
  virtual SolveResult solve(const Exec& exec, const CgOptions& options,
                            const Array<double, Exec>& f, const Array<double, Exec>& u,
                            const IterationObserver& observe) = 0;
  virtual void apply(const Exec& exec, const Array<double, Exec>& u,
                     const Array<double, Exec>& y) const = 0;
  virtual void precondition(const Exec& exec, const Array<double, Exec>& r,
                            const Array<double, Exec>& z) = 0;
  virtual std::vector<MultigridLevelInfo> level_info() const = 0;
  virtual double work() const = 0;
  virtual LaunchGraphState launch_graph() const = 0;
};

/// The vectors of the iteration and of the finest level. The product q and the iterates of the
/// cycle share memory: the cycle's result is read before the next product is formed, and that
/// before the next cycle.
template<class Exec, class Vector, class Cycle>
struct SolverVectors {
  Array<Vector, Exec> r, p, q;
  LevelVectors<Exec, Cycle> level; ///< b is r where the types agree

  SolverVectors(const Exec& exec, std::int64_t n)
      : r(make_zeros<Vector>(exec, n, "femura::cg::r"))
      , p(make_zeros<Vector>(exec, n, "femura::cg::p")) {
    if constexpr (std::is_same_v<Vector, Cycle>) {
      level = {make_zeros<Cycle>(exec, n, "femura::multigrid::x"),
               make_zeros<Cycle>(exec, n, "femura::multigrid::next"), r};
      q = level.next;
    } else {
      static_assert(sizeof(Vector) == 2 * sizeof(Cycle), "two iterates fill one product");
      q = make_zeros<Vector>(exec, n, "femura::cg::q");
      // Views of the same bytes, one type at a time; q owns them and lives as long.
      Cycle* const bytes = reinterpret_cast<Cycle*>(q.data());
      level = {Array<Cycle, Exec>(bytes, n), Array<Cycle, Exec>(bytes + n, n),
               make_zeros<Cycle>(exec, n, "femura::multigrid::b")};
    }
  }
};

template<class Exec, template<class> class Operator, class Vector, class Cycle>
class VoxelPcg final : public Pcg<Exec> {
public:
  VoxelPcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy, const MultigridOptions& options)
      : held_(hierarchy.held)
      , matrix_(exec, hierarchy.grid, hierarchy.lame, hierarchy.edge)
      , vectors_(exec, hierarchy.grid.num_dofs())
      , multigrid_(exec, hierarchy, matrix_, options, vectors_.level) {
    if constexpr (!Operator<Exec>::fuses_updates && !std::is_same_v<Vector, double>)
      scratch_ = make_zeros<double>(exec, hierarchy.grid.num_dofs(), "femura::cg::scratch");
  }

  SolveResult solve(const Exec& exec, const CgOptions& options, const Array<double, Exec>& f,
                    const Array<double, Exec>& u, const IterationObserver& observe) override {
    Array<double, Exec> scratch = scratch_;
    if constexpr (std::is_same_v<Vector, double>)
      scratch = vectors_.q; // free while residuals are formed
    const auto product = [&](const auto& x, const auto& y) {
      apply_then(exec, matrix_, x, y, StoreFreeProduct<Exec, Vector>{held_.mask, y});
      ++products_;
    };
    const auto residual = [&](const auto& x, double scale, const auto& r) {
      apply_then(exec, matrix_, x, scratch,
                 StoreScaledResidual<Exec, double, Vector>{held_.mask, f, scale, r});
      ++products_;
    };
    return conjugate_gradients(
        exec, options, product, residual, [&](const auto& b) { return multigrid_.apply(exec, b); },
        CgVectors<Exec, double, Vector, Cycle>{u, vectors_.r, vectors_.p, vectors_.q,
                                               vectors_.level.b},
        observe);
  }

  void apply(const Exec& exec, const Array<double, Exec>& u,
             const Array<double, Exec>& y) const override {
    matrix_.apply(exec, u, y);
  }

  void precondition(const Exec& exec, const Array<double, Exec>& r,
                    const Array<double, Exec>& z) override {
    copy(exec, r, vectors_.level.b);
    copy(exec, multigrid_.apply(exec, vectors_.level.b), z);
  }

  std::vector<MultigridLevelInfo> level_info() const override { return multigrid_.level_info(); }
  double work() const override { return double(products_) + multigrid_.work(); }
  LaunchGraphState launch_graph() const override { return multigrid_.launch_graph(); }

private:
  Constraints<Exec> held_;
  Operator<Exec> matrix_;
  SolverVectors<Exec, Vector, Cycle> vectors_;
  Multigrid<Exec, Operator, Cycle> multigrid_;
  Array<double, Exec> scratch_; ///< products in double, where no vector of the iteration is
  std::int64_t products_ = 0;
};

template<class Exec, template<class> class Operator>
std::unique_ptr<Pcg<Exec>> make_pcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
                                    VoxelPrecision precision, const MultigridOptions& options) {
  switch (precision) {
  case VoxelPrecision::lean:
    return std::make_unique<VoxelPcg<Exec, Operator, float, float>>(exec, hierarchy, options);
  case VoxelPrecision::mixed:
    return std::make_unique<VoxelPcg<Exec, Operator, double, float>>(exec, hierarchy, options);
  default:
    return std::make_unique<VoxelPcg<Exec, Operator, double, double>>(exec, hierarchy, options);
  }
}

template<class Exec>
std::unique_ptr<Pcg<Exec>> make_pcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
                                    const VoxelSolverOptions& options) {
  switch (options.matrix) {
  case VoxelOperatorKind::offset:
    return make_pcg<Exec, OffsetOperator>(exec, hierarchy, options.precision, options.multigrid);
  case VoxelOperatorKind::hash:
    return make_pcg<Exec, HashOperator>(exec, hierarchy, options.precision, options.multigrid);
  case VoxelOperatorKind::gather:
    return make_pcg<Exec, GatherOperator>(exec, hierarchy, options.precision, options.multigrid);
  case VoxelOperatorKind::brick:
    break;
  }
  return make_pcg<Exec, BrickOperator>(exec, hierarchy, options.precision, options.multigrid);
}

} // namespace

template<class Exec>
struct VoxelSolver<Exec>::Implementation {
  VoxelHierarchy<Exec> hierarchy;
  VoxelSolverOptions options;
  std::unique_ptr<Pcg<Exec>> pcg;
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

  /// Replaces the iteration by one in double; the old one's memory goes first.
  void fall_back(const Exec& exec) {
    previous_work += pcg->work();
    pcg.reset();
    options.precision = VoxelPrecision::fp64;
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
  if (!stalled || solver.options.precision == VoxelPrecision::fp64)
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

#define FEMURA_INSTANTIATE(Exec) template class VoxelSolver<Exec>;
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)

} // namespace femura
