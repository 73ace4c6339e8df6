// SPDX-License-Identifier: Apache-2.0
// What voxels do beyond the elastic limit, as StrengthSolver sees it: their forces, one step of the
// iteration to equilibrium, and their state.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/solvers/bone/nonlinear/state.hpp>
#include <ossatura/solvers/bone/solver.hpp>

namespace ossatura {

/// Sums over the voxels of a state of equilibrium.
struct BehaviourSums {
  double elastic_energy = 0; ///< N mm
  double dissipation = 0;    ///< from the state before to this one, N mm
  double num_changed = 0;    ///< voxels that have yielded, or are damaged
  double num_broken = 0;
  double change = 0; ///< sum of plastic strain, or of damage
};

template<class Exec>
class VoxelBehaviour {
public:
  VoxelBehaviour() = default;
  VoxelBehaviour(const VoxelBehaviour&) = delete;
  VoxelBehaviour& operator=(const VoxelBehaviour&) = delete;
  virtual ~VoxelBehaviour() = default;

  /// Before the first forces of a part of a step. Does not fence.
  virtual void begin(const Exec& /*exec*/) {}

  /// force = internal forces at u [3 num_nodes]. Does not fence.
  virtual void find_forces(const Exec& exec, VoxelSolver<Exec>& solver,
                           const Array<double, Exec>& u, const Array<double, Exec>& force) = 0;

  /// The same without a solver, at the last state.
  virtual void find_last_forces(const Exec& exec, const Array<double, Exec>& u,
                                const Array<double, Exec>& force) const = 0;

  /// force = less the internal forces at u. Returns the norm at free components. Fences.
  double find_residual(const Exec& exec, VoxelSolver<Exec>& solver, const Array<double, Exec>& u,
                       const Array<double, Exec>& force) {
    find_forces(exec, solver, u, force);
    axpby(exec, -1.0, force, 0.0, force);
    return free_norm(exec, held_.mask, force);
  }

  /// The part of its residual to which a linear system need be solved: of the first of a step, or
  /// after residuals that fell to `drop` of the one before, and with one that is to become less by
  /// the factor `left` in all.
  virtual double forcing(bool is_first, double drop, double left) const = 0;

  /// Moves u towards equilibrium from the residual `force` of this norm, for which the linear
  /// system is solved to the part `tolerance`; `force` is the residual of the new u then. Returns
  /// its norm, and adds iterations. Fences.
  virtual double improve(const Exec& exec, VoxelSolver<Exec>& solver, double norm, double tolerance,
                         const Array<double, Exec>& u, const Array<double, Exec>& force,
                         int& iterations, const IterationObserver& observe) = 0;

  /// Forgets what a part of a step that failed has left in the solver. Fences.
  virtual void give_up(const Exec& /*exec*/, VoxelSolver<Exec>& /*solver*/) {}

  /// Whether a step begins along the last one; else from the last state, by the displacements.
  virtual bool extrapolates() const = 0;
  virtual int max_iterations() const = 0;

  /// Makes u the last state. `before` is the one before it. Fences.
  virtual BehaviourSums commit(const Exec& exec, const SharedEntries& nodes,
                               VoxelSolver<Exec>& solver, const Array<double, Exec>& before,
                               const Array<double, Exec>& u) = 0;

  /// Of the last load. Fences.
  virtual BehaviourState state(const Exec& exec) const = 0;

  /// Goes on from a state of the same voxels. Throws std::invalid_argument for one of others.
  /// Fences.
  virtual void set_state(const Exec& exec, VoxelSolver<Exec>& solver,
                         const BehaviourState& state) = 0;

  /// At the last state u. Fences.
  virtual VoxelFields<Exec> fields(const Exec& exec, const SharedEntries& nodes,
                                   const Array<double, Exec>& u, double& energy) const = 0;

  /// Frees what the iteration alone needs.
  virtual void release() {}

protected:
  explicit VoxelBehaviour(const Constraints<Exec>& held)
      : held_(held) {}

  Constraints<Exec> held_;
};

} // namespace ossatura
