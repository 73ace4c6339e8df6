// SPDX-License-Identifier: Apache-2.0
// These checks find objects of a scene that are wrong or doubtful.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ossatura {

/// Without mass the matrix of a step is that of the stiffness alone. It lets bodies move that
/// nothing holds, and membranes out of their plane.
enum class LooseObject {
  no,            ///< it has mass, or three fixed nodes that are not on a line
  membrane,      ///< triangles without mass
  nothing_fixed, ///< no mass and no fixed node
  fixed_on_line  ///< no mass, and all fixed nodes are on one line
};

/// Why the motion of an object is not determined, which number_scene() refuses.
LooseObject why_loose(const SoftObject& object);

/// The nodes of an object inside an obstacle, where contact does not expect them at the start.
struct InsideObstacle {
  std::int64_t count = 0;
  std::int64_t deepest = -1; ///< node, -1 where there is none
  double depth = 0;          ///< of that node, m
};

InsideObstacle find_inside(const SoftObstacle& obstacle, const SoftObject& object);

/// One object in another, by their numbers in the scene.
struct NestedObjects {
  std::size_t inner, outer;
};

/// Finds volumes that lie within one another, or in the same place, at the start. Their surfaces
/// need not cross, so that a CrossingWatch does not see them. It looks at the centres of some 64
/// elements of each object.
std::optional<NestedObjects> find_nested(const SoftScene& scene);

inline constexpr double locks_above = 0.48;

/// Whether linear elements of an object are too stiff for its Poisson's ratio.
bool may_lock(const SoftObject& object);

/// How many elements of an object are inside out at positions [num_points, 3]: volumes whose middle
/// is turned over. Membranes have no inside.
std::int64_t count_inverted(const ElementMesh& mesh, const double* positions);

/// How much farther apart two nodes of an element are at positions [num_points, 3] than at rest,
/// the largest ratio of an object.
double largest_stretch(const ElementMesh& mesh, const double* positions);

/// m^3, at rest; of membranes with their thickness.
double rest_volume(const SoftObject& object);

/// Sum of density times volume, or of the nodes' masses, kg.
double total_mass(const SoftObject& object);

} // namespace ossatura
