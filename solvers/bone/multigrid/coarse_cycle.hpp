// SPDX-License-Identifier: Apache-2.0
// The coarse cycle is the multigrid cycle below the finest level, the same for every voxel
// operator: coarse_cycle.cpp instantiates the cycle once per backend and precision.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/algebra/jacobi.hpp>
#include <ossatura/kernels/algebra/ranks/share_gather.hpp>
#include <ossatura/kernels/bone/cells/operator.hpp>
#include <ossatura/kernels/bone/cells/resident_cycle.hpp>
#include <ossatura/solvers/bone/multigrid/hierarchy.hpp>
#include <ossatura/solvers/bone/multigrid/levels.hpp>

#include <optional>
#include <vector>

namespace ossatura {

/// Solves the coarse levels of a hierarchy for residuals of the finest, approximately.
template<class Exec, class Scalar>
class CoarseCycle {
  using Level = detail::MultigridLevel<Exec, Scalar, CellOperator<Exec>, BlockJacobi<Exec, Scalar>>;

  /// Chebyshev's iteration on a level with its cycle as the preconditioner.
  struct RepeatedCycle {
    std::vector<double> weights; ///< of the steps; empty: one cycle as it is
    Array<Scalar, Exec> sum;     ///< of the steps so far; made when it is needed first
  };

public:
  /// Fences.
  CoarseCycle(const Exec& exec, const VoxelHierarchy<Exec>& hierarchy,
              const MultigridOptions& options);

  /// x += P (an approximate inverse) P^T residual on the finest level, whose vectors [3 num_nodes]
  /// are zero at held components; of a cut model, the residual at ghosts, too, and x at owned
  /// nodes. There must be a coarse level. Does not fence with the direct coarse solver.
  void add_correction(const Exec& exec, const Array<Scalar, Exec>& residual,
                      const Array<Scalar, Exec>& x);

  /// Takes over that the constants of the cells have changed in place; `bound` is that of the
  /// hierarchy. Fences.
  void renew(const Exec& exec, double bound);

  bool empty() const { return levels_.empty(); }
  std::vector<MultigridLevelInfo> level_info() const;
  /// Products so far, set-up included, each level weighted by its share of the voxels.
  double work() const { return work_; }
  LaunchGraphState launch_graph() const { return graph_->state(); }

private:
  void add_level(const Exec& exec, const CoarseLevel<Exec>& level);
  bool can_be_recorded() const;
  void record_anew();
  void prepare(const Exec& exec);
  void weigh_cycles(const Exec& exec, std::size_t l, int count);
  void make_resident(const Exec& exec, std::size_t l);
  bool place_resident(const Exec& exec, std::size_t l);
  Array<Scalar, Exec> solve_level(const Exec& exec, std::size_t l);
  Array<Scalar, Exec> cycle_level(const Exec& exec, std::size_t l);
  /// `fine` is of the class of the finer level, or any CellGrid where its nodes are listed.
  template<class FineGrid>
  void restrict_to(const Exec& exec, std::size_t l, const FineGrid& fine,
                   const Array<Scalar, Exec>& residual);

  MultigridOptions options_;
  VoxelHierarchy<Exec> hierarchy_;
  std::vector<Level> levels_;
  std::vector<CellGrid<Exec>> restricted_;         ///< by level; owned are the nodes restricted to
  std::vector<ShareGather<Exec, Scalar>> gathers_; ///< by level, of what was restricted
  std::vector<RepeatedCycle> repeated_;            ///< by level
  CoarsestSolver<Exec, Scalar> coarsest_;
  ResidentCycle<Exec, Scalar> resident_;
  ResidentCycle<Exec, Scalar> former_;  ///< that of the constants before, while levels are renewed
  bool is_renewed_ = false;             ///< where a resident cycle fits is known
  int first_resident_ = 0;              ///< the level that it solves
  Array<Scalar, Exec> resident_result_; ///< its result
  double resident_work_ = 0;            ///< products of a run
  std::optional<LaunchGraph<Exec>> graph_; ///< a visit of the first coarse level
  Array<Scalar, Exec> correction_;         ///< its result
  double work_ = 0, visit_work_ = 0;
};

} // namespace ossatura
