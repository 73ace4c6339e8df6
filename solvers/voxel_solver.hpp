// SPDX-License-Identifier: BSD-3-Clause
// Linear elasticity on voxels: conjugate gradients with geometric multigrid. The heavy templates
// are instantiated in voxel_solver.cpp, once per backend, operator and precision.
#pragma once

#include "kernels/coarsen.hpp"
#include "solvers/cg.hpp"
#include "solvers/chebyshev.hpp"
#include "solvers/multigrid_options.hpp"

#include <memory>
#include <vector>

namespace femura {

/// A voxel model ready to be solved.
template<class Exec>
struct VoxelProblem {
  MaterialImage<Exec> material; ///< dense; may be dropped once a solver is made
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Constraints<Exec> held;
  double edge = 1; ///< of a voxel, in mm
};

enum class VoxelOperatorKind {
  offset, ///< element by element with compressed tables (the paper's)
  hash,   ///< element by element with perfect hashing (the paper's alternative)
  gather, ///< node by node, bitwise reproducible
  brick   ///< tile by tile, marching through z, bitwise reproducible
};
inline constexpr VoxelOperatorKind all_voxel_operators[] = {
    VoxelOperatorKind::offset, VoxelOperatorKind::hash, VoxelOperatorKind::gather,
    VoxelOperatorKind::brick};

/// As on command lines and in results.
inline const char* name_of(VoxelOperatorKind kind) {
  switch (kind) {
  case VoxelOperatorKind::offset:
    return "offset";
  case VoxelOperatorKind::hash:
    return "hash";
  case VoxelOperatorKind::gather:
    return "gather";
  case VoxelOperatorKind::brick:
    break;
  }
  return "brick";
}

/// The fastest and the smallest on every backend (docs/performance.md).
template<class Exec>
constexpr VoxelOperatorKind default_voxel_operator = VoxelOperatorKind::brick;

struct VoxelSolverOptions {
  CgOptions cg;
  MultigridOptions multigrid;
  VoxelOperatorKind matrix = VoxelOperatorKind::brick;
  bool single_precision_cycle = false; ///< multigrid in fp32 inside the fp64 iteration
};

/// Solves K u = f for the voxels of a problem with prescribed displacements at its held components.
/// Set up once, solve for any number of loads.
template<class Exec>
class VoxelSolver {
public:
  VoxelSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
              const VoxelSolverOptions& options);
  ~VoxelSolver();

  /// u [3 num_nodes] holds the prescribed displacements (mm) on entry, at free components the
  /// initial guess, and the solution on return. f [3 num_nodes] are nodal forces (N), or empty for
  /// none. Fences.
  SolveResult solve(const Exec& exec, const Array<double, Exec>& f, const Array<double, Exec>& u,
                    const IterationObserver& observe = {});

  /// y = K u without constraints: nodal forces (N) in balance with u. Does not fence.
  void apply(const Exec& exec, const Array<double, Exec>& u, const Array<double, Exec>& y) const;

  /// z = M r: one multigrid cycle. r is zero at held components. Does not fence.
  void precondition(const Exec& exec, const Array<double, Exec>& r, const Array<double, Exec>& z);

  std::vector<MultigridLevelInfo> level_info() const;

  /// Operator products so far in units of one product on the finest level, set-up included.
  double work() const;

  struct Implementation;

private:
  std::unique_ptr<Implementation> implementation_;
};

} // namespace femura
