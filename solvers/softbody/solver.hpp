// SPDX-License-Identifier: Apache-2.0
// SoftSolver steps soft bodies in time by backward Euler with Rayleigh damping, Newton steps,
// preconditioned conjugate gradients, and contact by Lagrange multipliers [1]. The heavy templates
// are instantiated in solver.cpp, for every backend.
//
// [1] Z. Zeng, H. Courtecuisse. Efficient parallelization strategy for real-time FE simulations.
//     arXiv:2306.05893 (2023).
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/solvers/softbody/contact/solver.hpp>
#include <ossatura/solvers/softbody/options.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

/// The record of a step. Times are of the host, s; on devices a phase's time includes waiting for
/// it only where `time_phases` asks for it.
struct SoftStep {
  double time = 0;               ///< s, after the step
  bool converged = false;        ///< all of the three below
  bool systems_converged = true; ///< in the true residual
  bool newton_converged = true;
  int newton_iterations = 0;
  int iterations = 0;     ///< of conjugate gradients, over all systems of the step
  double residual = 0;    ///< relative, true, of the last system; with contact |b + F - A a| over
                          ///< |b| + |F|, F the contact forces
  int staleness = 0;      ///< systems solved since the factor in use was made, at most
  bool refreshed = false; ///< a new factor came into use
  int halvings = 0;       ///< 2^halvings sub-steps were taken: the matrix was not positive
  int inverted = 0;       ///< elements inside out
  int contacts = 0;
  int contact_rounds = 0, contact_sweeps = 0;
  // Measured at the positions after the step; the worst of its parts
  double penetration = 0;        ///< m, the deepest
  double complementarity = 0;    ///< m: the largest of min(gap, what the force moves its pair)
  double friction = 0;           ///< m: sliding that friction should stop, or turn against
  double contact_residual = 0;   ///< the larger of these two, relative to the free motion
  double contact_depth = 0;      ///< the penetration, relative to the free motion
  bool contact_converged = true; ///< that met its tolerance, in every part of the step
  double collect = 0, compress = 0, factor = 0, solve = 0, contact = 0, total = 0;
  double apply = 0; ///< of `solve`, in the preconditioner (measured apart, times iterations)
};

struct SoftEnergy {
  double kinetic = 0, elastic = 0,
         potential = 0; ///< J; potential of gravity and the present loads, 0 at the start
};

/// All that the steps to come depend on. Host memory; "points" are of all objects one after the
/// other.
struct SoftState {
  std::vector<double> positions, velocities; ///< [points, 3]
  double time = 0;
  ContactMemory contact; ///< of points, not nodes

  // Of the factor that is used again; not for FactorRefresh::background
  std::vector<double> factor_positions, factor_velocities; ///< [points, 3], of its matrix; or empty
  double factor_step = 0;                                  ///< s, likewise
  int staleness = 0;
  std::vector<double> inverse_positions, inverse_velocities; ///< likewise of contact's own inverse
  bool inverse_is_current = false;                           ///< it is of the factor in use
  int last_iterations = 0, rounds_lost = 0, planned = 0, planned_corrections = 0;
};

/// Derivatives of an objective by positions and velocities, [points, 3] each.
template<class Exec>
struct SoftWeights {
  Array<double, Exec> positions, velocities;
};

/// A step that was taken, [points, 3] each.
template<class Exec>
struct SoftRecord {
  Array<double, Exec> start_velocities; ///< before it
  Array<double, Exec> positions, velocities;
};

/// Derivatives of an objective by the parameters of an object; 0 for those that its law, or its
/// mass, does not have.
struct SoftObjectGradient {
  double young = 0, poisson = 0, c1 = 0, c2 = 0, bulk = 0; ///< as in SoftMaterial
  double density = 0;                                      ///< with its weight
};

struct SoftStepGradient {
  std::vector<SoftObjectGradient> objects;
  int iterations = 0;     ///< of conjugate gradients
  double residual = 0;    ///< of the adjoint system, relative and true
  bool converged = false; ///< it is at most ten times the tolerance
};

/// Raised when no step can be taken: a matrix that stays singular or indefinite, numbers that are
/// no longer finite. The state is that before the step.
class SoftBreakdown : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Set up once for a scene.
template<class Exec>
class SoftSolver {
public:
  /// Copies what it needs of the scene. Throws std::invalid_argument naming the object for entries
  /// out of range, points without element, a singular system (no mass and nothing fixed);
  /// UsageError for a product that the build has not.
  SoftSolver(const Exec& exec, const SoftScene& scene, const SoftOptions& options);
  ~SoftSolver();

  /// Takes one step; with `time_phases` it waits for each phase, to time it. Throws SoftBreakdown.
  /// Fences.
  SoftStep step(const Exec& exec, bool time_phases = false);

  /// [points of all objects one after the other, 3]. Fence.
  std::vector<double> positions(const Exec& exec) const;
  std::vector<double> velocities(const Exec& exec) const;
  /// The same into arrays of the backend. Fence.
  void positions(const Exec& exec, const Array<double, Exec>& out) const;
  void velocities(const Exec& exec, const Array<double, Exec>& out) const;
  /// All of the state, and a run that goes on from it: with `sync` and `every:K` in the same
  /// bits, on equal backends. Throws std::invalid_argument for another scene's. Fence.
  SoftState state(const Exec& exec) const;
  void set_state(const Exec& exec, const SoftState& state);
  /// Sets both and the time, and forgets all else; the next system gets a fresh factor. Fences.
  void set_state(const Exec& exec, const std::vector<double>& positions,
                 const std::vector<double>& velocities, double time);
  void set_state(const Exec& exec, const Array<double, Exec>& positions,
                 const Array<double, Exec>& velocities, double time);
  /// Other loads [points, 3] in N from the next step on, beside gravity; those of fixed points do
  /// not count. They are not part of the state. Throws std::invalid_argument for another length and
  /// numbers that are not finite. Fences.
  void set_loads(const Exec& exec, const std::vector<double>& load);
  void set_loads(const Exec& exec, const Array<double, Exec>& load);
  /// Fixed points move with velocities [points, 3] in m/s from the next step on, each step by its
  /// length times these; those of other points do not count. Throws likewise. Fences.
  void set_fixed_velocities(const Exec& exec, const std::vector<double>& velocity);
  void set_fixed_velocities(const Exec& exec, const Array<double, Exec>& velocity);
  /// Other moduli of an object from the next step on, whose law and thickness stay. Throws
  /// std::invalid_argument for values out of range. Fences.
  void set_moduli(const Exec& exec, std::size_t object, const SoftMaterial& material);
  SoftEnergy energy(const Exec& exec) const; ///< Fences.

  /// Replaces the derivatives of an objective by what a step ended with (`weights`) by those by
  /// what it began with, of fixed points by their velocities, and sets those by the loads [points,
  /// 3] during it, 0 at fixed points. Exact for the present moduli where `record` is a step of
  /// options.time_step that Newton's iteration took to its tolerance in one piece (converged, no
  /// halvings), by one linear system (several with rayleigh_stiffness). Arrays are no two the same.
  /// The state stays; the next step gets a fresh factor. Throws UsageError, naming the object, for
  /// laws that are not hyperelastic, for one Newton iteration, for scenes with contact, whose
  /// forces are not smooth, and for elements of Mooney-Rivlin inside out; std::invalid_argument for
  /// other lengths and numbers that are not finite. Derivatives are then as they were. Fences. See
  /// step_gradients.hpp.
  SoftStepGradient pull_back(const Exec& exec, const SoftRecord<Exec>& record,
                             const SoftWeights<Exec>& weights, const Array<double, Exec>& by_loads);
  double time() const;

  std::int64_t num_nodes() const;
  std::int64_t num_elem() const;
  std::int64_t num_blocks() const;          ///< of A
  std::int64_t num_factor_entries() const;  ///< of L, scalars
  std::int64_t num_inverse_entries() const; ///< of W, scalars; 0 where it is not made
  int num_inverse_bands() const;            ///< 0 where it is not made for the preconditioner
  FactorApply apply() const;                ///< not automatic
  FactorPlace place() const;                ///< not automatic

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
