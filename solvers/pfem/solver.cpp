// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/solver.hpp>

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/kernels/algebra/fused_updates/free.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/mode_jacobi.hpp>
#include <ossatura/solvers/pfem/operators.hpp>
#include <ossatura/solvers/pfem/preconditioners/mode_factor.hpp>
#include <ossatura/solvers/pfem/preconditioners/vertex_star_schwarz.hpp>
#include <ossatura/solvers/pfem/published/element_wise_system.hpp>
#include <ossatura/solvers/pfem/settlement.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

void check(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering, std::int32_t num_modes,
           const std::vector<std::uint8_t>& held, const HierarchicSolverOptions& options) {
  OSSATURA_REQUIRE(num_modes == numbering.num_modes &&
                       numbering.order.size() == mesh.mesh.num_elem(),
                   "a model of " << num_modes << " modes, a numbering of " << numbering.num_modes);
  OSSATURA_REQUIRE(held.size() == std::size_t(num_modes),
                   held.size() << " masks for " << num_modes << " modes");
  for (std::size_t m = 0; m < held.size(); ++m)
    OSSATURA_REQUIRE(held[m] < 8, "mode " << m << " has the mask " << int(held[m]));
  OSSATURA_REQUIRE(options.cg.tolerance > 0 && options.cg.tolerance < 1,
                   "tolerance " << options.cg.tolerance << ": between 0 and 1, such as 1e-6");
  OSSATURA_REQUIRE(options.cg.max_iterations >= 0,
                   "at most " << options.cg.max_iterations << " iterations");
  require_known(options.precision, double_iterations, "the solver of high order");
  if (options.element_wise) {
    OSSATURA_REQUIRE(options.kind == HierarchicOperatorKind::automatic ||
                         options.kind == HierarchicOperatorKind::packed,
                     "element by element with the " << name_of(options.kind) << " operator");
    OSSATURA_REQUIRE(options.preconditioner != HierarchicPreconditioner::vertex_stars &&
                         options.preconditioner != HierarchicPreconditioner::ldlt,
                     "element by element with " << name_of(options.preconditioner));
  }
}

template<class Exec>
std::int64_t packed_bytes(const HierarchicModel<Exec>& model) {
  std::int64_t bytes = 0;
  for (const HexaBatch<Exec>& batch : model.batch)
    bytes += 8 * batch.num_elem * matrix_entries(MatrixStorage::packed, batch.num_dofs());
  return bytes;
}

/// What a factor and iterations get done in a second, roughly: which of them is faster is rarely
/// close. By constants, so that a run is repeated on any machine of its kind.
template<class Exec>
struct FactorRates {
  static constexpr bool is_device = BackendTraits<Exec>::is_device;
  static constexpr double bytes = is_device ? 2e12 : 1e10;        ///< of a product
  static constexpr double product_flops = is_device ? 4e12 : 4e9; ///< likewise
  static constexpr double latency = is_device ? 1e-4 : 1e-5;      ///< seconds of an iteration
  static constexpr double flops = is_device ? 5e11 : 1.2e10;      ///< of the factor
  static constexpr double ordered_blocks = 2e7;                   ///< by nested dissection
};

} // namespace

template<class Exec>
struct HierarchicSolver<Exec>::Implementation {
  HierarchicSolverOptions options;
  OperatorChoice<HierarchicOperatorKind> choice;
  std::unique_ptr<HierarchicOperator<Exec>> matrix;         ///< unless element by element
  std::unique_ptr<detail::ElementWiseSystem<Exec>> by_elem; ///< element by element
  std::unique_ptr<detail::VertexStarSchwarz<Exec>> stars;
  std::unique_ptr<detail::ModeFactor<Exec>> factor; ///< once it is made
  HierarchicModel<Exec> model;                      ///< for the factor
  std::vector<std::uint8_t> held_modes;             ///< likewise
  bool is_definite = true;                          ///< the matrix, by the factor
  std::int64_t num_dofs;
  std::int32_t num_vertices;
  Constraints<Exec> held;
  Array<double, Exec> inverse_diagonal, x, r, p, q, z; ///< x: element by element alone

  Implementation(const Exec& exec, const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
                 const HierarchicModel<Exec>& elements, const std::vector<std::uint8_t>& masks,
                 const HierarchicSolverOptions& solver_options)
      : options(solver_options)
      , model(elements)
      , held_modes(masks)
      , num_dofs(3 * std::int64_t(model.num_modes))
      , num_vertices(numbering.edge_begin) {
    check(mesh, numbering, model.num_modes, held_modes, options);
    held = make_constraints(exec, upload(exec, "ossatura::hierarchic::held", held_modes));
    const std::int64_t memory = options.memory > 0 ? options.memory : available_bytes(exec);
    choose(exec, model, memory);
    if (options.element_wise) {
      by_elem =
          std::make_unique<detail::ElementWiseSystem<Exec>>(exec, model, held.mask, options.form);
      inverse_diagonal = by_elem->inverse_diagonal();
      x = by_elem->make_vector(exec);
      r = by_elem->make_vector(exec);
      p = by_elem->make_vector(exec);
      q = by_elem->make_vector(exec);
    } else {
      matrix = make_hierarchic_operator(exec, choice.kind, model, options.form);
      r = make_zeros<double>(exec, num_dofs, "ossatura::cg::r");
      p = make_zeros<double>(exec, num_dofs, "ossatura::cg::p");
      q = make_zeros<double>(exec, num_dofs, "ossatura::cg::q");
      prepare(exec, mesh, numbering);
    }
    if (options.preconditioner == HierarchicPreconditioner::jacobi)
      z = make_zeros<double>(exec, r.extent(0), "ossatura::cg::z");
  }

  void choose(const Exec& exec, const HierarchicModel<Exec>& model, std::int64_t memory) {
    const bool packed = options.element_wise || options.kind == HierarchicOperatorKind::packed;
    if (packed && memory > 0 && packed_bytes(model) > memory)
      fail<BackendError>("the matrices of all elements take ", packed_bytes(model) / 1000000,
                         " MB, and ", memory / 1000000,
                         " MB are left; take the matrix-free operator or a lower order");
    if (options.element_wise)
      choice = {HierarchicOperatorKind::packed, "vectors are element by element"};
    else if (options.kind == HierarchicOperatorKind::automatic)
      choice = choose_hierarchic_operator(exec, model, memory_for_matrices(memory));
    else
      choice = {options.kind, "asked for"};
  }

  void prepare(const Exec& exec, const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering) {
    if (options.preconditioner == HierarchicPreconditioner::jacobi) {
      const auto block =
          make_uninitialized<double>(exec, 3 * num_dofs, "ossatura::hierarchic::block");
      matrix->diagonal(exec, block);
      inverse_diagonal =
          make_uninitialized<double>(exec, num_dofs, "ossatura::hierarchic::inverse_diagonal");
      invert_mode_diagonal(exec, block, held.mask, inverse_diagonal);
      fence(exec, "ossatura::HierarchicSolver"); // block goes
    }
    if (options.preconditioner == HierarchicPreconditioner::vertex_stars) {
      detail::VertexStarOptions own;
      own.form = options.form;
      own.single = options.precision == Precision::mixed;
      own.most_direct = options.most_direct_vertices;
      own.memory = memory_left(exec);
      stars = std::make_unique<detail::VertexStarSchwarz<Exec>>(exec, mesh, numbering, model,
                                                                held_modes, own);
    }
    if (options.preconditioner == HierarchicPreconditioner::ldlt) {
      factor = std::make_unique<detail::ModeFactor<Exec>>(exec, model, held_modes);
      const std::int64_t bytes = factor->cost().bytes, left = memory_left(exec);
      if (left > 0 && bytes > left)
        fail<BackendError>("a factor of the matrix takes ", bytes / 1000000, " MB, and ",
                           left / 1000000, " MB are left; take vertex-stars");
      is_definite = factor->make(exec, options.form);
    }
  }

  /// Bytes beside the operator and the stars, where there are any yet; 0: unknown.
  std::int64_t memory_left(const Exec& exec) const {
    if (options.memory <= 0)
      return available_bytes(exec);
    const std::int64_t kept = matrix->cost().bytes_kept + (stars ? stars->bytes() : 0);
    return std::max<std::int64_t>(1, options.memory - kept);
  }

  /// Makes the factor where it takes less time than vertex stars go on for.
  bool try_factor(const Exec& exec, const SolveResult& tried) {
    using Costs = FactorRates<Exec>;
    double blocks = 0;
    for (const HexaBatch<Exec>& batch : model.batch)
      blocks += double(batch.num_elem) * batch.num_modes * batch.num_modes;
    const std::int64_t left = memory_left(exec);
    if (blocks > std::numeric_limits<int>::max() || (left > 0 && 152 * blocks > double(left)))
      return false;
    const double decades = std::log10(tried.residual / options.cg.tolerance),
                 per_decade = tried.iterations / std::max(-std::log10(tried.residual), 0.01),
                 to_come = std::min(std::max(decades * per_decade, double(tried.iterations)),
                                    double(options.cg.max_iterations - tried.iterations));
    const OperatorCost product = matrix->cost();
    const double iteration = std::max((product.bytes_moved + double(stars->bytes())) / Costs::bytes,
                                      product.flops / Costs::product_flops) +
                             Costs::latency;
    if (blocks / Costs::ordered_blocks > iteration * to_come)
      return false;
    auto made = std::make_unique<detail::ModeFactor<Exec>>(exec, model, held_modes);
    const detail::FactorCost cost = made->cost();
    if ((left > 0 && cost.bytes > left) || cost.flops / Costs::flops > iteration * to_come)
      return false;
    log_info("vertex stars leave a residual of ", tried.residual, " after ", tried.iterations,
             " iterations: a direct solve takes less time than the rest; making the ",
             made->describe());
    if (!made->make(exec, options.form))
      return false;
    factor = std::move(made);
    return true;
  }

  Array<double, Exec> precondition(const Exec& exec, const Array<double, Exec>& b) const {
    if (stars)
      return stars->apply(exec, b);
    if (options.preconditioner == HierarchicPreconditioner::none)
      return b;
    multiply_entries(exec, inverse_diagonal, b, z);
    return z;
  }

  /// Corrects u by the factor until its error in energy, relative to the first one or to what u has
  /// itself, meets the tolerance or rounding alone is left of it. What the first correction leaves
  /// is the least that is reported: entries of the matrix are rounded as much, which later ones do
  /// not see.
  template<class Residual, class Size>
  SolveResult refine(const Exec& exec, const Array<double, Exec>& u, const Residual& residual,
                     const Size& size, const IterationObserver& observe) const {
    SolveResult result;
    result.in_energy = true;
    double rounding = 0, before = std::numeric_limits<double>::infinity();
    while (true) {
      residual(u, 1, r);
      const Array<double, Exec> correction = factor->apply(exec, r);
      const double error = std::sqrt(VectorSums<Exec>().dot(exec, r, correction));
      if (result.iterations == 0)
        result.reference = error;
      else
        result.reference = std::min(result.reference, std::max(size().energy, error));
      const double relative = error == 0 ? 0 : error / result.reference;
      if (result.iterations == 1)
        rounding = relative;
      result.recurrent_residual = relative;
      result.residual = std::max(relative, rounding);
      result.broken = !is_definite || !std::isfinite(error);
      if (observe)
        observe(result.iterations, relative);
      if (relative <= options.cg.tolerance || !(error < 0.5 * before) ||
          result.iterations >= options.cg.max_iterations) {
        result.converged = is_definite && result.residual <= direct_bound(options.cg.tolerance);
        return result;
      }
      before = error;
      detail::add_correction(exec, correction, u);
      ++result.iterations;
    }
  }

  /// With the factor, or with vertex stars until patience ends, or without either.
  template<class Apply, class Residual, class Size>
  SolveResult solve(const Exec& exec, const Array<double, Exec>& u, const Apply& apply,
                    const Residual& residual, const Size& size, const IterationObserver& observe) {
    if (factor)
      return refine(exec, u, residual, size, observe);
    CgOptions part = options.cg;
    if (!stars || options.patience <= 0 || options.patience >= part.max_iterations)
      return iterate(exec, part, u, apply, residual, size, observe);
    const auto start = make_uninitialized<double>(exec, num_dofs, "ossatura::cg::start");
    Kokkos::deep_copy(exec, start, u);
    part.max_iterations = options.patience;
    const SolveResult tried = iterate(exec, part, u, apply, residual, size, observe);
    if (tried.converged || tried.broken || !std::isfinite(tried.residual))
      return tried;
    const auto observe_rest = [&](int iteration, double error) {
      if (observe && iteration > 0)
        observe(tried.iterations + iteration, error);
    };
    SolveResult result;
    if (try_factor(exec, tried)) {
      Kokkos::deep_copy(exec, u, start);
      result = refine(exec, u, residual, size, observe_rest);
      result.fell_back = true;
    } else if (tried.iterations < options.patience) { // rounding ended it
      return tried;
    } else {
      part.reference = tried.reference;
      part.max_iterations = options.cg.max_iterations - tried.iterations;
      result = iterate(exec, part, u, apply, residual, size, observe_rest);
    }
    result.iterations += tried.iterations;
    return result;
  }

  /// Until the residual meets the tolerance relative to the forces of the solution as well, which
  /// nobody knows before.
  template<class Apply, class Residual, class Size>
  SolveResult iterate(const Exec& exec, CgOptions cg, const Array<double, Exec>& u,
                      const Apply& apply, const Residual& residual, const Size& size,
                      const IterationObserver& observe) const {
    int before = 0;
    while (true) {
      SolveResult result = conjugate_gradients(
          exec, cg, apply, residual, [&](const auto& b) { return precondition(exec, b); },
          CgVectors<Exec, double, double, double>{u, r, p, q, r},
          [&](int iteration, double relative) {
            if (observe && (before == 0 || iteration > 0))
              observe(before + iteration, relative);
          });
      cg.max_iterations -= result.iterations;
      before = result.iterations += before;
      const double forces = size().forces;
      if (!(forces < result.reference))
        return result;
      const bool ended = !result.converged;
      for (double* const relative : {&result.residual, &result.recurrent_residual})
        *relative *= result.reference / forces;
      result.reference = cg.reference = forces;
      result.converged = result.residual <= options.cg.tolerance;
      if (ended || result.converged)
        return result;
    }
  }

  /// y = K u, all components. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& y) const {
    if (by_elem)
      by_elem->apply_to_modes(exec, u, y);
    else
      matrix->apply(exec, u, y);
  }

  SolveResult solve_settled(const Exec& exec, const Array<double, Exec>& f,
                            const Array<double, Exec>& u, const IterationObserver& observe) {
    const bool moves = detail::has_moved(exec, held.mask, true, u);
    const auto size = [&] {
      if (!moves)
        return detail::SolutionSize();
      if (by_elem)
        by_elem->finish(exec, x, u);
      const auto y = make_uninitialized<double>(exec, num_dofs, "ossatura::hierarchic::forces");
      apply(exec, u, y);
      return detail::size_of(exec, held.mask, f, u, y);
    };
    if (!by_elem)
      return solve(
          exec, u,
          [&](const auto& v, const auto& y) {
            matrix->apply(exec, v, y);
            clear(exec, held, y);
          },
          [&](const auto& v, double scale, const auto& y) {
            apply_then(exec, *matrix, v, q,
                       StoreScaledResidual<Exec, double, double>{held.mask, f, scale, y});
          },
          size, observe);
    by_elem->start(exec, u, x);
    SolveResult result;
    try {
      result = iterate(
          exec, options.cg, x, [&](const auto& v, const auto& y) { by_elem->apply(exec, v, y); },
          [&](const auto& v, double scale, const auto& y) {
            by_elem->residual(exec, f, v, scale, y);
          },
          size, observe);
    } catch (...) { // of the observer
      by_elem->finish(exec, x, u);
      throw;
    }
    by_elem->finish(exec, x, u);
    return result;
  }
};

template<class Exec>
HierarchicSolver<Exec>::HierarchicSolver(const Exec& exec, const CurvedHexaMesh& mesh,
                                         const HierarchicNumbering& numbering,
                                         const HierarchicModel<Exec>& model,
                                         const std::vector<std::uint8_t>& held,
                                         const HierarchicSolverOptions& options)
    : implementation_(
          std::make_unique<Implementation>(exec, mesh, numbering, model, held, options)) {
  fence(exec, "ossatura::HierarchicSolver");
}

template<class Exec>
HierarchicSolver<Exec>::~HierarchicSolver() = default;

template<class Exec>
HierarchicOperatorKind HierarchicSolver<Exec>::kind() const {
  return implementation_->choice.kind;
}
template<class Exec>
const std::string& HierarchicSolver<Exec>::reason() const {
  return implementation_->choice.reason;
}
template<class Exec>
OperatorCost HierarchicSolver<Exec>::cost() const {
  const Operator<Exec, double>* const product = implementation_->matrix.get();
  return (product ? product : implementation_->by_elem.get())->cost();
}
template<class Exec>
std::string HierarchicSolver<Exec>::describe() const {
  const Implementation& solver = *implementation_;
  if (!solver.stars)
    return solver.factor ? solver.factor->describe() : name_of(solver.options.preconditioner);
  return solver.stars->describe() + (solver.factor ? "; " + solver.factor->describe() : "");
}

template<class Exec>
SolveResult HierarchicSolver<Exec>::solve(const Exec& exec, const Array<double, Exec>& f,
                                          const Array<double, Exec>& u,
                                          const IterationObserver& observe) {
  Implementation& solver = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(f.extent(0)) == solver.num_dofs && f.extent(0) == u.extent(0),
                   f.extent(0) << " forces, " << u.extent(0) << " displacements for "
                               << solver.num_dofs << " components");
  detail::Settlement<Exec> settlement(exec, solver.num_vertices, solver.held.mask, u);
  settlement.take(exec, u);
  SolveResult result;
  try {
    result = solver.solve_settled(exec, f, u, observe);
  } catch (...) { // of the observer: u is the iterate that it saw
    settlement.give(exec, u);
    throw;
  }
  settlement.give(exec, u);
  fence(exec, "ossatura::HierarchicSolver::solve");
  return result;
}

template<class Exec>
void HierarchicSolver<Exec>::apply(const Exec& exec, const Array<double, Exec>& u,
                                   const Array<double, Exec>& y) const {
  const Implementation& solver = *implementation_;
  const detail::Settlement<Exec> settlement(exec, solver.num_vertices, solver.held.mask, u);
  Array<double, Exec> settled = u;
  if (!settlement.is_none()) {
    settled = make_uninitialized<double>(exec, solver.num_dofs, "ossatura::hierarchic::u");
    Kokkos::deep_copy(exec, settled, u);
    settlement.take_all(exec, settled);
  }
  solver.apply(exec, settled, y);
  fence(exec, "ossatura::HierarchicSolver::apply"); // settled goes
}

template<class Exec>
std::int64_t bytes_of_factor(const Exec& exec, const HierarchicModel<Exec>& model,
                             const std::vector<std::uint8_t>& held) {
  return detail::ModeFactor<Exec>(exec, model, held).cost().bytes;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class HierarchicSolver<Exec>;                                                           \
  template std::int64_t bytes_of_factor(const Exec&, const HierarchicModel<Exec>&,                 \
                                        const std::vector<std::uint8_t>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
