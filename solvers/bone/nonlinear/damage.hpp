// SPDX-License-Identifier: Apache-2.0
// Damage by the secant method: a step solves for the moduli that voxels have at the present
// displacements, by the multigrid of these moduli, and takes those of the answer. Each system is
// one of linear elasticity, symmetric and positive definite, where the tangent of a softening law
// is neither. It converges linearly where the body is stable under prescribed displacements; where
// it would snap back, it goes on to the next state that is. Where voxels break in turns on the way
// there it may go in circles: after `patience` steps damage does not heal between steps either,
// as it would not in a body that breaks, and moduli can only fall.
//
// The multigrid is that of the last state of equilibrium. Moduli fall from there on, so that its
// bounds of spectra hold; products have the present moduli. Once damage does not heal within a step
// any more, it is made anew when older moduli have cost more iterations than that.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/damage/voxels.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/solvers/bone/nonlinear/behaviour.hpp>

#include <algorithm>
#include <limits>

namespace ossatura {

template<class Exec>
class DamageBehaviour final : public VoxelBehaviour<Exec> {
public:
  /// The solver that is given to it has the moduli `voxels.damaged`, and is renewable.
  DamageBehaviour(const VoxelProblem<Exec>& problem, const DamagedVoxels<Exec>& voxels,
                  double tolerance, int max_secant)
      : VoxelBehaviour<Exec>(problem.held)
      , voxels_(voxels)
      , tolerance_(tolerance)
      , max_secant_(max_secant) {}

  void find_forces(const Exec& exec, VoxelSolver<Exec>& solver, const Array<double, Exec>& u,
                   const Array<double, Exec>& force) override {
    soften_voxels(exec, voxels_, u);
    solver.apply(exec, u, force);
  }

  void find_last_forces(const Exec& exec, const Array<double, Exec>& u,
                        const Array<double, Exec>& force) const override {
    soften_voxels(exec, at_last_load(voxels_), u);
    GatherOperator<Exec>(exec, voxels_.grid, voxels_.damaged, voxels_.edge).apply(exec, u, force);
  }

  /// The residual of new moduli is about as large as the one before, however well that was solved.
  /// Near the end less is left of it, so that a state whose load has dropped is not all residual.
  double forcing(bool /*is_first*/, double /*drop*/, double left) const override {
    return left > 10 ? 0.3 : 0.1;
  }

  double improve(const Exec& exec, VoxelSolver<Exec>& solver, double norm, double tolerance,
                 const Array<double, Exec>& u, const Array<double, Exec>& force, int& iterations,
                 const IterationObserver& observe) override {
    // Of the solver's own tolerance, this reference makes the one that is asked for.
    const SolveResult solved = solver.solve(exec, {}, u, observe, norm * tolerance / tolerance_);
    iterations += solved.iterations;
    if (solved.fell_back) { // by a smoother of the present moduli, and damage may heal
      keep_damage(exec, voxels_);
      solver.set_up_again(exec);
      fell_back_ = true;
    } else if (voxels_.irreversible && !fell_back_)
      renew_where_it_pays(exec, solver, solved.iterations);
    if (++num_secants_ == patience)
      voxels_.irreversible = true;
    return this->find_residual(exec, solver, u, force);
  }

  void begin(const Exec& exec) override {
    num_secants_ = 0;
    fell_back_ = false;
    forget_iterations();
    voxels_.irreversible = false;
    Kokkos::deep_copy(exec, voxels_.trial, voxels_.most);
  }

  void give_up(const Exec& exec, VoxelSolver<Exec>& solver) override { renew(exec, solver); }

  bool extrapolates() const override { return false; }
  int max_iterations() const override { return max_secant_; }

  BehaviourSums commit(const Exec& exec, const SharedEntries& nodes, VoxelSolver<Exec>& solver,
                       const Array<double, Exec>& before, const Array<double, Exec>& u) override {
    const DamageSums sums = commit_damage(exec, nodes, voxels_, before, u);
    if (sums.num_worse > 0 || is_of_step_)
      renew(exec, solver);
    return {sums.elastic_energy, sums.dissipation, sums.num_damaged, sums.num_broken, sums.damage};
  }

  BehaviourState state(const Exec& exec) const override {
    return {{}, download(exec, voxels_.most)};
  }

  void set_state(const Exec& exec, VoxelSolver<Exec>& solver,
                 const BehaviourState& state) override {
    OSSATURA_REQUIRE(state.flag.empty() && state.value.size() == voxels_.most.extent(0),
                     state.value.size()
                         << " loads of voxels at " << voxels_.most.extent(0) << " nodes");
    upload_to(exec, state.value, voxels_.most);
    renew(exec, solver);
    fence(exec, "ossatura::damage_state");
  }

  VoxelFields<Exec> fields(const Exec& exec, const SharedEntries& nodes,
                           const Array<double, Exec>& u, double& energy) const override {
    return compute_damage_fields(exec, nodes, voxels_, u, energy);
  }

private:
  /// Secant steps after which damage does not heal within a load step.
  static constexpr int patience = 60;
  /// Iterations of conjugate gradients, beyond the fewest that a solve took.
  static constexpr int worth_of_hierarchy = 30;

  /// The hierarchy of what the last load left, by what is kept of it alone: a run that goes on from
  /// a state has the bits of one that never stopped.
  void renew(const Exec& exec, VoxelSolver<Exec>& solver) {
    keep_damage(exec, voxels_);
    solver.renew(exec);
    is_of_step_ = false;
  }

  /// The hierarchy of the moduli that a solve of this many iterations had, of which none grows
  /// again within the step.
  void renew_where_it_pays(const Exec& exec, VoxelSolver<Exec>& solver, int iterations) {
    fewest_ = std::min(fewest_, iterations);
    lost_ += iterations - fewest_;
    if (lost_ <= worth_of_hierarchy)
      return;
    solver.renew(exec);
    is_of_step_ = true;
    forget_iterations();
  }
  void forget_iterations() {
    fewest_ = std::numeric_limits<int>::max();
    lost_ = 0;
  }

  DamagedVoxels<Exec> voxels_;
  double tolerance_; ///< of the solver
  int max_secant_;
  int num_secants_ = 0;       ///< of the present step
  bool is_of_step_ = false;   ///< the hierarchy, not of the last state
  bool fell_back_ = false;    ///< in the present step, where a renewal would try what failed
  int fewest_ = 0, lost_ = 0; ///< iterations with this hierarchy since damage does not heal
};

} // namespace ossatura
