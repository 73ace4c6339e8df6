// SPDX-License-Identifier: Apache-2.0
// This function adds up the forces on a design: loads, reactions of supports, and springs.
#pragma once

#include <ossatura/core/mesh/mechanics/force_balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <array>
#include <cstddef>

namespace ossatura {

struct DesignBalance : ForceBalance {
  std::array<double, 3> support_force{}; ///< N, sum over components that are held at zero
  std::array<double, 3> imposed_force{}; ///< N, sum over those that the case moves
  double imposed_work = 0;               ///< J, of the latter: sum of force . displacement
};

/// The balance of load case `which` for the displacements of the last solve, moments about the
/// first node. The energy is that of the matrix, without springs. Fences.
template<class Exec>
DesignBalance balance_design(const Exec& exec, const DesignProblem& problem,
                             const DesignOptimizer<Exec>& optimizer, std::size_t which);

} // namespace ossatura
