// SPDX-License-Identifier: Apache-2.0
// Homogenisation finds the apparent stiffness of a specimen by six kinematic-uniform loads, or of a
// unit cell under periodic conditions, and its bounds.
#pragma once

#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/solvers/bone/load.hpp>
#include <ossatura/solvers/bone/results/stiffness_matrix.hpp>
#include <ossatura/solvers/bone/unit_cell.hpp>

#include <functional>
#include <optional>

namespace ossatura {

struct HomogenisedStiffness {
  StiffnessMatrix stiffness{};
  /// Bounds: the averages of stiffness and of compliance over the box of the specimen; with void in
  /// it the second is 0.
  StiffnessMatrix voigt{}, reuss{};
};

/// Solves K u = 0 for load `component`, with u as VoxelSolver::solve takes it. False ends the
/// homogenisation.
template<class Exec>
using SolveStrain = std::function<bool(int component, const Array<double, Exec>& u)>;

/// The stiffness of the specimen's box. problem.held is that of hold_all_sides(). Nothing where
/// `solve` ended it. The ranks of `comm`, each with the whole problem, solve a part of the six
/// loads each, in their order, and all return the same bits, whatever their number. Throws on all
/// ranks, InputError where a stress is not finite. Fences.
template<class Exec>
std::optional<HomogenisedStiffness> homogenise(const Exec& exec, const VoxelProblem<Exec>& problem,
                                               const SolveStrain<Exec>& solve,
                                               const Communicator& comm = {});

/// Solves K w = f for load `component` of a unit cell from w = 0. False ends the homogenisation.
template<class Exec>
using SolveCellLoad =
    std::function<bool(int component, const Array<double, Exec>& f, const Array<double, Exec>& w)>;

/// The stiffness of a unit cell, and bounds over all of it; ranks as above. The first is at most
/// that of the same box under kinematic-uniform loads, and exact for layers. Throws on all ranks,
/// InputError where a stress is not finite. Fences.
template<class Exec>
std::optional<HomogenisedStiffness> homogenise(const Exec& exec, const UnitCell<Exec>& cell,
                                               const SolveCellLoad<Exec>& solve,
                                               const Communicator& comm = {});

} // namespace ossatura
