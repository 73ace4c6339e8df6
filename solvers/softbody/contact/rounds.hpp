// SPDX-License-Identifier: Apache-2.0
// Contact rounds solve the contact of a step: forces for the free motion by a compliance that may
// be some steps old, and the correction of the motion by the matrix of the step, repeated until
// contact and balance are measured to meet their tolerances.
#pragma once

#include <ossatura/solvers/softbody/contact/compliance.hpp>
#include <ossatura/solvers/softbody/system_solver.hpp>

#include <memory>
#include <vector>

namespace ossatura {

/// Positions and velocities of a step from `x`: those without contact come in `x_new`, `v_new`, and
/// those with it take their place.
template<class Exec>
struct ContactMotion {
  Array<double, Exec> x, x_new, v_new;
  Array<double, Exec> matrix_at; ///< positions that the matrix is of
  double free_norm = 0; ///< of the right-hand side of the last free system, whose solution is cg.x
};

template<class Exec>
class ContactRounds {
public:
  using Vector = Array<double, Exec>;

  /// Keeps `systems`, whose preconditioner is a factor.
  ContactRounds(const Exec& exec, const SoftScene& scene, SoftSystems<Exec>& systems);

  /// False where no step h can be taken: a matrix that is not positive definite, numbers that are
  /// not finite. Throws SoftBreakdown where bodies are through what they meet within a step, and
  /// so many nodes with them that sweeps would take hours. Fences.
  bool resolve(const Exec& exec, double h, const ContactMotion<Exec>& motion, SoftStep& report);

  /// Of the last resolve(): whether there were pairs, and then the forces on nodes, and what they
  /// change of the free system's solution, [num_nodes, 3].
  bool presses() const { return presses_; }
  const Vector& force() const { return force_; }
  const Vector& change() const { return change_; }

  /// Whether a solve that was tried with a stale factor tells that the step costs more than a new
  /// one and the rest with it. Only on cores, and where there was contact in the last step:
  bool tries_stale_factor() const;
  bool is_slower_than_factor(const SolveResult& tried) const;

  /// A factor of this step is worth more than the rounds that the old one lost.
  bool wants_factor() const { return wants_factor_; }
  /// That wish was met, or the factor is of another step size: what was known of both goes.
  void forget_factor();

  /// Of contact, with nodes in the solver's numbers.
  ContactMemory memory(const Exec& exec) const { return contact_.memory(exec); }
  void recall(const Exec& exec, const ContactMemory& memory) { contact_.recall(exec, memory); }

  // The rest of the state that steps to come depend on
  int planned() const { return correction_.planned(); }
  void plan(int iterations) { correction_.plan(iterations); }
  int rounds_lost() const { return rounds_lost_; }
  void lose_rounds(int lost);
  bool has_inverse() const { return inverse_ && inverse_factor_ >= 0; } ///< of its own
  bool inverse_is_current() const { return inverse_factor_ == systems_.by_factor->number(); }
  const Vector& inverse_at() const { return inverse_at_; }             ///< positions that it is of
  const Vector& inverse_velocity() const { return inverse_velocity_; } ///< likewise
  bool keeps_inverse() const { return bool(inverse_); }
  void form_inverse(const Exec& exec);
  std::int64_t num_inverse_entries() const {
    return inverse_ ? inverse_->num_inverse_entries() : 0;
  }

private:
  void refuse_endless(const Exec& exec, const ContactMotion<Exec>& motion, int num_pairs) const;
  double balance(const Exec& exec);
  bool compliance_is_exact() const;
  template<class Use>
  auto with_compliance(const Exec& exec, const Use& use);
  ContactResult solve(const Exec& exec, double scale, const Vector& x);
  void renew(const Exec& exec, double scale);

  SoftSystems<Exec>& systems_;
  ContactSolver<Exec> contact_;
  ResidentSolve<Exec> correction_;
  /// On cores: of the factor in use, however it is applied.
  std::unique_ptr<NodeCompliance<Exec>> nodes_;
  int nodes_factor_ = -1;   ///< number of the factor that they are of
  double factor_worth_ = 0; ///< iterations that cost as much as a factor
  /// On devices, if `apply` has none of one band. To form it takes longer than some rounds of
  /// contact more: it is kept when the factor is made anew, until the rounds say that it is too
  /// old.
  std::unique_ptr<FactorPreconditioner<Exec>> inverse_;
  int inverse_factor_ = -1;              ///< number of the factor that it is of; -1: of none
  Vector inverse_at_, inverse_velocity_; ///< positions and velocities that it is of
  Vector made_at_, warp_;                ///< rotations of nodes, as of FactorRefreshing
  double longest_body_ = 0;              ///< m, the side of its box at the start
  int rounds_lost_ = 0;                  ///< to its age, or that of the factor
  bool wants_factor_ = false, presses_ = false;
  Vector force_, free_motion_, free_velocity_, free_residual_, change_;
};

} // namespace ossatura
