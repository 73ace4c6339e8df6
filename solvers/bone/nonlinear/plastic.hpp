// SPDX-License-Identifier: Apache-2.0
// Plasticity by Newton's method: systems have the consistent tangent, and the multigrid of the
// elastic matrix preconditions them.
#pragma once

#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>
#include <ossatura/solvers/bone/nonlinear/behaviour.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

/// So much of the elastic matrix stays in the tangent: voxels at the apex of a cone, and bodies
/// that flow without hardening, have none of their own.
constexpr double elastic_part = 1e-6;

template<class Exec>
struct TangentCorrection final : VoxelCorrection<Exec> {
  const PlasticVoxels<Exec>& voxels;
  const PlasticState<Exec>& state;
  const Array<double, Exec>& u;

  TangentCorrection(const PlasticVoxels<Exec>& voxels_of, const PlasticState<Exec>& state_of,
                    const Array<double, Exec>& u_of)
      : voxels(voxels_of)
      , state(state_of)
      , u(u_of) {}
  void add(const Exec& exec, const Array<double, Exec>& x,
           const Array<double, Exec>& y) const override {
    subtract_plastic_tangent(exec, voxels, state, u, 1 - elastic_part, x, y);
  }
  void add(const Exec& exec, const Array<float, Exec>& x,
           const Array<float, Exec>& y) const override {
    subtract_plastic_tangent(exec, voxels, state, u, 1 - elastic_part, x, y);
  }
};

template<class Exec>
class PlasticBehaviour final : public VoxelBehaviour<Exec> {
public:
  /// `elastic`: voxels that never yield, as make_plastic_state() takes them.
  PlasticBehaviour(const Exec& exec, const VoxelProblem<Exec>& problem, const YieldCone& cone,
                   const CgOptions& cg, double linear_tolerance, int max_newton,
                   const Array<std::uint8_t, Exec>& elastic)
      : VoxelBehaviour<Exec>(problem.held)
      , voxels_{problem.grid, problem.lame, problem.edge, cone,
                make_voxel_colours(exec, problem.grid)}
      , state_(make_plastic_state(exec, problem.grid, elastic))
      , delta_(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::delta"))
      , cg_(cg)
      , linear_tolerance_(linear_tolerance)
      , max_newton_(max_newton) {
    cg_.reference = 0;
  }

  void find_forces(const Exec& exec, VoxelSolver<Exec>& solver, const Array<double, Exec>& u,
                   const Array<double, Exec>& force) override {
    solver.apply(exec, u, force);
    subtract_plastic_forces(exec, voxels_, state_, u, force);
  }

  void find_last_forces(const Exec& exec, const Array<double, Exec>& u,
                        const Array<double, Exec>& force) const override {
    GatherOperator<Exec>(exec, voxels_.grid, voxels_.lame, voxels_.edge).apply(exec, u, force);
    subtract_plastic_forces(exec, voxels_, state_, u, force);
  }

  /// As quadratic convergence can use it (Eisenstat and Walker, doi:10.1137/0917003).
  double forcing(bool is_first, double drop, double /*left*/) const override {
    return is_first ? 0.01 : std::min(0.1, drop * drop);
  }

  double improve(const Exec& exec, VoxelSolver<Exec>& solver, double /*norm*/, double tolerance,
                 const Array<double, Exec>& u, const Array<double, Exec>& force, int& iterations,
                 const IterationObserver& observe) override {
    Kokkos::deep_copy(exec, delta_, 0.0);
    CgOptions linear = cg_;
    linear.tolerance = linear_tolerance_ > 0 ? linear_tolerance_ : tolerance;
    const TangentCorrection<Exec> tangent(voxels_, state_, u);
    iterations += solver.solve_corrected(exec, linear, tangent, force, delta_, observe).iterations;
    return search(exec, solver, u, force);
  }

  bool extrapolates() const override { return true; }
  int max_iterations() const override { return max_newton_; }

  BehaviourSums commit(const Exec& exec, const SharedEntries& nodes, VoxelSolver<Exec>& /*solver*/,
                       const Array<double, Exec>& before, const Array<double, Exec>& u) override {
    const PlasticSums sums = commit_plastic(exec, nodes, voxels_, state_, before, u);
    return {sums.elastic_energy, sums.work, sums.num_plastic, 0,
            (1 - voxels_.cone.pressure) * sums.multiplier};
  }

  BehaviourState state(const Exec& exec) const override {
    BehaviourState listed;
    listed.flag = list_plastic_state(exec, state_, listed.value);
    return listed;
  }

  void set_state(const Exec& exec, VoxelSolver<Exec>& /*solver*/,
                 const BehaviourState& state) override {
    OSSATURA_REQUIRE(set_plastic_state(exec, state.flag, state.value, state_),
                     state.flag.size()
                         << " flags and " << state.value.size() << " numbers for voxels at "
                         << voxels_.grid.num_nodes << " nodes");
  }

  VoxelFields<Exec> fields(const Exec& exec, const SharedEntries& nodes,
                           const Array<double, Exec>& u, double& energy) const override {
    return compute_plastic_fields(exec, nodes, voxels_, state_, u, energy);
  }

  void release() override { delta_ = {}; }

private:
  /// u += s delta with the part s of the step at which the potential, which is convex, is near its
  /// minimum along it. Returns the norm of the residual there.
  double search(const Exec& exec, VoxelSolver<Exec>& solver, const Array<double, Exec>& u,
                const Array<double, Exec>& force) {
    const double slope = dot(exec, delta_, force);
    double part = 1;
    axpby(exec, 1.0, delta_, 1.0, u);
    double norm = this->find_residual(exec, solver, u, force);
    for (int trial = 0; trial < 8; ++trial) {
      const double now = dot(exec, delta_, force);
      if (now >= -0.8 * slope || !std::isfinite(now))
        break;
      const double next = part * std::clamp(slope / (slope - now), 0.1, 0.9);
      axpby(exec, next - part, delta_, 1.0, u);
      part = next;
      norm = this->find_residual(exec, solver, u, force);
    }
    return norm;
  }

  PlasticVoxels<Exec> voxels_;
  PlasticState<Exec> state_;
  Array<double, Exec> delta_; ///< mm, a step of Newton's iteration
  CgOptions cg_;
  double linear_tolerance_;
  int max_newton_;
};

} // namespace ossatura
