// SPDX-License-Identifier: Apache-2.0
// Shape functions and quadrature of solid elements on their reference elements: tetrahedra r, s, t
// >= 0, r + s + t <= 1; prisms r, s >= 0, r + s <= 1, -1 <= t <= 1; hexahedra -1 <= r, s, t <= 1.
// Rules are those of Abaqus and CalculiX [1]; second-order prisms and hexahedra are of the
// serendipity family [2].
//
// [1] G. Dhondt, CalculiX CrunchiX User's Manual, "Element types".
// [2] O. Zienkiewicz, R. Taylor, J. Zhu. The Finite Element Method: Its Basis and Fundamentals,
//     6th ed., Elsevier 2005, chapters 4 and 5.
#pragma once

#include <ossatura/core/mesh/solids/mesh.hpp>

#include <array>
#include <string>

namespace ossatura {

/// Values [nodes] and slopes [nodes, 3] by r, s, t of the shape functions at a point.
struct SolidShapeValues {
  std::array<double, most_solid_nodes> value{};
  std::array<std::array<double, 3>, most_solid_nodes> slope{};
};
SolidShapeValues evaluate_shape(SolidKind kind, const std::array<double, 3>& at);

/// The places of the nodes [nodes] in the reference element.
std::vector<std::array<double, 3>> reference_nodes(SolidKind kind);

struct SolidQuadraturePoint {
  std::array<double, 3> at;
  double weight;
};
/// points_per_elem(kind) points, whose weights add up to the volume of the reference element.
std::vector<SolidQuadraturePoint> quadrature_of(SolidKind kind);

/// A rule for the integrals of shape functions times coordinates, exact on elements with straight
/// edges. A weight of second-order tetrahedra is negative.
std::vector<SolidQuadraturePoint> moment_quadrature_of(SolidKind kind);

/// A rule for the integrals of products of two shape functions, exact on elements with straight
/// edges, of positive weights.
std::vector<SolidQuadraturePoint> mass_quadrature_of(SolidKind kind);

/// The forces of a pressure of 1 into the element on one of its faces, by nodes of the element
/// [nodes, 3]: integrals of shape functions times the normal, consistent for curved faces, too.
std::array<std::array<double, 3>, most_solid_nodes> pressure_forces(const SolidMesh& mesh,
                                                                    const FaceOfElement& face);

/// The integrals of the shape functions [nodes] over a face, m^2.
std::array<double, most_solid_nodes> face_shares(const SolidMesh& mesh, const FaceOfElement& face);

/// What is wrong with an element and the remedy, or an empty string: a node twice, a Jacobian that
/// is not positive at its nodes and quadrature points, a mid-node farther from the middle of its
/// edge than half its length.
std::string describe_bad_element(const SolidMesh& mesh, std::size_t elem);

/// The integral of 1 over an element by its quadrature, m^3.
double volume_of(const SolidMesh& mesh, std::size_t elem);

/// The mean of the corners of an element, m.
std::array<double, 3> centre_of(const SolidMesh& mesh, std::size_t elem);

} // namespace ossatura
