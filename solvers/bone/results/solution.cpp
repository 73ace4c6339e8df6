// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/solution.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/loads/balance.hpp>

namespace ossatura {

template<class Exec>
BoneSolution<Exec> evaluate_solution(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const BoneLoad<Exec>& load) {
  const VoxelGrid<Exec>& grid = problem.grid;
  const Communicator comm = ranks_of(problem);
  const SharedEntries nodes = share_nodes(exec, problem);
  BoneSolution<Exec> solution{grid, problem.lame, load.u, {}, {}, {}, {}, 0, {}};
  solution.force = make_uninitialized<double>(exec, grid.num_dofs(), "ossatura::bone::Ku");
  GatherOperator<Exec>(exec, grid, problem.lame, problem.edge).apply(exec, load.u, solution.force);

  // Reactions: K u less the applied forces.
  Array<double, Exec> reaction = solution.force;
  if (load.force.extent(0) > 0) {
    reaction = make_uninitialized<double>(exec, grid.num_dofs(), "ossatura::bone::reaction");
    copy(exec, solution.force, reaction);
    axpby(exec, -1.0, load.force, 1.0, reaction);
  }
  solution.supports = sum_supports(list_held_nodes(exec, grid, problem.held, load.u, reaction,
                                                   problem.lame.mu_value, comm, load.node_sets),
                                   problem.edge, load.regions);
  const NodeBox box = bounding_box(exec, grid, comm);
  if (!load.regions.empty())
    solution.response = plate_response(load.test, box, problem.edge, solution.supports);
  else if (!comm.any(load.force.extent(0) > 0)) // else reactions are to them, too
    solution.response = listed_response(box, problem.edge, solution.supports);

  double centre[3];
  for (int d = 0; d < 3; ++d)
    centre[d] = 0.5 * problem.edge * (box.lower[d] + box.upper[d]);
  solution.balance = sum_balance(exec, nodes, grid, problem.held.mask, problem.edge, centre, load.u,
                                 solution.force, load.force);

  const TimedScope scope("ossatura::bone::fields");
  solution.fields = compute_voxel_fields(exec, nodes, grid, problem.lame, problem.edge, load.u,
                                         EnergyPoint::centre, true, solution.strain_energy);
  solution.balance.energy = solution.strain_energy;
  return solution;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneSolution<Exec> evaluate_solution(const Exec&, const VoxelProblem<Exec>&,            \
                                                const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
