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
// bounds of spectra hold; products have the present moduli.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/damage/voxels.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/solvers/bone/nonlinear/behaviour.hpp>

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

  double improve(const Exec& exec, VoxelSolver<Exec>& solver, double norm, double tolerance,
                 const Array<double, Exec>& u, const Array<double, Exec>& force, int& iterations,
                 const IterationObserver& observe) override {
    // Of the solver's own tolerance, this reference makes the one that is asked for.
    const SolveResult solved = solver.solve(exec, {}, u, observe, norm * tolerance / tolerance_);
    iterations += solved.iterations;
    if (solved.fell_back) { // by a smoother of the present moduli, and damage may heal
      keep_damage(exec, voxels_);
      solver.set_up_again(exec);
    }
    if (++num_secants_ == patience)
      voxels_.irreversible = true;
    return this->find_residual(exec, solver, u, force);
  }

  void begin(const Exec& exec) override {
    num_secants_ = 0;
    voxels_.irreversible = false;
    Kokkos::deep_copy(exec, voxels_.trial, voxels_.most);
  }

  void give_up(const Exec& exec, VoxelSolver<Exec>& solver) override { renew(exec, solver); }

  bool extrapolates() const override { return false; }
  int max_iterations() const override { return max_secant_; }

  BehaviourSums commit(const Exec& exec, const SharedEntries& nodes, VoxelSolver<Exec>& solver,
                       const Array<double, Exec>& before, const Array<double, Exec>& u) override {
    const DamageSums sums = commit_damage(exec, nodes, voxels_, before, u);
    if (sums.num_worse > 0)
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

  /// The hierarchy of what the last load left, by what is kept of it alone: a run that goes on from
  /// a state has the bits of one that never stopped.
  void renew(const Exec& exec, VoxelSolver<Exec>& solver) {
    keep_damage(exec, voxels_);
    solver.renew(exec);
  }

  DamagedVoxels<Exec> voxels_;
  double tolerance_; ///< of the solver
  int max_secant_;
  int num_secants_ = 0; ///< of the present step
};

} // namespace ossatura
