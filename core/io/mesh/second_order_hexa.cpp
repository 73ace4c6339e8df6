// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/second_order_hexa.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace ossatura {
namespace {

/// A part of a hexahedron by its vertices, bit v set for vertex v. A point is the middle of a part.
using Part = unsigned;

Part part_of(std::initializer_list<int> vertices) {
  Part part = 0;
  for (const int v : vertices)
    part |= 1u << v;
  return part;
}

/// Bottom and top exchanged.
constexpr Part turned_over(Part part) {
  return part >> 4 | (part & 15u) << 4;
}

// Gmsh reference manual, "Node ordering": Hexahedron20 has the first 20 of Hexahedron27.
constexpr Part gmsh_part[27] = {
    0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80,                         // vertices
    0x03, 0x09, 0x11, 0x06, 0x22, 0x0c, 0x44, 0x88, 0x30, 0x90, 0x60, 0xc0, // edges 0-1 0-3 0-4 ...
    0x0f, 0x33, 0x99, 0x66, 0xcc, 0xf0, 0xff}; // faces 0123 0154 0374 1265 2376 4567, the centre

/// In the order of make_quadratic_map().
std::vector<Part> map_parts() {
  std::vector<Part> parts;
  for (int v = 0; v < 8; ++v)
    parts.push_back(part_of({v}));
  for (const HexaEdge& e : hexa_edge)
    parts.push_back(part_of({e.node[0], e.node[1]}));
  for (const HexaFace& f : hexa_face_frame)
    parts.push_back(part_of({f.node[0][0], f.node[0][1], f.node[1][0], f.node[1][1]}));
  parts.push_back(0xff);
  return parts;
}

/// A point of the map as a sum over nodes of the element.
struct Combination {
  std::vector<int> node;
  std::vector<double> weight;
};

Combination combination_of(Part part, std::size_t nodes_per_elem) {
  const auto* end = gmsh_part + nodes_per_elem;
  const auto* found = std::find(gmsh_part, end, part);
  if (found != end)
    return {{int(found - gmsh_part)}, {1}};
  // Serendipity functions in the middle of a face, or the centre.
  const double of_edge = part == 0xff ? 0.25 : 0.5;
  Combination sum;
  for (int k = 0; k < 20; ++k)
    if ((gmsh_part[k] & part) == gmsh_part[k]) {
      sum.node.push_back(k);
      sum.weight.push_back(k < 8 ? -0.25 : of_edge);
    }
  return sum;
}

} // namespace

std::vector<double> second_order_points(const std::vector<double>& point,
                                        const std::vector<std::int32_t>& node,
                                        std::size_t nodes_per_elem,
                                        const std::vector<bool>& turned) {
  OSSATURA_REQUIRE(nodes_per_elem == 20 || nodes_per_elem == 27,
                   "second-order hexahedra of " << nodes_per_elem << " nodes");
  std::vector<Combination> combination[2];
  for (const Part part : map_parts()) {
    combination[0].push_back(combination_of(part, nodes_per_elem));
    combination[1].push_back(combination_of(turned_over(part), nodes_per_elem));
  }
  std::vector<double> points;
  points.reserve(81 * turned.size());
  for (std::size_t elem = 0; elem < turned.size(); ++elem)
    for (const Combination& sum : combination[turned[elem] ? 1 : 0])
      for (std::size_t axis = 0; axis < 3; ++axis) {
        double x = 0;
        for (std::size_t k = 0; k < sum.node.size(); ++k) {
          const std::int32_t n = node[nodes_per_elem * elem + std::size_t(sum.node[k])];
          x += sum.weight[k] * point[3 * std::size_t(n) + axis];
        }
        points.push_back(x);
      }
  return points;
}

bool is_right_way_round(const HexaMap& map, std::int64_t elem) {
  const double place[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)};
  for (const double r : place)
    for (const double s : place)
      for (const double t : place) {
        double x[3], j[9];
        map.evaluate(elem, {r, s, t}, x, j);
        const double determinant = j[0] * (j[4] * j[8] - j[5] * j[7]) -
                                   j[1] * (j[3] * j[8] - j[5] * j[6]) +
                                   j[2] * (j[3] * j[7] - j[4] * j[6]);
        if (!(determinant > 0))
          return false;
      }
  return true;
}

} // namespace ossatura
