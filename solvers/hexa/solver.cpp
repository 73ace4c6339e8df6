// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/hexa/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/count_not_positive.hpp>
#include <ossatura/kernels/algebra/free_norm.hpp>
#include <ossatura/kernels/algebra/free_updates.hpp>
#include <ossatura/kernels/algebra/plus_diagonal.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/solvers/aggregation/multigrid.hpp>
#include <ossatura/solvers/hexa/cycle.hpp>
#include <ossatura/solvers/hexa/operators.hpp>
#include <ossatura/solvers/krylov/cg.hpp>
#include <ossatura/solvers/krylov/solve_with_fallback.hpp>

namespace ossatura {

namespace {

template<class Exec>
Constraints<Exec> make_held(const Exec& exec, int num_nodes,
                            const std::vector<HeldComponents>& held) {
  std::vector<std::uint8_t> mask(std::size_t(num_nodes), 0);
  for (const HeldComponents& h : held) {
    OSSATURA_REQUIRE(h.node >= 0 && h.node < num_nodes && h.components < 8,
                     "node " << h.node << " of " << num_nodes << " is held, components "
                             << int(h.components));
    mask[std::size_t(h.node)] |= h.components;
  }
  return make_constraints(exec, upload(exec, "ossatura::hexa::held", mask));
}

void check(const HexaSolverOptions& options, double poisson) {
  OSSATURA_REQUIRE(poisson > -1 && poisson < 0.5, "Poisson's ratio " << poisson);
  OSSATURA_REQUIRE(options.cg.tolerance > 0 && options.cg.max_iterations >= 0,
                   "tolerance " << options.cg.tolerance << ", at most " << options.cg.max_iterations
                                << " iterations");
  require_known(options.precision, double_iterations, "the solver on hexahedra");
  if (options.chebyshev_degree < 1 || options.chebyshev_degree > 64)
    fail<UsageError>("a Chebyshev preconditioner of degree ", options.chebyshev_degree,
                     "; 1 to 64 are possible");
}

/// The iteration with a preconditioner in one precision.
template<class Exec, class Scalar>
struct HexaIteration {
  std::unique_ptr<HexaOperator<Exec, Scalar>> own; ///< unless it is that of the iteration
  PlusDiagonal<Exec, Scalar> product;
  std::unique_ptr<AggregationMultigrid<Exec, Scalar>> multigrid; ///< or
  std::unique_ptr<detail::HexaPolynomialCycle<Exec, Scalar>> polynomial;
  Array<Scalar, Exec> b; ///< the residual for the preconditioner

  Preconditioner<Exec, Scalar>& preconditioner() const {
    if (multigrid)
      return *multigrid;
    return *polynomial;
  }
};

} // namespace

template<class Exec>
struct HexaSolver<Exec>::Implementation {
  HexaSolverOptions options;
  OperatorChoice<HexaOperatorKind> choice;
  detail::HexaStiffness<Exec> stiffness;
  std::unique_ptr<HexaOperator<Exec, double>> matrix;
  PlusDiagonal<Exec, double> product;
  std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy; ///< of amg alone
  Array<double, Exec> r, p, q;
  HexaIteration<Exec, float> mixed;
  HexaIteration<Exec, double> fp64;
  bool fell_back = false; ///< since the moduli came

  Implementation(const Exec& exec, const ElementMesh& hexahedra, double poisson,
                 const std::vector<HeldComponents>& held, const HexaSolverOptions& solver_options)
      : options(solver_options) {
    check(options, poisson);
    stiffness.arrays = make_hexa_arrays(exec, hexahedra);
    stiffness.lame = unit_lame(poisson);
    stiffness.held = make_held(exec, stiffness.arrays.num_nodes, held);
    make_operators(exec, hexahedra);
    if (options.preconditioner == HexaPreconditioner::amg) {
      const TimedScope scope("ossatura::hexa::hierarchy");
      hierarchy = std::make_shared<AggregationHierarchy<Exec>>(
          make_aggregation_hierarchy(exec, make_hexa_graph(exec, stiffness.arrays),
                                     stiffness.arrays.point, stiffness.held, options.aggregation));
    }
    const std::int64_t n = stiffness.num_dofs();
    r = make_zeros<double>(exec, n, "ossatura::cg::r");
    p = make_zeros<double>(exec, n, "ossatura::cg::p");
    q = make_zeros<double>(exec, n, "ossatura::cg::q");
    product = {matrix.get(), {}};
  }

  void make_operators(const Exec& exec, const ElementMesh& hexahedra) {
    const TimedScope scope("ossatura::hexa::operators");
    HexaOperatorTables<Exec> tables;
    choice = options.kind == HexaOperatorKind::automatic
                 ? choose_hexa_operator(hexahedra, tables.classes)
                 : OperatorChoice<HexaOperatorKind>{options.kind, "asked for"};
    matrix = make_operator<double>(exec, hexahedra, tables);
    if (options.precision == Precision::mixed && needs_products())
      mixed.own = make_operator<float>(exec, hexahedra, tables);
  }

  bool is_mixed() const { return options.precision == Precision::mixed && !fell_back; }

  bool needs_products() const {
    return options.preconditioner == HexaPreconditioner::chebyshev ||
           options.preconditioner == HexaPreconditioner::amg;
  }

  template<class Scalar>
  std::unique_ptr<HexaOperator<Exec, Scalar>>
  make_operator(const Exec& exec, const ElementMesh& hexahedra,
                HexaOperatorTables<Exec>& tables) const {
    return make_hexa_operator<Scalar>(exec, choice.kind, hexahedra, stiffness.arrays,
                                      stiffness.lame, tables);
  }

  /// The matrix in the graph of the hierarchy, springs included.
  Array<double, Exec> assemble(const Exec& exec) const {
    const auto a = make_uninitialized<double>(exec, 9 * hierarchy->graph.num_entries(),
                                              "ossatura::hexa::assembled");
    assemble_hexa_blocks<double>(exec, stiffness.arrays, stiffness.lame, stiffness.modulus,
                                 hierarchy->graph, a);
    if (stiffness.spring.extent(0) > 0)
      add_block_diagonal(exec, hierarchy->graph, stiffness.spring, a);
    return a;
  }

  /// Once, before the first moduli.
  template<class Scalar>
  void make_preconditioner(const Exec& exec, HexaIteration<Exec, Scalar>& iteration) const {
    if (hierarchy)
      iteration.multigrid = std::make_unique<AggregationMultigrid<Exec, Scalar>>(
          exec, hierarchy, options.aggregation);
    else
      iteration.polynomial = std::make_unique<detail::HexaPolynomialCycle<Exec, Scalar>>(
          options.preconditioner, options.chebyshev_degree);
    if constexpr (std::is_same_v<Scalar, double>)
      iteration.b = r;
    else
      iteration.b = make_zeros<Scalar>(exec, stiffness.num_dofs(), "ossatura::cg::b");
  }

  template<class Scalar>
  void prepare(const Exec& exec, HexaIteration<Exec, Scalar>& iteration) {
    if (iteration.b.extent(0) == 0)
      make_preconditioner(exec, iteration);
    if constexpr (std::is_same_v<Scalar, double>) {
      iteration.product = product;
    } else {
      Array<Scalar, Exec> spring;
      if (stiffness.spring.extent(0) > 0) {
        spring = make_uninitialized<Scalar>(exec, stiffness.num_dofs(), "ossatura::hexa::spring");
        copy(exec, stiffness.spring, spring);
      }
      iteration.product = {iteration.own.get(), spring};
      if (iteration.own)
        iteration.own->set_modulus(exec, stiffness.modulus);
    }
    if (hierarchy)
      iteration.multigrid->prepare(exec, iteration.product, assemble(exec));
    else
      iteration.polynomial->prepare(exec, stiffness, iteration.product);
  }

  template<class Scalar>
  SolveResult iterate(const Exec& exec, HexaIteration<Exec, Scalar>& iteration, const CgOptions& cg,
                      const Array<double, Exec>& f, const Array<double, Exec>& u,
                      const IterationObserver& observe) {
    return conjugate_gradients(
        exec, cg,
        [&](const auto& x, const auto& y) {
          product.apply(exec, x, y);
          clear(exec, stiffness.held, y);
        },
        [&](const auto& x, double scale, const auto& residual) {
          apply_then(
              exec, product, x, q,
              StoreScaledResidual<Exec, double, double>{stiffness.held.mask, f, scale, residual});
        },
        [&](const auto& b) { return iteration.preconditioner().apply(exec, b); },
        CgVectors<Exec, double, double, Scalar>{u, r, p, q, iteration.b}, observe);
  }
};

template<class Exec>
HexaSolver<Exec>::HexaSolver(const Exec& exec, const ElementMesh& mesh, double poisson,
                             const std::vector<HeldComponents>& held,
                             const HexaSolverOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, mesh, poisson, held, options)) {
  fence(exec, "ossatura::HexaSolver");
}

template<class Exec>
HexaSolver<Exec>::~HexaSolver() = default;

template<class Exec>
const HexaArrays<Exec>& HexaSolver<Exec>::arrays() const {
  return implementation_->stiffness.arrays;
}
template<class Exec>
const Constraints<Exec>& HexaSolver<Exec>::held() const {
  return implementation_->stiffness.held;
}
template<class Exec>
UnitLame HexaSolver<Exec>::lame() const {
  return implementation_->stiffness.lame;
}
template<class Exec>
HexaOperatorKind HexaSolver<Exec>::kind() const {
  return implementation_->choice.kind;
}
template<class Exec>
const std::string& HexaSolver<Exec>::reason() const {
  return implementation_->choice.reason;
}
template<class Exec>
OperatorCost HexaSolver<Exec>::cost() const {
  return implementation_->product.cost();
}
template<class Exec>
bool HexaSolver<Exec>::is_deterministic() const {
  return implementation_->product.is_deterministic();
}
template<class Exec>
std::string HexaSolver<Exec>::describe() const {
  const std::string name = name_of(implementation_->options.preconditioner);
  return implementation_->hierarchy ? name + ": " + implementation_->hierarchy->describe() : name;
}

template<class Exec>
void HexaSolver<Exec>::set_springs(const Exec& exec, const Array<double, Exec>& spring) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(spring.extent(0)) == solver.stiffness.num_dofs(),
                   spring.extent(0)
                       << " springs for " << solver.stiffness.num_dofs() << " components");
  solver.stiffness.spring =
      make_uninitialized<double>(exec, spring.extent(0), "ossatura::hexa::spring");
  copy(exec, spring, solver.stiffness.spring);
  solver.product = {solver.matrix.get(), solver.stiffness.spring};
}

template<class Exec>
void HexaSolver<Exec>::set_modulus(const Exec& exec, const Array<double, Exec>& modulus) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(modulus.extent(0)) == solver.stiffness.arrays.num_elem,
                   modulus.extent(0)
                       << " moduli for " << solver.stiffness.arrays.num_elem << " elements");
  const std::int64_t bad = count_not_positive(exec, modulus);
  OSSATURA_REQUIRE(bad == 0, bad << " moduli are not positive and finite");
  if (solver.stiffness.modulus.extent(0) == 0)
    solver.stiffness.modulus =
        make_uninitialized<double>(exec, modulus.extent(0), "ossatura::hexa::modulus");
  copy(exec, modulus, solver.stiffness.modulus); // a fall-back wants it again
  solver.matrix->set_modulus(exec, modulus);
  solver.fell_back = false;
  if (solver.is_mixed())
    solver.prepare(exec, solver.mixed);
  else
    solver.prepare(exec, solver.fp64);
  fence(exec, "ossatura::HexaSolver::set_modulus");
}

template<class Exec>
SolveResult HexaSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                    const Array<double, Exec>& u,
                                    const IterationObserver& observe) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(solver.stiffness.modulus.extent(0) > 0, "a solve without moduli");
  OSSATURA_REQUIRE(std::int64_t(f.extent(0)) == solver.stiffness.num_dofs() &&
                       f.extent(0) == u.extent(0),
                   f.extent(0) << " forces, " << u.extent(0) << " displacements");
  SolveResult result;
  const double norm = free_norm(exec, solver.stiffness.held.mask, f);
  if (norm == 0) {
    Kokkos::deep_copy(exec, u, 0.0);
    fence(exec, "ossatura::HexaSolver::solve");
    result.converged = true;
    return result;
  }
  if (!std::isfinite(norm)) {
    result.residual = result.recurrent_residual = norm;
    result.broken = true;
    return result;
  }

  clear(exec, solver.stiffness.held, u);
  CgOptions cg = solver.options.cg;
  cg.reference = norm;
  const auto iterate = [&](const CgOptions& part, const IterationObserver& watch) {
    return solver.is_mixed() ? solver.iterate(exec, solver.mixed, part, f, u, watch)
                             : solver.iterate(exec, solver.fp64, part, f, u, watch);
  };
  if (!solver.is_mixed())
    return iterate(cg, observe);
  // A cycle that fp32 makes indefinite may go on for ever.
  const int first_iterations = solver.options.preconditioner == HexaPreconditioner::amg
                                   ? std::max(100, cg.max_iterations / 4)
                                   : cg.max_iterations;
  return solve_with_fallback(
      cg, first_iterations, iterate,
      [&](const SolveResult& tried) {
        if (tried.residual > 1)
          Kokkos::deep_copy(exec, u, 0.0); // a better start
        solver.prepare(exec, solver.fp64);
        solver.fell_back = true;
      },
      observe);
}

template<class Exec>
void HexaSolver<Exec>::apply(const Exec& exec, const Array<double, Exec>& u,
                             const Array<double, Exec>& y) const {
  implementation_->product.apply(exec, u, y);
}

#define OSSATURA_INSTANTIATE(Exec) template class HexaSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
