// SPDX-License-Identifier: Apache-2.0
// These options say how a topology optimisation is carried out. SIMP: E = E_min + rho^p (E_0 -
// E_min).
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/hexa/solver.hpp>
#include <ossatura/solvers/topopt/process/options.hpp>

#include <algorithm>
#include <optional>

namespace ossatura {

enum class DesignObjective {
  compliance, ///< least sum over the cases of weight f . u
  mechanism,  ///< largest output displacement, sum over the cases
  volume,     ///< least volume within DesignProblem::limits
  frequency   ///< largest lowest natural frequency (frequencies/frequencies.hpp)
};

enum class DesignFilter {
  none,
  sensitivity, ///< Sigmund 1997: mean of x dc / dx by distance
  density,     ///< Bruns and Tortorelli 2001: mean of x by distance
  helmholtz    ///< Lazarov and Sigmund 2011: - r^2 / 12 laplace(y) + y = x by finite elements
};

enum class DesignMethod {
  oc, ///< optimality criteria, bisection on the multiplier
  mma ///< method of moving asymptotes, Svanberg 1987
};

/// What the body is solved and filtered as.
enum class DesignGrid {
  mesh,  ///< hexahedra of any shape (solvers/hexa/solver.hpp)
  voxels ///< equal cubes on a lattice (solvers/bone/solver.hpp)
};

constexpr Names<DesignGrid> names_of(DesignGrid) {
  return {{DesignGrid::mesh, "mesh"}, {DesignGrid::voxels, "voxels"}};
}
constexpr Names<DesignObjective> names_of(DesignObjective) {
  return {{DesignObjective::compliance, "compliance"},
          {DesignObjective::mechanism, "mechanism"},
          {DesignObjective::volume, "volume"},
          {DesignObjective::frequency, "frequency"}};
}
constexpr Names<DesignFilter> names_of(DesignFilter) {
  return {{DesignFilter::none, "none"},
          {DesignFilter::sensitivity, "sensitivity"},
          {DesignFilter::density, "density"},
          {DesignFilter::helmholtz, "helmholtz"}};
}
constexpr Names<DesignMethod> names_of(DesignMethod) {
  return {{DesignMethod::oc, "oc"}, {DesignMethod::mma, "mma"}};
}

/// SimpLaw::linear_below of designs with gravity or rotation, per Bruyneel and Duysinx (2005).
inline constexpr double linear_below_with_mass = 0.25;

/// Of free variables of designs with temperatures, whose modulus is rho^p down to 0.
inline constexpr double least_density_when_warm = 1e-4;

/// A move limit for designs whose stress is limited: with the usual one stresses swing.
inline constexpr double move_with_stress = 0.1;

/// Likewise where frequencies are, or are the objective.
inline constexpr double move_with_frequency = 0.1;

/// Likewise for robust designs: a sharp projection makes much of a small change.
inline constexpr double move_of_robust = 0.1;

/// Natural frequencies at most, and those of designs that are held to them, where no number is
/// said.
inline constexpr int most_frequencies = 10;
inline constexpr int frequencies_of_designs = 3;

/// Steps over which the objective has to stay for a run to end by it.
inline constexpr int objective_window = 5;
/// The part of a limit by which a value may be beyond it, and the limit holds.
inline constexpr double limit_tolerance = 1e-3;

/// A parameter that grows: `start`, and after each `every` steps times `factor` plus `increment`,
/// at most `end`.
struct Continuation {
  double start, end;
  int every = 0; ///< 0: stays at start
  double factor = 1, increment = 0;
};

struct DesignOptions {
  DesignObjective objective = DesignObjective::compliance;
  /// Of the volume of all elements, passive ones included, at most; where the volume is the
  /// objective it has no limit.
  double volume_fraction = 0.3;
  /// Lowest natural frequencies to find; 0: frequencies_of_designs where the design is held to
  /// them, else none.
  int frequencies = 0;
  Continuation penalty{3, 3}; ///< p
  double min_modulus = 1e-9;  ///< E_min / E_0
  DesignFilter filter = DesignFilter::density;
  double radius = 0;       ///< of the filter, m; 0: 1.5 times the mean edge of elements
  bool projection = false; ///< tanh projection (Wang, Lazarov, Sigmund 2011) of filtered densities
  double threshold = 0.5;  ///< eta of the projection
  /// > 0: of the same design three projections are looked at, that which is made and, with the
  /// threshold larger and smaller by so much, an eroded and a dilated one (densities.hpp).
  double robust = 0;
  Continuation sharpness{1, 64, 40, 2}; ///< beta of the projection, or of heights that are drawn
  DesignProcess process;                ///< that the part is to be made by
  /// choose_method() sets what suits a problem: overhang, for one, comes out better by mma.
  DesignMethod method = DesignMethod::oc;
  double multiplier_tolerance = 1e-12; ///< of optimality criteria, relative: ends the bisection
  double move = 0.2;
  double start = 0;               ///< density of the first design where it is free; 0: what
                                  ///< makes the volume the fraction of all, or, where the volume
                                  ///< is the objective, most_first_density()
  double change_tolerance = 0.01; ///< stop when no variable changes by more; where free elements
                                  ///< may have a mean density v < 0.1, than (10 v)^2 times that
  /// Stop, too, when the objective of the last objective_window steps and the one before differ by
  /// less than this part of it, and all limits hold to limit_tolerance; 0: never.
  double objective_change = 0;
  int max_steps = 200;
  DesignGrid grid = DesignGrid::mesh;
  /// The residual that ends solves of steps, where it is larger than that of `solver.cg`: what they
  /// are wrong by is small beside what a step changes. The last design is analysed to the other. 0:
  /// 100 times that, at most 0.01; for mechanisms that.
  double step_tolerance = 0;
  HexaSolverOptions solver;
  /// On voxels: multigrid and precision; when solves end is said by `solver.cg`. The operator is
  /// that of the backend, default_voxel_operator, with the same bits for any number of threads.
  VoxelSolverOptions voxels = lean_voxels();
  bool warm_start = true; ///< solves start from the displacements of the step before
  /// On voxels: the processes that solve together, each of which has the design as a whole and
  /// calls all functions of the optimiser with the same numbers (bodies/cut_voxels.hpp). What they
  /// find has the same bits for any number of them, also for one. Empty: this process alone, in
  /// another order of sums.
  std::optional<Communicator> ranks{};

  /// What ends the solves of steps. Energies are wrong by the square of what a solution is, the
  /// output of a mechanism by as much.
  double tolerance_of_steps() const {
    const double least = solver.cg.tolerance;
    if (step_tolerance > 0 || objective == DesignObjective::mechanism)
      return std::max(step_tolerance, least);
    return std::max(std::min(1 / (0.01 / least), 0.01),
                    least); // 1e-4 of 1e-6, not 1e-4 less an ulp
  }

  /// Whether sharpness has an effect.
  bool sharpens() const { return projection || process.draw; }
  /// Whether the volume is no weighted sum of the variables. That of robust designs is limited by
  /// their dilated one.
  bool shapes_volume() const { return (sharpens() || process.overhang) && !(robust > 0); }

  static VoxelSolverOptions lean_voxels() {
    VoxelSolverOptions options;
    options.precision = default_voxel_precision;
    return options;
  }

  /// The defaults of mechanisms.
  static DesignOptions mechanism() {
    DesignOptions options;
    options.objective = DesignObjective::mechanism;
    options.method = DesignMethod::mma;
    options.move = 0.1; // or the way to the output may be cut before it works
    return options;
  }
};

} // namespace ossatura
