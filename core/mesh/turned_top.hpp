// SPDX-License-Identifier: Apache-2.0
// A hexahedron (prism) whose top is numbered from another corner than its bottom is twisted. Its
// Jacobian is positive at corners and Gauss points, and its stiffness that of no body.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <array>
#include <string>

namespace ossatura {

/// How many corners the top of a hexahedron (`base` of 4 corners) or prism (3) is turned against
/// its bottom, or 0. `corner`: those of the bottom, then those of the top; others are not used.
///
/// Seen along the line between the centres of both, corners of the top lie over those of the
/// bottom; it is turned where they do so, much better, when counted from another one, and the
/// element is a half thicker in its middle then. Hexahedra with corners moved by up to half an
/// edge along each axis, of one as of ten times the length, are not taken for turned as long as
/// their Jacobian is positive.
int turned_top(const std::array<std::array<double, 3>, 8>& corner, int base);

/// What is wrong with such an element, and the remedy. `noun`: "hexahedron".
std::string describe_turned_top(const std::string& noun, int base, int turned);

/// The same for the first such element of a mesh, with its number from 0; empty where there is
/// none, and for other shapes. Elements with nodes that are not there are passed over.
std::string describe_turned_top(const ElementMesh& mesh);

} // namespace ossatura
