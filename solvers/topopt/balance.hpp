// SPDX-License-Identifier: Apache-2.0
// This function adds up the forces on a design: loads, reactions of supports, and springs.
#pragma once

#include <ossatura/core/mesh/mechanics/force_balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <cstddef>

namespace ossatura {

/// The balance of load case `which` for the displacements of the last solve, moments about the
/// first node. The energy is that of the matrix, without springs. Fences.
template<class Exec>
ForceBalance balance_design(const Exec& exec, const DesignProblem& problem,
                            const DesignOptimizer<Exec>& optimizer, std::size_t which);

} // namespace ossatura
