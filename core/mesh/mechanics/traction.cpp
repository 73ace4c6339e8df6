// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/traction.hpp>

#include <ossatura/core/mesh/hexa/faces.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ossatura {

namespace {

using Face = std::array<std::int32_t, 4>;

/// Faces that one element alone has, in the order of its nodes, by their sorted nodes.
std::map<Face, Face> chosen_faces(const ElementMesh& mesh, const std::vector<std::int32_t>& nodes) {
  std::vector<std::uint8_t> chosen(mesh.num_points());
  for (const std::int32_t node : nodes)
    chosen[std::size_t(node)] = 1;
  std::map<Face, Face> faces;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (const auto& corners : hexa_face) {
      Face face{};
      bool whole = true;
      for (std::size_t i = 0; i < 4; ++i) {
        face[i] = mesh.node[8 * e + std::size_t(corners[i])];
        whole = whole && chosen[std::size_t(face[i])] != 0;
      }
      if (!whole)
        continue;
      Face key = face;
      std::sort(key.begin(), key.end());
      if (!faces.emplace(key, face).second)
        faces.erase(key); // the other side of a face inside the body
    }
  return faces;
}

/// Integrals of the four shape functions over a bilinear face.
std::array<double, 4> shares(const ElementMesh& mesh, const Face& face) {
  std::array<double, 4> share{};
  const double g = 1 / std::sqrt(3.0);
  const double sx[4] = {-1, 1, 1, -1}, sy[4] = {-1, -1, 1, 1};
  for (int q = 0; q < 4; ++q) {
    const double u = g * sx[q], v = g * sy[q];
    double along[3] = {}, across[3] = {}, shape[4];
    for (int i = 0; i < 4; ++i) {
      shape[i] = (1 + u * sx[i]) * (1 + v * sy[i]) / 4;
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = mesh.point[3 * std::size_t(face[std::size_t(i)]) + d];
        along[d] += sx[i] * (1 + v * sy[i]) / 4 * x;
        across[d] += sy[i] * (1 + u * sx[i]) / 4 * x;
      }
    }
    const double area = std::hypot(along[1] * across[2] - along[2] * across[1],
                                   along[2] * across[0] - along[0] * across[2],
                                   along[0] * across[1] - along[1] * across[0]);
    for (std::size_t i = 0; i < 4; ++i)
      share[i] += area * shape[i];
  }
  return share;
}

/// As HexaModel::face_sets has them.
FaceCorners corners_of(const NodeRange& of_elem, const SolidFaceNodes& of_face) {
  FaceCorners corners{};
  corners.fill(-1);
  const int stride = of_face.num_nodes / of_face.num_corners; // 2 where mid-nodes are between them
  for (int k = 0; k < of_face.num_corners; ++k)
    corners[std::size_t(k)] = of_elem[std::size_t(of_face.node[stride * k])];
  if (of_face.num_corners == 3)
    corners[3] = *std::max_element(corners.begin(), corners.begin() + 3);
  std::sort(corners.begin(), corners.end());
  return corners;
}

/// `area` by node.
std::vector<NodeForce> forces_of(const std::map<std::int32_t, double>& area,
                                 const std::array<double, 3>& traction) {
  std::vector<NodeForce> forces;
  for (const auto& [node, part] : area)
    forces.push_back({node, {part * traction[0], part * traction[1], part * traction[2]}});
  return forces;
}

} // namespace

std::vector<NodeForce> traction_forces(const ElementMesh& mesh,
                                       const std::vector<std::int32_t>& nodes,
                                       const std::array<double, 3>& traction,
                                       const std::vector<FaceCorners>* among,
                                       std::size_t* num_taken) {
  std::size_t count = 0;
  std::map<std::int32_t, double> area;
  for (const auto& [key, face] : chosen_faces(mesh, nodes)) {
    if (among != nullptr && !std::binary_search(among->begin(), among->end(), key))
      continue;
    ++count;
    const std::array<double, 4> share = shares(mesh, face);
    for (std::size_t i = 0; i < 4; ++i)
      area[face[i]] += share[i];
  }
  if (num_taken != nullptr)
    *num_taken = count;
  return forces_of(area, traction);
}

std::vector<NodeForce> traction_forces(const SolidMesh& mesh,
                                       const std::vector<std::int32_t>& nodes,
                                       const std::array<double, 3>& traction,
                                       const std::vector<FaceCorners>* among,
                                       std::size_t* num_taken) {
  std::size_t count = 0;
  std::vector<std::uint8_t> chosen(mesh.num_points());
  for (const std::int32_t node : nodes)
    chosen[std::size_t(node)] = 1;
  std::map<std::int32_t, double> area;
  for (const FaceOfElement& face : boundary_faces(mesh)) {
    const NodeRange of_elem = mesh.nodes_of(std::size_t(face.elem));
    const SolidFaceNodes of_face = face_nodes(mesh.kind[std::size_t(face.elem)], face.face);
    bool whole = true;
    for (int k = 0; k < of_face.num_nodes; ++k)
      whole = whole && chosen[std::size_t(of_elem[std::size_t(of_face.node[k])])] != 0;
    if (!whole || (among != nullptr &&
                   !std::binary_search(among->begin(), among->end(), corners_of(of_elem, of_face))))
      continue;
    ++count;
    const auto share = face_shares(mesh, face);
    for (int k = 0; k < of_face.num_nodes; ++k) {
      const std::size_t a = std::size_t(of_face.node[k]);
      area[of_elem[a]] += share[a];
    }
  }
  if (num_taken != nullptr)
    *num_taken = count;
  return forces_of(area, traction);
}

} // namespace ossatura
