// SPDX-License-Identifier: Apache-2.0
// Nodes and elements of a design at round places and at faces that a drawing has: bolt holes,
// bores, bearings, and parts of images.
#pragma once

#include <ossatura/core/mesh/surface/near_surface.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Points between two planes, normal to the axis at its ends, m.
struct Cylinder {
  std::array<double, 3> from{}, to{}; ///< ends of the axis, apart
  double radius = 0;                  ///< greater than 0
  double inner = 0;                   ///< of a hole along the axis, less than the radius
};

// Numbers, ascending. Lengths up to `slack` are rounding. All throw std::invalid_argument for a
// cylinder without length or with radii out of range.

/// In the cylinder, surface included; elements by their centres, the means of their nodes.
std::vector<std::int32_t> nodes_in(const DesignProblem& problem, const Cylinder& cylinder,
                                   double slack);
std::vector<std::int32_t> elements_in(const DesignProblem& problem, const Cylinder& cylinder,
                                      double slack);

/// Nodes of the body's boundary, between the ends of the axis, whose distance from it differs from
/// the radius by at most `within`: a wall that cubes have as steps. `inner` does not count.
std::vector<std::int32_t> nodes_at_wall(const DesignProblem& problem, const Cylinder& cylinder,
                                        double within, double slack);

/// Nodes of the body's boundary near a surface; elements whose centres are.
std::vector<std::int32_t> boundary_nodes_near(const DesignProblem& problem,
                                              const NearSurface& surface);
std::vector<std::int32_t> elements_near(const DesignProblem& problem, const NearSurface& surface);

/// Corners of those faces of `elements` (numbers of cells of the body) that are on its boundary:
/// there is no cell beyond them.
std::vector<std::int32_t> boundary_nodes_of(const LatticeBody& body,
                                            const std::vector<std::int32_t>& elements);

} // namespace ossatura
