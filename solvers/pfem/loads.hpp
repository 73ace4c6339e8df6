// SPDX-License-Identifier: Apache-2.0
// These functions compute forces on the modes of hierarchical hexahedra, and find the modes that
// lie on parts of the boundary. Host memory; once for a problem.
#pragma once

#include <ossatura/core/mesh/hexa/model.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/kernels/pfem/basis_tables.hpp>

#include <array>
#include <functional>
#include <vector>

namespace ossatura {

/// A face of an element, numbered as in core/mesh/hexa/entities.hpp.
struct ElementFace {
  std::int32_t elem;
  int face;
};

/// The vertices of a face, in the order of hexa_face_frame.
std::array<std::int32_t, 4> vertices_of(const ElementMesh& mesh, const ElementFace& face);

/// The faces that one element has. Ascending.
std::vector<ElementFace> boundary_faces(const HexaEntities& entities);

/// The boundary faces whose middle is where `is_there` says. Ascending.
std::vector<ElementFace> boundary_faces(const CurvedHexaMesh& mesh, const HexaEntities& entities,
                                        const std::function<bool(const double (&x)[3])>& is_there);

/// The boundary faces all of whose four vertices are chosen: `chosen` [num_points] is not 0.
/// Ascending. `among`, where given here and below, is all faces that may be taken, ascending.
/// Throws std::invalid_argument for another length.
std::vector<ElementFace> whole_boundary_faces(const ElementMesh& mesh, const HexaEntities& entities,
                                              const std::vector<std::uint8_t>& chosen,
                                              const std::vector<FaceCorners>* among = nullptr);

/// Modes that are not zero on those faces, ascending.
std::vector<std::int32_t> modes_of_faces(const ElementMesh& mesh, const HexaEntities& entities,
                                         const HierarchicNumbering& numbering,
                                         const std::vector<ElementFace>& faces);

/// Modes that are not zero on the chosen part of the boundary, ascending: of chosen vertices, of
/// the edges of boundary faces with both of their vertices among them, of the faces with all four,
/// and of `edges` (ascending; null: none), wherever in the body they are. `chosen` [num_points] as
/// for whole_boundary_faces(); it has the ends of these edges.
std::vector<std::int32_t> modes_of_boundary(const ElementMesh& mesh, const HexaEntities& entities,
                                            const HierarchicNumbering& numbering,
                                            const std::vector<std::uint8_t>& chosen,
                                            const std::vector<FaceCorners>* among = nullptr,
                                            const std::vector<EdgeEnds>* edges = nullptr);

/// The chosen vertices that neither an edge of a boundary face nor one of `edges` joins to another
/// chosen one, ascending.
std::vector<std::int32_t> lone_vertices(const ElementMesh& mesh, const HexaEntities& entities,
                                        const std::vector<std::uint8_t>& chosen,
                                        const std::vector<FaceCorners>* among = nullptr,
                                        const std::vector<EdgeEnds>* edges = nullptr);

/// Force density (N / m^3) at a position; called by several threads.
using ForceDensity = std::function<void(const double (&x)[3], double (&force)[3])>;

/// Force on an area (N / m^2) at a position with the unit normal that points out.
using Traction =
    std::function<void(const double (&x)[3], const double (&normal)[3], double (&traction)[3])>;

/// Adds integrals of the density times the modes to f [num_modes, 3].
void add_body_force(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
                    ModeScaling scaling, int points, const ForceDensity& density,
                    std::vector<double>& f);

/// The same over faces. A pressure is -pressure normal.
void add_traction(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
                  ModeScaling scaling, int points, const std::vector<ElementFace>& faces,
                  const Traction& traction, std::vector<double>& f);

} // namespace ossatura
