// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/pfem/loads.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace ossatura {

namespace {

/// The basis that the elements of one order share.
struct LoadBasis {
  std::vector<HierarchicMode> mode;
  BasisTables tables;
};

/// That of each order which elements have.
class LoadBases {
public:
  LoadBases(const HierarchicNumbering& numbering, ModeScaling scaling, int points) {
    OSSATURA_REQUIRE(points >= 1, points << " points along an axis");
    for (const std::uint8_t order : numbering.order)
      if (LoadBasis& basis = bases_[order]; basis.mode.empty())
        basis = {hierarchic_modes(numbering.space, order),
                 make_basis_tables(order, points, scaling)};
  }

  const LoadBasis& operator()(int order) const { return bases_[std::size_t(order)]; }

private:
  std::array<LoadBasis, std::size_t(max_hexa_order) + 1> bases_;
};

using Jacobian = double[9];

/// det(J) J^-T, whose column k is the area vector of a face of constant xi_k.
void cofactor_of(const Jacobian& j, double (&cofactor)[9]) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      cofactor[3 * i + k] = j[3 * i1 + k1] * j[3 * i2 + k2] - j[3 * i1 + k2] * j[3 * i2 + k1];
    }
}

/// Sums `size` numbers a point over the last of the axes that are left: in [rows, points, size],
/// out [rows, order + 1, size].
std::vector<double> sum_last_axis(const BasisTables& tables, std::size_t rows, std::size_t size,
                                  const std::vector<double>& in) {
  const std::size_t points = std::size_t(tables.points), functions = std::size_t(tables.order) + 1;
  std::vector<double> out(rows * functions * size, 0.0);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t q = 0; q < points; ++q)
      for (std::size_t k = 0; k < functions; ++k) {
        const double value = tables.value[q * functions + k];
        for (std::size_t c = 0; c < size; ++c)
          out[(row * functions + k) * size + c] += value * in[(row * points + q) * size + c];
      }
  return out;
}

void check(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
           const std::vector<double>& f) {
  OSSATURA_REQUIRE(numbering.order.size() == mesh.mesh.num_elem(),
                   "a numbering of " << numbering.order.size() << " elements for a mesh of "
                                     << mesh.mesh.num_elem());
  OSSATURA_REQUIRE(f.size() == 3 * std::size_t(numbering.num_modes),
                   f.size() << " forces for " << numbering.num_modes << " modes");
}

void check(const ElementFace& face, std::size_t num_elem) {
  OSSATURA_REQUIRE(face.elem >= 0 && std::size_t(face.elem) < num_elem && face.face >= 0 &&
                       face.face < 6,
                   "face " << face.face << " of element " << face.elem << " of " << num_elem);
}

std::shared_ptr<const HexaMap> map_of(const CurvedHexaMesh& mesh) {
  return mesh.map ? mesh.map : make_trilinear_map(mesh.mesh);
}

/// Adds a force to the mode that an element sees as `signed_mode`.
void add_force(std::int32_t signed_mode, const double* force, std::vector<double>& f) {
  const double sign = signed_mode & 1 ? -1 : 1;
  for (std::size_t c = 0; c < 3; ++c)
    f[3 * std::size_t(signed_mode >> 1) + c] += sign * force[c];
}

} // namespace

std::array<std::int32_t, 4> vertices_of(const ElementMesh& mesh, const ElementFace& face) {
  std::array<std::int32_t, 4> vertices{};
  std::size_t k = 0;
  for (const auto& row : hexa_face_frame[face.face].node)
    for (const int corner : row)
      vertices[k++] = mesh.node[8 * std::size_t(face.elem) + std::size_t(corner)];
  return vertices;
}

std::vector<ElementFace> boundary_faces(const HexaEntities& entities) {
  std::vector<std::uint8_t> count(std::size_t(entities.num_faces), 0);
  for (const std::int32_t face : entities.face)
    ++count[std::size_t(face)];
  std::vector<ElementFace> faces;
  for (std::size_t k = 0; k < entities.face.size(); ++k)
    if (count[std::size_t(entities.face[k])] == 1)
      faces.push_back({std::int32_t(k / 6), int(k % 6)});
  return faces;
}

std::vector<ElementFace> boundary_faces(const CurvedHexaMesh& mesh, const HexaEntities& entities,
                                        const std::function<bool(const double (&x)[3])>& is_there) {
  const auto map = mesh.map ? mesh.map : make_trilinear_map(mesh.mesh);
  std::vector<ElementFace> found;
  for (const ElementFace& face : boundary_faces(entities)) {
    const HexaFace& frame = hexa_face_frame[face.face];
    double xi[3] = {0, 0, 0}, x[3], jacobian[9];
    xi[frame.axis] = frame.side == 0 ? -1 : 1;
    map->evaluate(face.elem, xi, x, jacobian);
    if (is_there(x))
      found.push_back(face);
  }
  return found;
}

namespace {

/// The boundary faces that may be taken.
std::vector<ElementFace> faces_among(const ElementMesh& mesh, const HexaEntities& entities,
                                     const std::vector<FaceCorners>* among) {
  std::vector<ElementFace> faces = boundary_faces(entities);
  if (among == nullptr)
    return faces;
  const auto is_other = [&](const ElementFace& face) {
    FaceCorners corners = vertices_of(mesh, face);
    std::sort(corners.begin(), corners.end());
    return !std::binary_search(among->begin(), among->end(), corners);
  };
  faces.erase(std::remove_if(faces.begin(), faces.end(), is_other), faces.end());
  return faces;
}

} // namespace

std::vector<ElementFace> whole_boundary_faces(const ElementMesh& mesh, const HexaEntities& entities,
                                              const std::vector<std::uint8_t>& chosen,
                                              const std::vector<FaceCorners>* among) {
  OSSATURA_REQUIRE(chosen.size() == mesh.num_points(),
                   chosen.size() << " marks of " << mesh.num_points() << " vertices");
  std::vector<ElementFace> found;
  for (const ElementFace& face : faces_among(mesh, entities, among)) {
    const std::int32_t* node = &mesh.node[8 * std::size_t(face.elem)];
    bool whole = true;
    for (const auto& row : hexa_face_frame[face.face].node)
      for (const int corner : row)
        whole = whole && chosen[std::size_t(node[corner])] != 0;
    if (whole)
      found.push_back(face);
  }
  return found;
}

namespace {

/// Modes that belong to one of the 12 edges of an element.
void add_modes_of_edge(const HierarchicNumbering& numbering, std::int32_t elem, int edge,
                       std::vector<std::int32_t>& found) {
  const std::int32_t* signed_mode =
      &numbering.signed_mode[std::size_t(numbering.begin[std::size_t(elem)])];
  const std::vector<HierarchicMode> modes =
      hierarchic_modes(numbering.space, numbering.order[std::size_t(elem)]);
  for (std::size_t a = 0; a < modes.size(); ++a) {
    const HexaEntity entity = entity_of(modes[a]);
    if (entity.dimension == 1 && entity.number == edge && signed_mode[a] != SignedMode::none)
      found.push_back(signed_mode[a] >> 1);
  }
}

/// Calls visit(face, edge, whether all four vertices are chosen) for the edges of boundary faces
/// whose two vertices are chosen, for each face anew.
template<class Visit>
void visit_chosen_edges(const ElementMesh& mesh, const HexaEntities& entities,
                        const std::vector<std::uint8_t>& chosen,
                        const std::vector<FaceCorners>* among, const Visit& visit) {
  OSSATURA_REQUIRE(chosen.size() == mesh.num_points(),
                   chosen.size() << " marks of " << mesh.num_points() << " vertices");
  for (const ElementFace& face : faces_among(mesh, entities, among)) {
    const std::int32_t* node = &mesh.node[8 * std::size_t(face.elem)];
    bool is_chosen[8] = {}; // and on the face
    int count = 0;
    for (const auto& row : hexa_face_frame[face.face].node)
      for (const int corner : row)
        count += is_chosen[corner] = chosen[std::size_t(node[corner])] != 0;
    for (int edge = 0; edge < 12 && count > 1; ++edge)
      if (is_chosen[hexa_edge[edge].node[0]] && is_chosen[hexa_edge[edge].node[1]])
        visit(face, edge, count == 4);
  }
}

/// Calls visit(elem, edge) for each of `edges` in each of its elements.
template<class Visit>
void visit_edges(const ElementMesh& mesh, const std::vector<EdgeEnds>* edges, const Visit& visit) {
  for (std::size_t elem = 0; edges != nullptr && elem < mesh.num_elem(); ++elem)
    for (int edge = 0; edge < 12; ++edge) {
      EdgeEnds ends{};
      for (std::size_t k = 0; k < 2; ++k)
        ends[k] = mesh.node[8 * elem + std::size_t(hexa_edge[edge].node[k])];
      std::sort(ends.begin(), ends.end());
      if (std::binary_search(edges->begin(), edges->end(), ends))
        visit(std::int32_t(elem), edge);
    }
}

} // namespace

std::vector<std::int32_t> modes_of_faces(const ElementMesh& mesh, const HexaEntities& entities,
                                         const HierarchicNumbering& numbering,
                                         const std::vector<ElementFace>& faces) {
  OSSATURA_REQUIRE(
      numbering.order.size() == mesh.num_elem() && entities.face.size() == 6 * mesh.num_elem(),
      "a numbering of " << numbering.order.size() << " elements for a mesh of " << mesh.num_elem());
  std::array<std::vector<HierarchicMode>, std::size_t(max_hexa_order) + 1> modes;
  std::vector<std::int32_t> found;
  for (const ElementFace& face : faces) {
    check(face, mesh.num_elem());
    const auto elem = std::size_t(face.elem);
    const int order = numbering.order[elem];
    std::vector<HierarchicMode>& mode = modes[std::size_t(order)];
    if (mode.empty())
      mode = hierarchic_modes(numbering.space, order);
    const HexaFace& frame = hexa_face_frame[face.face];
    const std::int32_t* signed_mode = &numbering.signed_mode[std::size_t(numbering.begin[elem])];
    for (std::size_t a = 0; a < mode.size(); ++a)
      if (mode[a].index[frame.axis] == frame.side && signed_mode[a] != SignedMode::none)
        found.push_back(signed_mode[a] >> 1);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::int32_t> modes_of_boundary(const ElementMesh& mesh, const HexaEntities& entities,
                                            const HierarchicNumbering& numbering,
                                            const std::vector<std::uint8_t>& chosen,
                                            const std::vector<FaceCorners>* among,
                                            const std::vector<EdgeEnds>* edges) {
  std::vector<std::int32_t> found = modes_of_faces(
      mesh, entities, numbering, whole_boundary_faces(mesh, entities, chosen, among));
  for (std::size_t vertex = 0; vertex < chosen.size(); ++vertex)
    if (chosen[vertex] != 0)
      found.push_back(std::int32_t(vertex)); // the first modes are the vertices
  visit_chosen_edges(mesh, entities, chosen, among,
                     [&](const ElementFace& face, int edge, bool is_whole) {
                       if (!is_whole) // the modes of whole faces are there
                         add_modes_of_edge(numbering, face.elem, edge, found);
                     });
  visit_edges(mesh, edges, [&](std::int32_t elem, int edge) {
    add_modes_of_edge(numbering, elem, edge, found);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::int32_t> lone_vertices(const ElementMesh& mesh, const HexaEntities& entities,
                                        const std::vector<std::uint8_t>& chosen,
                                        const std::vector<FaceCorners>* among,
                                        const std::vector<EdgeEnds>* edges) {
  std::vector<std::uint8_t> alone = chosen;
  const auto join = [&](std::int32_t elem, int edge) {
    for (const int corner : hexa_edge[edge].node)
      alone[std::size_t(mesh.node[8 * std::size_t(elem) + std::size_t(corner)])] = 0;
  };
  visit_chosen_edges(mesh, entities, chosen, among,
                     [&](const ElementFace& face, int edge, bool) { join(face.elem, edge); });
  visit_edges(mesh, edges, join);
  std::vector<std::int32_t> found;
  for (std::size_t vertex = 0; vertex < alone.size(); ++vertex)
    if (alone[vertex] != 0)
      found.push_back(std::int32_t(vertex));
  return found;
}

namespace {

/// The forces of a density on the products of functions up to the order of an element:
/// [order + 1, order + 1, order + 1, 3].
std::vector<double> body_forces(const HexaMap& map, std::int64_t elem, const BasisTables& tables,
                                const ForceDensity& density) {
  const std::size_t n = std::size_t(tables.points);
  const std::vector<double>&point = tables.rule.point, &weight = tables.rule.weight;
  std::vector<double> at_point(3 * n * n * n);
  for (std::size_t q = 0; q < n * n * n; ++q) {
    const std::size_t q0 = q / (n * n), q1 = q / n % n, q2 = q % n;
    const double xi[3] = {point[q0], point[q1], point[q2]};
    double x[3], jacobian[9], cofactor[9], force[3] = {0, 0, 0};
    map.evaluate(elem, xi, x, jacobian);
    cofactor_of(jacobian, cofactor);
    const double determinant =
        jacobian[0] * cofactor[0] + jacobian[3] * cofactor[3] + jacobian[6] * cofactor[6];
    density(x, force);
    const double scale = weight[q0] * weight[q1] * weight[q2] * determinant;
    for (std::size_t c = 0; c < 3; ++c)
      at_point[3 * q + c] = scale * force[c];
  }
  // One axis after the other, the last first: [n, n, m, 3], [n, m, m, 3], [m, m, m, 3].
  const std::size_t m = std::size_t(tables.order) + 1;
  std::vector<double> sum = sum_last_axis(tables, n * n, 3, at_point);
  sum = sum_last_axis(tables, n, 3 * m, sum);
  return sum_last_axis(tables, 1, 3 * m * m, sum);
}

} // namespace

void add_body_force(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
                    ModeScaling scaling, int points, const ForceDensity& density,
                    std::vector<double>& f) {
  check(mesh, numbering, f);
  const LoadBases bases(numbering, scaling, points);
  const std::shared_ptr<const HexaMap> map = map_of(mesh);
  // Some elements at a time by all threads, whose forces are added one after the other: the sums
  // are the same for any number of threads.
  constexpr std::size_t numbers_at_a_time = 1 << 22, least = 16;
  const std::size_t num_elem = mesh.mesh.num_elem();
  std::size_t functions = 1; // of one coordinate, at most
  for (const std::uint8_t order : numbering.order)
    functions = std::max(functions, std::size_t(order) + 1);
  const std::size_t at_a_time = numbers_at_a_time / (3 * functions * functions * functions);
  std::vector<std::vector<double>> forces;
  for (std::size_t begin = 0; begin < num_elem; begin += at_a_time) {
    forces.resize(std::min(at_a_time, num_elem - begin));
    for_parts(forces.size(), least, [&](std::size_t first, std::size_t end) {
      for (std::size_t k = first; k < end; ++k)
        forces[k] = body_forces(*map, std::int64_t(begin + k),
                                bases(numbering.order[begin + k]).tables, density);
    });
    for (std::size_t k = 0; k < forces.size(); ++k) {
      const LoadBasis& basis = bases(numbering.order[begin + k]);
      const std::size_t m = std::size_t(basis.tables.order) + 1;
      const std::int32_t* signed_mode =
          &numbering.signed_mode[std::size_t(numbering.begin[begin + k])];
      for (std::size_t a = 0; a < basis.mode.size(); ++a) {
        const std::uint8_t(&index)[3] = basis.mode[a].index;
        if (signed_mode[a] != SignedMode::none)
          add_force(signed_mode[a], &forces[k][3 * ((index[0] * m + index[1]) * m + index[2])], f);
      }
    }
  }
}

void add_traction(const CurvedHexaMesh& mesh, const HierarchicNumbering& numbering,
                  ModeScaling scaling, int points, const std::vector<ElementFace>& faces,
                  const Traction& traction, std::vector<double>& f) {
  check(mesh, numbering, f);
  const LoadBases bases(numbering, scaling, points);
  const std::shared_ptr<const HexaMap> map = map_of(mesh);
  const std::size_t n = std::size_t(points);
  std::vector<double> at_point(3 * n * n);
  for (const ElementFace& face : faces) {
    check(face, mesh.mesh.num_elem());
    const auto elem = std::size_t(face.elem);
    const LoadBasis& basis = bases(numbering.order[elem]);
    const std::vector<double>&point = basis.tables.rule.point, &weight = basis.tables.rule.weight;
    const HexaFace& frame = hexa_face_frame[face.face];
    const int axis = frame.axis, first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
    for (std::size_t q = 0; q < n * n; ++q) {
      double xi[3], x[3], jacobian[9], cofactor[9], force[3] = {0, 0, 0};
      xi[axis] = frame.side == 0 ? -1 : 1;
      xi[first] = point[q / n];
      xi[second] = point[q % n];
      map->evaluate(std::int64_t(elem), xi, x, jacobian);
      cofactor_of(jacobian, cofactor);
      double normal[3], area = 0;
      for (int c = 0; c < 3; ++c) {
        normal[c] = (frame.side == 0 ? -1 : 1) * cofactor[3 * c + axis];
        area += normal[c] * normal[c];
      }
      area = std::sqrt(area);
      OSSATURA_REQUIRE(area > 0, "face " << face.face << " of element " << elem << " has no area");
      for (double& component : normal)
        component /= area;
      traction(x, normal, force);
      const double scale = weight[q / n] * weight[q % n] * area;
      for (std::size_t c = 0; c < 3; ++c)
        at_point[3 * q + c] = scale * force[c];
    }
    const std::size_t m = std::size_t(basis.tables.order) + 1;
    std::vector<double> sum = sum_last_axis(basis.tables, n, 3, at_point); // [n, m, 3]
    sum = sum_last_axis(basis.tables, 1, 3 * m, sum);                      // [m, m, 3]
    for (std::size_t a = 0; a < basis.mode.size(); ++a) {
      const std::uint8_t(&index)[3] = basis.mode[a].index;
      const std::int32_t signed_mode =
          numbering.signed_mode[std::size_t(numbering.begin[elem]) + a];
      if (index[axis] == frame.side && signed_mode != SignedMode::none)
        add_force(signed_mode, &sum[3 * (index[first] * m + index[second])], f);
    }
  }
}

} // namespace ossatura
