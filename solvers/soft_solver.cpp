// SPDX-License-Identifier: Apache-2.0
#include "solvers/soft_solver.hpp"

#include "core/timer.hpp"
#include "kernels/block_multiply.hpp"
#include "kernels/soft_motion.hpp"
#include "solvers/contact_solver.hpp"
#include "solvers/factor_refresh.hpp"
#include "solvers/kokkos_kernels_product.hpp"
#include "solvers/resident_cg.hpp"
#include "solvers/soft_system.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace femura {

namespace {

/// Adds the time since it was made, or since the last call, to what it is told; waits for the
/// device before each reading if it is to measure phases.
template<class Exec>
class PhaseTimer {
public:
  PhaseTimer(const Exec& exec, bool wait)
      : exec_(exec)
      , wait_(wait) {}
  void add_to(double& phase) {
    if (wait_)
      fence(exec_, "femura::soft::phase");
    const double now = timer_.seconds();
    phase += now - last_;
    last_ = now;
  }

private:
  const Exec& exec_;
  bool wait_;
  Stopwatch timer_;
  double last_ = 0;
};

/// Not a sum of steps, whose rounding grows; the double next to 0.3, not 30 times that next to
/// 0.01.
double time_after(double start, std::int64_t steps, double step) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.15g", start + double(steps) * step);
  return std::strtod(digits, nullptr);
}

const SoftOptions& checked(const SoftOptions& o) {
  FEMURA_REQUIRE(o.time_step > 0 && std::isfinite(o.time_step), "a time step of " << o.time_step);
  FEMURA_REQUIRE(o.rayleigh_mass >= 0 && o.rayleigh_stiffness >= 0,
                 "Rayleigh damping " << o.rayleigh_mass << ", " << o.rayleigh_stiffness);
  FEMURA_REQUIRE(o.newton_iterations > 0, o.newton_iterations << " Newton iterations");
  FEMURA_REQUIRE(o.tolerance > 0 && o.max_iterations > 0,
                 "tolerance " << o.tolerance << ", " << o.max_iterations << " iterations");
  FEMURA_REQUIRE(o.refresh != FactorRefresh::every || o.refresh_every > 0,
                 "a new factor every " << o.refresh_every << " systems");
  FEMURA_REQUIRE(o.refresh_after >= 0 && o.max_halvings >= 0 && o.batch >= 0,
                 "refresh_after " << o.refresh_after << ", max_halvings " << o.max_halvings
                                  << ", batch " << o.batch);
  FEMURA_REQUIRE(o.bands >= 0 && o.bands <= max_inverse_bands,
                 o.bands << " bands of the inverse factor; 1 to " << max_inverse_bands
                         << ", or 0 for a choice");
  return o;
}

} // namespace

template<class Exec>
struct SoftSolver<Exec>::Implementation {
  using Vector = Array<double, Exec>;

  SoftOptions options;
  SoftNumbering numbering;
  SoftSystem<Exec> system;
  ResidentCg<Exec> cg;
  std::unique_ptr<MatrixMultiply<Exec>> product; ///< none: that of the blocks
  ResidentSolve<Exec> resident, correction;
  std::unique_ptr<NodePreconditioner<Exec>> by_node;
  std::unique_ptr<FactorRefreshing<Exec>> by_factor;
  std::unique_ptr<ContactSolver<Exec>> contact;
  /// If `apply` has none of one band. To form it takes longer than some rounds of contact more: it
  /// is kept when the factor is made anew, until the rounds say that it is too old.
  std::unique_ptr<InversePreconditioner<Exec, float>> contact_inverse;
  enum class InverseAge { none, older, current } inverse_age = InverseAge::none;
  int rounds_lost = 0; ///< to its age, or that of the factor
  bool contact_wants_factor = false;
  Vector factor_at, inverse_at;         ///< positions that these are of
  Vector inverse_made_at, inverse_warp; ///< rotations of nodes, as of FactorRefreshing
  Vector load, newton_load, x, v, x_start, x_trial, v_trial, x_before, v_before;
  Vector force, free_motion, free_residual, contact_motion; ///< none without contact
  double free_norm = 0; ///< of the right-hand side of the last free system
  double time = 0, start_time = 0;
  std::int64_t steps_since = 0; ///< start_time
  double factor_step = 0;       ///< the step that the factor was made for
  int last_iterations = 0;      ///< of the system before
  double load_norm = 0;         ///< Newton's residuals need not be smaller than a part of it
  double apply_seconds = -1;    ///< of the preconditioner, once it was measured

  Implementation(const Exec& exec, const SoftScene& scene, const SoftOptions& given)
      : options(resolve<Exec>(checked(given)))
      , numbering(number_scene(scene))
      , system(exec, scene, numbering, options.assembly)
      , product(options.product == SoftProduct::kokkos_kernels
                    ? make_kokkos_kernels_multiply(exec, system.matrix())
                    : nullptr)
      , resident(product.get())
      , correction(product.get()) {
    const std::int64_t n = 3 * std::int64_t(numbering.num_nodes);
    load = upload(exec, "femura::soft::load", numbering.load);
    load_norm = std::sqrt(dot(exec, load, load));
    x = upload(exec, "femura::soft::x", numbering.point);
    x_start = upload(exec, "femura::soft::x_start", numbering.point);
    v = upload(exec, "femura::soft::v", numbering.velocity);
    for (Vector* vector : {&newton_load, &x_trial, &v_trial, &x_before, &v_before})
      *vector = make_zeros<double>(exec, n, "femura::soft::vector");
    const bool has_contact = !scene.obstacles.empty() || scene.contact_between_objects;
    if (has_contact)
      for (Vector* vector : {&force, &free_motion, &free_residual, &contact_motion})
        *vector = make_zeros<double>(exec, n, "femura::soft::contact");
    if (has_contact && options.bands == 0)
      options.bands = 1; // see choose_inverse
    if (options.preconditioner == SoftPreconditioner::ldlt)
      for (Vector* vector : {&factor_at, &inverse_at})
        *vector = make_zeros<double>(exec, n, "femura::soft::factor_at");
    if (options.preconditioner == SoftPreconditioner::ldlt)
      by_factor = std::make_unique<FactorRefreshing<Exec>>(
          exec, numbering.pattern, system.matrix(),
          make_node_rotations(exec, system.elements(), numbering.num_nodes), options);
    else
      by_node = std::make_unique<NodePreconditioner<Exec>>(exec, numbering.num_nodes,
                                                           options.preconditioner);
    cg = make_resident_cg(exec, system.matrix(),
                          by_factor ? by_factor->preconditioner().num_parts() : 0);
    if (has_contact) {
      FEMURA_REQUIRE(by_factor, "contact needs the factor: preconditioner ldlt");
      contact = std::make_unique<ContactSolver<Exec>>(exec, scene, numbering.node_of, options);
      if (by_factor->preconditioner().num_bands() != 1)
        contact_inverse = std::make_unique<InversePreconditioner<Exec, float>>(
            exec, numbering.pattern, make_inverse_layout(numbering.pattern),
            by_factor->made().factor.pattern, by_factor->warp(), false);
      if (contact_inverse && options.warp)
        for (Vector* rotation : {&inverse_made_at, &inverse_warp})
          *rotation = make_zeros<double>(exec, 3 * n, "femura::soft::contact_rotation");
    }
    fence(exec, "femura::soft_solver");
  }

  ResidentPreconditioner<Exec>& preconditioner() {
    if (by_factor)
      return by_factor->preconditioner();
    return *by_node;
  }

  /// Solves A x = b with the matrix of the system, that at positions `at`. A stale factor that does
  /// not get there soon is made anew on the way.
  ResidentResult solve(const Exec& exec, ResidentSolve<Exec>& solver, const Vector& at,
                       double tolerance, SoftStep& report) {
    Kokkos::deep_copy(exec, cg.x, 0.0);
    const bool stale = by_factor && by_factor->staleness() > 0;
    const int patience = std::min(options.max_iterations, 4 * options.refresh_after);
    ResidentResult result = solver.solve(exec, cg, preconditioner(), tolerance,
                                         stale ? patience : options.max_iterations, options.batch);
    report.iterations += result.iterations;
    if (stale && !result.converged) {
      if (!refresh_now(exec, at, report)) {
        result.broken = true;
        return result;
      }
      result = solver.solve(exec, cg, preconditioner(), tolerance, options.max_iterations,
                            options.batch);
      report.iterations += result.iterations;
    }
    result.broken = result.broken || !std::isfinite(result.relative_residual);
    return result;
  }

  /// False where the matrix is not positive definite.
  bool refresh_now(const Exec& exec, const Vector& at, SoftStep& report) {
    by_factor->update(exec, system.matrix(), at, true);
    report.refreshed = true;
    Kokkos::deep_copy(exec, factor_at, at);
    inverse_is_older();
    return by_factor->num_replaced(exec) == 0;
  }

  void inverse_is_older() {
    if (inverse_age == InverseAge::current)
      inverse_age = InverseAge::older;
  }

  /// Newton's iterations of a step h from x, v to x_trial, v_trial. False where a matrix is not
  /// positive definite.
  bool move_freely(const Exec& exec, double h, bool time_phases, SoftStep& report) {
    PhaseTimer<Exec> timer(exec, time_phases);
    double first_norm = 0;
    bool newton_converged = options.newton_iterations == 1;
    for (int k = 0; k < options.newton_iterations; ++k) {
      const bool first = k == 0;
      const Vector& x_k = first ? x : x_trial;
      const Vector& v_k = first ? v : v_trial;
      const SoftCoefficients c{1 + h * options.rayleigh_mass, h * (h + options.rayleigh_stiffness),
                               options.rayleigh_mass, options.rayleigh_stiffness + (first ? h : 0)};
      system.collect(exec, c, x_k, v_k);
      timer.add_to(report.collect);
      if (!first)
        inertial_load(exec, h, load, system.mass(), v_k, v, newton_load);
      system.compress(exec, c, first ? load : newton_load, v_k, cg.b);
      if (product)
        product->update(exec, system.matrix());
      timer.add_to(report.compress);
      if (options.newton_iterations > 1) {
        const double norm = std::sqrt(dot(exec, cg.b, cg.b));
        if (first)
          first_norm = norm + load_norm;
        else if (norm <= options.newton_tolerance * first_norm) {
          newton_converged = true;
          Kokkos::deep_copy(exec, cg.x, 0.0); // of the system that is left as it is
          break;
        }
      }
      ++report.newton_iterations;
      if (!refresh(exec, h, x_k, report))
        return false;
      timer.add_to(report.factor);
      const ResidentResult solved = solve(exec, resident, x_k, options.tolerance, report);
      last_iterations = solved.iterations;
      free_norm = solved.reference;
      report.residual = solved.relative_residual;
      report.systems_converged = report.systems_converged && solved.converged;
      if (solved.broken)
        return false;
      timer.add_to(report.solve);
      move_nodes(exec, h, x, v_k, cg.x, v_trial, x_trial);
    }
    report.newton_converged = report.newton_converged && newton_converged;
    return true;
  }

  bool refresh(const Exec& exec, double h, const Vector& at, SoftStep& report) {
    if (!by_factor) {
      by_node->update(exec, system.matrix());
      return true;
    }
    by_factor->update(exec, system.matrix(), at,
                      h != factor_step || last_iterations > options.refresh_after ||
                          contact_wants_factor);
    if (h != factor_step || contact_wants_factor) {
      inverse_age = InverseAge::none;
      rounds_lost = 0;
      contact_wants_factor = false;
    }
    factor_step = h;
    report.staleness = std::max(report.staleness, by_factor->staleness());
    if (!by_factor->refreshed())
      return true;
    report.refreshed = true;
    Kokkos::deep_copy(exec, factor_at, at);
    inverse_is_older();
    return by_factor->num_replaced(exec) == 0;
  }

  /// cg.b = what is left of A a = b + force at a = (that of the free motion) + contact_motion.
  double balance(const Exec& exec) {
    multiply(exec, system.matrix(), contact_motion, cg.q);
    Kokkos::deep_copy(exec, cg.b, free_residual);
    axpby(exec, 1., force, 1., cg.b);
    axpby(exec, -1., cg.q, 1., cg.b);
    return std::sqrt(dot(exec, cg.b, cg.b));
  }

  /// Contact forces for the free motion in x_trial, and its correction, in rounds until contact and
  /// balance are measured to meet their tolerances.
  bool resolve_contact(const Exec& exec, double h, SoftStep& report) {
    const Vector& matrix_at = x; // with one Newton iteration exactly
    const int num_pairs = contact->detect(exec, x, x_trial);
    report.contacts = std::max(report.contacts, num_pairs);
    if (num_pairs == 0)
      return true;
    Kokkos::deep_copy(exec, free_motion, x_trial);
    Kokkos::deep_copy(exec, newton_load, v_trial); // the free velocity
    multiply(exec, system.matrix(), cg.x, free_residual);
    axpby(exec, 1., cg.b, -1., free_residual);
    Kokkos::deep_copy(exec, contact_motion, 0.0);
    // A compliance that is not of this step's matrix is wrong by some per cent, so that more digits
    // of a round's forces and motions are not worth their sweeps and iterations.
    const double digits = 1e-2;
    ContactResult sweeps = solve_contact(exec, h * h);
    double left = balance(exec), last_residual = HUGE_VAL;
    ContactState state;
    bool solved = true;
    int round = 1;
    for (;; ++round) {
      ++report.contact_rounds;
      report.contact_sweeps += sweeps.iterations;
      if (left > 0) {
        const double tolerance =
            compliance_is_exact() ? std::min(options.tolerance, digits) : digits;
        const ResidentResult correcting = solve(exec, correction, matrix_at, tolerance, report);
        if (correcting.broken)
          return false;
        solved = solved && correcting.converged;
        axpby(exec, 1., cg.x, 1., contact_motion);
      }
      move_nodes(exec, h, x, newton_load, contact_motion, v_trial, x_trial);
      left = balance(exec);
      const double whole = free_norm + std::sqrt(dot(exec, force, force));
      report.residual = whole > 0 ? left / whole : 0;
      state = contact->measure(exec, x, x_trial);
      const bool balanced = report.residual <= options.tolerance;
      if ((state.converged && balanced) || round == options.contact_rounds ||
          !std::isfinite(state.residual))
        break;
      if (state.converged)
        continue; // with the same forces
      if (sweeps.converged && round > 2 && state.residual > 0.5 * last_residual &&
          !compliance_is_exact()) {
        if (by_factor->staleness() > 0 && !refresh_now(exec, matrix_at, report))
          return false;
        inverse_age = InverseAge::none;
        renew_contact(exec, h * h);
      }
      last_residual = state.residual;
      sweeps = contact->refine(exec, x, x_trial, force,
                               std::max(0.5 * options.contact_tolerance, 0.02 * state.residual));
      left = balance(exec);
    }
    constexpr int rounds_when_new = 4;
    count_lost_rounds(std::max(0, round - rounds_when_new));
    report.penetration = std::max(report.penetration, state.penetration);
    report.complementarity = std::max(report.complementarity, state.complementarity);
    report.friction = std::max(report.friction, state.friction);
    report.contact_residual = std::max(report.contact_residual, state.residual);
    report.contact_converged = report.contact_converged && state.converged;
    // What the last forces left is not the systems' fault.
    const bool balanced = report.residual <= options.tolerance || (solved && !state.converged);
    report.systems_converged = report.systems_converged && balanced;
    return std::isfinite(state.residual);
  }

  /// Whether it is of the matrix of this step, but for rounding.
  bool compliance_is_exact() const {
    return by_factor->staleness() == 0 && (!contact_inverse || inverse_age == InverseAge::current);
  }

  /// What is too old costs rounds; more of them than a new factor is worth have the next one fresh.
  void count_lost_rounds(int lost) {
    constexpr int worth_of_factor = 20;
    rounds_lost += lost;
    contact_wants_factor = rounds_lost > worth_of_factor;
  }

  void form_contact_inverse(const Exec& exec) {
    contact_inverse->prepare(exec, by_factor->made());
    if (options.warp)
      Kokkos::deep_copy(exec, inverse_made_at, by_factor->rotation_of_factor());
    Kokkos::deep_copy(exec, inverse_at, factor_at);
    inverse_age = InverseAge::current;
  }

  /// Calls `use` with the inverse of the factor that contact goes by, and its warp.
  template<class Use>
  auto with_contact_inverse(const Exec& exec, const Use& use) {
    if (contact_inverse) {
      if (inverse_age == InverseAge::none) {
        form_contact_inverse(exec);
      }
      if (options.warp)
        relative_rotation(exec, by_factor->rotation(), inverse_made_at, inverse_warp);
      return use(contact_inverse->inverse(), inverse_warp);
    }
    FactorPreconditioner<Exec>& factor = by_factor->preconditioner();
    if (auto* fp64 = dynamic_cast<InversePreconditioner<Exec, double>*>(&factor))
      return use(fp64->inverse(), by_factor->warp());
    if (auto* fp32 = dynamic_cast<InversePreconditioner<Exec, float>*>(&factor))
      return use(fp32->inverse(), by_factor->warp());
    return use(dynamic_cast<InversePreconditioner<Exec, Half>&>(factor).inverse(),
               by_factor->warp());
  }

  ContactResult solve_contact(const Exec& exec, double scale) {
    return with_contact_inverse(exec, [&](const auto& inverse, const Vector& warp) {
      return contact->solve(exec, inverse, scale, x, free_motion, force, warp,
                            compliance_is_exact() ? 0 : 1e-3);
    });
  }

  void renew_contact(const Exec& exec, double scale) {
    with_contact_inverse(exec, [&](const auto& inverse, const Vector& warp) {
      contact->renew(exec, inverse, scale, warp);
    });
  }

  /// One step h, or two of half of it where a matrix is not positive definite.
  void advance(const Exec& exec, double h, int halvings, bool time_phases, SoftStep& report) {
    SoftStep attempt = report;
    bool good = move_freely(exec, h, time_phases, attempt);
    if (good && contact) {
      PhaseTimer<Exec> timer(exec, time_phases);
      good = resolve_contact(exec, h, attempt);
      timer.add_to(attempt.contact);
    }
    if (good) {
      attempt.halvings = std::max(attempt.halvings, halvings);
      report = attempt;
      std::swap(x, x_trial);
      std::swap(v, v_trial);
      time += h;
      return;
    }
    if (halvings >= options.max_halvings)
      throw SoftBreakdown("the matrix of the step at " + std::to_string(time) +
                          " s is not positive definite, not even for a step of " +
                          std::to_string(h) +
                          " s: take smaller steps, more damping, or hold the bodies");
    for (int half = 0; half < 2; ++half)
      advance(exec, h / 2, halvings + 1, time_phases, report);
  }

  /// Counts steps from 0 where `now` is one, so that a run that goes on has the times of one
  /// without a stop.
  void set_time(double now) {
    const double steps = std::nearbyint(now / options.time_step);
    const bool counts =
        steps >= 0 && steps < 1e15 && time_after(0, std::int64_t(steps), options.time_step) == now;
    time = now;
    start_time = counts ? 0 : now;
    steps_since = counts ? std::int64_t(steps) : 0;
  }

  SoftStep step(const Exec& exec, bool time_phases) {
    const Stopwatch timer;
    SoftStep report;
    Kokkos::deep_copy(exec, x_before, x);
    Kokkos::deep_copy(exec, v_before, v);
    const double time_before = time;
    try {
      advance(exec, options.time_step, 0, time_phases, report);
      if (count_non_finite(exec, x) > 0)
        throw SoftBreakdown("positions are no longer finite after the step at " +
                            std::to_string(time_before) + " s");
    } catch (const SoftBreakdown&) {
      Kokkos::deep_copy(exec, x, x_before);
      Kokkos::deep_copy(exec, v, v_before);
      fence(exec, "femura::soft_solver::restore");
      time = time_before;
      throw;
    }
    report.converged =
        report.systems_converged && report.newton_converged && report.contact_converged;
    report.inverted = system.num_inverted(exec);
    ++steps_since;
    time = time_after(start_time, steps_since, options.time_step);
    report.time = time;
    report.total = timer.seconds();
    if (time_phases) {
      if (apply_seconds < 0)
        apply_seconds = measure_apply(exec);
      report.apply = apply_seconds * report.iterations;
    }
    return report;
  }

  /// Of one preconditioning; the solve's vectors are free to use between steps.
  double measure_apply(const Exec& exec) {
    constexpr int repeats = 20;
    Kokkos::deep_copy(exec, cg.flags, 0);
    LaunchGraph<Exec> graph;
    const auto once = [&] { preconditioner().precondition(exec, cg); };
    for (int k = 0; k < 3; ++k)
      graph.run(exec, once);
    fence(exec, "femura::soft::measure_apply");
    const Stopwatch timer;
    for (int k = 0; k < repeats; ++k)
      graph.run(exec, once);
    fence(exec, "femura::soft::measure_apply");
    return timer.seconds() / repeats;
  }

  /// The factor of a step h of the system at positions `at`, `staleness` systems old.
  void restore_factor(const Exec& exec, const Vector& at, double h, int staleness) {
    const SoftCoefficients c{1 + h * options.rayleigh_mass, h * (h + options.rayleigh_stiffness),
                             options.rayleigh_mass, options.rayleigh_stiffness + h};
    system.collect(exec, c, at, v);
    system.compress(exec, c, load, v, cg.b);
    by_factor->restore(exec, system.matrix(), at, staleness);
    Kokkos::deep_copy(exec, factor_at, at);
    factor_step = h;
  }

  SoftState state(const Exec& exec) const {
    SoftState state;
    state.positions = to_points(exec, x);
    state.velocities = to_points(exec, v);
    state.time = time;
    if (contact) {
      state.contact = contact->memory(exec);
      std::vector<std::int32_t> point_of(numbering.node_of_point.size());
      for (std::size_t i = 0; i < point_of.size(); ++i)
        point_of[std::size_t(numbering.node_of_point[i])] = std::int32_t(i);
      for (std::int32_t& node : state.contact.node)
        node = point_of[std::size_t(node)];
    }
    state.planned = resident.planned();
    state.planned_corrections = correction.planned();
    state.last_iterations = last_iterations;
    if (!by_factor || factor_step == 0 || options.refresh == FactorRefresh::background)
      return state;
    state.factor_positions = to_points(exec, factor_at);
    state.factor_step = factor_step;
    state.staleness = by_factor->staleness();
    state.rounds_lost = rounds_lost;
    if (contact_inverse && inverse_age != InverseAge::none) {
      state.inverse_positions = to_points(exec, inverse_at);
      state.inverse_is_current = inverse_age == InverseAge::current;
    }
    return state;
  }

  void set_state(const Exec& exec, const SoftState& state) {
    from_points(exec, state.positions, x);
    from_points(exec, state.velocities, v);
    set_time(state.time);
    resident.plan(state.planned);
    correction.plan(state.planned_corrections);
    last_iterations = state.last_iterations;
    factor_step = 0;
    inverse_age = InverseAge::none;
    rounds_lost = 0;
    contact_wants_factor = false;
    if (contact) {
      ContactMemory memory = state.contact;
      for (std::int32_t& point : memory.node) {
        FEMURA_REQUIRE(point >= 0 && std::size_t(point) < numbering.node_of_point.size(),
                       "contact of point " << point);
        point = std::int32_t(numbering.node_of_point[std::size_t(point)]);
      }
      contact->recall(exec, memory);
    }
    if (!by_factor || state.factor_positions.empty())
      return;
    if (contact_inverse && !state.inverse_positions.empty() && !state.inverse_is_current) {
      from_points(exec, state.inverse_positions, x_trial);
      restore_factor(exec, x_trial, state.factor_step, 0);
      form_contact_inverse(exec);
      inverse_age = InverseAge::older;
    }
    from_points(exec, state.factor_positions, x_trial);
    restore_factor(exec, x_trial, state.factor_step, state.staleness);
    if (contact_inverse && state.inverse_is_current)
      form_contact_inverse(exec);
    count_lost_rounds(state.rounds_lost);
  }

  /// From nodes to points, and back.
  std::vector<double> to_points(const Exec& exec, const Vector& values) const {
    const std::vector<double> host = download(exec, values);
    std::vector<double> points(host.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      points[i] = host[3 * std::size_t(numbering.node_of_point[i / 3]) + i % 3];
    return points;
  }
  void from_points(const Exec& exec, const std::vector<double>& points,
                   const Vector& values) const {
    FEMURA_REQUIRE(points.size() == values.extent(0),
                   points.size() << " values for " << values.extent(0) << " unknowns");
    std::vector<double> host(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      host[3 * std::size_t(numbering.node_of_point[i / 3]) + i % 3] = points[i];
    upload_to(exec, host, values);
    fence(exec, "femura::soft::from_points");
  }
};

template<class Exec>
SoftSolver<Exec>::SoftSolver(const Exec& exec, const SoftScene& scene, const SoftOptions& options)
    : implementation_(std::make_unique<Implementation>(exec, scene, options)) {}

template<class Exec>
SoftSolver<Exec>::~SoftSolver() = default;

template<class Exec>
SoftStep SoftSolver<Exec>::step(const Exec& exec, bool time_phases) {
  return implementation_->step(exec, time_phases);
}

template<class Exec>
std::vector<double> SoftSolver<Exec>::positions(const Exec& exec) const {
  return implementation_->to_points(exec, implementation_->x);
}

template<class Exec>
std::vector<double> SoftSolver<Exec>::velocities(const Exec& exec) const {
  return implementation_->to_points(exec, implementation_->v);
}

template<class Exec>
void SoftSolver<Exec>::set_state(const Exec& exec, const std::vector<double>& positions,
                                 const std::vector<double>& velocities, double time) {
  SoftState state;
  state.positions = positions;
  state.velocities = velocities;
  state.time = time;
  implementation_->set_state(exec, state);
}

template<class Exec>
SoftState SoftSolver<Exec>::state(const Exec& exec) const {
  return implementation_->state(exec);
}

template<class Exec>
void SoftSolver<Exec>::set_state(const Exec& exec, const SoftState& state) {
  implementation_->set_state(exec, state);
}

template<class Exec>
SoftEnergy SoftSolver<Exec>::energy(const Exec& exec) const {
  const Implementation& own = *implementation_;
  SoftEnergy energy;
  motion_energy(exec, own.x, own.x_start, own.v, own.system.mass(), own.load, energy.kinetic,
                energy.potential);
  energy.elastic = own.system.elastic_energy(exec, own.x);
  return energy;
}

template<class Exec>
double SoftSolver<Exec>::time() const {
  return implementation_->time;
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_nodes() const {
  return implementation_->numbering.num_nodes;
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_elem() const {
  std::int64_t count = 0;
  for (const ElementMesh& mesh : implementation_->numbering.mesh)
    count += std::int64_t(mesh.num_elem());
  return count;
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_blocks() const {
  return implementation_->system.matrix().num_blocks();
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_factor_entries() const {
  return implementation_->by_factor ? implementation_->numbering.pattern.begin.back() : 0;
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_inverse_entries() const {
  const Implementation& own = *implementation_;
  const auto& of_contact = own.contact_inverse;
  return (own.by_factor ? own.by_factor->preconditioner().num_inverse_entries() : 0) +
         (of_contact ? of_contact->num_inverse_entries() : 0);
}

template<class Exec>
int SoftSolver<Exec>::num_inverse_bands() const {
  return implementation_->by_factor ? implementation_->by_factor->preconditioner().num_bands() : 0;
}

template<class Exec>
FactorApply SoftSolver<Exec>::apply() const {
  return implementation_->options.apply;
}

template<class Exec>
FactorPlace SoftSolver<Exec>::place() const {
  return implementation_->options.place;
}

#define FEMURA_INSTANTIATE(Exec) template class SoftSolver<Exec>;
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura
