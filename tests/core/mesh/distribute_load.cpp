// SPDX-License-Identifier: Apache-2.0
// Loads at a reference point as forces on nodes: the same resultants, a hand case, and what nodes
// cannot take.
#include <ossatura/core/mesh/mechanics/distribute_load.hpp>

#include "tests/catch.hpp"

#include <cmath>
#include <random>

using namespace ossatura;

namespace {

using Vector = std::array<double, 3>;

/// Sum of forces and of moments about a point.
struct Resultant {
  Vector force{}, moment{};

  Resultant(const std::vector<double>& point, const std::vector<NodeForce>& forces,
            const Vector& about) {
    for (const NodeForce& one : forces) {
      Vector arm{};
      for (std::size_t c = 0; c < 3; ++c) {
        arm[c] = point[3 * std::size_t(one.node) + c] - about[c];
        force[c] += one.force[c];
      }
      for (std::size_t c = 0; c < 3; ++c)
        moment[c] +=
            arm[(c + 1) % 3] * one.force[(c + 2) % 3] - arm[(c + 2) % 3] * one.force[(c + 1) % 3];
    }
  }
};

} // namespace

TEST_CASE("a load at a point has the same resultant on any nodes", "[distribute_load]") {
  std::mt19937 random(3);
  const auto number = [&] { return double(random()) / double(random.max()) - 0.5; };
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> point;
    std::vector<WeightedNode> nodes;
    for (int i = 0; i < 9; ++i) {
      for (int c = 0; c < 3; ++c)
        point.push_back(10 + (trial % 2 == 0 || c > 0 ? number() : 0)); // every other time flat
      nodes.push_back({i, 0.1 + std::fabs(number())});
    }
    const Vector reference{11, 9 + number(), 10}, force{number(), number(), number()},
        moment{number(), number(), number()};
    std::string problem = "before";
    const std::vector<NodeForce> forces =
        distribute_load(point, nodes, reference, force, moment, problem);
    REQUIRE(problem.empty());
    const Resultant found(point, forces, reference);
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(found.force[c] == Approx(force[c]).margin(1e-12));
      CHECK(found.moment[c] == Approx(moment[c]).margin(1e-12));
    }
  }
}

TEST_CASE("nodes turn as their arms say, and a line takes no moment about itself",
          "[distribute_load]") {
  // A square of side 2 in the plane z = 0, and a moment of 8 about z: forces of 2^1/2 around.
  const std::vector<double> square{-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const std::vector<WeightedNode> corners{{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  std::string problem;
  const std::vector<NodeForce> turned =
      distribute_load(square, corners, {0, 0, 5}, {0, 0, 0}, {0, 0, 8}, problem);
  REQUIRE(problem.empty());
  CHECK(turned[0].force[0] == Approx(1));
  CHECK(turned[0].force[1] == Approx(-1));
  CHECK(turned[2].force[0] == Approx(-1));
  CHECK(std::fabs(turned[1].force[2]) < 1e-14);
  // By weight where the force is at the centroid.
  const std::vector<NodeForce> pressed =
      distribute_load(square, {{0, 3}, {2, 1}}, {-0.5, -0.5, 0}, {0, 0, 8}, {0, 0, 0}, problem);
  REQUIRE(problem.empty());
  CHECK(pressed[0].force[2] == Approx(6));
  CHECK(pressed[1].force[2] == Approx(2));

  const std::vector<double> line{0, 0, 0, 1, 1, 0, 2, 2, 0};
  const std::vector<WeightedNode> three{{0, 1}, {1, 1}, {2, 1}};
  const std::vector<NodeForce> bent =
      distribute_load(line, three, {1, 1, 0}, {0, 0, 0}, {1, -1, 3}, problem);
  REQUIRE(problem.empty());
  const Resultant found(line, bent, {1, 1, 0});
  CHECK(found.moment[0] == Approx(1));
  CHECK(found.moment[1] == Approx(-1));
  CHECK(found.moment[2] == Approx(3));
  CHECK(distribute_load(line, three, {1, 1, 0}, {0, 0, 0}, {1, 1, 0}, problem).empty());
  CHECK(problem == "all nodes are on a line, which cannot take a moment about itself");
  CHECK(distribute_load(line, three, {1, 1, 1}, {1, -1, 0}, {0, 0, 0}, problem).empty());
  CHECK_FALSE(problem.empty()); // the arm of the force makes such a moment
  CHECK(distribute_load(line, {{1, 1}}, {1, 1, 0}, {1, 2, 3}, {0, 0, 0}, problem).size() == 1);
  CHECK(problem.empty());
  CHECK(distribute_load(line, {{1, 1}}, {1, 1, 1}, {1, 2, 3}, {0, 0, 0}, problem).empty());
  CHECK(problem == "all nodes are in one place, which cannot take a moment");
}
