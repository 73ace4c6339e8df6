// SPDX-License-Identifier: Apache-2.0
// DesignLimits evaluate what a design is held to beside its volume, and differentiate it.
//
//   compliance    f . u of a load case, or the weighted sum; its own adjoint
//   displacement  l . u of a load case; dl.u/drho = (df/drho - dK/drho u) . v with K v = l
//   stress        the p-mean m of relaxed stresses (kernels/topopt/stress_mean.hpp) over the load
//                 cases k; dm/drho = explicit part + sum_k (df_k/drho - dK/drho u_k) . v_k with
//                 K v_k = dm/du_k
//   mass          sum of v_e m_e rho_e
//   frequency     the lowest one; its mean m is that of the lowest few
//                 (frequencies/frequencies.hpp)
//
// The optimiser sees g = value / limit - 1 <= 0 (at least: 1 - value / limit). A mean is not the
// largest stress, so that of stresses it sees c m / limit - 1, with a factor c that follows the
// largest relaxed stress s from step to step [1]: c = s / m in the first step, then half the c
// before and half s / m. Where the design stays, c m is s. So it is of frequencies, with the lowest
// one as s.
//
// [1] C. Le, J. Norato, T. Bruns, C. Ha, D. Tortorelli. Stress-based topology optimization for
//     continua. Struct. Multidiscip. Optim. 41 (2010) 605-620, doi:10.1007/s00158-009-0440-y.
#pragma once

#include <ossatura/kernels/topopt/stress_mean.hpp>
#include <ossatura/solvers/topopt/analysis.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace ossatura {

/// Throws std::invalid_argument, with the remedy, for limits that make no sense, more of them than
/// MMA takes, and options that do not go with limits or with the volume as the objective.
void require_limits(const DesignProblem& problem, const DesignOptions& options);

/// Displacements that are limited from above and are in the other direction, by more than the
/// limit: in the value of a step below -limit. These limits hold whatever moves, as of a direction
/// that is meant the other way round. None whose opposite is limited, too.
std::vector<std::size_t> find_opposite_displacements(const DesignProblem& problem,
                                                     const std::vector<DesignLimitValue>& values);

/// Whether the optimiser sees a mean of what is limited.
constexpr bool is_of_mean(DesignLimitKind kind) {
  return kind == DesignLimitKind::stress || kind == DesignLimitKind::frequency;
}

/// "limit 2 (stress)", for messages.
std::string name_of_limit(const DesignProblem& problem, std::size_t which);

template<class Exec>
class DesignLimits {
public:
  using Vector = Array<double, Exec>;

  /// A design that was analysed; vectors are [num_elem].
  struct Design {
    int step;
    SimpLaw law;
    Vector density;
    Array<std::uint8_t, Exec> role;
  };

  /// `body`, `analysis` and `frequencies` outlive it. Throws std::invalid_argument for
  /// displacements of components that cannot move, and for mass that is not known.
  DesignLimits(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
               const DesignBody<Exec>& body, const DesignAnalysis<Exec>& analysis,
               const DesignFrequencies<Exec>& frequencies);

  std::size_t count() const { return limits_.size(); }
  const DesignLimit& limit(std::size_t which) const { return limits_[which]; }

  /// The values of all limits, after runs of analysis and frequencies, whose `cases` these are.
  /// Throws DesignBreakdown where one is not finite. Fences.
  std::vector<DesignLimitValue> evaluate(const Exec& exec, const Design& design,
                                         const std::vector<double>& cases) const;

  /// gradient = that of the value of a limit (is_of_mean: of the mean) by physical densities,
  /// after `evaluate` gave `value`. Adds its solves to `solves`. Throws DesignBreakdown. Fences.
  void differentiate(const Exec& exec, const Design& design, std::size_t which,
                     const DesignLimitValue& value, const Vector& gradient,
                     std::vector<SolveResult>& solves);

  /// Makes the adjoints that `differentiate` solved for those that the next ones start from, or
  /// leaves the ones before; bodies that solve in place start from zero after `revert`.
  void accept() { std::swap(adjoint_, trial_); }
  void revert(const Exec& exec);

  /// [num_nodes, 3] each, to be written to for a resumed run.
  const std::vector<Vector>& adjoints() const { return adjoint_; }

private:
  void evaluate_stress(const Exec& exec, const Design& design, const DesignLimit& limit,
                       DesignLimitValue& value) const;
  void differentiate_stress(const Exec& exec, const Design& design, std::size_t which,
                            const DesignLimitValue& value, const Vector& gradient,
                            std::vector<SolveResult>& solves);
  /// Calls visit(k) for the load cases of a limit of stresses.
  template<class Visit>
  void for_cases(const DesignLimit& limit, const Visit& visit) const;
  StressedElements<Exec> stresses(const Exec& exec, const Design& design, std::size_t k) const;
  Vector solve(const Exec& exec, const Design& design, std::size_t which, std::size_t adjoint,
               const DesignForce<Exec>& force, std::vector<SolveResult>& solves);

  const DesignBody<Exec>& body_;
  const DesignAnalysis<Exec>& analysis_;
  const DesignFrequencies<Exec>& frequencies_;
  std::vector<DesignLimit> limits_;
  std::vector<std::string> names_;
  std::vector<DesignForce<Exec>> direction_; ///< of displacements, else empty
  std::vector<std::size_t> first_adjoint_;   ///< of each limit
  std::vector<Vector> adjoint_, trial_;      ///< the same where solved in place
  Vector mass_;                              ///< [num_elem] of solid elements, kg, or empty
  Vector stress_, factor_, explicit_, rhs_;  ///< of limits of stresses, or empty
};

} // namespace ossatura
