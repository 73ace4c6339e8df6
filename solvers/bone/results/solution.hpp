// SPDX-License-Identifier: Apache-2.0
// A solution has what follows from a solved load: forces, what supports feel, the response to the
// test, and fields.
#pragma once

#include <ossatura/core/mesh/mechanics/force_balance.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/solvers/bone/load.hpp>
#include <ossatura/solvers/bone/results/test_response.hpp>

#include <optional>
#include <vector>

namespace ossatura {

template<class Exec>
struct BoneSolution {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<double, Exec> displacement, force; ///< [3 num_nodes] mm, N (K u); force not at ghosts
  std::vector<MovedSupport> supports;
  std::optional<TestResponse> response; ///< of a test, or of a clamped and a moved side
  VoxelFields<Exec> fields;
  double strain_energy = 0; ///< N mm
  ForceBalance balance;     ///< of supports and loads, N, N mm
};

/// Evaluates load.u, which VoxelSolver::solve has set. The image of `problem` may be gone. Of a
/// problem that is cut all its ranks call it: supports, response, energy and balance are those of
/// the whole, with the same bits for any number of ranks; arrays of the result are about the nodes
/// that this one sees, and the voxels that it owns. Fences.
template<class Exec>
BoneSolution<Exec> evaluate_solution(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const BoneLoad<Exec>& load);

} // namespace ossatura
