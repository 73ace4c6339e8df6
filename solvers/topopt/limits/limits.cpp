// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/limits/limits.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/topopt/element_volumes.hpp>
#include <ossatura/kernels/topopt/mma_terms.hpp>
#include <ossatura/solvers/topopt/loads.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

bool has_imposed(const DesignProblem& problem, int load_case) {
  for (std::size_t k = 0; k < problem.cases.size(); ++k)
    if ((load_case < 0 || k == std::size_t(load_case)) &&
        !problem.cases[k].loads.displacements.empty())
      return true;
  return false;
}

void require_displacement(const DesignProblem& problem, const DesignLimit& limit,
                          const std::string& what) {
  OSSATURA_REQUIRE(limit.load_case >= 0, what << ": a displacement is of one load case: name it");
  for (const NodeDisplacement& moved :
       problem.cases[std::size_t(limit.load_case)].loads.displacements)
    for (const NodeForce& one : limit.direction)
      OSSATURA_REQUIRE(one.node != moved.node || one.force[moved.component] == 0,
                       what << ": the load case itself moves component " << moved.component
                            << " of node " << moved.node << ": take other nodes");
}

void require_limit(const DesignProblem& problem, const DesignOptions& options, std::size_t j) {
  const DesignLimit& limit = problem.limits[j];
  const std::string what = name_of_limit(problem, j);
  OSSATURA_REQUIRE(limit.limit > 0 && std::isfinite(limit.limit),
                   what << ": a limit of " << limit.limit << ", which is not greater than 0");
  OSSATURA_REQUIRE(limit.load_case >= -1 && limit.load_case < int(problem.cases.size()),
                   what << ": load case " << limit.load_case << " of " << problem.cases.size());
  const bool is_displacement = limit.kind == DesignLimitKind::displacement;
  const bool is_frequency = limit.kind == DesignLimitKind::frequency;
  OSSATURA_REQUIRE(is_displacement || limit.at_least == is_frequency,
                   what << (is_frequency
                                ? ": the lowest frequency is at least a limit: say at least"
                                : ": only displacements are at least a limit, and frequencies: say "
                                  "at most"));
  OSSATURA_REQUIRE(!is_frequency || limit.load_case < 0,
                   what << ": a frequency is of no load case: leave it out");
  OSSATURA_REQUIRE(is_displacement == !limit.direction.empty(),
                   what << ": directions are of displacements, which have at least one");
  if (is_displacement)
    require_displacement(problem, limit, what);
  if (limit.kind != DesignLimitKind::compliance)
    return;
  OSSATURA_REQUIRE(options.objective != DesignObjective::mechanism,
                   what << ": the compliance of a mechanism is not limited: limit the displacement "
                           "of its loaded nodes");
  OSSATURA_REQUIRE(!has_imposed(problem, limit.load_case),
                   what << ": compliance is of load cases with forces alone, and one imposes "
                           "displacements: limit a displacement or stress");
}

/// What a frequency or a mass alone leaves of the least volume.
void require_material(const DesignProblem& problem) {
  bool is_frequency = false, asks = false;
  for (const DesignLimit& one : problem.limits) {
    is_frequency = is_frequency || one.kind == DesignLimitKind::frequency;
    asks = asks || (one.kind != DesignLimitKind::frequency && one.kind != DesignLimitKind::mass);
  }
  OSSATURA_REQUIRE(asks || is_frequency,
                   "the least volume of a mass that may be less is nothing at all: give a "
                   "constraint of compliance, displacement or stress, too, or take the least "
                   "compliance");
  for (const DesignRole role : problem.role)
    asks = asks || role == DesignRole::solid;
  OSSATURA_REQUIRE(asks,
                   "the least volume of a frequency alone is nothing at all, which has no mass to "
                   "vibrate: give a constraint of compliance, displacement or stress, too, or "
                   "elements that stay solid");
}

template<class Exec>
struct ScaleByMassDensity {
  Array<double, Exec> mass_density, mass;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { mass(e) *= mass_density(e); }
};

/// [num_elem] mass of elements where they are solid, kg.
template<class Exec>
Array<double, Exec> solid_masses(const Exec& exec, const DesignProblem& problem,
                                 const DesignBody<Exec>& body) {
  const auto mass = make_zeros<double>(exec, body.num_elem(), "ossatura::limits::mass");
  scale_volumes(exec, 1, body.volume(), mass);
  const Array<double, Exec> density =
      body.upload_elements(exec, mass_densities(problem, "mass is limited"));
  Kokkos::parallel_for("ossatura::limits::masses", range(exec, mass.extent(0)),
                       ScaleByMassDensity<Exec>{density, mass});
  fence(exec, "ossatura::limits::masses"); // `density` goes
  return mass;
}

/// A limit that elements which stay solid exceed alone; `mass` [num_elem] of solid_masses().
void require_mass_of_solid(const DesignProblem& problem, const std::vector<double>& mass,
                           std::size_t which) {
  double solid = 0;
  for (std::size_t e = 0; e < problem.role.size(); ++e)
    if (problem.role[e] == DesignRole::solid)
      solid += mass[e];
  OSSATURA_REQUIRE(solid < problem.limits[which].limit,
                   name_of_limit(problem, which)
                       << ": elements that stay solid have " << solid << " kg, and "
                       << problem.limits[which].limit
                       << " kg is the limit of all: keep fewer solid, or take a larger limit");
}

} // namespace

std::string name_of_limit(const DesignProblem& problem, std::size_t which) {
  return "constraint " + std::to_string(which + 1) + " (" + name_of(problem.limits[which].kind) +
         ")";
}

std::vector<std::size_t> find_opposite_displacements(const DesignProblem& problem,
                                                     const std::vector<DesignLimitValue>& values) {
  const auto are_opposite = [](const DesignLimit& a, const DesignLimit& b) {
    return a.kind == b.kind && a.load_case == b.load_case && a.at_least == b.at_least &&
           a.direction.size() == b.direction.size() &&
           std::equal(a.direction.begin(), a.direction.end(), b.direction.begin(),
                      [](const NodeForce& one, const NodeForce& other) {
                        return one.node == other.node && one.force[0] == -other.force[0] &&
                               one.force[1] == -other.force[1] && one.force[2] == -other.force[2];
                      });
  };
  std::vector<std::size_t> found;
  for (std::size_t j = 0; j < values.size(); ++j) {
    const DesignLimit& limit = problem.limits[j];
    if (limit.kind == DesignLimitKind::displacement && !limit.at_least &&
        values[j].value < -limit.limit &&
        std::none_of(problem.limits.begin(), problem.limits.end(),
                     [&](const DesignLimit& other) { return are_opposite(limit, other); }))
      found.push_back(j);
  }
  return found;
}

void require_limits(const DesignProblem& problem, const DesignOptions& options) {
  const bool is_volume = options.objective == DesignObjective::volume;
  OSSATURA_REQUIRE(!is_volume || !problem.limits.empty(),
                   "the least volume is none at all unless something limits it: give constraints "
                   "(compliance, displacement or stress)");
  if (problem.limits.empty())
    return;
  const std::size_t most = std::size_t(max_mma_constraints) - (is_volume ? 0 : 1);
  OSSATURA_REQUIRE(problem.limits.size() <= most, problem.limits.size()
                                                      << " constraints"
                                                      << (is_volume ? "" : " beside the volume")
                                                      << ": at most " << most);
  OSSATURA_REQUIRE(options.method == DesignMethod::mma,
                   "optimality criteria know the volume constraint alone: take the method mma");
  OSSATURA_REQUIRE(options.filter != DesignFilter::sensitivity,
                   "the filter sensitivity changes gradients, and constraints take those that are "
                   "exact: take the filter density");
  for (std::size_t j = 0; j < problem.limits.size(); ++j)
    require_limit(problem, options, j);
  if (is_volume)
    require_material(problem);
}

template<class Exec>
DesignLimits<Exec>::DesignLimits(const Exec& exec, const DesignProblem& problem,
                                 const DesignOptions& options, const DesignBody<Exec>& body,
                                 const DesignAnalysis<Exec>& analysis,
                                 const DesignFrequencies<Exec>& frequencies)
    : body_(body)
    , analysis_(analysis)
    , frequencies_(frequencies)
    , limits_(problem.limits) {
  require_limits(problem, options);
  std::size_t num_adjoints = 0;
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const DesignLimit& limit = limits_[j];
    names_.push_back(name_of_limit(problem, j));
    direction_.push_back(limit.kind == DesignLimitKind::displacement
                             ? make_design_force(exec, problem, limit.direction, body, names_[j])
                             : DesignForce<Exec>());
    first_adjoint_.push_back(num_adjoints);
    if (limit.kind == DesignLimitKind::displacement)
      ++num_adjoints;
    else if (limit.kind == DesignLimitKind::stress)
      for_cases(limit, [&](std::size_t) { ++num_adjoints; });
    if (limit.kind == DesignLimitKind::mass && mass_.extent(0) == 0)
      mass_ = solid_masses(exec, problem, body);
    if (limit.kind == DesignLimitKind::mass)
      require_mass_of_solid(problem, body.download_elements(exec, mass_), j);
    if (limit.kind == DesignLimitKind::stress && stress_.extent(0) == 0) {
      for (Vector* vector : {&stress_, &factor_, &explicit_})
        *vector = make_zeros<double>(exec, body.num_elem(), "ossatura::limits::stress");
      rhs_ = make_zeros<double>(exec, body.num_dofs(), "ossatura::limits::rhs");
    }
  }
  for (std::size_t i = 0; i < num_adjoints; ++i) {
    adjoint_.push_back(make_zeros<double>(exec, body.num_dofs(), "ossatura::limits::adjoint"));
    trial_.push_back(body.solves_in_place()
                         ? adjoint_.back()
                         : make_zeros<double>(exec, body.num_dofs(), "ossatura::limits::trial"));
  }
}

template<class Exec>
template<class Visit>
void DesignLimits<Exec>::for_cases(const DesignLimit& limit, const Visit& visit) const {
  for (std::size_t k = 0; k < analysis_.loads().cases.size(); ++k)
    if (limit.load_case < 0 || k == std::size_t(limit.load_case))
      visit(k);
}

template<class Exec>
StressedElements<Exec> DesignLimits<Exec>::stresses(const Exec& exec, const Design& design,
                                                    std::size_t k) const {
  body_.solid_stress(exec, design.law, analysis_.displacements()[k], stress_);
  return {design.role, body_.volume(), design.density, stress_};
}

template<class Exec>
void DesignLimits<Exec>::evaluate_stress(const Exec& exec, const Design& design,
                                         const DesignLimit& limit, DesignLimitValue& value) const {
  for_cases(limit, [&](std::size_t k) {
    const StressSums sums = sum_stresses(exec, stresses(exec, design, k), limit.limit);
    value.power_sum += sums.power;
    value.stressed_volume = sums.volume;
    value.value = std::max(value.value, sums.relaxed);
    value.solid = std::max(value.solid, sums.solid);
  });
  value.mean = limit.limit * std::pow(value.power_sum / value.stressed_volume, 1 / stress_power);
}

template<class Exec>
std::vector<DesignLimitValue> DesignLimits<Exec>::evaluate(const Exec& exec, const Design& design,
                                                           const std::vector<double>& cases) const {
  std::vector<DesignLimitValue> values(limits_.size());
  for (std::size_t j = 0; j < limits_.size(); ++j) {
    const DesignLimit& limit = limits_[j];
    DesignLimitValue& own = values[j];
    switch (limit.kind) {
    case DesignLimitKind::compliance:
      for (std::size_t k = 0; k < cases.size(); ++k)
        if (limit.load_case < 0)
          own.value += analysis_.loads().cases[k].weight * cases[k];
        else if (k == std::size_t(limit.load_case))
          own.value = cases[k];
      break;
    case DesignLimitKind::displacement:
      own.value =
          body_.dot(exec, direction_[j], analysis_.displacements()[std::size_t(limit.load_case)]);
      break;
    case DesignLimitKind::stress:
      evaluate_stress(exec, design, limit, own);
      break;
    case DesignLimitKind::mass:
      own.value = dot(exec, mass_, design.density);
      break;
    case DesignLimitKind::frequency:
      own.value = frequencies_.lowest();
      own.mean = frequencies_.mean();
      break;
    }
    if (!std::isfinite(own.value + own.mean))
      fail<DesignBreakdown>("step ", design.step, ": ", names_[j], " is not finite", finite_remedy);
    own.excess = limit.at_least ? 1 - own.value / limit.limit : own.value / limit.limit - 1;
  }
  return values;
}

template<class Exec>
Array<double, Exec> DesignLimits<Exec>::solve(const Exec& exec, const Design& design,
                                              std::size_t which, std::size_t adjoint,
                                              const DesignForce<Exec>& force,
                                              std::vector<SolveResult>& solves) {
  const Vector& trial = trial_[adjoint];
  if (!analysis_.starts_warm())
    Kokkos::deep_copy(exec, trial, 0.0);
  else if (!body_.solves_in_place())
    Kokkos::deep_copy(exec, trial, adjoint_[adjoint]);
  solves.push_back(analysis_.solve_adjoint(
      exec, "step " + std::to_string(design.step) + ", adjoint of " + names_[which], force, trial));
  return trial;
}

template<class Exec>
void DesignLimits<Exec>::differentiate_stress(const Exec& exec, const Design& design,
                                              std::size_t which, const DesignLimitValue& value,
                                              const Vector& gradient,
                                              std::vector<SolveResult>& solves) {
  const DesignLimit& limit = limits_[which];
  std::vector<typename DesignAnalysis<Exec>::AdjointTerm> terms;
  Kokkos::deep_copy(exec, explicit_, 0.0);
  for_cases(limit, [&](std::size_t k) {
    fill_stress_slopes(exec, stresses(exec, design, k), limit.limit, value.power_sum,
                       value.stressed_volume, explicit_, factor_);
    Kokkos::deep_copy(exec, rhs_, 0.0);
    body_.add_stress_forces(exec, design.law, factor_, analysis_.displacements()[k], rhs_);
    clear(exec, body_.held(), rhs_);
    const std::size_t adjoint = first_adjoint_[which] + terms.size();
    terms.push_back({k, 1, solve(exec, design, which, adjoint, {rhs_, {}}, solves)});
  });
  analysis_.differentiate(exec, design.law, design.density, terms, 1, gradient);
  axpby(exec, 1.0, explicit_, 1.0, gradient);
}

template<class Exec>
void DesignLimits<Exec>::differentiate(const Exec& exec, const Design& design, std::size_t which,
                                       const DesignLimitValue& value, const Vector& gradient,
                                       std::vector<SolveResult>& solves) {
  const TimedScope scope("ossatura::limits::differentiate");
  const DesignLimit& limit = limits_[which];
  switch (limit.kind) {
  case DesignLimitKind::compliance:
    analysis_.differentiate_compliance(exec, design.law, design.density, limit.load_case, gradient);
    break;
  case DesignLimitKind::displacement:
    analysis_.differentiate(
        exec, design.law, design.density,
        {{std::size_t(limit.load_case), 1,
          solve(exec, design, which, first_adjoint_[which], direction_[which], solves)}},
        1, gradient);
    break;
  case DesignLimitKind::stress:
    differentiate_stress(exec, design, which, value, gradient, solves);
    break;
  case DesignLimitKind::mass:
    Kokkos::deep_copy(exec, gradient, mass_);
    break;
  case DesignLimitKind::frequency:
    frequencies_.differentiate(exec, design.law, design.density, gradient);
    break;
  }
}

template<class Exec>
void DesignLimits<Exec>::revert(const Exec& exec) {
  if (body_.solves_in_place())
    for (const Vector& v : adjoint_)
      Kokkos::deep_copy(exec, v, 0.0);
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignLimits<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
