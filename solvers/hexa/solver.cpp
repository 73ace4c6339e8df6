// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/hexa/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/count_not_positive.hpp>
#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/kernels/algebra/plus_diagonal.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/algebra/rigid_groups.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/block_matrix.hpp>
#include <ossatura/kernels/hexa/modulus_change.hpp>
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
  OSSATURA_REQUIRE(options.cg.tolerance > 0 && options.cg.tolerance < 1,
                   "tolerance " << options.cg.tolerance << ": between 0 and 1, such as 1e-6");
  OSSATURA_REQUIRE(options.cg.max_iterations >= 0,
                   "at most " << options.cg.max_iterations << " iterations");
  require_known(options.precision, double_iterations, "the solver on hexahedra");
  OSSATURA_REQUIRE(options.forming_cost >= 0,
                   "forming that costs " << options.forming_cost << " iterations");
  if (options.chebyshev_degree < 1 || options.chebyshev_degree > 64)
    fail<UsageError>("a Chebyshev preconditioner of degree ", options.chebyshev_degree,
                     "; 1 to 64 are possible");
}

void check(const ElementRatios& ratios, std::size_t num_elem) {
  OSSATURA_REQUIRE(ratios.poisson.size() <= 255 &&
                       ratios.of_elem.size() == (ratios.poisson.empty() ? 0 : num_elem),
                   ratios.poisson.size() << " ratios for " << ratios.of_elem.size() << " of "
                                         << num_elem << " elements");
  for (const double poisson : ratios.poisson)
    OSSATURA_REQUIRE(poisson > -1 && poisson < 0.5, "Poisson's ratio " << poisson);
  for (const std::uint8_t ratio : ratios.of_elem)
    OSSATURA_REQUIRE(ratio < ratios.poisson.size(),
                     "ratio " << int(ratio) << " of " << ratios.poisson.size());
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
  RigidGroups<Exec> rigid;
  std::unique_ptr<HexaOperator<Exec, double>> matrix;
  PlusDiagonal<Exec, double> product;
  std::shared_ptr<const AggregationHierarchy<Exec>> hierarchy; ///< of amg alone
  Array<double, Exec> r, p, q;
  HexaIteration<Exec, float> mixed;
  HexaIteration<Exec, double> fp64;
  bool fell_back = false; ///< since the moduli came

  PreconditionerAge age;          ///< before the present moduli
  bool is_spent = true;           ///< whether the next moduli want another amg in any case
  Array<double, Exec> formed_for; ///< moduli
  double change = 0;              ///< of the present moduli from these
  bool counts = true;             ///< whether the present moduli are yet to be added to `age`
  std::int64_t iterations = -1;   ///< of all solves with the present moduli; none: -1
  int num_formings = 0;

  Implementation(const Exec& exec, const ElementMesh& hexahedra, double poisson,
                 const std::vector<HeldComponents>& held, const HexaSolverOptions& solver_options,
                 const ElementRatios& ratios)
      : options(solver_options) {
    check(options, poisson);
    check(ratios, hexahedra.num_elem());
    if (!ratios.poisson.empty())
      stiffness.ratios = make_hexa_ratios(exec, ratios.poisson, ratios.of_elem);
    stiffness.arrays = make_hexa_arrays(exec, hexahedra);
    stiffness.lame = unit_lame(poisson);
    stiffness.held = make_held(exec, stiffness.arrays.num_nodes, held);
    if (options.preconditioner == HexaPreconditioner::amg) {
      const TimedScope scope("ossatura::hexa::hierarchy");
      hierarchy = std::make_shared<AggregationHierarchy<Exec>>(make_aggregation_hierarchy(
          exec, make_hexa_graph(exec, stiffness.arrays), stiffness.arrays.point, stiffness.held,
          options.aggregation, [&] { make_operators(exec, hexahedra); }));
    } else {
      make_operators(exec, hexahedra);
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
    if (tables.classes && stiffness.ratios.empty())
      stiffness.shapes =
          make_shape_stiffness(exec, stiffness.arrays, stiffness.lame, *tables.classes);
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
    const auto make = [&](const UnitLame& lame) {
      return make_hexa_operator<Scalar>(exec, choice.kind, hexahedra, stiffness.arrays, lame,
                                        tables);
    };
    if (stiffness.ratios.empty())
      return make(stiffness.lame);
    std::vector<std::unique_ptr<HexaOperator<Exec, Scalar>>> parts;
    for (const UnitLame& lame : stiffness.ratios.each)
      parts.push_back(make(lame));
    return std::make_unique<HexaRatioOperator<Exec, Scalar>>(
        exec, stiffness.ratios, std::move(parts), stiffness.arrays.num_nodes);
  }

  /// The matrix in the graph of the hierarchy, springs included.
  Array<double, Exec> assemble(const Exec& exec) const {
    const auto a = make_uninitialized<double>(exec, 9 * hierarchy->graph.num_entries(),
                                              "ossatura::hexa::assembled");
    stiffness.with_source([&](const auto& source) {
      assemble_hexa_blocks<double>(exec, stiffness.arrays, source, stiffness.modulus,
                                   hierarchy->graph, a);
    });
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
  void take_matrix(const Exec& exec, HexaIteration<Exec, Scalar>& iteration) {
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
  }

  template<class Scalar>
  void prepare(const Exec& exec, HexaIteration<Exec, Scalar>& iteration) {
    take_matrix(exec, iteration);
    if (hierarchy)
      iteration.multigrid->prepare(exec, iteration.product, assemble(exec));
    else
      iteration.polynomial->prepare(exec, stiffness, iteration.product);
  }
  /// The coarse levels of amg stay those of earlier moduli.
  template<class Scalar>
  void update(const Exec& exec, HexaIteration<Exec, Scalar>& iteration) {
    take_matrix(exec, iteration);
    stiffness.invert_blocks(exec, true, iteration.multigrid->inverse_diagonal());
    iteration.multigrid->update(exec, iteration.product);
  }

  /// For the present moduli.
  void form(const Exec& exec) {
    if (is_mixed())
      prepare(exec, mixed);
    else
      prepare(exec, fp64);
    is_spent = false;
    if (!hierarchy)
      return;
    ++num_formings;
    if (reuses())
      keep(exec, stiffness.modulus, formed_for, "ossatura::hexa::formed_for");
  }
  static void keep(const Exec& exec, const Array<double, Exec>& from, Array<double, Exec>& to,
                   const char* label) {
    if (to.extent(0) == 0)
      to = make_uninitialized<double>(exec, from.extent(0), label);
    copy(exec, from, to);
  }

  /// With the present moduli.
  PreconditionerAge present_age() const {
    PreconditionerAge present = age;
    if (counts && iterations >= 0)
      present.add_matrix(iterations, change);
    return present;
  }
  bool reuses() const { return hierarchy && options.forming_cost > 0; }
  /// After a try with coarse levels of earlier moduli as many are left for one with new ones.
  bool has_iterations_for_two() const {
    return options.cg.max_iterations >= 2 * (age.own + options.forming_cost);
  }

  /// Of what counts of forces.
  double norm_of(const Exec& exec, const Array<double, Exec>& f) const {
    if (rigid.count() == 0)
      return free_norm(exec, stiffness.held.mask, f);
    Kokkos::deep_copy(exec, r, f);
    clear(exec, stiffness.held, r);
    project_rigid(exec, rigid, r);
    return free_norm(exec, stiffness.held.mask, r);
  }

  template<class Scalar>
  SolveResult iterate(const Exec& exec, HexaIteration<Exec, Scalar>& iteration, const CgOptions& cg,
                      const Array<double, Exec>& f, const Array<double, Exec>& u,
                      const IterationObserver& observe) {
    return conjugate_gradients(
        exec, cg,
        [&](const auto& x, const auto& y) {
          project_rigid(exec, rigid, x); // a cycle, of fewer digits, knows no rigid bodies
          product.apply(exec, x, y);
          clear(exec, stiffness.held, y);
          project_rigid(exec, rigid, y);
        },
        [&](const auto& x, double scale, const auto& residual) {
          apply_then(
              exec, product, x, q,
              StoreScaledResidual<Exec, double, double>{stiffness.held.mask, f, scale, residual});
          project_rigid(exec, rigid, residual);
        },
        [&](const auto& b) { return iteration.preconditioner().apply(exec, b); },
        CgVectors<Exec, double, double, Scalar>{u, r, p, q, iteration.b}, observe);
  }

  /// A mixed iteration that stalls goes on in fp64.
  SolveResult iterate_or_fall_back(const Exec& exec, const CgOptions& cg,
                                   const Array<double, Exec>& f, const Array<double, Exec>& u,
                                   const IterationObserver& observe) {
    const auto iterate_now = [&](const CgOptions& part, const IterationObserver& watch) {
      return is_mixed() ? iterate(exec, mixed, part, f, u, watch)
                        : iterate(exec, fp64, part, f, u, watch);
    };
    if (!is_mixed())
      return iterate_now(cg, observe);
    // A cycle that fp32 makes indefinite may go on for ever.
    const int first_iterations = options.preconditioner == HexaPreconditioner::amg
                                     ? std::max(100, cg.max_iterations / 4)
                                     : cg.max_iterations;
    return solve_with_fallback(
        cg, first_iterations, iterate_now,
        [&](const SolveResult& tried) {
          if (tried.residual > 1)
            Kokkos::deep_copy(exec, u, 0.0); // a better start
          fell_back = true;
          form(exec);
          is_spent = true; // the next moduli begin in fp32
        },
        observe);
  }
};

template<class Exec>
HexaSolver<Exec>::HexaSolver(const Exec& exec, const ElementMesh& mesh, double poisson,
                             const std::vector<HeldComponents>& held,
                             const HexaSolverOptions& options, const ElementRatios& ratios)
    : implementation_(
          std::make_unique<Implementation>(exec, mesh, poisson, held, options, ratios)) {
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
HexaRatioPointers HexaSolver<Exec>::ratios() const {
  return implementation_->stiffness.ratios.pointers();
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
int HexaSolver<Exec>::num_formings() const {
  return implementation_->num_formings;
}

template<class Exec>
HexaPreconditionerState HexaSolver<Exec>::state(const Exec& exec) const {
  const Implementation& solver = *implementation_;
  if (!solver.reuses())
    return {};
  return {solver.is_spent ? std::vector<double>() : download(exec, solver.formed_for),
          solver.present_age()};
}

template<class Exec>
void HexaSolver<Exec>::set_state(const Exec& exec, const HexaPreconditionerState& state) {
  Implementation& solver = *implementation_;
  solver.is_spent = true;
  if (!solver.reuses())
    return;
  if (!state.modulus.empty())
    set_modulus(exec, upload(exec, "ossatura::hexa::formed_for", state.modulus));
  solver.age = state.age;
  solver.iterations = -1;
}

template<class Exec>
void HexaSolver<Exec>::set_tolerance(double tolerance) {
  OSSATURA_REQUIRE(tolerance > 0 && tolerance < 1,
                   "tolerance " << tolerance << ": between 0 and 1, such as 1e-6");
  implementation_->options.cg.tolerance = tolerance;
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
  solver.is_spent = true;
}

template<class Exec>
void HexaSolver<Exec>::set_rigid(const Exec& exec,
                                 const std::vector<std::vector<std::int32_t>>& groups,
                                 const std::vector<double>& point) {
  Implementation& solver = *implementation_;
  std::vector<bool> is_held;
  for (const std::uint8_t mask : download(exec, solver.stiffness.held.mask))
    is_held.push_back(mask != 0);
  solver.rigid = make_rigid_groups(exec, groups, point, is_held);
}

template<class Exec>
void HexaSolver<Exec>::set_modulus(const Exec& exec, const Array<double, Exec>& modulus) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(modulus.extent(0)) == solver.stiffness.arrays.num_elem,
                   modulus.extent(0)
                       << " moduli for " << solver.stiffness.arrays.num_elem << " elements");
  const std::int64_t bad = count_not_positive(exec, modulus);
  OSSATURA_REQUIRE(bad == 0, bad << " moduli are not positive and finite");
  // A fall-back wants them again.
  Implementation::keep(exec, modulus, solver.stiffness.modulus, "ossatura::hexa::modulus");
  solver.matrix->set_modulus(exec, modulus);
  solver.fell_back = false;
  solver.age = solver.present_age();
  solver.counts = true;
  solver.iterations = -1;
  solver.change =
      solver.reuses() && !solver.is_spent ? modulus_change(exec, solver.formed_for, modulus) : 0;
  if (!solver.reuses() || solver.is_spent || !solver.has_iterations_for_two() ||
      !solver.age.serves(solver.change, solver.options.forming_cost)) {
    solver.form(exec);
    solver.age.begin();
    solver.change = 0;
  } else if (solver.is_mixed()) {
    solver.update(exec, solver.mixed);
  } else {
    solver.update(exec, solver.fp64);
  }
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
  const double norm = solver.norm_of(exec, f);
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
  project_rigid(exec, solver.rigid, u);
  CgOptions cg = solver.options.cg;
  cg.reference = norm;
  bool fell_back = false;
  const auto iterate_or_fall_back = [&](const CgOptions& part, const IterationObserver& watch) {
    const SolveResult solved = solver.iterate_or_fall_back(exec, part, f, u, watch);
    fell_back = fell_back || solved.fell_back;
    return solved;
  };
  if (solver.change == 0) {
    result = iterate_or_fall_back(cg, observe);
  } else {
    // Forming before would have been cheaper than more.
    const std::int64_t first_iterations = solver.age.own + solver.options.forming_cost;
    result = solve_with_fallback(
        cg, int(std::min<std::int64_t>(first_iterations, cg.max_iterations)), iterate_or_fall_back,
        [&](const SolveResult& tried) {
          if (tried.residual > 1)
            Kokkos::deep_copy(exec, u, 0.0);
          solver.form(exec);
          solver.age.fail(solver.change, solver.options.forming_cost);
          solver.change = 0;
          solver.counts = false;
        },
        observe);
    result.fell_back = fell_back;
  }
  solver.iterations = std::max<std::int64_t>(solver.iterations, 0) + result.iterations;
  return result;
}

template<class Exec>
void HexaSolver<Exec>::precondition(const Exec& exec, const Array<double, Exec>& r,
                                    const Array<double, Exec>& z) const {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(solver.stiffness.modulus.extent(0) > 0, "a preconditioner without moduli");
  solver.iterations = std::max<std::int64_t>(solver.iterations, 0) + 1; // as one of a solve
  const auto cycle = [&](const auto& iteration) {
    copy(exec, r, iteration.b);
    copy(exec, iteration.preconditioner().apply(exec, iteration.b), z);
  };
  if (solver.is_mixed())
    cycle(solver.mixed);
  else
    cycle(solver.fp64);
  make_admissible(exec, z);
}

template<class Exec>
void HexaSolver<Exec>::make_admissible(const Exec& exec, const Array<double, Exec>& u) const {
  clear(exec, implementation_->stiffness.held, u);
  project_rigid(exec, implementation_->rigid, u);
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
