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

/// How many nodes are inside an obstacle, where contact does not expect them at the start.
std::int64_t count_inside(const SoftObstacle& obstacle, const SoftObject& object);

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

/// Sum of density times volume, or of the nodes' masses, kg.
double total_mass(const SoftObject& object);

/// Lengths that are hardly in m.
struct OddSize {
  double extent;                 ///< of the longest side, m
  double mass;                   ///< kg
  std::optional<double> modulus; ///< Young's, Pa, of an object that its own weight would flatten
};

/// Finds whether an object is hardly given in m: longer than 100 m, or than 5 m of a solid that is
/// softer than its weight on earth.
std::optional<OddSize> find_odd_size(const SoftObject& object);

/// Whether a density is hardly in kg/m^3, of a body whose modulus is in Pa: below that of the
/// lightest foam, as of g/cm^3, or above that of any metal. Densities of 0, which stand for no
/// mass, and those beside moduli near 1, which stand for units, are not odd.
bool is_odd_density(const SoftObject& object);

} // namespace ossatura
