// SPDX-License-Identifier: Apache-2.0
// DesignAnalysis solves for the displacements of a design, of each load case and, for mechanisms,
// of the adjoint.
//
// A load case with forces f and displacements v of some held components is as stiff as its
// potential energy is large: what is minimised is minus twice that [1],
//   c = 2 f . u - u . K u = f . u - r . v,
// r the forces that v takes. Without v it is the compliance; without f it is -u . K u, so that the
// work which v takes grows. The energy is stationary in u, hence dc/drho = -u . dK/drho u with and
// without v, and the error of c is of second order in that of u.
//
// Gravity and rotation act on mass, m = rho times that of solid material, so that f depends on the
// design, and dc/drho = 2 df/drho . u - u . dK/drho u has both signs [2]. So do the forces of
// temperature, which change as the stiffness does (kernels/hexa/thermal_load.hpp).
//
// [1] F. Niu, S. Xu, G. Cheng. A general formulation of structural topology optimization for
//     maximizing structural stiffness. Struct. Multidiscip. Optim. 43 (2011) 561-572,
//     doi:10.1007/s00158-010-0585-8.
// [2] M. Bruyneel, P. Duysinx. Note on topology optimization of continuum structures including
//     self-weight. Struct. Multidiscip. Optim. 29 (2005) 245-256, doi:10.1007/s00158-004-0484-y.
#pragma once

#include <ossatura/kernels/topopt/simp.hpp>
#include <ossatura/solvers/topopt/loads.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ossatura {

template<class Exec>
class DesignAnalysis {
public:
  using Vector = Array<double, Exec>;

  /// `body` outlives it. Throws std::invalid_argument for loads and springs that make no sense.
  DesignAnalysis(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                 DesignBody<Exec>& body);

  /// Solves for all loads; reports solves, cases, objective and seconds in `step`, whose number and
  /// errors are of step `number`. Throws DesignBreakdown, with displacements as they were, or zero
  /// where the body solves in place.
  void run(const Exec& exec, int number, const SimpLaw& law, const Vector& density,
           DesignStep& step);
  /// Takes back the last run's displacements, unless the body solves in place.
  void revert() { std::swap(u_, u_trial_); }

  /// Fills the moduli, as a run does, for `energies` after displacements that came from elsewhere.
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) {
    body_.set_modulus(exec, law, density);
  }

  /// The forces on mass [num_nodes, 3] of load case k, held components among them, until the next
  /// call or run. Does not fence.
  Vector body_forces(const Exec& exec, const Vector& density, std::size_t k) const;
  /// The same of temperature, for the moduli of the last run.
  Vector thermal_forces(const Exec& exec, std::size_t k) const;

  /// df [num_elem] = gradient of what is minimised, by physical densities, after a run.
  void differentiate(const Exec& exec, const SimpLaw& law, const Vector& density,
                     const Vector& df) const;

  /// weight (df_k/drho - dK/drho u_k) . v: what the solution u_k of load case k passes on to a
  /// function of the displacements whose derivative by them is K v. v [num_nodes, 3], zero at held
  /// components.
  struct AdjointTerm {
    std::size_t load_case;
    double weight;
    Vector v;
  };
  /// df = sum of terms, with loads that change with the design counted `load_factor` times. After
  /// a run.
  void differentiate(const Exec& exec, const SimpLaw& law, const Vector& density,
                     const std::vector<AdjointTerm>& terms, double load_factor,
                     const Vector& df) const;
  /// The gradient of the compliance of one load case, or, for -1, of the weighted sum of all.
  void differentiate_compliance(const Exec& exec, const SimpLaw& law, const Vector& density,
                                int load_case, const Vector& df) const;

  /// Solves A v = force from v, for the moduli of the last run. `where` is the step and the limit,
  /// for errors. Throws DesignBreakdown, and what v holds then is undefined. Fences.
  SolveResult solve_adjoint(const Exec& exec, const std::string& where,
                            const DesignForce<Exec>& force, const Vector& v) const;
  bool starts_warm() const { return warm_start_; }

  /// Residuals that end the solves from now on, not below the tolerance of the options. Where the
  /// work of the forces and the energy of a solution differ by a thousandth, its solve goes on.
  void set_tolerance(double tolerance) { tolerance_ = std::max(tolerance, least_tolerance_); }

  /// Density of the strain energy of all cases [num_elem], J / m^3, of the last run; expansion by
  /// temperature is no strain.
  void energies(const Exec& exec, const Vector& energy) const;

  /// A u [num_nodes, 3] of the last run's displacements of solve k, springs included, until the
  /// next call or run. Does not fence.
  Vector forces(const Exec& exec, std::size_t k) const {
    const Vector product = body_.spare(exec);
    body_.apply(exec, u_[k], product);
    return product;
  }

  const DesignLoads<Exec>& loads() const { return loads_; }
  /// [num_elem] of SimpLaw, in the order of the body; empty: 1.
  const Vector& relative_moduli() const { return relative_; }
  const std::vector<Vector>& displacements() const { return u_; } ///< of cases, then the adjoint

private:
  void solve_all(const Exec& exec, int number, const SimpLaw& law, const Vector& density,
                 DesignStep& step);
  struct Balanced {
    SolveResult result;
    double of_forces, energy; ///< f . u, u . A u
  };
  /// A u = force from u; with what the load case `moved_case` imposes, unless that is -1.
  Balanced solve_balanced(const Exec& exec, const std::string& where,
                          const DesignForce<Exec>& force, int moved_case, const Vector& u) const;
  /// Solve k; returns what the step reports of load case k.
  double solve(const Exec& exec, int number, std::size_t k, DesignStep& step);
  /// The forces of solve k, those that change with the design among them.
  const DesignForce<Exec>& forces_of(std::size_t k) const;
  /// The forces of a case with what its displacements ask of free components: f - K u.
  DesignForce<Exec> less_imposed(const Exec& exec, std::size_t k) const;
  void add_mass_gradient(const Exec& exec, const Vector& density,
                         const std::vector<AdjointTerm>& terms, double factor,
                         const Vector& df) const;
  void require_solved(const std::string& where, const SolveResult& result) const;

  DesignBody<Exec>& body_;
  bool warm_start_;
  double least_tolerance_, tolerance_; ///< of the options, and of solves now
  DesignLoads<Exec> loads_;
  Vector relative_;                      ///< [num_elem], or empty
  Vector rhs_;                           ///< [num_nodes, 3] of cases with displacements, or empty
  Vector mass_density_, mass_, work_;    ///< [num_elem] of cases with loads on mass, or empty
  std::vector<DesignForce<Exec>> total_; ///< of cases with loads of the design, of the last moduli
  std::vector<double> moved_work_;  ///< J: of all forces of a case, at components that it moves
  std::vector<Vector> u_, u_trial_; ///< [num_nodes, 3] each; the same where solved in place
};

} // namespace ossatura
