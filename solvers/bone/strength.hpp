// SPDX-License-Identifier: Apache-2.0
// StrengthSolver loads a specimen beyond its yield: steps of a prescribed displacement. Plastic
// steps are solved by Newton's method with the consistent tangent, whose systems are solved by
// conjugate gradients preconditioned by the multigrid of the elastic matrix; steps of damage by the
// secant method, with the multigrid of the moduli that are left. The laws are in
// kernels/bone/plasticity/return_mapping.hpp and kernels/bone/damage/law.hpp.
#pragma once

#include <ossatura/solvers/bone/nonlinear/state.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/yield_law.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace ossatura {

struct StrengthOptions {
  YieldLaw law;
  double tolerance = 1e-6; ///< of the residual, relative as that of a linear solve with the step's
                           ///< displacements is
  int max_newton = 30;     ///< iterations of a step
  int max_secant = 500;    ///< of a step with damage
  int max_halvings = 6;    ///< of a step that does not converge
  double linear_tolerance = 0; ///< of the systems; 0: as the residual asks for
  /// A step that ends early leaves the state it began from to the last bit, so that whoever goes on
  /// from there has the bits of a run that never stopped. 24 bytes a node; none with damage.
  bool keeps_state = false;
};

/// A state of equilibrium.
struct StrengthStep {
  double factor = 0; ///< of the prescribed displacements
  std::optional<TestResponse> response;
  double external_work = 0, elastic_energy = 0; ///< N mm, since the start
  double dissipation = 0;      ///< plastic work or energy that damage takes, N mm, since the start
  double changed_fraction = 0; ///< of the voxels, those that have yielded or are damaged
  double broken_fraction = 0;  ///< of the voxels, those that have lost their stiffness
  double mean_change = 0;      ///< plastic strain or damage, over all voxels
  int newton_iterations = 0;   ///< of the secant method with damage
  int cg_iterations = 0, num_halvings = 0;
  double residual = 0;           ///< relative, at the end
  std::vector<double> residuals; ///< at the start and after each iteration of the last part
  bool converged = false;

  /// Of work done and of work accounted for, relative to the former.
  double energy_error() const;
};

/// A state of equilibrium to go on from, on the host.
struct StrengthState {
  double reference = 0;       ///< of residuals at factor 1, N
  double last_change = 0;     ///< of the factor
  double reaction_work = 0;   ///< of the reactions for displacements of factor 1, N mm
  TestResponse elastic;       ///< to the whole displacements
  StrengthStep present;       ///< converged
  std::vector<double> u;      ///< [3 num_nodes] mm
  std::vector<double> before; ///< of the step before it; empty with damage
  BehaviourState voxels;
};

/// Called after each iteration of a linear system.
using StrengthObserver = IterationObserver;

template<class Exec>
class StrengthSolver {
public:
  /// For displacements as `load` prescribes them, without forces; `load.u` becomes that of the
  /// present step. The problem is not cut. Throws std::invalid_argument otherwise. Voxels stay
  /// elastic, and are not counted in fractions and means, whose lowest corner `elastic` [num_nodes]
  /// marks: caps and pads; none where it is empty. Fences.
  StrengthSolver(const Exec& exec, const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load,
                 const StrengthOptions& options,
                 const VoxelSolverOptions& solver = fastest_voxel_options<Exec>(),
                 const Array<std::uint8_t, Exec>& elastic = {});
  ~StrengthSolver();

  /// Solves for the whole displacements without yield, as first guess and as measure of residuals:
  /// to be called first, or set_state(), and to converge. Fences.
  SolveResult solve_elastic(const Exec& exec, const IterationObserver& observe = {});

  /// The elastic answer to the whole displacements.
  const std::optional<TestResponse>& elastic_response() const;

  /// Goes on from the present step to `factor` of the displacements, in parts where it must. Where
  /// that fails, the result has not converged, and the present step is the last part that did.
  /// Where the observer throws, it is the step before. Fences.
  StrengthStep advance(const Exec& exec, double factor, const StrengthObserver& observe = {});

  /// The last state of equilibrium.
  const StrengthStep& present() const;

  /// The present step, of which there is one, and whose test has a response. Fences.
  StrengthState state(const Exec& exec) const;

  /// Goes on from the state of a solver with the same voxels and law, with the bits that it would
  /// have had, where the displacements are the same, too. Those of the state may be a multiple of
  /// them: factors are of the present ones then. Returns by what the state's factors are to be
  /// multiplied: 1 where they are the same. Throws std::invalid_argument for a state of another
  /// model or other displacements. Fences.
  double set_state(const Exec& exec, const StrengthState& state);

  /// Reactions, response, fields and the plastic strain of the present step. Fences.
  BoneSolution<Exec> evaluate(const Exec& exec) const;

  const VoxelSolver<Exec>& linear_solver() const;

  /// Frees what only further steps need: there are none after this.
  void release_linear_solver();

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// A point of the curve: of force over displacement (mm, N), or of moment over angle (radians,
/// N mm), then without a strain.
struct StrengthPoint {
  double strain = 0, displacement = 0, force = 0;
};

/// What a study takes from the curve.
struct StrengthFindings {
  /// The curve meets the elastic line, shifted by the offset; none where it does not, or where
  /// steps do not tell at what force.
  std::optional<StrengthPoint> yield;
  /// Forces that the yield lies between, the smaller first, of a curve that bends towards its axis
  /// alone: that of the chord across the meeting, and that of the chord behind it, drawn out to it.
  /// Where that one falls or is not there, and the curve has hardly bent before: that of the next
  /// step. Zeros where they do not meet.
  std::array<double, 2> yield_between{0, 0};
  /// Whether these are too far apart to take the chord for the curve.
  bool is_yield_coarse() const { return yield_between[1] > 1.02 * yield_between[0]; }
  StrengthPoint ultimate; ///< largest force
  /// Of a load that drops within a step, so that it may have been larger there: forces that the
  /// ultimate lies between, the smaller first. That of its step, and the chord before it, drawn out
  /// to the next one, or where voxels broke in the first step, what that bears without damage.
  /// Zeros where it does not drop.
  std::array<double, 2> ultimate_between{0, 0};
  bool is_ultimate_coarse() const { return ultimate_between[1] > 1.02 * ultimate_between[0]; }
  /// The ultimate is the last step, whose slope is above 0.5 % of the elastic one: of yield
  /// surfaces in tension hardening may be less than 1 %.
  bool still_rises = false;
};

/// Of steps with a force, or with a moment, which have no yield by offset; nothing where there are
/// none. `elastic` is the answer without yield. Yield between steps is interpolated linearly,
/// unless its bounds are too far apart: then the curve has its bend between these steps, and the
/// chord behind it is drawn out, where there is one.
std::optional<StrengthFindings> find_strength(const TestResponse& elastic,
                                              const std::vector<StrengthStep>& steps,
                                              double offset = 0.002);

} // namespace ossatura
