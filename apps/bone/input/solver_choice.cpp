// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/input/solver_choice.hpp"

namespace ossatura {

Cycle cycle_of(const BoneOptions& options) {
  return options.cycle.value_or(options.hierarchy == Hierarchy::paper ? Cycle::w : Cycle::amli);
}

VoxelSolverOptions solver_options(const BoneOptions& options, VoxelOperatorKind matrix) {
  VoxelSolverOptions solver;
  solver.cg.tolerance = options.tolerance;
  solver.cg.max_iterations = options.max_iterations;
  solver.cg.stall_window = 100; // real bone gains a digit in ten to twenty
  if (options.hierarchy == Hierarchy::paper)
    solver.multigrid = MultigridOptions::paper();
  else if (options.hierarchy == Hierarchy::averaged)
    solver.multigrid.coarsening = Coarsening::averaged;
  SmootherOptions& smoother = solver.multigrid.smoother;
  smoother.kind = options.smoother.value_or(smoother.kind);
  smoother.degree = options.smoother_degree.value_or(smoother.degree);
  smoother.ratio = options.smoothing_ratio.value_or(smoother.ratio);
  solver.multigrid.coarse_degree = options.coarse_degree.value_or(solver.multigrid.coarse_degree);
  const Cycle cycle = cycle_of(options);
  solver.multigrid.repetition = cycle == Cycle::amli ? Repetition::weighted : Repetition::smoothed;
  solver.multigrid.fine_cycles = cycle == Cycle::w ? 2 : 1;
  solver.multigrid.coarse_cycles =
      options.coarse_visits.value_or(cycle == Cycle::v ? 1 : solver.multigrid.coarse_cycles);
  solver.multigrid.direct_nodes = options.direct_nodes.value_or(solver.multigrid.direct_nodes);
  solver.multigrid.renewable = options.remodelling.steps > 0;
  solver.multigrid.launch_graphs = !options.no_launch_graphs;
  solver.multigrid.max_levels = options.levels;
  solver.multigrid.coarse_solver = options.coarse;
  solver.matrix = options.matrix.value_or(matrix);
  solver.precision = options.common.precision.value_or(default_voxel_precision);
  return solver;
}

} // namespace ossatura
