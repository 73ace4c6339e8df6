// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <algorithm>
#include <array>

namespace ossatura {

namespace {

struct KeyedFace {
  std::array<std::int32_t, 4> key; ///< corners, ascending; -1 first for triangles
  FaceOfElement face;
};

/// Faces of the same corners one after the other, by element.
std::vector<KeyedFace> sorted_faces(const SolidMesh& mesh) {
  std::vector<KeyedFace> faces;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const SolidShape& shape = shape_of(mesh.kind[e]);
    const NodeRange nodes = mesh.nodes_of(e);
    for (int f = 0; f < shape.num_faces; ++f) {
      KeyedFace one{{}, {std::int32_t(e), f}};
      for (std::size_t k = 0; k < 4; ++k)
        one.key[k] = shape.face[f][k] < 0 ? -1 : nodes[std::size_t(shape.face[f][k])];
      std::sort(one.key.begin(), one.key.end());
      faces.push_back(one);
    }
  }
  std::sort(faces.begin(), faces.end(), [](const KeyedFace& a, const KeyedFace& b) {
    return a.key != b.key ? a.key < b.key : a.face.elem < b.face.elem;
  });
  return faces;
}

/// Ascending.
std::vector<std::int32_t> nodes_of_face(const SolidMesh& mesh, const FaceOfElement& face) {
  const std::size_t e = std::size_t(face.elem);
  const SolidFaceNodes ring = face_nodes(mesh.kind[e], face.face);
  std::vector<std::int32_t> nodes;
  for (int k = 0; k < ring.num_nodes; ++k)
    nodes.push_back(mesh.nodes_of(e)[std::size_t(ring.node[k])]);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

} // namespace

std::vector<FaceOfElement> boundary_faces(const SolidMesh& mesh) {
  const std::vector<KeyedFace> faces = sorted_faces(mesh);
  std::vector<FaceOfElement> boundary;
  for (std::size_t first = 0, next; first < faces.size(); first = next) {
    for (next = first + 1; next < faces.size() && faces[next].key == faces[first].key;)
      ++next;
    if (next == first + 1)
      boundary.push_back(faces[first].face);
  }
  std::sort(boundary.begin(), boundary.end(), [](const FaceOfElement& a, const FaceOfElement& b) {
    return a.elem != b.elem ? a.elem < b.elem : a.face < b.face;
  });
  return boundary;
}

std::optional<MisfitFace> find_misfit_face(const SolidMesh& mesh) {
  const std::vector<KeyedFace> faces = sorted_faces(mesh);
  std::optional<MisfitFace> found;
  for (std::size_t i = 1; i < faces.size(); ++i) {
    if (faces[i].key != faces[i - 1].key)
      continue;
    const FaceOfElement &one = faces[i - 1].face, &other = faces[i].face;
    const bool too_many = i > 1 && faces[i - 2].key == faces[i].key;
    if ((too_many || nodes_of_face(mesh, one) != nodes_of_face(mesh, other)) &&
        (!found || other.elem < found->second))
      found = MisfitFace{one.elem, other.elem, too_many};
  }
  return found;
}

std::vector<std::size_t> count_kinds(const SolidMesh& mesh) {
  std::vector<std::size_t> count(num_solid_kinds);
  for (const SolidKind kind : mesh.kind)
    ++count[std::size_t(kind)];
  return count;
}

} // namespace ossatura
