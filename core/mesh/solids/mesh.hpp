// SPDX-License-Identifier: Apache-2.0
// A SolidMesh is a mesh of solid elements of any kinds, in any order. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/solids/kinds.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace ossatura {

/// The nodes of an element, which are elsewhere.
struct NodeRange {
  const std::int32_t *first, *last;

  const std::int32_t* begin() const { return first; }
  const std::int32_t* end() const { return last; }
  std::size_t size() const { return std::size_t(last - first); }
  std::int32_t operator[](std::size_t a) const { return first[a]; }
};

struct SolidMesh {
  std::vector<double> point;          ///< [num_points, 3]
  std::vector<SolidKind> kind;        ///< [num_elem]
  std::vector<std::int32_t> begin{0}; ///< [num_elem + 1] into the next
  std::vector<std::int32_t> node;     ///< of each element nodes_per_elem(kind), in [0, num_points)

  std::size_t num_points() const { return point.size() / 3; }
  std::size_t num_elem() const { return kind.size(); }
  NodeRange nodes_of(std::size_t elem) const {
    return {node.data() + begin[elem], node.data() + begin[elem + 1]};
  }
  /// Nodes are those of `kind`.
  void add(SolidKind one, const std::int32_t* nodes) {
    kind.push_back(one);
    node.insert(node.end(), nodes, nodes + nodes_per_elem(one));
    begin.push_back(std::int32_t(node.size()));
  }
};

/// A face of an element.
struct FaceOfElement {
  std::int32_t elem;
  int face; ///< row of SolidShape::face
};

/// The faces that one element alone has, by element. Faces are the same if their corners are.
std::vector<FaceOfElement> boundary_faces(const SolidMesh& mesh);

/// Two elements that do not fit: with a face of the same corners of which a third element has one,
/// too, or whose mid-nodes are others.
struct MisfitFace {
  std::int32_t first, second; ///< elements
  bool too_many;              ///< elements at the face; else its mid-nodes differ
};
/// The first by element, or none.
std::optional<MisfitFace> find_misfit_face(const SolidMesh& mesh);

/// Elements of each kind, in the order of SolidKind.
std::vector<std::size_t> count_kinds(const SolidMesh& mesh);

} // namespace ossatura
