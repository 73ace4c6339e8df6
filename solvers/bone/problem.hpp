// SPDX-License-Identifier: Apache-2.0
// A voxel problem is made from an image of moduli and a load case, for VoxelSolver.
#pragma once

#include <ossatura/kernels/algebra/ranks/owned_entries.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/bone/local_material.hpp>
#include <ossatura/kernels/image/voxel_ranks.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <memory>
#include <vector>

namespace ossatura {

/// The solid voxels of `material`, of the given edge in mm; nothing is held yet. Keeps a reference
/// to the image, which solvers do not need. Throws std::invalid_argument if no voxel is solid.
/// Fences.
template<class Exec>
VoxelProblem<Exec> make_voxel_problem(const Exec& exec, const MaterialImage<Exec>& material,
                                      double edge) {
  OSSATURA_REQUIRE(edge > 0, "voxels with an edge of " << edge << " mm");
  VoxelProblem<Exec> problem;
  problem.material = material;
  problem.edge = edge;
  problem.grid = make_voxel_grid(exec, material.solid());
  problem.lame = make_lame_field(exec, problem.grid, material);
  return problem;
}

/// What this process sees of a problem that is cut among the ranks of `comm`, from the planes of
/// `material` that it has (planes_of_rank), which are no part of the problem. `bits`: superblocks
/// of the cut have 2^bits voxels a side; 0 chooses. Called by all ranks. Fences.
template<class Exec>
VoxelProblem<Exec> make_cut_problem(const Exec& exec, const Communicator& comm,
                                    const MaterialImage<Exec>& material, double edge,
                                    int bits = 0) {
  OSSATURA_REQUIRE(edge > 0, "voxels with an edge of " << edge << " mm");
  // A rank without planes does not know whether a material has two images.
  const bool has_two = comm.any(!material.uniform_poisson());
  const VoxelArray<Exec>& solid = material.solid();
  VoxelRanks<Exec> ranks = cut_among(exec, DeviceComm<Exec>(comm), solid, bits);
  VoxelProblem<Exec> problem;
  problem.edge = edge;
  const VoxelList<Exec> seen = hand_over_voxels(exec, ranks, material.first, solid, has_two);
  problem.grid = make_local_grid(exec, comm, ranks.table, solid.shape, seen.site);
  problem.lame = has_two ? make_listed_lame_field(exec, problem.grid, seen)
                         : make_listed_lame_field(exec, problem.grid, seen, material.lambda_scale,
                                                  material.mu_scale);
  ranks.plan = make_halo_plan(exec, comm, ranks.cut, problem.grid);
  problem.ranks = std::make_shared<const VoxelRanks<Exec>>(ranks);
  return problem;
}

/// The processes that have a problem together: this one alone, unless it is cut. What describes or
/// evaluates a problem is called by all of them, and is then about the whole.
template<class Exec>
Communicator ranks_of(const VoxelProblem<Exec>& problem) {
  return problem.ranks ? problem.ranks->comm.communicator() : Communicator();
}

/// The nodes of a problem that this process owns. Fences.
template<class Exec>
SharedEntries share_nodes(const Exec& exec, const VoxelProblem<Exec>& problem) {
  const OwnedNodes& owned = problem.grid.owned;
  SharedEntries nodes{owned.begin, owned.end, ranks_of(problem), {}};
  if (problem.ranks)
    for (const int begin : find_groups(exec, *problem.ranks, problem.grid))
      nodes.group_begin.push_back(begin);
  return nodes;
}

/// The voxels of all processes. Fences.
template<class Exec>
std::int64_t count_voxels(const Exec& exec, const VoxelProblem<Exec>& problem) {
  return problem.ranks ? count_owned_voxels(exec, ranks_of(problem), problem.grid, problem.lame)
                       : problem.grid.num_elem;
}

/// The held components of all processes. Fences.
template<class Exec>
std::int64_t count_held_dofs(const Exec& exec, const VoxelProblem<Exec>& problem) {
  return problem.ranks
             ? count_held_dofs(exec, ranks_of(problem), problem.grid.owned, problem.held.mask)
             : problem.held.num_dofs;
}

/// x [components num_nodes] at ghosts becomes what their owners have. Fences.
template<class T, class Exec>
void update_ghosts(const Exec& exec, const VoxelProblem<Exec>& problem, const Array<T, Exec>& x,
                   int components) {
  if (problem.ranks)
    Halo<Exec, T>(exec, problem.ranks->comm, problem.ranks->plan, components).exchange(exec, x);
  fence(exec, "ossatura::update_ghosts");
}

/// Holds the components of the regions' nodes, and no others. Returns u [3 num_nodes] as
/// VoxelSolver::solve takes it: what is prescribed there (mm), 0 elsewhere. `sets`: what regions
/// name. Fences.
template<class Exec>
Array<double, Exec> prescribe(const Exec& exec, const std::vector<NamedRegion>& regions,
                              VoxelProblem<Exec>& problem, const NodeSets<Exec>& sets = {}) {
  std::vector<PrescribedRegion> bare;
  for (const NamedRegion& named : regions)
    bare.push_back(named.region);
  const Array<double, Exec> u =
      make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::displacement");
  const Array<std::uint8_t, Exec> mask =
      make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::held");
  prescribe(exec, problem.grid, problem.edge, bare, mask, u, sets);
  problem.held = make_constraints(exec, mask);
  return u;
}

} // namespace ossatura
