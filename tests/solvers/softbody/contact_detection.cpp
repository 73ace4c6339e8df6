// SPDX-License-Identifier: Apache-2.0
// Pairs in contact: against all distances by plain loops, and cases with known answers.
#include "tests/backend_test.hpp"
#include "tests/reference/nearest_on_triangles.hpp"
#include "tests/solvers/softbody/stiff_block.hpp"

#include <ossatura/core/mesh/element_surface.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;

/// Objects with nodes of all in a random order.
struct NumberedScene {
  SoftScene scene;
  std::vector<std::vector<int>> node_of;
  std::vector<double> x;
  std::vector<int> object_of;
  std::vector<std::vector<int>> triangle; ///< of each object, in the order's numbers

  void number(std::mt19937& random) {
    std::size_t n = 0;
    for (const SoftObject& object : scene.objects)
      n += object.mesh.num_points();
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    x.resize(3 * n);
    object_of.resize(n);
    int place = 0;
    for (std::size_t k = 0; k < scene.objects.size(); ++k) {
      const ElementMesh& mesh = scene.objects[k].mesh;
      node_of.emplace_back();
      for (std::size_t i = 0; i < mesh.num_points(); ++i) {
        const int node = order[place++];
        node_of[k].push_back(node);
        object_of[node] = int(k);
        for (int d = 0; d < 3; ++d)
          x[3 * node + d] = mesh.point[3 * i + d];
      }
      triangle.emplace_back();
      for (const std::int32_t i : boundary_triangles(mesh))
        triangle[k].push_back(node_of[k][i]);
    }
  }
  bool on_surface(int i) const {
    const std::vector<int>& own = triangle[object_of[i]];
    return std::find(own.begin(), own.end(), i) != own.end();
  }
};

/// Oracle: the direction in which the distance to the triangles of an object grows, by differences.
reference::Vector3 way_from(const NumberedScene& s, int i, int object) {
  double slope[3];
  for (int d = 0; d < 3; ++d) {
    std::vector<double> x = s.x;
    x[3 * i + d] += 1e-6;
    slope[d] = reference::distance_to_triangles(x, i, s.triangle[object]);
    x[3 * i + d] -= 2e-6;
    slope[d] = (slope[d] - reference::distance_to_triangles(x, i, s.triangle[object])) / 2e-6;
  }
  return {slope[0], slope[1], slope[2]};
}

/// Oracle: degrees between a direction against n and the cone of half the largest angle that is
/// between the mean normal of the triangles of a node and each of them; 0 inside. A cloth has two
/// sides, and all directions at its border, where triangles do not go round the node.
double degrees_outside_cone(const NumberedScene& s, int i, reference::Vector3 n) {
  using reference::Vector3;
  const std::vector<int>& own = s.triangle[s.object_of[i]];
  const bool cloth = s.scene.objects[s.object_of[i]].mesh.shape == ElementShape::triangle;
  std::vector<Vector3> normals;
  std::map<int, int> neighbours;
  Vector3 mean{0, 0, 0};
  for (std::size_t t = 0; t < own.size(); t += 3) {
    if (own[t] != i && own[t + 1] != i && own[t + 2] != i)
      continue;
    Vector3 corner[3];
    for (int k = 0; k < 3; ++k) {
      const int c = own[t + k];
      ++neighbours[c];
      corner[k] = {s.x[3 * c], s.x[3 * c + 1], s.x[3 * c + 2]};
    }
    Vector3 m = cross(corner[1] - corner[0], corner[2] - corner[0]);
    const double area = std::sqrt(dot(m, m));
    m = {m.x / area, m.y / area, m.z / area};
    normals.push_back(m);
    mean = {mean.x + m.x, mean.y + m.y, mean.z + m.z};
  }
  for (const auto& [node, count] : neighbours)
    if (node != i && count == 1)
      return 0;
  const auto degrees = [](Vector3 a, Vector3 b) {
    const double c = dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
    return 180 / M_PI * std::acos(std::clamp(c, -1., 1.));
  };
  double half = 0;
  for (const Vector3& m : normals)
    half = std::max(half, degrees(m, mean));
  const double away = degrees({-n.x, -n.y, -n.z}, mean);
  return std::max(0., (cloth ? std::min(away, 180 - away) : away) - half);
}

void move(SoftObject& object, double x, double y, double z) {
  for (std::size_t i = 0; i < object.mesh.point.size(); i += 3) {
    object.mesh.point[i] += x;
    object.mesh.point[i + 1] += y;
    object.mesh.point[i + 2] += z;
  }
}

/// Two bodies and a cloth between them, apart, with rough surfaces; a plane and a sphere.
NumberedScene rough_scene() {
  std::mt19937 random(8);
  NumberedScene s;
  s.scene.objects.resize(3);
  s.scene.objects[0].mesh = make_tetra_ellipsoid({1, 0.8, 0.6}, 6);
  s.scene.objects[1].mesh = make_hexa_box({6, 5, 3}, {1.5, 1.2, 0.6});
  s.scene.objects[2].mesh = make_cloth(12, 10, 1.6, 1.2);
  move(s.scene.objects[1], -0.6, -0.7, 0.77);
  move(s.scene.objects[2], -0.8, -0.6, 0.68);
  for (SoftObject& object : s.scene.objects)
    for (double& p : object.mesh.point)
      p += 0.04 * (random() / 4294967296. - 0.5);
  s.scene.contact_between_objects = true;
  s.scene.contact_distance = 0.2;
  s.scene.obstacles.resize(2);
  s.scene.obstacles[0].normal[0] = 0.6;
  s.scene.obstacles[0].normal[2] = 0.8;
  s.scene.obstacles[0].point[2] = -0.7;
  s.scene.obstacles[1].kind = SoftObstacle::Kind::sphere;
  s.scene.obstacles[1].point[1] = 1.4;
  s.scene.obstacles[1].radius = 0.7;
  s.scene.objects[0].fixed = {0, 5, 9};
  s.number(random);
  return s;
}

double gap_at(const ContactPair& pair, const std::vector<double>& q) {
  double gap = -pair.offset;
  for (int k = 0; k < 4; ++k)
    for (int d = 0; d < 3 && pair.node[k] >= 0; ++d)
      gap += pair.weight[k] * pair.frame[d] * q[3 * pair.node[k] + d];
  return gap;
}

/// The orientation of frames, weights of sum 0, and one of each node and target, ascending.
void check_frames(const std::vector<ContactPair>& pairs) {
  double worst = 0;
  bool ascends = true;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    ascends = ascends && (p == 0 || pairs[p - 1].slot < pairs[p].slot);
    const double* f = pairs[p].frame;
    for (int c = 0; c < 3; ++c)
      for (int e = 0; e < 3; ++e) {
        const double product =
            f[3 * c] * f[3 * e] + f[3 * c + 1] * f[3 * e + 1] + f[3 * c + 2] * f[3 * e + 2];
        worst = std::max(worst, std::abs(product - (c == e)));
      }
    if (pairs[p].node[1] >= 0)
      worst = std::max(worst, std::abs(pairs[p].weight[0] + pairs[p].weight[1] +
                                       pairs[p].weight[2] + pairs[p].weight[3]));
  }
  CHECK(worst < 1e-13);
  CHECK(ascends);
}

} // namespace

OSSATURA_BACKEND_TEST("Pairs nearer than the contact distance are those of plain loops",
                      "[contact_detection]") {
  const TestType exec;
  const NumberedScene s = rough_scene();
  ContactSolver<TestType> contact(exec, s.scene, s.node_of, {});
  const auto x = upload(exec, "test::x", s.x);
  contact.detect(exec, x, x);
  const std::vector<ContactPair> pairs = contact.pairs(exec);
  check_frames(pairs);
  std::map<std::int64_t, const ContactPair*> by_slot;
  for (const ContactPair& pair : pairs)
    by_slot[pair.slot] = &pair;

  const int num_nodes = int(s.object_of.size()), num_targets = 5;
  std::vector<int> fixed(num_nodes, 0);
  for (const int i : s.scene.objects[0].fixed)
    fixed[s.node_of[0][i]] = 1;
  int expected[num_targets] = {}, facing[2] = {0, 0};
  for (int i = 0; i < num_nodes; ++i) {
    const double* p = &s.x[3 * i];
    for (int target = 0; target < num_targets; ++target) {
      const auto found = by_slot.find(std::int64_t(i) * num_targets + target);
      double gap = INFINITY;
      if (target == 0 && !fixed[i])
        gap = 0.6 * p[0] + 0.8 * (p[2] + 0.7);
      else if (target == 1 && !fixed[i])
        gap = std::sqrt(p[0] * p[0] + (p[1] - 1.4) * (p[1] - 1.4) + p[2] * p[2]) - 0.7;
      else if (target > 1 && target - 2 != s.object_of[i] && s.on_surface(i))
        gap = reference::distance_to_triangles(s.x, i, s.triangle[target - 2]);
      bool is_near = gap < 0.2;
      if (is_near && target > 1) {
        const double outside = degrees_outside_cone(s, i, way_from(s, i, target - 2));
        REQUIRE(std::abs(outside - 45) > 1e-3);
        is_near = outside < 45;
        facing[is_near] += 1;
      }
      CHECK((found != by_slot.end()) == is_near);
      if (!is_near || found == by_slot.end())
        continue;
      ++expected[target];
      const ContactPair& pair = *found->second;
      CHECK(pair.node[0] == i);
      CHECK(gap_at(pair, s.x) == Approx(gap).margin(1e-13));
      for (int k = 1; k < 4 && target > 1; ++k)
        CHECK(s.object_of[pair.node[k]] == target - 2);
      for (int k = 0; k < 4; ++k)
        CHECK((pair.free >> k & 1) == (pair.node[k] >= 0 && !fixed[pair.node[k]]));
    }
  }
  for (const int count : expected)
    CHECK(count > 8);
  CHECK(facing[0] > 4);
  CHECK(facing[1] > 8);
  CHECK(std::accumulate(expected, expected + num_targets, 0) == int(pairs.size()));

  // Once more, with all arrays in use: the same, bit by bit.
  contact.detect(exec, x, x);
  const std::vector<ContactPair> again = contact.pairs(exec);
  REQUIRE(again.size() == pairs.size());
  int different = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p)
    different += again[p].slot != pairs[p].slot || again[p].node[1] != pairs[p].node[1] ||
                 gap_at(again[p], s.x) != gap_at(pairs[p], s.x);
  CHECK(different == 0);
}

OSSATURA_BACKEND_TEST("What comes through in a step is watched before", "[contact_detection]") {
  const TestType exec;
  SoftScene scene;
  scene.objects.push_back(test::block_object({1, 1, 1}, {2, 2, 1}, {-1, -1, 0}));
  scene.objects.push_back(test::block_object({1, 1, 1}, {0.2, 0.2, 0.2}, {0.3, 0.1, 1.5}));
  scene.contact_between_objects = true;
  scene.contact_distance = 0.01;
  scene.obstacles.resize(1);
  scene.obstacles[0].kind = SoftObstacle::Kind::sphere;
  scene.obstacles[0].point[2] = 3;
  const test::BlockSystem system(scene, 1, 1);
  ContactSolver<TestType> contact(exec, scene, system.node_of, {});
  const auto x = upload(exec, "test::x", system.x);
  const auto detect = [&](double way) {
    std::vector<double> moved = system.x;
    for (std::size_t i = 26; i < moved.size(); i += 3)
      moved[i] += way;
    contact.detect(exec, x, upload(exec, "test::x_free", moved));
    std::vector<int> count(3, 0);
    for (const ContactPair& pair : contact.pairs(exec)) {
      ++count[pair.slot % 3];
      CHECK(gap_at(pair, moved) < 0);
      if (pair.slot % 3 == 1) {
        CHECK(pair.node[0] >= 8);
        CHECK(pair.frame[2] == Approx(1));
      }
    }
    return count;
  };
  CHECK(detect(0) == std::vector<int>{0, 0, 0});
  CHECK(detect(-0.49) == std::vector<int>{0, 0, 0});
  CHECK(detect(-0.51) == std::vector<int>{0, 4, 0}); // the lower nodes against the large block
  CHECK(detect(0.5) == std::vector<int>{4, 0, 0});   // the upper ones against the sphere
}

OSSATURA_BACKEND_TEST("What passes an edge without touching it is not stopped there",
                      "[contact_detection]") {
  const TestType exec;
  SoftScene scene;
  scene.objects.push_back(test::block_object({4, 4, 1}, {1, 1, 1}, {0, 0, -1}));
  scene.objects.push_back(test::block_object({2, 2, 1}, {0.3, 0.3, 0.3}, {0, 0, 0}));
  scene.contact_between_objects = true;
  scene.contact_distance = 0.01;
  const test::BlockSystem system(scene, 1, 1);
  ContactSolver<TestType> contact(exec, scene, system.node_of, {});
  const std::size_t first = 3 * scene.objects[0].mesh.num_points();
  const auto at = [&](double x, double y, double z) {
    std::vector<double> moved = system.x;
    const double by[3] = {x, y, z};
    for (std::size_t i = first; i < moved.size(); ++i)
      moved[i] += by[i % 3];
    return moved;
  };
  /// The deepest that pairs of a motion from a place are entered.
  const auto entered = [&](const std::vector<double>& from, const std::vector<double>& to) {
    const auto x = upload(exec, "test::x", from);
    contact.detect(exec, x, upload(exec, "test::x_free", to));
    double deepest = 0;
    for (const ContactPair& pair : contact.pairs(exec))
      deepest = std::min(deepest, gap_at(pair, to));
    return deepest;
  };
  for (const double height : {1e-3, 1e-7, 1e-11, 0., -1e-17, -1e-12}) { // as rounding makes 0
    INFO("height " << height);
    // Over nodes of the floor, over its rim from outside, and off it: a front edge each time.
    for (const double x : {0.195, -0.305, 0.695, 0.2})
      CHECK(entered(at(x, 0.23, height), at(x + 0.02, 0.23, height)) >=
            -1e-15 + 2 * std::min(height, 0.));
    // The same while it sinks: by that, and not by the way along the floor.
    const double deep = entered(at(0.195, 0.23, height), at(0.215, 0.23, height - 0.002));
    CHECK(deep == Approx(height - 0.002).margin(1e-12));
  }
  // Against the side of the floor it is stopped in the direction that it moves in.
  const double deep = entered(at(-0.305, 0.23, -0.2), at(-0.285, 0.23, -0.2));
  CHECK(deep == Approx(-0.015).margin(1e-12));
}

OSSATURA_BACKEND_TEST("Inside of a body contact pushes out, and a cloth keeps its sides",
                      "[contact_detection]") {
  const TestType exec;
  SoftScene scene;
  scene.objects.resize(2);
  scene.contact_between_objects = true;
  scene.contact_distance = 0.05;
  scene.objects[1].mesh = make_cloth(4, 4, 0.3, 0.3);
  SoftOptions options;
  options.contact_iterations = 1;
  for (const bool cloth : {false, true}) {
    if (cloth)
      scene.objects[0].mesh = make_cloth(3, 3, 1, 1);
    else
      scene.objects[0] = test::block_object({2, 2, 1}, {1, 1, 1}, {0, 0, -1});
    const test::BlockSystem system(scene, 1, 1);
    const auto factor = test::make_dense_factor<double>(exec, system.matrix,
                                                        test::panel_chain(system.num_nodes(), 16));
    const int first = int(scene.objects[0].mesh.num_points());
    ContactSolver<TestType> contact(exec, scene, system.node_of, options);
    /// Normal of the pair of the second object's first node, that many m above (0.33, 0.36).
    const auto normal = [&](double height) {
      std::vector<double> moved = system.x;
      for (int i = first; i < system.num_nodes(); ++i) {
        moved[3 * i] += 0.33;
        moved[3 * i + 1] += 0.36;
        moved[3 * i + 2] += height;
      }
      const auto x = upload(exec, "test::x", moved);
      const auto force = make_zeros<double>(exec, x.extent(0), "test::force");
      contact.detect(exec, x, x);
      contact.solve(exec, factor, 1., x, x, force);
      for (const ContactPair& pair : contact.pairs(exec))
        if (pair.node[0] == first) {
          CHECK(gap_at(pair, moved) == Approx(height * pair.frame[2]));
          return pair.frame[2];
        }
      return 0.;
    };
    CHECK(normal(0.01) == Approx(1));
    CHECK(normal(-0.001) == Approx(1));
    CHECK(normal(0.2) == 0);
    CHECK(normal(-0.01) == Approx(cloth ? -1 : 1)); // a cloth is met from below this time
    CHECK(normal(0.001) == Approx(cloth ? -1 : 1));
    contact.forget();
    CHECK(normal(0.001) == Approx(1));
  }
}
