// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/element_surface.hpp>

#include <ossatura/core/mesh/hexa/faces.hpp>

#include <algorithm>
#include <array>

namespace ossatura {
namespace {

constexpr int tetra_face[4][4] = {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {0, 3, 2, -1}};

/// A face by its sorted nodes; triangles have -1 first.
struct Face {
  std::array<std::int32_t, 4> key;
  std::int64_t place; ///< element times faces of an element, and the face
};

std::vector<Face> faces_of(const ElementMesh& mesh, const int (*face)[4], int num_faces) {
  const std::size_t num_nodes = std::size_t(nodes_per_elem(mesh.shape));
  std::vector<Face> faces;
  faces.reserve(mesh.num_elem() * std::size_t(num_faces));
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (int f = 0; f < num_faces; ++f) {
      Face next{{-1, -1, -1, -1}, std::int64_t(faces.size())};
      for (std::size_t k = 0; k < 4; ++k)
        if (face[f][k] >= 0)
          next.key[k] = mesh.node[num_nodes * e + std::size_t(face[f][k])];
      std::sort(next.key.begin(), next.key.end());
      faces.push_back(next);
    }
  return faces;
}

/// The places of the faces that are there once, ascending.
std::vector<std::int64_t> single_faces(std::vector<Face> faces) {
  std::sort(faces.begin(), faces.end(), [](const Face& a, const Face& b) { return a.key < b.key; });
  std::vector<std::int64_t> single;
  for (std::size_t first = 0, next; first < faces.size(); first = next) {
    next = first + 1;
    while (next < faces.size() && faces[next].key == faces[first].key)
      ++next;
    if (next - first == 1)
      single.push_back(faces[first].place);
  }
  std::sort(single.begin(), single.end());
  return single;
}

} // namespace

std::vector<std::int32_t> boundary_triangles(const ElementMesh& mesh) {
  if (mesh.shape == ElementShape::triangle)
    return mesh.node;
  const bool tetra = mesh.shape == ElementShape::tetra;
  const auto* face = tetra ? tetra_face : hexa_face;
  const int num_faces = tetra ? 4 : 6, corners = tetra ? 3 : 4;
  std::vector<std::int32_t> triangle;
  for (const std::int64_t place : single_faces(faces_of(mesh, face, num_faces))) {
    const std::int32_t* node = mesh.node.data() + nodes_per_elem(mesh.shape) * (place / num_faces);
    std::int32_t corner[4];
    for (int k = 0; k < corners; ++k)
      corner[k] = node[face[place % num_faces][k]];
    std::rotate(corner, std::min_element(corner, corner + corners), corner + corners);
    for (int k = 2; k < corners; ++k)
      triangle.insert(triangle.end(), {corner[0], corner[k - 1], corner[k]});
  }
  return triangle;
}

} // namespace ossatura
