// SPDX-License-Identifier: Apache-2.0
// VoxelSolver solves linear elasticity on voxels by conjugate gradients with geometric multigrid.
// The heavy templates are instantiated in solver.cpp, once per backend, operator and precision.
#pragma once

#include <ossatura/core/base/precision.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/loads/point_forces.hpp>
#include <ossatura/kernels/bone/operator_list.hpp>
#include <ossatura/kernels/image/periodic_rim.hpp>
#include <ossatura/kernels/image/voxel_ranks.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

#include <memory>
#include <vector>

namespace ossatura {

/// A voxel model ready to be solved.
template<class Exec>
struct VoxelProblem {
  MaterialImage<Exec> material; ///< dense; solvers do not need it, and cut problems have none
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Constraints<Exec> held;
  double edge = 1; ///< of a voxel, in mm
  /// Of a model that is cut among processes: then grid, lame and held are what this process sees.
  /// Null: all is here.
  std::shared_ptr<const VoxelRanks<Exec>> ranks{};
  /// Of a unit cell, whose image repeats without end (unit_cell.hpp): then the grid has this rim,
  /// and what is held are its ghosts. Null: the body has sides.
  std::shared_ptr<const PeriodicRim<Exec>> rim{};
};

/// The fastest (docs/performance/bone.md). `brick` is the smallest everywhere.
template<class Exec>
constexpr VoxelOperatorKind default_voxel_operator =
    BackendTraits<Exec>::is_device ? VoxelOperatorKind::brick : VoxelOperatorKind::offset;

/// The fastest and the smallest (docs/performance/bone.md).
constexpr Precision default_voxel_precision = Precision::lean;

/// What a linear system has beside the stiffness matrix K of the voxels.
template<class Exec>
struct VoxelCorrection {
  VoxelCorrection() = default;
  VoxelCorrection(const VoxelCorrection&) = delete;
  VoxelCorrection& operator=(const VoxelCorrection&) = delete;
  virtual ~VoxelCorrection() = default;
  /// y += C x, unconstrained; [3 num_nodes], not aliased. K + C is symmetric positive definite at
  /// free components. Does not fence.
  virtual void add(const Exec& exec, const Array<double, Exec>& x,
                   const Array<double, Exec>& y) const = 0;
  virtual void add(const Exec& exec, const Array<float, Exec>& x,
                   const Array<float, Exec>& y) const = 0;
};

struct VoxelSolverOptions {
  CgOptions cg;
  MultigridOptions multigrid;
  VoxelOperatorKind matrix = VoxelOperatorKind::brick;
  /// Vectors take 40 bytes per degree of freedom in fp64, 36 in mixed, whose cycle moves half as
  /// much, and 24 in lean. Operators that do not fuse updates (`offset`, `hash`) take one vector of
  /// the cycle more. UsageError for fp32.
  Precision precision = Precision::mixed;
};

/// How a problem is divided among processes, by the process that has most.
struct VoxelCutInfo {
  struct Level { ///< a level that no process has as a whole; voxels first
    std::int64_t most_nodes, most_ghosts, num_ghosts;
    int most_neighbours; ///< of which a process has ghosts
  };
  Transport transport = Transport::none;
  int bits = 0; ///< superblocks of the cut have 2^bits voxels a side
  std::vector<Level> levels;
};

/// Options with the operator that is fastest on the backend, and the fastest precision.
template<class Exec>
VoxelSolverOptions fastest_voxel_options() {
  VoxelSolverOptions options;
  options.matrix = default_voxel_operator<Exec>;
  options.precision = default_voxel_precision;
  return options;
}

/// Solves K u = f for the voxels of a problem with prescribed displacements at its held components.
/// Set up once, solve for any number of loads. Of a problem that is cut already all processes call
/// all functions, with vectors of what they see; results at owned nodes, and of solve() at ghosts,
/// have the same bits for any number of processes where the operator is `gather` or `brick`. Of a
/// unit cell u and f are those of one period: ghosts of u get what they copy, those of f are not
/// read, and f has no part in the translations (K is semidefinite).
template<class Exec>
class VoxelSolver {
public:
  VoxelSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
              const VoxelSolverOptions& options = fastest_voxel_options<Exec>());
  ~VoxelSolver();

  /// Relative residuals that end solves from now on: > 0, < 1.
  void set_tolerance(double tolerance);

  /// u [3 num_nodes] holds the prescribed displacements (mm) on entry, at free components the
  /// initial guess, and the solution on return. f [3 num_nodes] are nodal forces (N), or empty for
  /// none. Where an iteration stalls, it goes on in double and with W-cycles, and so do later
  /// solves. Residuals are relative to `reference` if that is positive, in the place of what
  /// options say. Fences.
  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe = {}, double reference = 0);

  /// The same for forces at few nodes, which take no vector: with the bits of one that has them.
  /// For a problem that is not cut. Fences.
  SolveResult solve_points(const Exec& exec, const PointForces<Exec>& f,
                           const Array<double, Exec>& u, const IterationObserver& observe = {},
                           double reference = 0);

  /// The same for (K + C) u = f, by the cycle for K and with `cg` in place of the options. For a
  /// problem that is not cut. Fences.
  SolveResult solve_corrected(const Exec& exec, const CgOptions& cg,
                              const VoxelCorrection<Exec>& correction, const Array<double, Exec>& f,
                              const Array<double, Exec>& u, const IterationObserver& observe = {});

  /// y = K u without constraints: nodal forces (N) in balance with u. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& y) const;

  /// z = M r: one multigrid cycle. r is zero at held components. Does not fence.
  void precondition(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z);

  /// A vector [3 num_nodes] in the memory of the iteration, for use between solves, which overwrite
  /// it; until the next solve or renewal, which may replace it.
  const Array<double, Exec>& spare() const;

  /// After other moduli, greater than 0 at the same voxels, were written to the arrays of the
  /// problem's LameField: solves are of these from then on. Levels and their memory stay, and what
  /// follows has the bits that a new solver would give; an iteration that had fallen back is tried
  /// anew. Takes about as long as a few iterations. Of a problem that is cut all processes call it,
  /// after they wrote the moduli of all voxels that they see. Throws std::invalid_argument for a
  /// unit cell, and unless MultigridOptions::renewable was set. Fences.
  void renew(const Exec& exec);

  /// Makes what the finest level keeps of moduli from those that are in the arrays now: an
  /// iteration that fell back has those of that time, and is none for larger ones. It stays as it
  /// is, and so do coarse levels. Fences.
  void set_up_again(const Exec& exec);

  std::vector<MultigridLevelInfo> level_info() const;

  /// Nothing for a problem that one process has without a cut.
  const std::optional<VoxelCutInfo>& cut_info() const;

  /// Operator products so far in units of one product on the finest level, set-up included.
  double work() const;

  /// Whether the coarse levels run as one launch.
  LaunchGraphState launch_graph() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace ossatura
