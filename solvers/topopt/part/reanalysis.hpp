// SPDX-License-Identifier: Apache-2.0
// A re-analysis solves the body that the surface of a design encloses, as solid cubes: what is made
// has no densities.
#pragma once

#include <ossatura/solvers/krylov/solve_result.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/part/surface_body.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// A value and where it is, m.
struct PlacedValue {
  double value = 0;
  std::array<double, 3> place{};
};

struct ReanalysedCase {
  double compliance = 0;         ///< f . u, J
  PlacedValue displacement;      ///< m, the largest
  PlacedValue von_mises;         ///< Pa, the largest of those at centres of cubes
  double von_mises_quantile = 0; ///< Pa, that 99.9 % of the cubes are not above
};

struct Reanalysis {
  double objective = 0; ///< sum over cases of weight f . u, J
  std::vector<ReanalysedCase> cases;
  std::int64_t num_elem = 0, num_nodes = 0, iterations = 0;
  double residual = 0; ///< true residual relative to the loads, the largest of the cases
};

/// Solves a surface body with the modulus of solid material, tolerance and precision as in
/// `options`. Stresses at re-entrant corners of cubes grow as cubes are refined: the largest is of
/// this mesh. Throws NotReanalysed where a solve does not reach its tolerance, and what `observe`
/// throws, which is told of each iteration. Fences.
template<class Exec>
Reanalysis reanalyse(const Exec& exec, const SurfaceBody& body, const DesignOptions& options,
                     IterationObserver observe = {});

} // namespace ossatura
