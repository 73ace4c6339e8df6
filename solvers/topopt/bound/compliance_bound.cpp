// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bound/compliance_bound.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/topopt/overhang.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

constexpr double rounding_of_sums = 1e-9;

/// An element may come back from here.
constexpr double least_density = 1e-3;

/// Of optimality criteria: on cantilevers, a beam and a bridge of 4000 to 8000 cubes 1 % is reached
/// in 14 to 30 steps, by the usual 0.5 in 21 to more than 40, by 1 in far more.
constexpr double damping = 0.8;

template<class Exec>
struct MixDensities {
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> density, result;
  double mean;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    if (role(e) == std::uint8_t(DesignRole::free))
      result(e) = Kokkos::clamp(0.5 * (density(e) + mean), 0.0, 1.0);
  }
};

} // namespace

std::string describe_no_bound(const DesignProblem& problem, const DesignOptions& options) {
  if (options.objective != DesignObjective::compliance)
    return std::string("the objective is ") + name_of(options.objective) + ", not compliance";
  if (!problem.limits.empty())
    return "there are constraints beside the volume";
  if (!problem.springs.empty())
    return "springs hold it, whose energy is not of the design";
  if (problem.has_body_loads())
    return "gravity and rotation change with the design";
  if (problem.has_temperatures())
    return "the forces of temperature change with the design";
  return {};
}

template<class Exec>
ComplianceBound<Exec>::ComplianceBound(const Exec& exec, const DesignOptions& options,
                                       const SimpLaw& law, DesignBody<Exec>& body,
                                       DesignAnalysis<Exec>& analysis,
                                       const DesignDensities<Exec>& densities)
    : body_(body)
    , analysis_(analysis)
    , multiplier_tolerance_(options.multiplier_tolerance)
    , density_(make_zeros<double>(exec, body.num_elem(), "ossatura::bound::density")) {
  SimpLaw linear = law;
  linear.penalty = 1;
  linear.linear_below = 0;
  const double most = options.process.overhang ? 1 + overhang_excess : 1;
  // A design with more volume than was allowed is compared with designs of its own volume.
  const double share = std::max(options.volume_fraction, densities.volume());
  // rho^p <= rho most^(p - 1) up to `most`.
  material_ = {
      densities.role(), body.volume(), linear, share, std::pow(most, law.penalty - 1), most};
  if (!body.lends_room())
    kept_ = make_zeros<double>(exec, 3 * body.num_elem(), "ossatura::bound::by_element");
  // Between the design and uniform material: of both there is something everywhere.
  set_passive(exec, material_.role, 1, 0, density_);
  const DesignSums passive = sum_design(exec, material_.role, material_.volume, density_);
  const double room = share * passive.total_volume - passive.volume;
  Kokkos::parallel_for("ossatura::bound::mix", range(exec, body.num_elem()),
                       MixDensities<Exec>{material_.role, densities.density(), density_,
                                          std::clamp(room / passive.free_volume, 0.0, 1.0)});
}

template<class Exec>
Array<double, Exec> ComplianceBound<Exec>::room(const Exec& exec, int which) const {
  const std::int64_t n = body_.num_elem();
  const Vector all = body_.lends_room() ? body_.spare(exec) : kept_;
  return Vector(all.data() + which * n, std::size_t(n));
}

/// Takes the energies of the last solves.
template<class Exec>
void ComplianceBound<Exec>::improve(const Exec& exec, DesignBound& bound) {
  const Vector energy = room(exec, 0);
  Kokkos::deep_copy(exec, energy, 0.0);
  double work = 0;
  const DesignLoads<Exec>& loads = analysis_.loads();
  for (std::size_t k = 0; k < loads.cases.size(); ++k) {
    const Vector& u = analysis_.displacements()[k];
    const double of_forces = body_.dot(exec, loads.cases[k].force, u) + loads.cases[k].moved_work;
    work += loads.cases[k].weight * of_forces;
    body_.add_energies(exec, loads.cases[k].weight, u, u, energy);
  }
  const double most = largest_energy(exec, material_, energy);
  const double margin = (rounding_of_sums + body_.modulus_rounding()) * (std::fabs(work) + most);
  const double value = (loads.has_imposed() ? 2 * work - most
                        : most > 0          ? work * work / most
                                            : 0) -
                       margin;
  if (value > bound.value)
    bound.value = value;
}

/// The next design of the linear law.
template<class Exec>
void ComplianceBound<Exec>::redistribute(const Exec& exec) {
  const Vector gradient = room(exec, 0), dv = room(exec, 1), next = room(exec, 2);
  store_gains(exec, material_, gradient, gradient);
  const DesignSums sums = sum_design(exec, material_.role, material_.volume, density_);
  scale_volumes(exec, 1 / sums.total_volume, material_.volume, dv);
  const double volume = sums.volume / sums.total_volume;
  const MoveRange<Exec> bounds{material_.role, density_, least_density, 1};
  optimality_step(exec,
                  OcArrays<Exec, MoveRange<Exec>>{density_, bounds, gradient, dv, material_.volume},
                  material_.share - volume, material_.share, damping, multiplier_tolerance_, next);
  Kokkos::deep_copy(exec, density_, next);
}

template<class Exec>
DesignBound ComplianceBound<Exec>::find(const Exec& exec, const DesignBoundOptions& options,
                                        const std::function<bool()>& goes_on) {
  const TimedScope scope("ossatura::design::bound");
  DesignBound bound;
  while (bound.steps < options.max_steps && (!goes_on || goes_on())) {
    DesignStep report;
    try {
      analysis_.run(exec, bound.steps + 1, material_.law, density_, report);
    } catch (const DesignBreakdown& breakdown) {
      bound.breakdown = breakdown.what();
      break;
    }
    ++bound.steps;
    for (const SolveResult& solve : report.solves)
      bound.iterations += solve.iterations;
    bound.relaxed = std::min(bound.relaxed, report.objective);
    improve(exec, bound);
    if (bound.relaxed - bound.value <= options.tolerance * std::fabs(bound.value))
      break;
    redistribute(exec);
  }
  return bound;
}

#define OSSATURA_INSTANTIATE(Exec) template class ComplianceBound<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
