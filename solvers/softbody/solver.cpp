// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/solver.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/find_not_finite.hpp>
#include <ossatura/kernels/algebra/gather_rows.hpp>
#include <ossatura/kernels/softbody/elements/motion.hpp>
#include <ossatura/solvers/softbody/contact/rounds.hpp>
#include <ossatura/solvers/softbody/step_gradients.hpp>
#include <ossatura/solvers/softbody/system_solver.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

namespace ossatura {

namespace {

/// A lap timer: add_to(x) adds the time since construction or the last call to x. With `wait` each
/// reading waits for the device first, so that phases are measured.
template<class Exec>
class PhaseTimer {
public:
  PhaseTimer(const Exec& exec, bool wait)
      : exec_(exec)
      , wait_(wait) {}
  void add_to(double& phase) {
    if (wait_)
      fence(exec_, "ossatura::soft::phase");
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
  OSSATURA_REQUIRE(o.time_step > 0 && std::isfinite(o.time_step), "a time step of " << o.time_step);
  OSSATURA_REQUIRE(o.rayleigh_mass >= 0 && o.rayleigh_stiffness >= 0,
                   "Rayleigh damping " << o.rayleigh_mass << ", " << o.rayleigh_stiffness);
  OSSATURA_REQUIRE(o.newton_iterations > 0, o.newton_iterations << " Newton iterations");
  OSSATURA_REQUIRE(o.tolerance > 0 && o.tolerance < 1,
                   "tolerance " << o.tolerance << ": between 0 and 1, such as 1e-9");
  OSSATURA_REQUIRE(o.max_iterations > 0, o.max_iterations << " iterations: at least 1");
  OSSATURA_REQUIRE(o.refresh != FactorRefresh::every || o.refresh_every > 0,
                   "a new factor every " << o.refresh_every << " systems");
  OSSATURA_REQUIRE(o.refresh_after >= 0 && o.max_halvings >= 0 && o.batch >= 0,
                   "refresh_after " << o.refresh_after << ", max_halvings " << o.max_halvings
                                    << ", batch " << o.batch);
  OSSATURA_REQUIRE(o.bands >= 0 && o.bands <= max_inverse_bands,
                   o.bands << " bands of the inverse factor; 1 to " << max_inverse_bands
                           << ", or 0 for a choice");
  return o;
}

bool has_contact(const SoftScene& scene) {
  return !scene.obstacles.empty() || scene.contact_between_objects;
}

/// Loads of nodes: their weight and what is added to it; 0 where they are fixed.
template<class Exec>
struct AddWeight {
  Kokkos::Array<double, 3> gravity;
  Array<std::uint8_t, Exec> fixed; ///< [num_nodes]
  Array<double, Exec> mass;        ///< [num_nodes]
  Array<double, Exec> load;        ///< [num_nodes, 3]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = i / 3;
    load(i) = fixed(node) ? 0.0 : mass(node) * gravity[int(i % 3)] + load(i);
  }
};

template<class Exec>
struct SetFixedVelocities {
  Array<int, Exec> node_of_point;
  Array<std::uint8_t, Exec> fixed; ///< [num_nodes]
  Array<double, Exec> given;       ///< [points, 3]
  Array<double, Exec> velocity;    ///< [num_nodes, 3]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t node = node_of_point(i / 3);
    if (fixed(node))
      velocity(3 * node + i % 3) = given(i);
  }
};

} // namespace

template<class Exec>
struct SoftSolver<Exec>::Implementation {
  using Vector = Array<double, Exec>;

  SoftSystems<Exec> systems;
  const SoftOptions& options = systems.options;
  const SoftNumbering& numbering = systems.numbering;
  ResidentCg<Exec>& cg = systems.cg;
  std::unique_ptr<FactorRefreshing<Exec>>& by_factor = systems.by_factor;
  ResidentSolve<Exec> resident;
  std::unique_ptr<ContactRounds<Exec>> contact;
  Vector load, newton_load, x, v, x_start, x_trial, v_trial, x_before, v_before;
  Vector x_matrix; ///< with contact and several Newton iterations: positions that the matrix is of
  StepNotes notes = make_step_notes();
  Kokkos::View<MotionEnergy, Kokkos::SharedHostPinnedSpace> motion{"ossatura::soft::energy"};
  bool kept_before = false, moved = false; ///< in this step: x_before holds its start; or x_trial
  double free_norm = 0;                    ///< of the right-hand side of the last free system
  double time = 0, start_time = 0;
  std::int64_t steps_since = 0; ///< start_time
  int last_iterations = 0;      ///< of the system before
  double load_norm = 0;         ///< Newton's residuals need not be smaller than a part of it
  std::array<double, 3> gravity;
  double apply_seconds = -1; ///< of the preconditioner, once it was measured

  Array<int, Exec> node_of_point;
  std::vector<SteppedObject> objects;
  std::unique_ptr<StepGradients<Exec>> gradients; ///< once they were asked for
  bool factor_is_of_adjoint = false;              ///< which no step is to use

  Implementation(const Exec& exec, const SoftScene& scene, const SoftOptions& given)
      : systems(exec, scene, checked(given), has_contact(scene))
      , resident(systems.product.get())
      , gravity{scene.gravity[0], scene.gravity[1], scene.gravity[2]} {
    const std::int64_t n = 3 * std::int64_t(numbering.num_nodes);
    for (const SoftObject& object : scene.objects)
      objects.push_back({object.name, object.material, object.node_mass > 0 ? 0 : object.density});
    node_of_point = upload(exec, "ossatura::soft::node_of_point", numbering.node_of_point);
    load = upload(exec, "ossatura::soft::load", numbering.load);
    load_norm = std::sqrt(dot(exec, load, load));
    x = upload(exec, "ossatura::soft::x", numbering.point);
    x_start = upload(exec, "ossatura::soft::x_start", numbering.point);
    v = upload(exec, "ossatura::soft::v", numbering.velocity);
    for (Vector* vector : {&newton_load, &x_trial, &v_trial, &x_before, &v_before})
      *vector = make_zeros<double>(exec, n, "ossatura::soft::vector");
    if (has_contact(scene))
      contact = std::make_unique<ContactRounds<Exec>>(exec, scene, systems);
    if (contact && options.newton_iterations > 1)
      x_matrix = make_zeros<double>(exec, n, "ossatura::soft::x_matrix");
    fence(exec, "ossatura::soft_solver");
  }

  /// Newton's iterations of a step h from x, v to x_trial, v_trial, with contact. False where a
  /// matrix is not positive definite.
  bool move(const Exec& exec, double h, bool time_phases, SoftStep& report) {
    PhaseTimer<Exec> timer(exec, time_phases);
    const SoftStep before = report;
    double first_norm = 0;
    bool balanced = true;
    bool newton_converged = options.newton_iterations == 1;
    for (int k = 0; k < options.newton_iterations; ++k) {
      const bool first = k == 0;
      const Vector& x_k = first ? x : x_trial;
      const Vector& v_k = first ? v : v_trial;
      SoftCoefficients c = step_coefficients(options, h);
      if (!first)
        c.damping_stiffness = options.rayleigh_stiffness;
      systems.system.collect(exec, c, x_k, v_k);
      timer.add_to(report.collect);
      if (!first)
        inertial_load(exec, h, load, systems.system.mass(), v_k, v, newton_load);
      systems.system.compress(exec, c, first ? load : newton_load, v_k, cg.b);
      if (systems.product)
        systems.product->update(exec, systems.system.matrix());
      timer.add_to(report.compress);
      if (options.newton_iterations > 1) {
        const double norm = out_of_balance(exec, first);
        if (first)
          first_norm = norm + load_norm;
        else if (norm <= options.newton_tolerance * first_norm) {
          newton_converged = true;
          break;
        }
      }
      ++report.newton_iterations;
      if (!refresh(exec, h, x_k, report))
        return false;
      timer.add_to(report.factor);
      const SolveResult solved = solve_freely(exec, x_k, timer, report);
      last_iterations = solved.iterations;
      free_norm = solved.reference;
      report.residual = solved.residual;
      report.systems_converged = report.systems_converged && solved.converged;
      if (solved.broken)
        return false;
      timer.add_to(report.solve);
      if (contact && !first)
        Kokkos::deep_copy(exec, x_matrix, x_trial);
      move_nodes(exec, h, x, v_k, cg.x, v_trial, x_trial);
      if (options.newton_iterations > 1)
        Kokkos::deep_copy(exec, newton_load, cg.x);
      if (contact && !press(exec, h, first ? x : x_matrix, before, report, balanced))
        return false;
      timer.add_to(report.contact);
      if (options.newton_iterations > 1 && is_rounding(exec, h * h)) {
        newton_converged = true;
        break;
      }
    }
    report.newton_converged = report.newton_converged && newton_converged;
    report.systems_converged = report.systems_converged && balanced;
    return true;
  }

  /// The norm of what the step leaves of the balance at the last iterate, whose system is cg.b; of
  /// the first one without contact.
  double out_of_balance(const Exec& exec, bool first) {
    if (first || !contact || !contact->presses())
      return std::sqrt(dot(exec, cg.b, cg.b));
    Kokkos::deep_copy(exec, newton_load, cg.b);
    axpby(exec, 1., contact->force(), 1., newton_load);
    return std::sqrt(dot(exec, newton_load, newton_load));
  }

  /// Contact for the free motion x_trial, v_trial of an iteration. What is reported of it is that
  /// of the last iteration, of the step or of parts of it `before`.
  bool press(const Exec& exec, double h, const Vector& matrix_at, const SoftStep& before,
             SoftStep& report, bool& balanced) {
    report.penetration = before.penetration;
    report.complementarity = before.complementarity;
    report.friction = before.friction;
    report.contact_residual = before.contact_residual;
    report.contact_depth = before.contact_depth;
    report.contact_converged = before.contact_converged;
    const bool solved = std::exchange(report.systems_converged, true);
    const bool good =
        contact->resolve(exec, h, {x, x_trial, v_trial, matrix_at, free_norm}, report);
    balanced = std::exchange(report.systems_converged, solved);
    return good;
  }

  /// Whether the last iteration moved nodes by no more than coordinates can tell, by newton_load,
  /// the solution of its free system, and contact. Residuals of a body that flies freely are of
  /// rounding from the start, and need not become smaller.
  bool is_rounding(const Exec& exec, double h2) {
    if (contact && contact->presses())
      axpby(exec, 1., contact->change(), 1., newton_load);
    const double places = std::sqrt(dot(exec, x_trial, x_trial));
    return h2 * std::sqrt(dot(exec, newton_load, newton_load)) <=
           32 * std::numeric_limits<double>::epsilon() * places;
  }

  bool refresh(const Exec& exec, double h, const Vector& at, SoftStep& report) {
    const bool wanted = contact && contact->wants_factor();
    if (contact && (wanted || h != systems.factor_step))
      contact->forget_factor();
    return systems.refresh(exec, h, at, wanted || last_iterations > options.refresh_after, report);
  }

  /// The free system, from zero. Where contact would make more of an old factor than a new one
  /// costs, that is made: two iterations tell.
  SolveResult solve_freely(const Exec& exec, const Vector& at, PhaseTimer<Exec>& timer,
                           SoftStep& report) {
    if (!contact || !contact->tries_stale_factor())
      return systems.solve(exec, resident, at, options.tolerance, report);
    Kokkos::deep_copy(exec, cg.x, 0.0);
    SolveResult tried = resident.solve(exec, cg, systems.preconditioner(), options.tolerance, 2, 2);
    report.iterations += tried.iterations;
    if (tried.converged || tried.broken)
      return tried;
    if (contact->is_slower_than_factor(tried)) {
      timer.add_to(report.solve);
      tried.broken = !systems.refresh_now(exec, at, report);
      timer.add_to(report.factor);
      if (tried.broken)
        return tried;
    }
    return systems.solve(exec, resident, at, options.tolerance, report, false);
  }

  /// One step h, or two of half of it where a matrix is not positive definite.
  void advance(const Exec& exec, double h, int halvings, bool time_phases, SoftStep& report) {
    SoftStep attempt = report;
    if (move(exec, h, time_phases, attempt)) {
      attempt.halvings = std::max(attempt.halvings, halvings);
      report = attempt;
      std::swap(x, x_trial);
      std::swap(v, v_trial);
      moved = true;
      time += h;
      return;
    }
    if (halvings >= options.max_halvings)
      throw SoftBreakdown("the matrix of the step at " + std::to_string(time) +
                          " s is not positive definite, not even for a step of " +
                          std::to_string(h) +
                          " s: take smaller steps, more damping, or hold the bodies");
    if (!kept_before) {
      Kokkos::deep_copy(exec, x_before, x);
      Kokkos::deep_copy(exec, v_before, v);
      kept_before = true;
    }
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

  /// x and v as they were when the step began.
  void restore_start(const Exec& exec) {
    if (kept_before) {
      Kokkos::deep_copy(exec, x, x_before);
      Kokkos::deep_copy(exec, v, v_before);
    } else if (moved) {
      std::swap(x, x_trial);
      std::swap(v, v_trial);
    }
    fence(exec, "ossatura::soft_solver::restore");
  }

  SoftStep step(const Exec& exec, bool time_phases) {
    const Stopwatch timer;
    SoftStep report;
    const double time_before = time;
    kept_before = moved = false;
    if (factor_is_of_adjoint)
      forget_factor();
    try {
      advance(exec, options.time_step, 0, time_phases, report);
      note_step(exec, x, systems.system.inverted(), notes);
      fence(exec, "ossatura::soft_solver::step");
      if (notes(noted_non_finite) != 0)
        throw SoftBreakdown("positions are no longer finite after the step at " +
                            std::to_string(time_before) +
                            " s: take smaller steps or smaller loads");
    } catch (const SoftBreakdown&) {
      restore_start(exec);
      time = time_before;
      throw;
    }
    report.converged =
        report.systems_converged && report.newton_converged && report.contact_converged;
    report.inverted = notes(noted_inverted);
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
    const auto once = [&] { systems.preconditioner().precondition(exec, cg); };
    for (int k = 0; k < 3; ++k)
      graph.run(exec, once);
    fence(exec, "ossatura::soft::measure_apply");
    const Stopwatch timer;
    for (int k = 0; k < repeats; ++k)
      graph.run(exec, once);
    fence(exec, "ossatura::soft::measure_apply");
    return timer.seconds() / repeats;
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
    if (contact) {
      state.planned_corrections = contact->planned();
      state.rounds_lost = contact->rounds_lost();
    }
    state.last_iterations = last_iterations;
    if (!by_factor || systems.factor_step == 0 || factor_is_of_adjoint ||
        options.refresh == FactorRefresh::background)
      return state;
    state.factor_positions = to_points(exec, systems.factor_at);
    state.factor_velocities = to_points(exec, systems.factor_velocity);
    state.factor_step = systems.factor_step;
    state.staleness = by_factor->staleness();
    if (contact && contact->has_inverse()) {
      state.inverse_positions = to_points(exec, contact->inverse_at());
      state.inverse_velocities = to_points(exec, contact->inverse_velocity());
      state.inverse_is_current = contact->inverse_is_current();
    }
    return state;
  }

  void set_state(const Exec& exec, const SoftState& state) {
    from_points(exec, state.positions, x);
    from_points(exec, state.velocities, v);
    set_others(exec, state);
  }

  /// All of the state but positions and velocities.
  void set_others(const Exec& exec, const SoftState& state) {
    set_time(state.time);
    resident.plan(state.planned);
    last_iterations = state.last_iterations;
    forget_factor();
    if (contact) {
      contact->plan(state.planned_corrections);
      ContactMemory memory = state.contact;
      for (std::int32_t& point : memory.node) {
        OSSATURA_REQUIRE(point >= 0 && std::size_t(point) < numbering.node_of_point.size(),
                         "contact of point " << point);
        point = std::int32_t(numbering.node_of_point[std::size_t(point)]);
      }
      contact->recall(exec, memory);
    }
    if (!by_factor || state.factor_positions.empty())
      return;
    const auto restore = [&](const std::vector<double>& positions,
                             const std::vector<double>& velocities, int staleness) {
      from_points(exec, positions, x_trial);
      from_points(exec, velocities, v_trial);
      systems.restore_factor(exec, x_trial, v_trial, load, state.factor_step, staleness);
    };
    const bool inverse = contact && contact->keeps_inverse() && !state.inverse_positions.empty();
    if (inverse && !state.inverse_is_current) {
      restore(state.inverse_positions, state.inverse_velocities, 0);
      contact->form_inverse(exec);
    }
    restore(state.factor_positions, state.factor_velocities, state.staleness);
    if (inverse && state.inverse_is_current)
      contact->form_inverse(exec);
    if (contact)
      contact->lose_rounds(state.rounds_lost);
  }

  void set_loads(const Exec& exec, const Vector& points) {
    require_finite(exec, points, "loads");
    scatter_rows(exec, node_of_point, 3, points, load);
    Kokkos::parallel_for("ossatura::soft::set_loads", range(exec, load.extent(0)),
                         AddWeight<Exec>{{gravity[0], gravity[1], gravity[2]},
                                         systems.system.map().fixed,
                                         systems.system.mass(),
                                         load});
    load_norm = std::sqrt(dot(exec, load, load));
    fence(exec, "ossatura::soft::set_loads");
  }

  void set_fixed_velocities(const Exec& exec, const Vector& points) {
    require_finite(exec, points, "velocities");
    Kokkos::parallel_for(
        "ossatura::soft::set_fixed_velocities", range(exec, points.extent(0)),
        SetFixedVelocities<Exec>{node_of_point, systems.system.map().fixed, points, v});
    fence(exec, "ossatura::soft::set_fixed_velocities");
  }

  void set_moduli(const Exec& exec, std::size_t k, const SoftMaterial& material) {
    OSSATURA_REQUIRE(k < objects.size(), "object " << k << " of " << objects.size());
    SoftMaterial& own = objects[k].material;
    OSSATURA_REQUIRE(material.law == own.law && material.thickness == own.thickness,
                     '\'' << objects[k].name << "': its law and its thickness stay");
    detail::check_soft_material(numbering.mesh[k].shape, material);
    own = material;
    systems.system.set_moduli(k, material);
    forget_factor();
    fence(exec, "ossatura::soft::set_moduli");
  }

  /// The next system gets a fresh one.
  void forget_factor() {
    systems.factor_step = 0;
    factor_is_of_adjoint = false;
    if (contact)
      contact->forget_factor();
  }

  SoftStepGradient pull_back(const Exec& exec, const SoftRecord<Exec>& record,
                             const SoftWeights<Exec>& weights, const Vector& by_loads) {
    require_smooth_steps(options, objects, contact != nullptr);
    for (const Vector* values : {&record.start_velocities, &record.positions, &record.velocities,
                                 &weights.positions, &weights.velocities})
      require_finite(exec, *values, "a step or weights of its end");
    if (!gradients)
      gradients = std::make_unique<StepGradients<Exec>>(exec, systems, gravity, node_of_point);
    const bool goes_on = factor_is_of_adjoint;
    factor_is_of_adjoint = true;
    return gradients->pull_back(exec, objects, goes_on, record, weights, by_loads);
  }

  void require_finite(const Exec& exec, const Vector& values, const char* what) const {
    OSSATURA_REQUIRE(values.extent(0) == load.extent(0), values.extent(0)
                                                             << " numbers of " << what << " for "
                                                             << numbering.num_nodes << " points");
    const std::int64_t found = find_not_finite(exec, values);
    OSSATURA_REQUIRE(found < 0, what << ": that of point " << found / 3 << " is not finite");
  }

  /// From nodes to points, and back.
  std::vector<double> to_points(const Exec& exec, const Vector& values) const {
    return download(exec, gather_rows(exec, node_of_point, 3, values));
  }
  void to_points(const Exec& exec, const Vector& values, const Vector& points) const {
    OSSATURA_REQUIRE(points.extent(0) == values.extent(0),
                     values.extent(0) << " values into " << points.extent(0));
    gather_rows(exec, node_of_point, 3, values, points);
    fence(exec, "ossatura::soft::to_points");
  }
  void from_points(const Exec& exec, const std::vector<double>& points,
                   const Vector& values) const {
    from_points(exec, upload(exec, "ossatura::soft::points", points), values);
  }
  void from_points(const Exec& exec, const Vector& points, const Vector& values) const {
    OSSATURA_REQUIRE(points.extent(0) == values.extent(0),
                     points.extent(0) << " values for " << values.extent(0) << " unknowns");
    scatter_rows(exec, node_of_point, 3, points, values);
    fence(exec, "ossatura::soft::from_points");
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
void SoftSolver<Exec>::positions(const Exec& exec, const Array<double, Exec>& out) const {
  implementation_->to_points(exec, implementation_->x, out);
}

template<class Exec>
void SoftSolver<Exec>::velocities(const Exec& exec, const Array<double, Exec>& out) const {
  implementation_->to_points(exec, implementation_->v, out);
}

template<class Exec>
void SoftSolver<Exec>::set_state(const Exec& exec, const Array<double, Exec>& positions,
                                 const Array<double, Exec>& velocities, double time) {
  implementation_->from_points(exec, positions, implementation_->x);
  implementation_->from_points(exec, velocities, implementation_->v);
  SoftState fresh;
  fresh.time = time;
  implementation_->set_others(exec, fresh);
}

template<class Exec>
void SoftSolver<Exec>::set_state(const Exec& exec, const std::vector<double>& positions,
                                 const std::vector<double>& velocities, double time) {
  set_state(exec, upload(exec, "ossatura::soft::positions", positions),
            upload(exec, "ossatura::soft::velocities", velocities), time);
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
void SoftSolver<Exec>::set_loads(const Exec& exec, const std::vector<double>& load) {
  set_loads(exec, upload(exec, "ossatura::soft::loads", load));
}

template<class Exec>
void SoftSolver<Exec>::set_loads(const Exec& exec, const Array<double, Exec>& load) {
  implementation_->set_loads(exec, load);
}

template<class Exec>
void SoftSolver<Exec>::set_fixed_velocities(const Exec& exec, const std::vector<double>& velocity) {
  set_fixed_velocities(exec, upload(exec, "ossatura::soft::velocities", velocity));
}

template<class Exec>
void SoftSolver<Exec>::set_fixed_velocities(const Exec& exec, const Array<double, Exec>& velocity) {
  implementation_->set_fixed_velocities(exec, velocity);
}

template<class Exec>
void SoftSolver<Exec>::set_moduli(const Exec& exec, std::size_t object,
                                  const SoftMaterial& material) {
  implementation_->set_moduli(exec, object, material);
}

template<class Exec>
SoftStepGradient SoftSolver<Exec>::pull_back(const Exec& exec, const SoftRecord<Exec>& record,
                                             const SoftWeights<Exec>& weights,
                                             const Array<double, Exec>& by_loads) {
  return implementation_->pull_back(exec, record, weights, by_loads);
}

template<class Exec>
SoftEnergy SoftSolver<Exec>::energy(const Exec& exec) const {
  const Implementation& own = *implementation_;
  motion_energy(exec, own.x, own.x_start, own.v, own.systems.system.mass(), own.load, own.motion);
  SoftEnergy energy;
  energy.elastic = own.systems.system.elastic_energy(exec, own.x); // fences
  energy.kinetic = own.motion().kinetic;
  energy.potential = own.motion().potential;
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
  return implementation_->systems.system.matrix().num_entries();
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_factor_entries() const {
  return implementation_->by_factor ? implementation_->numbering.pattern.begin.back() : 0;
}

template<class Exec>
std::int64_t SoftSolver<Exec>::num_inverse_entries() const {
  const Implementation& own = *implementation_;
  return (own.by_factor ? own.by_factor->preconditioner().num_inverse_entries() : 0) +
         (own.contact ? own.contact->num_inverse_entries() : 0);
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

#define OSSATURA_INSTANTIATE(Exec) template class SoftSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
