// SPDX-License-Identifier: Apache-2.0
// DesignOptimizer runs topology optimisation step by step, with all arrays in the memory of the
// backend. The class is instantiated in optimizer.cpp, for every backend; densities.hpp and
// analysis.hpp have its parts.
//
// Compliant mechanisms [1] maximise the displacement of an output port against a spring under given
// input forces; their gradient takes one more solve, for a unit force at the output. Of designs
// with the largest lowest frequency the objective is that frequency, and its gradient that of a
// mean of the lowest few (frequencies/frequencies.hpp).
//
// [1] O. Sigmund. On the design of compliant mechanisms using topology optimization. Mech. Struct.
//     Mach. 25 (1997) 493-524, doi:10.1080/08905459708945415.
#pragma once

#include <ossatura/solvers/topopt/bodies/body.hpp>
#include <ossatura/solvers/topopt/bound/options.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ossatura {

/// A solve that did not reach its tolerance, or numbers that are no longer finite: the state is
/// that before the step.
struct DesignBreakdown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The remedy for numbers that are not finite, for the end of a message.
inline constexpr const char* finite_remedy =
    ": double precision, or see whether forces, lengths and moduli are in their units";

/// What a design has of a DesignLimit (limits/limits.hpp).
struct DesignLimitValue {
  double value = 0; ///< in the unit of the limit; of stresses the largest relaxed one
  double excess =
      0;            ///< value / limit - 1, or 1 - value / limit of one from below: > 0 is beyond it
  double mean = 0;  ///< of stresses their p-mean, Pa; of frequencies that of the lowest few, Hz
  double solid = 0; ///< of stresses alone: the largest one of solid material where rho > 0.5, Pa
  double power_sum = 0, stressed_volume = 0; ///< of the mean

  bool holds() const { return excess <= limit_tolerance; } // NaN does not
};

/// One step: the design was analysed, then changed.
struct DesignStep {
  int number = 0; ///< from 1
  /// Of the design at the start of the step, of a robust one of its eroded design; a volume is a
  /// fraction.
  double objective = 0;
  /// f . u of each load case, less the work that its displacements take (analysis.hpp);
  /// mechanisms: output displacement.
  std::vector<double> cases;
  double volume = 0; ///< fraction, of the physical densities that were analysed
  double grey = 0;   ///< mean of 4 rho (1 - rho) over the volume that is free (Mnd)
  double change = 0; ///< largest change of a variable by the step
  double penalty = 0, sharpness = 0;
  std::vector<DesignLimitValue> limits; ///< of DesignProblem::limits
  std::vector<SolveResult> solves;      ///< adjoints of limits, and frequencies, among them
  /// Hz, the lowest first, and their residuals |K x - lambda M x| / lambda |M x|; where they were
  /// found.
  std::vector<double> frequencies, frequency_residuals;
  /// With mirrors, of each of these: bit m set: its mode is antisymmetric about mirror m.
  std::vector<unsigned> frequency_families;
  std::string frequency_failure; ///< why there are none that were asked for; else empty
  double seconds_prepare = 0, seconds_solve = 0, seconds_gradient = 0, seconds_update = 0;
};

/// All that the steps to come depend on; equal states give bitwise equal steps where the solver is
/// deterministic.
struct DesignState {
  int steps = 0;                      ///< done
  int first_step = 0;                 ///< of these, on coarser meshes (start_from)
  std::vector<double> x;              ///< [num_elem] variables
  std::vector<double> x_old, x_older; ///< those of the last two steps; with OC empty, as the next
  std::vector<double> low, high;      ///< [num_elem] asymptotes of MMA
  double scale = 0;                   ///< of the objective in MMA; 0 before the first step
  double penalty = 0, sharpness = 0;
  double change = 1;
  /// [num_nodes, 3] of each solve of a step, then modes that those of the next one start from.
  std::vector<std::vector<double>> displacement;
  std::vector<double> limit_scale; ///< factor of each limit's mean (is_of_mean); 0: none yet
  std::vector<double> objectives;  ///< of the last steps, at most objective_window + 1
  double excess = 0;               ///< of the volume and all limits in the last step, the largest
  double dilated_limit = 0;        ///< of robust designs: the volume fraction of the dilated one
  double move_share = 1;           ///< of the move limit, of least volumes: what the last step had
  HexaPreconditionerState preconditioner;
};

/// Forces and displacements of some nodes, and twice the energy of all.
struct DesignForces {
  std::vector<double> displacement, force; ///< [count, 3] m, N
  double work = 0;                         ///< J
};

template<class Exec>
class DesignOptimizer {
public:
  /// Throws std::invalid_argument for a problem or options that make no sense, with the reason.
  DesignOptimizer(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);
  ~DesignOptimizer();

  const DesignBody<Exec>& body() const;
  double radius() const; ///< of the filter, as used

  /// Whether the last step changed less than the tolerance (and continuation is at its end), or
  /// all steps are done.
  bool is_done() const;
  bool has_converged() const; ///< by the change of variables or of the objective
  int num_steps() const;      ///< done

  /// `observe` is told of each iteration of linear solves and of searches for natural frequencies
  /// from now on. What it throws ends steps
  /// and analyses, with the state that they leave as they break down.
  void observe_solves(IterationObserver observe);

  /// Analyses the design, takes the gradient and changes the design. Throws DesignBreakdown.
  DesignStep step(const Exec& exec);

  /// To end with: lowers all variables by the same, at most by the move limit of a step, where the
  /// physical volume is above the fraction by more than 1e-7 of it, as after steps that saw the
  /// volume of filtered and projected densities linearised; where it is below by more than
  /// limit_tolerance, and more material is never worse, it raises them so. The volume is then at
  /// most the fraction; false, and the design as it was, where it would not be. A design that
  /// cannot be raised to the fraction is as it was, too, and true. Fences.
  bool meet_volume(const Exec& exec);

  /// To end with, of a least volume: where the design exceeds a limit by more than limit_tolerance,
  /// raises all variables by the same, at most by an eighth of the move limit of a step, so that
  /// all limits hold; the design as it was where that is too little. Steps see limits linearised,
  /// and may leave them exceeded by a little. Analyses the design up to eleven times. Throws
  /// DesignBreakdown. Fences.
  void meet_limits(const Exec& exec);

  /// Analyses the present design without changing it (number 0, change 0), of a robust one that
  /// which is made; the next solves start from its displacements. Throws DesignBreakdown.
  DesignStep analyse(const Exec& exec);

  /// After `analyse`: derivatives by variables [num_elem], zero where an element is not free, of
  /// the objective (the sensitivity filter makes its mean of them; of frequencies it is that of
  /// their mean) and of the volume fraction. Of
  /// robust designs those that steps take (densities.hpp): the eroded design is solved for once
  /// more. Fence.
  std::vector<double> objective_gradient(const Exec& exec);
  std::vector<double> volume_gradient(const Exec& exec) const;
  /// The same into an array of the backend, in the order of the problem.
  void objective_gradient(const Exec& exec, const Array<double, Exec>& result);
  void volume_gradient(const Exec& exec, const Array<double, Exec>& result) const;
  /// Derivatives of the value of a limit, of stresses and frequencies of their mean. Solves for its
  /// adjoints. Fences.
  std::vector<double> limit_gradient(const Exec& exec, int which);

  /// The design of variables x [num_elem] in [0, 1], which are copied; where an element is not free
  /// its own stays. Histories, continuation and the displacements that solves start from stay, too.
  /// Throws std::invalid_argument for another length and other values, and the design is as before.
  /// Fences.
  void set_variables(const Exec& exec, const Array<double, Exec>& x);

  /// Before the first step: the design of variables x [num_elem] in [0, 1], in the order of the
  /// problem, that come from elsewhere, such as another mesh (start.hpp). Where an element is free
  /// they are multiplied by one factor, and at most 1, so that the volume is what is allowed; as
  /// large as they are where the volume is the objective. `coarse` is the state of an optimiser of
  /// the same problem on another mesh, after whose steps those to come are numbered: continuation
  /// and the scale of the objective go on from there. False where no factor makes the volume.
  /// Throws std::invalid_argument as set_variables does, after a step, and for a state of other
  /// constraints. Fences.
  bool start_from(const Exec& exec, const std::vector<double>& x,
                  const DesignState* coarse = nullptr);

  std::vector<double> densities(const Exec& exec) const;                ///< physical, [num_elem]
  std::vector<double> variables(const Exec& exec) const;                ///< [num_elem]
  std::vector<double> displacements(const Exec& exec, int which) const; ///< of a case, last solve
  /// Displacements u of a case, of the last solve, and forces A u, springs included, at some nodes.
  /// Large bodies have few numbers to bring to the host so. Throws std::invalid_argument for
  /// another case. Fences.
  DesignForces forces(const Exec& exec, int which, const std::vector<std::int32_t>& nodes) const;
  /// Forces of gravity and rotation on the present design in load case `which` [num_nodes, 3], N,
  /// held components among them. Fences.
  std::vector<double> body_forces(const Exec& exec, int which) const;
  /// The same of temperature, for the moduli of the last solve.
  std::vector<double> thermal_forces(const Exec& exec, int which) const;
  /// The fields of these names into arrays of the backend of their size, in the order of the
  /// problem. Fence.
  void densities(const Exec& exec, const Array<double, Exec>& result) const;
  void variables(const Exec& exec, const Array<double, Exec>& result) const;
  void energies(const Exec& exec, const Array<double, Exec>& result) const;
  void displacements(const Exec& exec, int which, const Array<double, Exec>& result) const;
  std::array<double, 2> density_range(const Exec& exec) const; ///< least, greatest of densities()
  /// Elements of densities() that are not as `process` of the options asks. Fences.
  ProcessFaults process_faults(const Exec& exec) const;
  /// Density of the strain energy of all cases in J / m^3 by element, of the last solve.
  std::vector<double> energies(const Exec& exec) const;
  /// Mode `which` of the lowest frequencies of the last analysis [num_nodes, 3], whose largest
  /// displacement is 1. Throws std::invalid_argument for one that is not there. Fences.
  std::vector<double> mode(const Exec& exec, int which) const;
  /// The relaxed von Mises stress of each element (kernels/topopt/stress_mean.hpp), Pa, the largest
  /// of all cases, of the last solve. Fences.
  std::vector<double> stresses(const Exec& exec) const;
  /// Of load case `which` and the last solve, where the density is above 0.5. Fences.
  LargestValues largest_values(const Exec& exec, int which) const;

  /// A number that the compliance of no design is below (bound/compliance_bound.hpp): of designs of
  /// as much volume as is allowed, or as the present one has if that is more, with the present
  /// penalty. Takes steps while goes_on() is true, if that is given; overwrites displacements,
  /// moduli and energies, so that it comes after all that reads them. Throws std::invalid_argument,
  /// with the reason, where there is no bound (describe_no_bound). Fences.
  DesignBound bound_compliance(const Exec& exec, const DesignBoundOptions& options = {},
                               const std::function<bool()>& goes_on = {});

  DesignState state(const Exec& exec) const;
  void set_state(const Exec& exec, const DesignState& state); ///< throws for other sizes

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
