// SPDX-License-Identifier: Apache-2.0
// A design of one mesh is a start for the design of another: its densities are interpolated to the
// places of the other elements (kernels/topopt/near_values.hpp).
#pragma once

#include <ossatura/solvers/topopt/problem.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Densities of elements, with their places in m. Host memory.
struct PlacedDensities {
  std::vector<double> centre;  ///< [n, 3]
  std::vector<double> size;    ///< [n] from the centre to the farthest node
  std::vector<double> density; ///< [n]
  Box bounds{};                ///< around all of them
};

/// `density` [num_elem] of the elements of a problem.
PlacedDensities place_densities(const DesignProblem& problem, std::vector<double> density);

/// The same of elements that have the nodes begin[e] .. begin[e + 1] of `node`, each a row of
/// `point` [num_points, 3]; their centre is the mean of these.
PlacedDensities place_densities(const std::vector<double>& point,
                                const std::vector<std::int64_t>& begin,
                                const std::vector<std::int64_t>& node, std::vector<double> density);

/// Densities [num_elem] at the elements of a problem, the nearest one where the other design has no
/// element. The same for any number of threads. Throws std::invalid_argument for no densities, and
/// for those of another body: of one that is not about as large, and not in about the same place,
/// as the problem's or as that with its images in the problem's mirrors. Fences.
template<class Exec>
std::vector<double> densities_at(const Exec& exec, const PlacedDensities& from,
                                 const DesignProblem& problem);

} // namespace ossatura
