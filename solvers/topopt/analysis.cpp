// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/analysis.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/topopt/body_loads/hexa_load.hpp>
#include <ossatura/kernels/topopt/design_variables.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

/// What the energies of steps may be wrong by, relative to them.
constexpr double balance_error = 1e-3;

/// `energy` is twice that of a solution. Work that is another shows a residual that bounds the
/// solution badly.
void require_balance(const std::string& where, double work, double energy, double residual) {
  if (!(std::fabs(work - energy) <= 0.01 * std::fabs(energy)))
    fail<DesignBreakdown>(where, ": the work of the forces is ", work, " and twice the energy ",
                          energy, ": the residual of ", residual,
                          " is too large: a smaller tolerance, or double precision");
}

} // namespace

template<class Exec>
DesignAnalysis<Exec>::DesignAnalysis(const Exec& exec, const DesignProblem& problem,
                                     const DesignOptions& options, DesignBody<Exec>& body)
    : body_(body)
    , warm_start_(options.warm_start)
    , least_tolerance_(options.solver.cg.tolerance)
    , tolerance_(least_tolerance_)
    , loads_(
          make_design_loads(exec, problem, options.objective == DesignObjective::mechanism, body)) {
  if (!body.has_ratios())
    require_one_poisson(problem);
  if (!problem.springs.empty())
    body.set_springs(exec, body.upload_nodes(exec, sum_springs(problem)));
  if (const std::vector<double> relative = ossatura::relative_moduli(problem); !relative.empty())
    relative_ = body.upload_elements(exec, relative);
  const std::int64_t num_dofs = body.num_dofs();
  if (loads_.has_body()) {
    mass_density_ = body.upload_elements(exec, mass_densities(problem));
    mass_ = make_zeros<double>(exec, body.num_elem(), "ossatura::design::mass");
    work_ = make_zeros<double>(exec, body.num_elem(), "ossatura::design::work");
  }
  total_.resize(loads_.cases.size());
  for (const auto& one : loads_.cases)
    moved_work_.push_back(one.moved_work);
  for (std::size_t k = 0; k < total_.size(); ++k)
    if (loads_.cases[k].is_of_design())
      total_[k].vector = make_zeros<double>(exec, num_dofs, "ossatura::design::total");
  if (loads_.has_imposed())
    rhs_ = make_zeros<double>(exec, num_dofs, "ossatura::design::rhs");
  for (std::size_t k = 0; k < loads_.num_solves(); ++k) {
    u_.push_back(make_zeros<double>(exec, num_dofs, "ossatura::design::u"));
    u_trial_.push_back(body.solves_in_place()
                           ? u_.back()
                           : make_zeros<double>(exec, num_dofs, "ossatura::design::u_trial"));
  }
}

template<class Exec>
void DesignAnalysis<Exec>::run(const Exec& exec, int number, const SimpLaw& law,
                               const Vector& density, DesignStep& step) {
  try {
    solve_all(exec, number, law, density, step);
  } catch (...) {
    if (body_.solves_in_place()) // what a solve left may be no number
      for (const Vector& u : u_)
        Kokkos::deep_copy(exec, u, 0.0);
    throw;
  }
}

template<class Exec>
void DesignAnalysis<Exec>::solve_all(const Exec& exec, int number, const SimpLaw& law,
                                     const Vector& density, DesignStep& step) {
  Stopwatch timer;
  set_modulus(exec, law, density);
  for (std::size_t k = 0; k < total_.size(); ++k)
    if (loads_.cases[k].is_of_design()) {
      copy_force(exec, loads_.cases[k].force, total_[k].vector);
      axpby(exec, 1.0, body_forces(exec, density, k), 1.0, total_[k].vector);
      if (!loads_.cases[k].thermal.empty())
        body_.add_thermal_forces(exec, loads_.cases[k].thermal, total_[k].vector);
      if (const Vector& imposed = loads_.cases[k].imposed; imposed.extent(0) > 0)
        moved_work_[k] = loads_.cases[k].moved_work + body_.dot(exec, total_[k].vector, imposed);
      clear(exec, body_.held(), total_[k].vector);
    }
  {
    const TimedScope scope("ossatura::design::prepare");
    body_.prepare(exec);
  }
  step.seconds_prepare = timer.seconds();
  for (std::size_t k = 0; k < u_.size(); ++k) {
    const double value = solve(exec, number, k, step);
    if (k < loads_.cases.size())
      step.cases.push_back(value);
  }
  step.seconds_solve = timer.seconds() - step.seconds_prepare;
  for (std::size_t k = 0; k < loads_.cases.size(); ++k)
    step.objective += loads_.cases[k].weight * step.cases[k];
  if (!std::isfinite(step.objective))
    fail<DesignBreakdown>("step ", number, ": the objective is not finite", finite_remedy);
  std::swap(u_, u_trial_);
}

template<class Exec>
Array<double, Exec> DesignAnalysis<Exec>::body_forces(const Exec& exec, const Vector& density,
                                                      std::size_t k) const {
  const Vector force = body_.spare(exec);
  Kokkos::deep_copy(exec, force, 0.0);
  if (loads_.cases[k].body.empty())
    return force;
  fill_masses(exec, mass_density_, density, mass_);
  for (const BodyLoad& load : loads_.cases[k].body)
    body_.add_body_forces(exec, load, mass_, force);
  return force;
}

template<class Exec>
Array<double, Exec> DesignAnalysis<Exec>::thermal_forces(const Exec& exec, std::size_t k) const {
  const Vector force = body_.spare(exec);
  Kokkos::deep_copy(exec, force, 0.0);
  if (!loads_.cases[k].thermal.empty())
    body_.add_thermal_forces(exec, loads_.cases[k].thermal, force);
  return force;
}

template<class Exec>
const DesignForce<Exec>& DesignAnalysis<Exec>::forces_of(std::size_t k) const {
  if (k == loads_.cases.size())
    return loads_.output;
  return loads_.cases[k].is_of_design() ? total_[k] : loads_.cases[k].force;
}

template<class Exec>
DesignForce<Exec> DesignAnalysis<Exec>::less_imposed(const Exec& exec, std::size_t k) const {
  const auto& load_case = loads_.cases[k];
  const Vector product = body_.spare(exec);
  body_.apply(exec, load_case.imposed, product);
  copy_force(exec, forces_of(k), rhs_);
  axpby(exec, -1.0, product, 1.0, rhs_);
  clear(exec, body_.held(), rhs_);
  return {rhs_, {}};
}

template<class Exec>
typename DesignAnalysis<Exec>::Balanced
DesignAnalysis<Exec>::solve_balanced(const Exec& exec, const std::string& where,
                                     const DesignForce<Exec>& force, int moved_case,
                                     const Vector& u) const {
  const bool is_moved = moved_case >= 0;
  const Vector imposed = is_moved ? loads_.cases[std::size_t(moved_case)].imposed : Vector();
  Balanced found{};
  for (double tolerance = tolerance_;; tolerance = std::max(0.01 * tolerance, least_tolerance_)) {
    body_.set_tolerance(tolerance);
    const int before = found.result.iterations;
    found.result =
        body_.solve(exec, is_moved ? less_imposed(exec, std::size_t(moved_case)) : force, u);
    found.result.iterations += before;
    require_solved(where, found.result);
    if (is_moved)
      axpby(exec, 1.0, imposed, 1.0, u); // which is zero at held components
    // f . u + r . v - u . A u = u . (f - A u) over free components is the first-order error of
    // f . u, which a small residual bounds badly where the void is very soft.
    const Vector product = body_.spare(exec);
    body_.apply(exec, u, product);
    found.of_forces = body_.dot(exec, force, u);
    found.energy = body_.dot(exec, product, u);
    const double work =
        is_moved ? found.of_forces + body_.dot(exec, product, imposed) : found.of_forces;
    const bool is_last = tolerance <= least_tolerance_;
    if (is_last)
      require_balance(where, work, found.energy, found.result.residual);
    if (is_last || std::fabs(work - found.energy) <= balance_error * std::fabs(found.energy))
      return found;
  }
}

template<class Exec>
double DesignAnalysis<Exec>::solve(const Exec& exec, int number, std::size_t k, DesignStep& step) {
  const TimedScope scope("ossatura::design::solve");
  const bool adjoint = k == loads_.cases.size();
  const std::string where = "step " + std::to_string(number) + ", " +
                            (adjoint ? "adjoint" : "load case " + std::to_string(k + 1));
  const Vector& trial = u_trial_[k];
  if (warm_start_ && !body_.solves_in_place())
    Kokkos::deep_copy(exec, trial, u_[k]);
  else if (!warm_start_)
    Kokkos::deep_copy(exec, trial, 0.0);
  const bool is_moved = !adjoint && loads_.cases[k].imposed.extent(0) > 0;
  const Balanced found = solve_balanced(exec, where, forces_of(k), is_moved ? int(k) : -1, trial);
  step.solves.push_back(found.result);
  if (loads_.is_mechanism())
    return body_.dot(exec, loads_.output, trial);
  return is_moved ? 2 * (found.of_forces + moved_work_[k]) - found.energy : found.of_forces;
}

template<class Exec>
void DesignAnalysis<Exec>::require_solved(const std::string& where,
                                          const SolveResult& result) const {
  if (!result.converged)
    fail<DesignBreakdown>(where, ": no solution, residual ", result.residual, " after ",
                          result.iterations, " iterations of conjugate gradients (tolerance ",
                          tolerance_,
                          "): more iterations, a larger tolerance or least modulus, double ",
                          "precision, or is a part held by nothing?");
}

template<class Exec>
SolveResult DesignAnalysis<Exec>::solve_adjoint(const Exec& exec, const std::string& where,
                                                const DesignForce<Exec>& force,
                                                const Vector& v) const {
  const TimedScope scope("ossatura::design::solve_adjoint");
  return solve_balanced(exec, where, force, -1, v).result;
}

template<class Exec>
void DesignAnalysis<Exec>::differentiate(const Exec& exec, const SimpLaw& law,
                                         const Vector& density, const Vector& df) const {
  if (!loads_.is_mechanism())
    return differentiate_compliance(exec, law, density, -1, df);
  std::vector<AdjointTerm> terms; // what a mechanism minimises is minus its output
  for (std::size_t k = 0; k < loads_.cases.size(); ++k)
    terms.push_back({k, -loads_.cases[k].weight, u_.back()});
  differentiate(exec, law, density, terms, 1, df);
}

template<class Exec>
void DesignAnalysis<Exec>::differentiate_compliance(const Exec& exec, const SimpLaw& law,
                                                    const Vector& density, int load_case,
                                                    const Vector& df) const {
  std::vector<AdjointTerm> terms; // compliance falls with the energies
  for (std::size_t k = 0; k < loads_.cases.size(); ++k)
    if (load_case < 0 || k == std::size_t(load_case))
      terms.push_back({k, load_case < 0 ? loads_.cases[k].weight : 1, u_[k]});
  differentiate(exec, law, density, terms, 2, df);
}

template<class Exec>
void DesignAnalysis<Exec>::differentiate(const Exec& exec, const SimpLaw& law,
                                         const Vector& density,
                                         const std::vector<AdjointTerm>& terms, double load_factor,
                                         const Vector& df) const {
  Kokkos::deep_copy(exec, df, 0.0);
  for (const AdjointTerm& term : terms) {
    body_.add_energies(exec, term.weight, u_[term.load_case], term.v, df);
    if (const auto& thermal = loads_.cases[term.load_case].thermal; !thermal.empty())
      body_.add_thermal_work(exec, -load_factor * term.weight, thermal, term.v, df);
  }
  scale_by_slope(exec, law, density, -1, df);
  if (loads_.has_body())
    add_mass_gradient(exec, density, terms, load_factor, df);
}

template<class Exec>
void DesignAnalysis<Exec>::add_mass_gradient(const Exec& exec, const Vector& density,
                                             const std::vector<AdjointTerm>& terms, double factor,
                                             const Vector& df) const {
  Kokkos::deep_copy(exec, work_, 0.0);
  for (const AdjointTerm& term : terms)
    for (const BodyLoad& load : loads_.cases[term.load_case].body)
      body_.add_body_work(exec, term.weight, load, term.v, work_);
  add_mass_slope(exec, mass_density_, density, factor, work_, df);
}

template<class Exec>
void DesignAnalysis<Exec>::energies(const Exec& exec, const Vector& energy) const {
  Kokkos::deep_copy(exec, energy, 0.0);
  for (std::size_t k = 0; k < loads_.cases.size(); ++k) {
    body_.add_energies(exec, 0.5, u_[k], u_[k], energy);
    if (const ThermalLoad<Exec>& thermal = loads_.cases[k].thermal; !thermal.empty()) {
      body_.add_thermal_work(exec, -1, thermal, u_[k], energy);
      axpby(exec, 1.0, thermal.energy, 1.0, energy);
    }
  }
  body_.energy_density(exec, energy);
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignAnalysis<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
