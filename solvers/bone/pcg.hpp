// SPDX-License-Identifier: Apache-2.0
// VoxelPcg is the iteration behind VoxelSolver, for one operator. The sources in pcg/ instantiate
// the template side by side, since nothing else takes as long to compile. Not for users.
#pragma once

#include <ossatura/solvers/bone/multigrid/hierarchy.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <memory>

namespace ossatura::detail {

/// Conjugate gradients with multigrid in fixed precisions.
template<class Exec>
struct VoxelPcg {
  virtual ~VoxelPcg() = default;
  /// The correction and the points, whose forces are added to f, may be null.
  virtual SolveResult solve(const Exec& exec, const CgOptions& options,
                            const Array<double, Exec>& f, const Array<double, Exec>& u,
                            const IterationObserver& observe,
                            const VoxelCorrection<Exec>* correction,
                            const PointForces<Exec>* points) = 0;
  virtual void apply(const Exec& exec, const Array<double, Exec>& u,
                     const Array<double, Exec>& y) const = 0;
  virtual void precondition(const Exec& exec, const Array<double, Exec>& r,
                            const Array<double, Exec>& z) = 0;
  /// After renew_means. Fences.
  virtual void renew(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy) = 0;
  virtual std::vector<MultigridLevelInfo> level_info() const = 0;
  virtual double work() const = 0;
  virtual const Array<double, Exec>& spare() const = 0;
  virtual LaunchGraphState launch_graph() const = 0;
};

/// Throws UsageError for Precision::fp32.
template<class Exec, class Operator>
std::unique_ptr<VoxelPcg<Exec>>
make_voxel_pcg(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy, Precision precision,
               const MultigridOptions& options);

} // namespace ossatura::detail
