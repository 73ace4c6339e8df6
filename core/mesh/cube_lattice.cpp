// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/cube_lattice.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ossatura {

namespace {

constexpr double slack = 1e-5; // edges

using Place = std::array<int, 3>;

/// The smallest box around element e: lower corner, then upper corner.
std::array<double, 6> box_of(const ElementMesh& mesh, std::size_t e) {
  std::array<double, 6> box;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box[axis] = std::numeric_limits<double>::infinity();
    box[axis + 3] = -box[axis];
    for (std::size_t corner = 0; corner < 8; ++corner) {
      const double x = mesh.point[3 * std::size_t(mesh.node[8 * e + corner]) + axis];
      box[axis] = std::min(box[axis], x);
      box[axis + 3] = std::max(box[axis + 3], x);
    }
  }
  return box;
}

/// Sets shape, origin and edge from the first element and all points.
void measure(const ElementMesh& mesh, CubeLattice& lattice) {
  const std::array<double, 6> first = box_of(mesh, 0);
  lattice.edge = first[3] - first[0];
  OSSATURA_REQUIRE(lattice.edge > 0, "element 0 is flat");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = axis; i < mesh.point.size(); i += 3) {
      low = std::min(low, mesh.point[i]);
      high = std::max(high, mesh.point[i]);
    }
    lattice.origin[axis] = low;
    const double count = std::round((high - low) / lattice.edge);
    OSSATURA_REQUIRE(count >= 1 && count <= 1 << 20, "the body spans "
                                                         << (high - low) / lattice.edge
                                                         << " edges of element 0 along "
                                                         << "xyz"[axis]);
    lattice.shape[axis] = int(count);
  }
  // One edge is too few to tell its length from.
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (lattice.shape[axis] > lattice.shape[longest])
      longest = axis;
  double high = lattice.origin[longest];
  for (std::size_t i = longest; i < mesh.point.size(); i += 3)
    high = std::max(high, mesh.point[i]);
  lattice.edge = (high - lattice.origin[longest]) / lattice.shape[longest];
}

/// Element e, whose place this is, is a cube there.
Place place_of(const ElementMesh& mesh, const CubeLattice& lattice, std::size_t e) {
  const std::array<double, 6> box = box_of(mesh, e);
  Place place;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double at = (box[axis] - lattice.origin[axis]) / lattice.edge;
    place[axis] = int(std::lround(at));
    const double length = (box[axis + 3] - box[axis]) / lattice.edge;
    OSSATURA_REQUIRE(std::fabs(length - 1) <= 2 * slack,
                     "element " << e << " is no cube like the others: " << length
                                << " of their edge along "
                                << "xyz"[axis]);
    OSSATURA_REQUIRE(std::fabs(at - place[axis]) <= slack,
                     "element " << e << " lies " << at << " edges along "
                                << "xyz"[axis] << ", between the places of others");
  }
  return place;
}

std::int64_t number(const Place& place, const Place& shape) {
  return place[0] + shape[0] * (place[1] + std::int64_t(shape[1]) * place[2]);
}

} // namespace

CubeLattice find_cube_lattice(const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa && mesh.num_elem() > 0,
                   "a lattice is of hexahedra");
  CubeLattice lattice;
  measure(mesh, lattice);
  const Place nodes = {lattice.shape[0] + 1, lattice.shape[1] + 1, lattice.shape[2] + 1};
  std::vector<bool> taken(std::size_t(lattice.shape[0]) * std::size_t(lattice.shape[1]) *
                          std::size_t(lattice.shape[2]));
  std::vector<std::int32_t> node_at;
  node_at.assign(std::size_t(nodes[0]) * std::size_t(nodes[1]) * std::size_t(nodes[2]), -1);
  lattice.node.assign(mesh.num_points(), {-1, -1, -1});
  lattice.elem.reserve(mesh.num_elem());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const Place place = place_of(mesh, lattice, e);
    const std::size_t at = std::size_t(number(place, lattice.shape));
    OSSATURA_REQUIRE(!taken[at], "element " << e << " is where another one is");
    taken[at] = true;
    lattice.elem.push_back(place);
    unsigned corners = 0; // that it has
    for (std::size_t k = 0; k < 8; ++k) {
      const std::int32_t node = mesh.node[8 * e + k];
      Place there = place;
      unsigned corner = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double x =
            (mesh.point[3 * std::size_t(node) + axis] - lattice.origin[axis]) / lattice.edge;
        there[axis] = int(std::lround(x));
        OSSATURA_REQUIRE(std::fabs(x - there[axis]) <= 2 * slack,
                         "element " << e << " is no cube: its node " << node << " is " << x
                                    << " edges along "
                                    << "xyz"[axis]);
        corner |= unsigned(there[axis] - place[axis]) << axis;
      }
      corners |= 1u << corner;
      std::int32_t& known = node_at[std::size_t(number(there, nodes))];
      OSSATURA_REQUIRE(known < 0 || known == node,
                       "nodes " << known << " and " << node
                                << " are in one place: parts that touch without sharing nodes are "
                                   "no voxels");
      known = node;
      lattice.node[std::size_t(node)] = there;
    }
    OSSATURA_REQUIRE(corners == 0xff, "element " << e << " is no cube");
  }
  for (std::size_t i = 0; i < lattice.node.size(); ++i)
    OSSATURA_REQUIRE(lattice.node[i][0] >= 0, "node " << i << " has no element");
  return lattice;
}

} // namespace ossatura
