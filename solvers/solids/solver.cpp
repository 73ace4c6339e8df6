// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/solids/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/count_not_positive.hpp>
#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/algebra/rigid_groups.hpp>
#include <ossatura/kernels/algebra/sparse/block_operator.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/aggregation/multigrid.hpp>
#include <ossatura/solvers/krylov/solve_with_fallback.hpp>

namespace ossatura {

namespace {

/// The matrix in one precision, and multigrid for it.
template<class Exec, class Scalar>
struct SolidIteration {
  BlockOperator<Exec, Scalar> product;
  std::unique_ptr<AggregationMultigrid<Exec, Scalar>> multigrid;
  Array<Scalar, Exec> b; ///< the residual for the preconditioner
};

template<class Exec>
Constraints<Exec> hold_nodes(const Exec& exec, int num_nodes,
                             const std::vector<HeldComponents>& held) {
  std::vector<std::uint8_t> mask(std::size_t(num_nodes), 0);
  for (const HeldComponents& h : held) {
    OSSATURA_REQUIRE(h.node >= 0 && h.node < num_nodes && h.components < 8,
                     "node " << h.node << " of " << num_nodes << " is held, components "
                             << int(h.components));
    mask[std::size_t(h.node)] |= h.components;
  }
  return make_constraints(exec, upload(exec, "ossatura::solids::held", mask));
}

} // namespace

template<class Exec>
struct SolidSolver<Exec>::Implementation {
  SolidSolverOptions options;
  SolidArrays<Exec> arrays;
  UnitLame lame;
  Constraints<Exec> held;
  RigidGroups<Exec> rigid;
  Array<double, Exec> spring; ///< [num_nodes, 3], or empty
  std::shared_ptr<AggregationHierarchy<Exec>> hierarchy;
  Array<double, Exec> r, p, q;
  SolidIteration<Exec, float> mixed;
  SolidIteration<Exec, double> fp64;
  bool has_modulus = false, fell_back = false; ///< since the moduli came
  int num_formings = 0;

  Implementation(const Exec& exec, const SolidMesh& mesh, double poisson,
                 const std::vector<HeldComponents>& held_nodes, const SolidSolverOptions& given)
      : options(given) {
    OSSATURA_REQUIRE(poisson > -1 && poisson < 0.5, "Poisson's ratio " << poisson);
    OSSATURA_REQUIRE(options.cg.tolerance > 0 && options.cg.tolerance < 1,
                     "tolerance " << options.cg.tolerance << ": between 0 and 1, such as 1e-6");
    OSSATURA_REQUIRE(options.cg.max_iterations >= 0,
                     "at most " << options.cg.max_iterations << " iterations");
    require_known(options.precision, double_iterations, "the solver on solid elements");
    arrays = make_solid_arrays(exec, mesh);
    lame = unit_lame(poisson);
    held = hold_nodes(exec, arrays.num_nodes, held_nodes);
    {
      const TimedScope scope("ossatura::solids::hierarchy");
      hierarchy = std::make_shared<AggregationHierarchy<Exec>>(make_aggregation_hierarchy(
          exec, make_solid_graph(exec, arrays), arrays.point, held, options.aggregation));
    }
    r = make_zeros<double>(exec, num_dofs(), "ossatura::cg::r");
    p = make_zeros<double>(exec, num_dofs(), "ossatura::cg::p");
    q = make_zeros<double>(exec, num_dofs(), "ossatura::cg::q");
    fp64.product = {hierarchy->graph,
                    make_uninitialized<double>(exec, 9 * hierarchy->graph.num_entries(),
                                               "ossatura::solids::matrix")};
  }

  std::int64_t num_dofs() const { return 3 * std::int64_t(arrays.num_nodes); }
  bool is_mixed() const { return options.precision == Precision::mixed && !fell_back; }

  /// Forms the preconditioner for the matrix of fp64.product.
  template<class Scalar>
  void form(const Exec& exec, SolidIteration<Exec, Scalar>& iteration) {
    const Array<double, Exec>& a = fp64.product.value();
    if (!iteration.multigrid) {
      iteration.multigrid = std::make_unique<AggregationMultigrid<Exec, Scalar>>(
          exec, hierarchy, options.aggregation);
      if constexpr (std::is_same_v<Scalar, double>) {
        iteration.b = r;
      } else {
        iteration.b = make_zeros<Scalar>(exec, num_dofs(), "ossatura::cg::b");
        iteration.product = {hierarchy->graph, make_uninitialized<Scalar>(
                                                   exec, a.extent(0), "ossatura::solids::matrix")};
      }
    }
    if constexpr (!std::is_same_v<Scalar, double>)
      copy(exec, a, iteration.product.value());
    iteration.multigrid->prepare(exec, iteration.product, a);
    ++num_formings;
  }

  /// Of what counts of forces.
  double norm_of(const Exec& exec, const Array<double, Exec>& f) const {
    if (rigid.count() == 0)
      return free_norm(exec, held.mask, f);
    Kokkos::deep_copy(exec, r, f);
    clear(exec, held, r);
    project_rigid(exec, rigid, r);
    return free_norm(exec, held.mask, r);
  }

  template<class Scalar>
  SolveResult iterate(const Exec& exec, SolidIteration<Exec, Scalar>& iteration,
                      const CgOptions& cg, const Array<double, Exec>& f,
                      const Array<double, Exec>& u, const IterationObserver& observe) {
    return conjugate_gradients(
        exec, cg,
        [&](const auto& x, const auto& y) {
          project_rigid(exec, rigid, x); // a cycle, of fewer digits, knows no rigid bodies
          fp64.product.apply(exec, x, y);
          clear(exec, held, y);
          project_rigid(exec, rigid, y);
        },
        [&](const auto& x, double scale, const auto& residual) {
          apply_then(exec, fp64.product, x, q,
                     StoreScaledResidual<Exec, double, double>{held.mask, f, scale, residual});
          project_rigid(exec, rigid, residual);
        },
        [&](const auto& b) { return iteration.multigrid->apply(exec, b); },
        CgVectors<Exec, double, double, Scalar>{u, r, p, q, iteration.b}, observe);
  }
};

template<class Exec>
SolidSolver<Exec>::SolidSolver(const Exec& exec, const SolidMesh& mesh, double poisson,
                               const std::vector<HeldComponents>& held,
                               const SolidSolverOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, mesh, poisson, held, options)) {
  fence(exec, "ossatura::SolidSolver");
}

template<class Exec>
SolidSolver<Exec>::~SolidSolver() = default;

template<class Exec>
const SolidArrays<Exec>& SolidSolver<Exec>::arrays() const {
  return implementation_->arrays;
}
template<class Exec>
const Constraints<Exec>& SolidSolver<Exec>::held() const {
  return implementation_->held;
}
template<class Exec>
UnitLame SolidSolver<Exec>::lame() const {
  return implementation_->lame;
}
template<class Exec>
OperatorCost SolidSolver<Exec>::cost() const {
  return implementation_->fp64.product.cost();
}
template<class Exec>
std::string SolidSolver<Exec>::describe() const {
  return "amg: " + implementation_->hierarchy->describe();
}
template<class Exec>
int SolidSolver<Exec>::num_formings() const {
  return implementation_->num_formings;
}

template<class Exec>
void SolidSolver<Exec>::set_tolerance(double tolerance) {
  OSSATURA_REQUIRE(tolerance > 0 && tolerance < 1,
                   "tolerance " << tolerance << ": between 0 and 1, such as 1e-6");
  implementation_->options.cg.tolerance = tolerance;
}

template<class Exec>
void SolidSolver<Exec>::set_springs(const Exec& exec, const Array<double, Exec>& spring) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(spring.extent(0)) == solver.num_dofs(),
                   spring.extent(0) << " springs for " << solver.num_dofs() << " components");
  solver.spring = make_uninitialized<double>(exec, spring.extent(0), "ossatura::solids::spring");
  copy(exec, spring, solver.spring);
}

template<class Exec>
void SolidSolver<Exec>::set_rigid(const Exec& exec,
                                  const std::vector<std::vector<std::int32_t>>& groups,
                                  const std::vector<double>& point) {
  Implementation& solver = *implementation_;
  std::vector<bool> is_held;
  for (const std::uint8_t mask : download(exec, solver.held.mask))
    is_held.push_back(mask != 0);
  solver.rigid = make_rigid_groups(exec, groups, point, is_held);
}

template<class Exec>
void SolidSolver<Exec>::set_modulus(const Exec& exec, const Array<double, Exec>& modulus) {
  Implementation& solver = *implementation_;
  const std::int64_t bad = count_not_positive(exec, modulus);
  OSSATURA_REQUIRE(bad == 0, bad << " moduli are not positive and finite");
  const Graph<Exec>& graph = solver.hierarchy->graph;
  const Array<double, Exec>& a = solver.fp64.product.value();
  {
    const TimedScope scope("ossatura::solids::assemble");
    assemble_solid_blocks(exec, solver.arrays, solver.lame, modulus, graph, a);
    if (solver.spring.extent(0) > 0)
      add_block_diagonal(exec, graph, solver.spring, a);
  }
  solver.has_modulus = true;
  solver.fell_back = false;
  if (solver.is_mixed())
    solver.form(exec, solver.mixed);
  else
    solver.form(exec, solver.fp64);
  fence(exec, "ossatura::SolidSolver::set_modulus");
}

template<class Exec>
SolveResult SolidSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                     const Array<double, Exec>& u,
                                     const IterationObserver& observe) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(solver.has_modulus, "a solve without moduli");
  OSSATURA_REQUIRE(std::int64_t(f.extent(0)) == solver.num_dofs() && f.extent(0) == u.extent(0),
                   f.extent(0) << " forces, " << u.extent(0) << " displacements");
  SolveResult result;
  const double norm = solver.norm_of(exec, f);
  if (norm == 0) {
    Kokkos::deep_copy(exec, u, 0.0);
    fence(exec, "ossatura::SolidSolver::solve");
    result.converged = true;
    return result;
  }
  if (!std::isfinite(norm)) {
    result.residual = result.recurrent_residual = norm;
    result.broken = true;
    return result;
  }
  clear(exec, solver.held, u);
  project_rigid(exec, solver.rigid, u);
  CgOptions cg = solver.options.cg;
  cg.reference = norm;
  const auto iterate = [&](const CgOptions& part, const IterationObserver& watch) {
    return solver.is_mixed() ? solver.iterate(exec, solver.mixed, part, f, u, watch)
                             : solver.iterate(exec, solver.fp64, part, f, u, watch);
  };
  if (!solver.is_mixed())
    return iterate(cg, observe);
  // A cycle that fp32 makes indefinite may go on for ever.
  return solve_with_fallback(
      cg, std::max(100, cg.max_iterations / 4), iterate,
      [&](const SolveResult& tried) {
        if (tried.residual > 1)
          Kokkos::deep_copy(exec, u, 0.0); // a better start
        solver.fell_back = true;
        solver.form(exec, solver.fp64);
      },
      observe);
}

template<class Exec>
void SolidSolver<Exec>::precondition(const Exec& exec, const Array<double, Exec>& r,
                                     const Array<double, Exec>& z) const {
  const Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(solver.has_modulus, "a preconditioner without moduli");
  const auto cycle = [&](const auto& iteration) {
    copy(exec, r, iteration.b);
    copy(exec, iteration.multigrid->apply(exec, iteration.b), z);
  };
  if (solver.is_mixed())
    cycle(solver.mixed);
  else
    cycle(solver.fp64);
  make_admissible(exec, z);
}

template<class Exec>
void SolidSolver<Exec>::make_admissible(const Exec& exec, const Array<double, Exec>& u) const {
  clear(exec, implementation_->held, u);
  project_rigid(exec, implementation_->rigid, u);
}

template<class Exec>
void SolidSolver<Exec>::apply(const Exec& exec, const Array<double, Exec>& u,
                              const Array<double, Exec>& y) const {
  implementation_->fp64.product.apply(exec, u, y);
}

#define OSSATURA_INSTANTIATE(Exec) template class SolidSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
