// SPDX-License-Identifier: Apache-2.0
// Contact areas, rigid motions and frames of bone, on cases done by hand.
#include "tests/catch.hpp"
#include <ossatura/core/io/image/world_frame.hpp>
#include <ossatura/core/mesh/mechanics/held_motions.hpp>
#include <ossatura/solvers/bone/results/contact_area.hpp>

#include <array>
#include <cmath>

namespace {

using namespace ossatura;

HeldNode held_node(int x, int y, int z, std::uint8_t solid) {
  return {{x, y, z}, 7, solid, 0, {0, 0, 0}, {0, 0, 0}};
}

TEST_CASE("contact is the faces whose corners are all held", "[contact]") {
  // 3 x 3 nodes at z = 5 below a voxel towards each: four faces; without the middle node none.
  std::vector<HeldNode> nodes;
  for (int y = 4; y < 7; ++y)
    for (int x = 1; x < 4; ++x)
      nodes.push_back(held_node(x, y, 5, 255));
  CHECK(contact_area(nodes, 2, 0.5) == 4 * 0.25);
  CHECK(contact_area(nodes, 0, 0.5) == 0);
  CHECK(contact_area(nodes, 1, 0.5) == 0);
  // A face of void has held corners too, but no voxel on either side.
  nodes[0].solid = std::uint8_t(~(1u << 3 | 1u << 7));
  CHECK(contact_area(nodes, 2, 0.5) == 3 * 0.25);
  nodes[0].solid = 255;
  // What is behind counts once.
  const std::vector<HeldNode> layer = nodes;
  for (HeldNode node : layer) {
    node.site.z = 6;
    nodes.push_back(node);
  }
  CHECK(contact_area(nodes, 2, 0.5) == 4 * 0.25);
  CHECK(contact_area(nodes, 0, 0.5) == 2 * 0.25);
  nodes.erase(nodes.begin() + 4);
  CHECK(contact_area(nodes, 2, 0.5) == 4 * 0.25); // by the other layer
  CHECK(contact_area({}, 2, 0.5) == 0);
}

TEST_CASE("rigid motions that are held are counted, and the free ones named", "[motions]") {
  HeldMotions motions;
  motions.size = 1;
  const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  CHECK(motions.rank() == 0);
  for (const auto& x : corner)
    motions.add(x, 2);
  CHECK(motions.rank() == 3);
  CHECK(motions.free_motions() == "along x, along y, about z");
  motions.add(corner[0], 0);
  motions.add(corner[0], 1);
  CHECK(motions.free_motions() == "about z");
  motions.add(corner[1], 1);
  CHECK(motions.rank() == 6);
  CHECK(motions.free_motions().empty());
  HeldMotions line;
  line.size = 1;
  const double diagonal[3] = {1, 1, 1};
  for (int c = 0; c < 3; ++c) {
    line.add(corner[0], c);
    line.add(diagonal, c);
  }
  CHECK(line.rank() == 5);
  CHECK(line.free_motions() == "about a line that is along none of the axes");
}

TEST_CASE("a rigid motion is found from its values", "[motions]") {
  HeldMotions motions;
  motions.centre[1] = 2;
  motions.size = 3;
  const std::array<double, 6> expected{0.1, -0.2, 0.3, 0.04, 0.05, -0.06};
  std::array<double, 6> load{};
  const double points[4][3] = {{0, 0, 1}, {4, 1, 0}, {0, 5, 2}, {1, 1, 6}};
  for (const auto& x : points)
    for (int c = 0; c < 3; ++c) {
      // u = t + w x (x - centre) / size
      const double y[3] = {x[0] / 3, (x[1] - 2) / 3, x[2] / 3};
      const double* w = &expected[3];
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      const double u = expected[std::size_t(c)] + w[a] * y[b] - w[b] * y[a];
      motions.add(x, c);
      const auto r = motions.at(x, c);
      for (std::size_t i = 0; i < 6; ++i)
        load[i] += r[i] * u;
    }
  const auto found = motions.fit(load);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("vectors and tensors are turned alike", "[frame]") {
  const ImageDirection quarter{0, -1, 0, 1, 0, 0, 0, 0, 1}; // about z: x to y
  std::vector<double> v{1, 2, 3};
  turn_vectors(quarter, v.data(), 1, v.data());
  CHECK(v == std::vector<double>{-2, 1, 3});
  // xx becomes yy; the shear xy changes sign, yz becomes -zx, zx becomes yz.
  const std::vector<double> t{1, 2, 3, 4, 5, 6};
  for (const double shear : {1., 2.}) {
    std::vector<double> turned = t;
    turn_tensors(quarter, turned.data(), 1, shear, turned.data());
    CHECK(turned == std::vector<double>{2, 1, 3, -4, 6, -5});
  }
  CHECK_FALSE(is_mirrored(quarter));
  CHECK(is_mirrored({-1, 0, 0, 0, 1, 0, 0, 0, 1}));
  CHECK(is_identity(identity_direction));
  // By 45 degrees, xx and yy equal: pure shear of engineering strain g has g/2 along the diagonals.
  const double s = std::sqrt(0.5);
  const ImageDirection eighth{s, -s, 0, s, s, 0, 0, 0, 1};
  const std::vector<double> gamma{0, 0, 0, 2, 0, 0};
  std::vector<double> turned(6);
  turn_tensors(eighth, gamma.data(), 1, 2, turned.data());
  CHECK(turned[0] == Approx(-1));
  CHECK(turned[1] == Approx(1));
  CHECK(std::abs(turned[3]) < 1e-12);
}

} // namespace
