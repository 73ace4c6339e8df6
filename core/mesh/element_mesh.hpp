// SPDX-License-Identifier: Apache-2.0
// An ElementMesh is a mesh of one kind of element, as readers and generators make it, in host
// memory without Kokkos.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

enum class ElementShape {
  triangle, ///< 3 nodes
  tetra,    ///< 4 nodes, positive: (p1 - p0) x (p2 - p0) . (p3 - p0) > 0
  hexa      ///< 8 nodes, in the order of VTK: 0 1 2 3 around the bottom, 4 5 6 7 above them
};

constexpr int nodes_per_elem(ElementShape shape) {
  return shape == ElementShape::triangle ? 3 : shape == ElementShape::tetra ? 4 : 8;
}

constexpr Names<ElementShape> names_of(ElementShape) {
  return {{ElementShape::triangle, "triangle"},
          {ElementShape::tetra, "tetra"},
          {ElementShape::hexa, "hexa"}};
}

/// Arrays are flat and row-major.
struct ElementMesh {
  ElementShape shape = ElementShape::tetra;
  std::vector<double> point;      ///< [num_points, 3]
  std::vector<std::int32_t> node; ///< [num_elem, nodes_per_elem], entries in [0, num_points)

  std::size_t num_points() const { return point.size() / 3; }
  std::size_t num_elem() const { return node.size() / std::size_t(nodes_per_elem(shape)); }
};

} // namespace ossatura
