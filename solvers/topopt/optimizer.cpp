// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/solvers/topopt/analysis.hpp>
#include <ossatura/solvers/topopt/bound/compliance_bound.hpp>
#include <ossatura/solvers/topopt/check_options.hpp>
#include <ossatura/solvers/topopt/densities.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>
#include <ossatura/solvers/topopt/limits/limits.hpp>
#include <ossatura/solvers/topopt/mma.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace ossatura {

namespace {

/// The value in the step after `steps` steps, given that in the last of them.
double grown(const Continuation& c, double value, int steps) {
  if (steps == 0 || c.every == 0 || steps % c.every != 0 || value >= c.end)
    return value;
  return std::min(c.end, value * c.factor + c.increment);
}

template<class Exec>
struct CountBadVariables {
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t e, std::int64_t& count) const {
    count += x(e) >= 0 && x(e) <= 1 ? 0 : 1; // NaN is not
  }
};

/// Where a continuous function is of other signs.
struct Bracket {
  double low, at_low, high, at_high;
};

/// Calls value(x) for places within the bracket, which shrinks, until its size is at most `slack`,
/// by false position (Illinois). Returns the last value.
template<class Value>
double find_root(Bracket& b, double slack, const Value& value) {
  double now = b.at_high;
  for (int k = 0, same = 0; k < 100 && std::fabs(now) > slack; ++k) {
    const double x = (b.low * b.at_high - b.high * b.at_low) / (b.at_high - b.at_low);
    now = value(x);
    if ((now > 0) == (b.at_low > 0)) {
      b.low = x;
      b.at_low = now;
      b.at_high *= same > 0 ? 0.5 : 1;
      same = 1;
    } else {
      b.high = x;
      b.at_high = now;
      b.at_low *= same < 0 ? 0.5 : 1;
      same = -1;
    }
  }
  return now;
}

bool at_end(const Continuation& c, double value) {
  return c.every == 0 || value >= c.end;
}

} // namespace

template<class Exec>
struct DesignOptimizer<Exec>::Implementation {
  using Vector = Array<double, Exec>;

  DesignOptions options;
  double young;
  bool is_warm;                              ///< a load case has temperatures
  bool is_used_up;                           ///< the best design has all volume that it may
  std::string no_bound;                      ///< why there is no bound of the compliance, or empty
  std::size_t num_variables, num_components; ///< of the mesh
  std::unique_ptr<DesignBody<Exec>> body;
  DesignAnalysis<Exec> analysis;
  DesignDensities<Exec> densities;
  DesignFrequencies<Exec> frequencies;
  DesignLimits<Exec> limits;
  std::optional<Mma<Exec>> mma;

  Vector x;                   ///< [num_elem], as those below
  Vector kept_df, kept_x_new; ///< unless they are in the body's spare vector
  Vector lower, upper;        ///< of moving asymptotes alone
  Vector dg;                  ///< [num_constraints, num_elem] where there are limits
  std::vector<double> limit_scale, objectives; ///< of DesignState
  double excess = 0, dilated_limit = 0;        ///< likewise
  double move_share = 1;                       ///< likewise
  double scale = 0, penalty, sharpness, change = 1, least_change = 0;
  int steps = 0, first_step = 0;

  Implementation(const Exec& exec, const DesignProblem& problem, const DesignOptions& given)
      : options(checked(given))
      , young(problem.young)
      , is_warm(problem.has_temperatures())
      , is_used_up(wants_volume(problem, options) && problem.limits.empty())
      , no_bound(describe_no_bound(problem, options))
      , num_variables(problem.num_elem())
      , num_components(3 * problem.num_nodes())
      , body(make_design_body(exec, problem, options))
      , analysis(exec, problem, options, *body)
      , densities(exec, problem, options, *body)
      , frequencies(exec, problem, options, *body)
      , limits(exec, problem, options, *body, analysis, frequencies)
      , limit_scale(limits.count())
      , penalty(options.penalty.start)
      , sharpness(options.sharpens() ? options.sharpness.start : 0) {
    OSSATURA_REQUIRE(young > 0 && std::isfinite(young), "a modulus of " << young);
    const std::string not_robust = describe_not_robust(problem, options);
    OSSATURA_REQUIRE(not_robust.empty(), "no robust design: " << not_robust);
    OSSATURA_REQUIRE(!problem.has_loads_of_design() || options.method == DesignMethod::mma,
                     "optimality criteria take gradients of one sign, and those with gravity, "
                     "rotation or temperatures have both: take the method mma");
    const auto make = [&] {
      return make_zeros<double>(exec, num_elem(), "ossatura::design::by_element");
    };
    x = make();
    if (!body->lends_room()) {
      kept_df = make();
      kept_x_new = make();
    }
    if (options.method == DesignMethod::mma) {
      lower = make();
      upper = make();
      mma.emplace(exec, num_elem(), num_constraints());
    }
    if (limits.count() > 0)
      dg = make_zeros<double>(exec, num_constraints() * num_elem(), "ossatura::design::limits");
    Kokkos::deep_copy(exec, x, std::max(first(exec), least()));
    // Where all densities are small no change of one is large, in the first step either, and as
    // they change in proportion to themselves designs take the more steps.
    least_change = options.change_tolerance;
    if (!is_volume())
      least_change *= std::pow(std::min(1.0, 10 * densities.allowed(exec)), 2);
    set_passive(exec, densities.role(), 1, 0, x);
    refresh(exec);
  }

  std::int64_t num_elem() const { return body->num_elem(); }

  /// Room between solves, [num_elem] each: the gradient by variables, and after the proposal is
  /// made what filters need; the proposal of a step, and between what reports and filters need.
  Vector df(const Exec& exec) const { return room(exec, kept_df, 0); }
  Vector x_new(const Exec& exec) const { return room(exec, kept_x_new, 1); }
  /// Densities of the strain energy; they overwrite the proposal.
  Vector energies(const Exec& exec) const {
    const Vector energy = x_new(exec);
    analysis.energies(exec, energy);
    return energy;
  }
  /// The gradient of the volume by variables; overwrites the proposal.
  Vector volume_gradient(const Exec& exec) const {
    return densities.volume_gradient(exec, moment(), room(exec, {}, 2), x_new(exec));
  }
  Vector room(const Exec& exec, const Vector& kept, std::int64_t which) const {
    if (!body->lends_room())
      return kept;
    const Vector spare = body->spare(exec); // three numbers for each place of an element
    return Vector(spare.data() + which * num_elem(), std::size_t(num_elem()));
  }

  bool is_volume() const { return options.objective == DesignObjective::volume; }
  int num_constraints() const { return int(limits.count()) + (is_volume() ? 0 : 1); }
  /// Where the volume is the objective designs begin solid, as far as a projection lets them feel a
  /// change: what can meet the limits does.
  double first(const Exec& exec) const {
    if (is_volume())
      return options.start > 0 ? options.start : most_first_density(options);
    return densities.first(exec);
  }
  typename DesignLimits<Exec>::Design design() const {
    return {steps + 1, law(), densities.density(), densities.role()};
  }
  /// The gradient of constraint j by variables, to be made.
  Vector constraint_gradient(int j) const {
    return Vector(dg.data() + j * num_elem(), std::size_t(num_elem()));
  }

  bool is_mechanism() const { return options.objective == DesignObjective::mechanism; }
  bool is_frequency() const { return options.objective == DesignObjective::frequency; }
  DesignMoment moment() const { return {steps + 1, sharpness}; } ///< of the design that there is
  /// The sharpness that the next design is seen with: of the step after it, if there is one.
  double next_sharpness() const {
    const bool is_last = steps + 1 >= options.max_steps;
    return options.sharpens() && !is_last ? grown(options.sharpness, sharpness, steps + 1)
                                          : sharpness;
  }
  SimpLaw law() const {
    return {young, options.min_modulus, penalty, analysis.relative_moduli(),
            analysis.loads().has_body() ? linear_below_with_mass : 0};
  }
  /// Variables of 0 would stay there for good, with the sensitivity filter and under temperatures:
  /// large ones press material less the less there is, so that a step may take all of it, and rho^p
  /// has no slope at 0 that would bring it back.
  double least() const {
    if (options.filter == DesignFilter::sensitivity)
      return 1e-3;
    return is_warm && law().linear_below == 0 ? least_density_when_warm : 0;
  }

  const Vector& displacements(int load_case) const {
    OSSATURA_REQUIRE(load_case >= 0 && load_case < int(analysis.loads().cases.size()),
                     "load case " << load_case);
    return analysis.displacements()[std::size_t(load_case)];
  }
  /// Displacements of each solve of a step: of cases, the adjoint of a mechanism, those of limits,
  /// and modes.
  std::vector<Vector> solutions() const {
    std::vector<Vector> all = analysis.displacements();
    all.insert(all.end(), limits.adjoints().begin(), limits.adjoints().end());
    const std::vector<Vector> modes = frequencies.starts();
    all.insert(all.end(), modes.begin(), modes.end());
    return all;
  }

  void refresh(const Exec& exec) { densities.refresh(exec, x, moment(), df(exec)); }

  /// Whether there are modes of this design now. What the design is not held to is no reason to
  /// lose its analysis: then the step says why there are none.
  bool find_modes(const Exec& exec, const Vector& density, bool has_modes, DesignStep& step) {
    if (frequencies.count() == 0 || !(has_modes || frequencies.is_held_to()))
      return false;
    const std::size_t num_solves = step.solves.size();
    try {
      frequencies.run(exec, steps + 1, law(), density, step);
    } catch (const DesignBreakdown& breakdown) {
      if (frequencies.is_held_to())
        throw;
      step.solves.resize(num_solves);
      step.frequency_failure = breakdown.what();
      return false;
    }
    return true;
  }

  /// `has_modes`: with frequencies that the design is not held to.
  DesignStep analyse(const Exec& exec, const Vector& density, bool has_modes) {
    DesignStep step;
    step.penalty = penalty;
    step.sharpness = sharpness;
    step.volume = densities.volume();
    step.grey = densities.grey();
    analysis.run(exec, steps + 1, law(), density, step);
    if (is_volume())
      step.objective = step.volume;
    bool found = false;
    try {
      found = find_modes(exec, density, has_modes, step);
      if (is_frequency())
        step.objective = frequencies.lowest();
      step.limits = limits.evaluate(exec, design(), step.cases);
    } catch (...) {
      analysis.revert();
      if (found)
        frequencies.revert();
      throw;
    }
    return step;
  }

  /// df = gradient of what is minimised by variables. Returns the sum of |rho dphi/drho|.
  double gradient(const Exec& exec) {
    const TimedScope scope("ossatura::design::gradient");
    const Vector df = this->df(exec);
    if (is_volume()) {
      Kokkos::deep_copy(exec, df, volume_gradient(exec));
      return densities.volume();
    }
    if (is_frequency()) {
      frequencies.differentiate(exec, law(), densities.tested(), df);
      axpby(exec, -1.0, df, 0.0, df);
    } else {
      analysis.differentiate(exec, law(), densities.tested(), df);
    }
    const double size = sum_of_sizes(exec, densities.tested(), df);
    if (!std::isfinite(size))
      fail<DesignBreakdown>("step ", steps + 1, ": the gradient is not finite", finite_remedy);
    densities.pull_back(exec, x, moment(), df, x_new(exec));
    return size;
  }

  /// After `analyse`, of what is asked for, in df.
  Vector objective_gradient(const Exec& exec) {
    if (options.robust > 0)
      analyse(exec, densities.tested(), false);
    gradient(exec);
    const Vector df = this->df(exec);
    if (is_mechanism() || is_frequency()) // maximised
      axpby(exec, -1.0, df, 0.0, df);
    return df;
  }

  /// The gradient of a limit's value by variables into `result`, which is no spare vector: solves
  /// overwrite these.
  void differentiate_limit(const Exec& exec, std::size_t which, DesignStep& report,
                           const Vector& result) {
    limits.differentiate(exec, design(), which, report.limits[which], result, report.solves);
    densities.pull_back(exec, x, moment(), result, x_new(exec));
  }

  /// The factors of means for this step.
  std::vector<double> next_limit_scale(const DesignStep& report) const {
    std::vector<double> next = limit_scale;
    for (std::size_t j = 0; j < next.size(); ++j) {
      const DesignLimitValue& own = report.limits[j];
      if (!is_of_mean(limits.limit(j).kind) || !(own.mean > 0))
        continue;
      const double ratio = own.value / own.mean;
      next[j] = next[j] > 0 ? 0.5 * (next[j] + ratio) : ratio;
    }
    return next;
  }

  /// Values of the constraints as MMA takes them, <= 0 where they hold, and dg.
  std::vector<double> constraints(const Exec& exec, const std::vector<double>& scale_of,
                                  DesignStep& report) {
    std::vector<double> g;
    if (!is_volume())
      g.push_back(densities.volume() - options.volume_fraction);
    for (std::size_t j = 0; j < limits.count(); ++j) {
      const DesignLimit& limit = limits.limit(j);
      const DesignLimitValue& own = report.limits[j];
      const bool has_mean = is_of_mean(limit.kind);
      const double sign = limit.at_least ? -1 : 1, factor = has_mean ? sign * scale_of[j] : sign;
      const Vector row = constraint_gradient(int(g.size()));
      differentiate_limit(exec, j, report, row);
      axpby(exec, 0.0, row, factor / limit.limit, row);
      if (!std::isfinite(sum_of_sizes(exec, row, row)))
        fail<DesignBreakdown>("step ", steps + 1, ": the gradient of a constraint is not finite",
                              finite_remedy);
      g.push_back(has_mean ? factor * own.mean / limit.limit - sign : own.excess);
    }
    return g;
  }

  /// x_new from x, df and the volume, and from constraints g where there are limits. With MMA the
  /// objective is scaled once by 10 / (first objective), for compliance, as TopOpt in PETSc does
  /// (N. Aage, E. Andreassen, B. Lazarov, Struct. Multidiscip. Optim. 51 (2015) 565-572,
  /// doi:10.1007/s00158-014-1157-0).
  void update(const Exec& exec, double size, const std::vector<double>& g) {
    const TimedScope scope("ossatura::design::update");
    const Vector df = this->df(exec), x_new = this->x_new(exec);
    if ((options.projection || is_used_up) && sum_of_sizes(exec, df, df) == 0) {
      if (options.projection)
        fail<DesignBreakdown>("step ", steps + 1, ": the projection of sharpness ", sharpness,
                              " is flat at all variables, so that nothing is gained by any change: "
                              "begin with a smaller one, which grows (1:64:40:x2)");
      fail<DesignBreakdown>("step ", steps + 1,
                            ": the design has lost all of its material, so that nothing is gained "
                            "by any change: its steps are too long for so little volume. Take a "
                            "smaller --move, or the method oc");
    }
    const MoveRange<Exec> bounds{densities.role(), x, least(), options.move * move_share};
    const double volume = densities.limited_volume();
    const double most = options.robust > 0 ? dilated_limit : options.volume_fraction;
    const Vector dv = is_volume() ? Vector() : volume_gradient(exec);
    double multiplier = 0;
    if (mma) {
      if (scale == 0)
        scale = size > 0 ? 10 * (is_volume() ? 1 : penalty) / size : 1;
      store_bounds(exec, bounds, lower, upper);
      if (limits.count() > 0 && !is_volume())
        Kokkos::deep_copy(exec, constraint_gradient(0), dv);
      const bool of_volume = limits.count() == 0;
      for (const double one :
           mma->propose(exec, x, scale, df, of_volume ? std::vector<double>{volume - most} : g,
                        of_volume ? dv : dg, lower, upper, x_new))
        multiplier += one;
    } else {
      // Per Sigmund (1997), mechanisms use a smaller damping exponent (0.3): their gradients change
      // sign.
      const double damping = is_mechanism() ? 0.3 : 0.5;
      const OcArrays<Exec, MoveRange<Exec>> arrays{x, bounds, df, dv, body->volume()};
      multiplier = optimality_step(exec, arrays, most - volume, most, damping,
                                   options.multiplier_tolerance, x_new);
      if (options.shapes_volume())
        multiplier = meet_shaped_volume(exec, arrays, damping, multiplier, x_new);
    }
    if (!std::isfinite(multiplier) || !std::isfinite(sum_of_sizes(exec, x_new, x_new)))
      fail<DesignBreakdown>("step ", steps + 1, ": the new design is not finite", finite_remedy);
  }

  /// The volume that is projected, drawn or printed of a proposal is not what its gradient says: a
  /// steep projection has hardly any slope where a variable is not near the threshold, and a
  /// support is there for all that hangs on it. Makes other proposals, of multipliers around that
  /// of the first one, until the volume of the next design is what is allowed, by false position: a
  /// larger multiplier gives no variable more, and less is never made more. Returns the multiplier.
  /// Overwrites the densities.
  double meet_shaped_volume(const Exec& exec, const OcArrays<Exec, MoveRange<Exec>>& arrays,
                            double damping, double multiplier, const Vector& proposal) {
    constexpr double farthest = 40; // powers of e: beyond them all variables are at their bounds
    const double most = options.volume_fraction,
                 slack = (options.process.overhang ? 1e-4 : 5e-7) * most; // meet_volume() takes it
    const DesignMoment next{steps + 2, next_sharpness()};
    const auto value = [&](double power) {
      multiplier = std::exp(power);
      optimality_update(exec, arrays, damping, multiplier, proposal);
      return densities.volume_of(exec, proposal, next) - most;
    };
    if (!(multiplier > 0 && std::isfinite(multiplier)))
      return multiplier;
    const double first = std::log(multiplier),
                 excess = densities.volume_of(exec, proposal, next) - most;
    if (std::fabs(excess) <= slack)
      return multiplier;
    Bracket bracket{first, excess, first, excess};
    // Variables at their bounds do not follow: half of them, say, so that twice as much is wanted.
    double width = std::clamp(2 * std::log1p(excess / most), -1.0, 1.0);
    while ((bracket.at_high > 0) == (excess > 0) && std::fabs(bracket.high - first) < farthest) {
      bracket.low = bracket.high;
      bracket.at_low = bracket.at_high;
      bracket.high += width;
      bracket.at_high = value(bracket.high);
      width *= 2;
    }
    if ((bracket.at_high > 0) != (excess > 0))
      find_root(bracket, slack, value);
    return multiplier;
  }

  /// Stiffness goes with a power of densities, so that of least volumes a step that is nothing
  /// where material is dense may cut all members where it is grey, behind which gradients of stress
  /// show no way back. A step after which a limit is exceeded by more than before was too long.
  double next_move_share(const DesignStep& report) const {
    constexpr double slack = 0.01, least = 1.0 / 64;
    if (!is_volume() || steps == first_step)
      return move_share;
    std::vector<double> worst = {-1};
    for (const DesignLimitValue& one : report.limits)
      worst[0] = std::max(worst[0], one.excess);
    body->agree(worst);
    return worst[0] > std::max(slack, excess) ? std::max(least, move_share / 2)
                                              : std::min(1.0, 1.2 * move_share);
  }

  /// Of robust designs: what the dilated design may have follows the volume of the one that is
  /// made, so that this is what is allowed in the end. Not in each step: where members grow, the
  /// design that is made grows more than the dilated one, and the limit would chase it.
  void follow_volume() {
    constexpr int every = 20;
    if (options.robust > 0 && (steps % every == 0 || dilated_limit == 0))
      dilated_limit =
          std::min(1.0, options.volume_fraction * densities.limited_volume() / densities.volume());
  }

  /// Solves as exactly as steps need, while it lives; else as exactly as results.
  class StepTolerance {
  public:
    StepTolerance(DesignAnalysis<Exec>& analysis, const DesignOptions& options)
        : analysis_(analysis)
        , full_(options.solver.cg.tolerance) {
      analysis_.set_tolerance(options.tolerance_of_steps());
    }
    ~StepTolerance() { analysis_.set_tolerance(full_); }
    StepTolerance(const StepTolerance&) = delete;
    StepTolerance& operator=(const StepTolerance&) = delete;

  private:
    DesignAnalysis<Exec>& analysis_;
    double full_;
  };

  void set_growing(const Exec& exec, double new_penalty, double new_sharpness) {
    penalty = new_penalty;
    const bool is_other = new_sharpness != sharpness;
    sharpness = new_sharpness;
    if (is_other)
      refresh(exec);
  }

  /// What grows does so where a step begins, not where one ends: the last design is one of the
  /// sharpness and the penalty that its step has seen.
  DesignStep step(const Exec& exec) {
    const double penalty_before = penalty, sharpness_before = sharpness;
    set_growing(exec, grown(options.penalty, penalty, steps),
                options.sharpens() ? grown(options.sharpness, sharpness, steps) : sharpness);
    try {
      return step_as_grown(exec);
    } catch (...) {
      set_growing(exec, penalty_before, sharpness_before);
      throw;
    }
  }

  DesignStep step_as_grown(const Exec& exec) {
    const StepTolerance tolerance(analysis, options);
    follow_volume();
    DesignStep report = analyse(exec, densities.tested(), false);
    const double scale_before = scale, share_before = move_share;
    const std::vector<double> next_scale = next_limit_scale(report);
    Stopwatch timer;
    try {
      std::vector<double> g; // before df: solves overwrite it where there is little memory
      if (limits.count() > 0)
        g = constraints(exec, next_scale, report);
      const double size = gradient(exec);
      report.seconds_gradient = timer.seconds();
      move_share = next_move_share(report);
      update(exec, size, g);
    } catch (...) {
      analysis.revert();
      if (frequencies.is_held_to())
        frequencies.revert();
      limits.revert(exec);
      scale = scale_before;
      move_share = share_before;
      if (options.shapes_volume()) // its densities may be of a proposal
        refresh(exec);
      throw;
    }
    limits.accept();
    limit_scale = next_scale;
    note(report);
    const Vector next = x_new(exec);
    body->agree(exec, next);
    report.change = change = largest_difference(exec, next, x);
    if (mma)
      mma->accept(exec, x);
    if (body->lends_room())
      Kokkos::deep_copy(exec, x, next);
    else
      std::swap(x, kept_x_new);
    report.number = ++steps;
    refresh(exec);
    report.seconds_update = timer.seconds() - report.seconds_gradient;
    return report;
  }

  /// Keeps what is_settled looks at.
  void note(const DesignStep& report) {
    if (objectives.size() > std::size_t(objective_window))
      objectives.erase(objectives.begin());
    objectives.push_back(report.objective);
    excess = is_volume() ? -1 : report.volume / options.volume_fraction - 1;
    for (const DesignLimitValue& one : report.limits)
      excess = std::max(excess, one.excess);
    std::vector<double> numbers = {excess, objectives.back()};
    body->agree(numbers);
    excess = numbers[0];
    objectives.back() = numbers[1];
  }
  /// Whether the objective stays, and all limits hold.
  bool is_settled() const {
    if (!(options.objective_change > 0) || objectives.size() <= std::size_t(objective_window) ||
        !(excess <= limit_tolerance))
      return false;
    const auto [least, most] = std::minmax_element(objectives.begin(), objectives.end());
    return *most - *least < options.objective_change * std::fabs(objectives.back());
  }

  /// Physical volume by that allowed, less 1.
  double volume_excess() const { return densities.volume() / options.volume_fraction - 1; }

  void lower_design(const Exec& exec, double by) {
    lower_free(exec, densities.role(), x_new(exec), least(), by, x);
    refresh(exec);
  }

  /// The same is taken from all variables, where the volume is too large, or given to them, where
  /// it is too small: the nearest design that has it, where volumes are equal and filters keep
  /// them. How much is found by false position (Illinois), which keeps the root between `low` and
  /// `high`.
  bool meet_volume(const Exec& exec) {
    constexpr double slack = 1e-7; // of the volume: the aim is half of it below the limit
    const double excess = volume_excess();
    const bool is_less = excess < -limit_tolerance && is_used_up && steps > first_step;
    if (is_volume() || (excess <= slack && !is_less))
      return true;
    const TimedScope scope("ossatura::design::meet_volume");
    Kokkos::deep_copy(exec, x_new(exec), x);
    const auto value = [&](double by) {
      lower_design(exec, by);
      return volume_excess() + slack / 2;
    };
    const double farthest = is_less ? -options.move : options.move;
    Bracket bracket{0, excess + slack / 2, farthest, value(farthest)};
    if ((bracket.at_high > 0) != is_less) {
      lower_design(exec, 0);
      return is_less;
    }
    if (find_root(bracket, slack / 2, value) > slack / 2)
      lower_design(exec, is_less ? bracket.low : bracket.high);
    return true;
  }

  /// Whether a design of least volume exceeds a limit, of which steps may have become short.
  bool is_too_light() const { return is_volume() && !(excess <= limit_tolerance); }

  double largest_excess(const Exec& exec) {
    std::vector<double> worst = {-1};
    for (const DesignLimitValue& one : analyse(exec, densities.density(), false).limits)
      worst[0] = std::max(worst[0], one.excess);
    body->agree(worst);
    return worst[0];
  }

  /// Gives the same to all variables until a design of least volume keeps its limits: by amounts
  /// that double, of which the last one is halved toward the one before it.
  void meet_limits(const Exec& exec) {
    constexpr int doublings = 6, halvings = 2;
    if (!is_volume() || limits.count() == 0 || steps == first_step ||
        largest_excess(exec) <= limit_tolerance)
      return;
    const TimedScope scope("ossatura::design::meet_limits");
    const Vector base =
        make_uninitialized<double>(exec, std::int64_t(x.extent(0)), "ossatura::design::base");
    Kokkos::deep_copy(exec, base, x);
    const auto give = [&](double by) {
      lower_free(exec, densities.role(), base, least(), -by, x);
      refresh(exec);
    };
    const auto holds = [&](double by) {
      give(by);
      return largest_excess(exec) <= limit_tolerance;
    };
    try {
      double low = 0, high = options.move / 512;
      int k = 0;
      for (; k <= doublings && !holds(high); ++k) {
        low = high;
        high *= 2;
      }
      for (int i = 0; i < halvings && k <= doublings; ++i)
        (holds((low + high) / 2) ? high : low) = (low + high) / 2;
      give(k <= doublings ? high : 0);
    } catch (...) {
      give(0);
      throw;
    }
  }

  /// Free variables are those of x_new times a factor that makes the volume what is allowed.
  bool start(const Exec& exec) {
    constexpr double floor = 1e-3; // optimality criteria leave a variable of 0 there for good
    constexpr double slack = 1e-9, most = 1 / floor;
    const auto value = [&](double factor) {
      scale_free(exec, densities.role(), x_new(exec), floor, least(), factor, x);
      refresh(exec);
      return volume_excess();
    };
    double at_one = value(1);
    if (is_volume() || std::fabs(at_one) <= slack)
      return true;
    Bracket bracket{1, at_one, 1, at_one};
    if (at_one > 0) {
      bracket.low = 0;
      bracket.at_low = value(0);
    }
    while (bracket.at_high < 0 && bracket.high < most) {
      bracket.low = bracket.high;
      bracket.at_low = bracket.at_high;
      bracket.high = std::min(2 * bracket.high, most);
      bracket.at_high = value(bracket.high);
    }
    return bracket.at_low < 0 && bracket.at_high > 0 && find_root(bracket, slack, value) <= 1e-6;
  }

  /// After what processes computed each for itself, by other ways where they round otherwise.
  void agree(const Exec& exec) {
    if (body->agree(exec, x))
      refresh(exec);
  }

  bool continues() const {
    return !at_end(options.penalty, penalty) ||
           (options.sharpens() && !at_end(options.sharpness, sharpness));
  }
};

template<class Exec>
DesignOptimizer<Exec>::DesignOptimizer(const Exec& exec, const DesignProblem& problem,
                                       const DesignOptions& options) {
  const TimedScope scope("ossatura::design_optimizer");
  implementation_ = std::make_unique<Implementation>(exec, problem, options);
}

template<class Exec>
DesignOptimizer<Exec>::~DesignOptimizer() = default;

template<class Exec>
const DesignBody<Exec>& DesignOptimizer<Exec>::body() const {
  return *implementation_->body;
}

template<class Exec>
double DesignOptimizer<Exec>::radius() const {
  return implementation_->densities.radius();
}

template<class Exec>
bool DesignOptimizer<Exec>::has_converged() const {
  const Implementation& own = *implementation_;
  return own.steps > own.first_step && !own.continues() &&
         ((own.change < own.least_change && !own.is_too_light()) || own.is_settled());
}

template<class Exec>
bool DesignOptimizer<Exec>::is_done() const {
  return has_converged() || implementation_->steps >= implementation_->options.max_steps;
}

template<class Exec>
int DesignOptimizer<Exec>::num_steps() const {
  return implementation_->steps;
}

template<class Exec>
void DesignOptimizer<Exec>::observe_solves(IterationObserver observe) {
  implementation_->body->observe(std::move(observe));
}

template<class Exec>
DesignStep DesignOptimizer<Exec>::step(const Exec& exec) {
  return implementation_->step(exec);
}

template<class Exec>
bool DesignOptimizer<Exec>::meet_volume(const Exec& exec) {
  const bool is_met = implementation_->meet_volume(exec);
  implementation_->agree(exec);
  return is_met;
}

template<class Exec>
void DesignOptimizer<Exec>::meet_limits(const Exec& exec) {
  implementation_->meet_limits(exec);
  implementation_->agree(exec);
}

template<class Exec>
DesignStep DesignOptimizer<Exec>::analyse(const Exec& exec) {
  return implementation_->analyse(exec, implementation_->densities.density(), true);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::objective_gradient(const Exec& exec) {
  return body().download_elements(exec, implementation_->objective_gradient(exec));
}
template<class Exec>
void DesignOptimizer<Exec>::objective_gradient(const Exec& exec,
                                               const Array<double, Exec>& result) {
  body().copy_elements(exec, implementation_->objective_gradient(exec), result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::volume_gradient(const Exec& exec) const {
  return body().download_elements(exec, implementation_->volume_gradient(exec));
}
template<class Exec>
void DesignOptimizer<Exec>::volume_gradient(const Exec& exec,
                                            const Array<double, Exec>& result) const {
  body().copy_elements(exec, implementation_->volume_gradient(exec), result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::limit_gradient(const Exec& exec, int which) {
  Implementation& own = *implementation_;
  OSSATURA_REQUIRE(which >= 0 && std::size_t(which) < own.limits.count(), "limit " << which);
  DesignStep report = own.analyse(exec, own.densities.density(), false);
  const auto result = make_zeros<double>(exec, own.num_elem(), "ossatura::design::limit_gradient");
  own.differentiate_limit(exec, std::size_t(which), report, result);
  return body().download_elements(exec, result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::densities(const Exec& exec) const {
  return body().download_elements(exec, implementation_->densities.density());
}
template<class Exec>
void DesignOptimizer<Exec>::densities(const Exec& exec, const Array<double, Exec>& result) const {
  body().copy_elements(exec, implementation_->densities.density(), result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::variables(const Exec& exec) const {
  return body().download_elements(exec, implementation_->x);
}
template<class Exec>
void DesignOptimizer<Exec>::variables(const Exec& exec, const Array<double, Exec>& result) const {
  body().copy_elements(exec, implementation_->x, result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::displacements(const Exec& exec, int which) const {
  return body().download_nodes(exec, implementation_->displacements(which));
}
template<class Exec>
void DesignOptimizer<Exec>::displacements(const Exec& exec, int which,
                                          const Array<double, Exec>& result) const {
  body().copy_nodes(exec, implementation_->displacements(which), result);
}

template<class Exec>
DesignForces DesignOptimizer<Exec>::forces(const Exec& exec, int which,
                                           const std::vector<std::int32_t>& nodes) const {
  const DesignAnalysis<Exec>& analysis = implementation_->analysis;
  OSSATURA_REQUIRE(which >= 0 && which < int(analysis.loads().cases.size()), "load case " << which);
  const Array<double, Exec>& u = analysis.displacements()[std::size_t(which)];
  const Array<double, Exec> force = analysis.forces(exec, std::size_t(which));
  return {body().take_nodes(exec, nodes, u), body().take_nodes(exec, nodes, force),
          body().dot(exec, force, u)};
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::body_forces(const Exec& exec, int which) const {
  const Implementation& own = *implementation_;
  OSSATURA_REQUIRE(which >= 0 && which < int(own.analysis.loads().cases.size()),
                   "load case " << which);
  return body().download_nodes(
      exec, own.analysis.body_forces(exec, own.densities.density(), std::size_t(which)));
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::thermal_forces(const Exec& exec, int which) const {
  const DesignAnalysis<Exec>& analysis = implementation_->analysis;
  OSSATURA_REQUIRE(which >= 0 && which < int(analysis.loads().cases.size()), "load case " << which);
  return body().download_nodes(exec, analysis.thermal_forces(exec, std::size_t(which)));
}

template<class Exec>
std::array<double, 2> DesignOptimizer<Exec>::density_range(const Exec& exec) const {
  return ossatura::density_range(exec, body().volume(), implementation_->densities.density());
}

template<class Exec>
ProcessFaults DesignOptimizer<Exec>::process_faults(const Exec& exec) const {
  return implementation_->densities.process_faults(exec);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::energies(const Exec& exec) const {
  return body().download_elements(exec, implementation_->energies(exec));
}
template<class Exec>
void DesignOptimizer<Exec>::energies(const Exec& exec, const Array<double, Exec>& result) const {
  body().copy_elements(exec, implementation_->energies(exec), result);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::mode(const Exec& exec, int which) const {
  const Implementation& own = *implementation_;
  OSSATURA_REQUIRE(which >= 0 && which < own.frequencies.num_modes(),
                   "mode " << which << " of " << own.frequencies.num_modes());
  std::vector<double> u = body().download_nodes(exec, own.frequencies.mode(which));
  double largest = 0;
  for (std::size_t i = 0; i < u.size(); i += 3)
    largest = std::max(largest, std::hypot(u[i], u[i + 1], u[i + 2]));
  for (double& component : u)
    component /= largest > 0 ? largest : 1;
  return u;
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::stresses(const Exec& exec) const {
  const Implementation& own = *implementation_;
  const auto stress = make_zeros<double>(exec, own.num_elem(), "ossatura::design::stress");
  const auto largest = make_zeros<double>(exec, own.num_elem(), "ossatura::design::largest");
  const StressedElements<Exec> elements{own.densities.role(), own.body->volume(),
                                        own.densities.density(), stress};
  for (std::size_t k = 0; k < own.analysis.loads().cases.size(); ++k) {
    own.body->solid_stress(exec, own.law(), own.analysis.displacements()[k], stress);
    keep_largest_relaxed(exec, elements, largest);
  }
  return own.body->download_elements(exec, largest);
}

template<class Exec>
LargestValues DesignOptimizer<Exec>::largest_values(const Exec& exec, int which) const {
  const Implementation& own = *implementation_;
  OSSATURA_REQUIRE(which >= 0 && which < int(own.analysis.loads().cases.size()),
                   "load case " << which);
  return own.body->largest_values(exec, own.law(), own.densities.density(),
                                  own.analysis.displacements()[std::size_t(which)]);
}

template<class Exec>
DesignBound DesignOptimizer<Exec>::bound_compliance(const Exec& exec,
                                                    const DesignBoundOptions& options,
                                                    const std::function<bool()>& goes_on) {
  Implementation& own = *implementation_;
  OSSATURA_REQUIRE(own.no_bound.empty(), "no bound of the compliance: " << own.no_bound);
  return ComplianceBound<Exec>(exec, own.options, own.law(), *own.body, own.analysis, own.densities)
      .find(exec, options, goes_on);
}

template<class Exec>
DesignState DesignOptimizer<Exec>::state(const Exec& exec) const {
  const Implementation& own = *implementation_;
  DesignState state;
  state.steps = own.steps;
  state.first_step = own.first_step;
  const DesignBody<Exec>& body = *own.body;
  state.x = body.download_elements(exec, own.x);
  if (own.mma) {
    const MmaHistory<Exec>& history = own.mma->history();
    state.x_old = body.download_elements(exec, history.x_old);
    state.x_older = body.download_elements(exec, history.x_older);
    state.low = body.download_elements(exec, history.low);
    state.high = body.download_elements(exec, history.high);
  }
  state.scale = own.scale;
  state.penalty = own.penalty;
  state.sharpness = own.sharpness;
  state.change = own.change;
  for (const auto& u : own.solutions())
    state.displacement.push_back(body.download_nodes(exec, u));
  state.limit_scale = own.limit_scale;
  state.objectives = own.objectives;
  state.excess = own.excess;
  state.dilated_limit = own.dilated_limit;
  state.move_share = own.move_share;
  state.preconditioner = body.state(exec);
  return state;
}

template<class Exec>
void DesignOptimizer<Exec>::set_state(const Exec& exec, const DesignState& state) {
  Implementation& own = *implementation_;
  const std::size_t n = own.num_variables, history = own.mma ? n : 0;
  const std::vector<Array<double, Exec>> u = own.solutions();
  OSSATURA_REQUIRE(state.limit_scale.empty() || state.limit_scale.size() == own.limits.count(),
                   state.limit_scale.size() << " factors of " << own.limits.count() << " limits");
  OSSATURA_REQUIRE(state.x.size() == n, state.x.size() << " variables of " << n << " elements");
  OSSATURA_REQUIRE(state.first_step >= 0 && state.first_step <= state.steps,
                   "step " << state.steps << " after " << state.first_step);
  for (const std::vector<double>* values : {&state.x_old, &state.x_older, &state.low, &state.high})
    OSSATURA_REQUIRE(values->size() == history,
                     values->size() << " values of the history, which has " << history);
  OSSATURA_REQUIRE(state.displacement.size() == u.size(),
                   state.displacement.size() << " displacements of " << u.size() << " solves");
  for (const std::vector<double>& values : state.displacement)
    OSSATURA_REQUIRE(values.size() == own.num_components,
                     values.size() << " displacements of " << own.num_components << " components");
  const auto set = [&](const std::vector<double>& values, const Array<double, Exec>& to) {
    Kokkos::deep_copy(exec, to, own.body->upload_elements(exec, values));
  };
  set(state.x, own.x);
  if (own.mma) {
    MmaHistory<Exec>& to = own.mma->history();
    to.steps = state.steps - state.first_step;
    set(state.x_old, to.x_old);
    set(state.x_older, to.x_older);
    set(state.low, to.low);
    set(state.high, to.high);
  }
  for (std::size_t k = 0; k < u.size(); ++k)
    Kokkos::deep_copy(exec, u[k], own.body->upload_nodes(exec, state.displacement[k]));
  fence(exec, "ossatura::design::set_state");
  own.steps = state.steps;
  own.first_step = state.first_step;
  own.scale = state.scale;
  own.penalty = state.penalty;
  own.sharpness = state.sharpness;
  own.change = state.change;
  own.limit_scale.assign(own.limits.count(), 0.0);
  std::copy(state.limit_scale.begin(), state.limit_scale.end(), own.limit_scale.begin());
  own.objectives = state.objectives;
  own.excess = state.excess;
  own.dilated_limit = state.dilated_limit;
  own.move_share = state.move_share;
  own.refresh(exec);
  own.analysis.set_modulus(exec, own.law(), own.densities.tested());
  own.body->set_state(exec, state.preconditioner);
}

template<class Exec>
void DesignOptimizer<Exec>::set_variables(const Exec& exec, const Array<double, Exec>& x) {
  Implementation& own = *implementation_;
  OSSATURA_REQUIRE(std::int64_t(x.extent(0)) == own.num_elem(),
                   x.extent(0) << " variables of " << own.num_elem() << " elements");
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce("ossatura::design::check_variables", range(exec, own.num_elem()),
                          CountBadVariables<Exec>{x}, wrong);
  OSSATURA_REQUIRE(wrong == 0, wrong << " variables are not from 0 to 1");
  Kokkos::deep_copy(exec, own.x, x);
  set_passive(exec, own.densities.role(), 1, 0, own.x);
  own.refresh(exec);
  fence(exec, "ossatura::design::set_variables");
}

template<class Exec>
bool DesignOptimizer<Exec>::start_from(const Exec& exec, const std::vector<double>& x,
                                       const DesignState* coarse) {
  Implementation& own = *implementation_;
  OSSATURA_REQUIRE(own.steps == 0, "a start after step " << own.steps);
  OSSATURA_REQUIRE(x.size() == own.num_variables,
                   x.size() << " variables of " << own.num_variables << " elements");
  if (coarse != nullptr) {
    OSSATURA_REQUIRE(coarse->limit_scale.size() == own.limits.count(),
                     coarse->limit_scale.size()
                         << " factors of " << own.limits.count() << " limits");
    own.steps = own.first_step = coarse->steps;
    own.scale = coarse->scale;
    own.penalty = coarse->penalty;
    own.sharpness = coarse->sharpness;
    own.limit_scale = coarse->limit_scale;
    own.dilated_limit = coarse->dilated_limit;
  }
  set_variables(exec, body().upload_elements(exec, x));
  Kokkos::deep_copy(exec, own.x_new(exec), own.x);
  const bool has_volume = own.start(exec);
  own.agree(exec);
  fence(exec, "ossatura::design::start_from");
  return has_volume;
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignOptimizer<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
