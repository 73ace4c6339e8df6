// SPDX-License-Identifier: Apache-2.0
// BoneRemodelling takes a bone through states of adaptation to its load: each is solved for, its
// voxels form or resorb by their strain energy (kernels/bone/remodelling.hpp), and the moduli that
// follow are those of the next state.
#pragma once

#include <ossatura/kernels/bone/loads/foreign_voxels.hpp>
#include <ossatura/kernels/bone/remodelling.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <optional>
#include <vector>

namespace ossatura {

/// A state that was solved for, and what it is about to do.
struct RemodellingStep {
  RemodellingState state;   ///< of the bone alone
  double mass = 0;          ///< g, of the bone
  double strain_energy = 0; ///< N mm, of all
  std::optional<TestResponse> response;
  int iterations = 0; ///< of the solve
  double residual = 0;
};

/// The mean change of a step (g/cm^3) of densities that swing without settling, as they do where
/// the rate is too large: much of the changes of the last states (three quarters, of 32 states or
/// more a quarter) takes back those of the step before, and they do not get smaller. Nothing where
/// densities settle, or change one way, and of fewer than seven states.
std::optional<double> find_oscillation(const std::vector<RemodellingStep>& steps);

/// An end of the range of densities.
enum class RangeEnd { least, most };

/// The end that nearly all bone has come to in the last of some states, as of a stimulus in another
/// unit. Nothing of the first state alone.
std::optional<RangeEnd> find_common_end(const std::vector<RemodellingStep>& steps);

/// Whether the problem has one Poisson's ratio for all its voxels, and so a modulus for each alone,
/// as remodelling needs it.
template<class Exec>
bool has_one_ratio(const VoxelProblem<Exec>& problem) {
  return problem.lame.lambda_value.data() == problem.lame.mu_value.data();
}

/// From a state that is solved for:
///   RemodellingStep step = remodelling.take(exec, true);   // what it does; moduli are the next
///   SolveResult solved = remodelling.solve(exec);          // for these
/// and so on; take(exec, false) describes the last.
template<class Exec>
class BoneRemodelling {
public:
  /// `problem`, `load` and `solver`, which outlive this, are those of the first state: load.u is
  /// its displacement, and moduli are coefficient * density^exponent of the law. Voxels that are
  /// `foreign` keep their modulus. The solver is renewable (MultigridOptions). Throws
  /// std::invalid_argument for a Poisson's ratio for each voxel, and for a problem that is cut.
  BoneRemodelling(const RemodellingLaw& law, const VoxelProblem<Exec>& problem,
                  const BoneLoad<Exec>& load, VoxelSolver<Exec>& solver,
                  const std::optional<ForeignVoxels<Exec>>& foreign = {});

  /// Describes the state that load.u is of and, if `changes` says so, makes the moduli of the
  /// problem those of the next. Iterations and residual are left to the caller. Fences.
  RemodellingStep take(const Exec& exec, bool changes);

  /// Solves for the moduli as they are, from where load.u is: the residual is relative to that of a
  /// start from rest. Where the observer throws, load.u is that of the last iteration. Fences.
  SolveResult solve(const Exec& exec, const IterationObserver& observe = {});

private:
  RemodellingLaw law_;
  const VoxelProblem<Exec>& problem_;
  const BoneLoad<Exec>& load_;
  VoxelSolver<Exec>& solver_;
  std::optional<ForeignVoxels<Exec>> foreign_;
  Array<double, Exec> density_; ///< of the bone's voxels; empty before the first state
  Array<float, Exec> change_;   ///< of their densities in the step before
};

} // namespace ossatura
