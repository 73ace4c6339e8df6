// SPDX-License-Identifier: Apache-2.0
// Distorted and renumbered meshes of hexahedra are the same body; a box without a part of it.
#include <ossatura/core/mesh/hexa/changes.hpp>

#include "tests/catch.hpp"
#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace ossatura;
using Vector = std::array<double, 3>;

Vector point_at(const ElementMesh& mesh, std::int32_t n) {
  const double* x = &mesh.point[3 * std::size_t(n)];
  return {x[0], x[1], x[2]};
}

/// The least Jacobian determinant of any element at its Gauss points, by differences of the
/// trilinear map, which are exact along each axis.
double least_jacobian(const ElementMesh& mesh) {
  constexpr double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                   {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
  const double gauss[2] = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
  double least = 1e300;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (int g = 0; g < 8; ++g) {
      const Vector at{gauss[g & 1], gauss[g >> 1 & 1], gauss[g >> 2]};
      const auto map = [&](const Vector& u) {
        Vector x{};
        for (std::size_t k = 0; k < 8; ++k) {
          double weight = 1;
          for (std::size_t i = 0; i < 3; ++i)
            weight *= corner[k][i] == 1 ? u[i] : 1 - u[i];
          for (std::size_t i = 0; i < 3; ++i)
            x[i] += weight * point_at(mesh, mesh.node[8 * e + k])[i];
        }
        return x;
      };
      Vector column[3];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        Vector low = at, high = at;
        low[axis] = 0;
        high[axis] = 1;
        for (std::size_t i = 0; i < 3; ++i)
          column[axis][i] = map(high)[i] - map(low)[i];
      }
      const auto& [a, b, c] = column;
      least =
          std::min(least, a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                              a[2] * (b[0] * c[1] - b[1] * c[0]));
    }
  return least;
}

} // namespace

TEST_CASE("distortion moves inner points by what is asked, and folds nothing", "[hexa]") {
  const ElementMesh box = make_hexa_box({6, 5, 4}, {3, 5, 1});
  for (const double amount : {0.0, 0.2, 0.5}) {
    ElementMesh mesh = box;
    distort(mesh, amount, 7);
    CHECK(mesh.node == box.node);
    double furthest = 0;
    int num_moved = 0;
    for (std::int32_t n = 0; n < std::int32_t(box.num_points()); ++n) {
      const Vector x = point_at(box, n), moved = point_at(mesh, n);
      const double shift = std::hypot(moved[0] - x[0], moved[1] - x[1], moved[2] - x[2]);
      furthest = std::max(furthest, shift);
      num_moved += shift > 0;
      const bool outside =
          x[0] == 0 || x[0] == 3 || x[1] == 0 || x[1] == 5 || x[2] == 0 || x[2] == 1;
      CHECK((shift == 0 || !outside));
    }
    CHECK(furthest <= amount * 0.25);
    CHECK(furthest >= amount * 0.2);
    CHECK(num_moved <= 5 * 4 * 3);
    CHECK(num_moved >= (amount == 0 ? 0 : 30));
    CHECK(least_jacobian(mesh) > 0);
    ElementMesh again = box, other = box;
    distort(again, amount, 7);
    distort(other, amount, 8);
    CHECK(again.point == mesh.point);
    CHECK((other.point == mesh.point) == (amount == 0));
  }
  ElementMesh tetra = make_tetra_box({1, 1, 1}, {1, 1, 1}), mesh = box, folded = box;
  CHECK_THROWS_AS(distort(tetra, 0.1, 1), std::invalid_argument);
  CHECK_THROWS_AS(distort(mesh, 0.6, 1), std::invalid_argument);
  std::swap(folded.node[0], folded.node[1]);
  CHECK_THROWS_AS(distort(folded, 0.1, 1), std::invalid_argument);
}

TEST_CASE("renumbering keeps every element and turns each by a rotation", "[hexa]") {
  const ElementMesh box = make_hexa_box({8, 6, 5}, {8, 6, 5});
  ElementMesh mesh = box;
  const Renumbering to = renumber(mesh, 3);
  CHECK(std::set<std::int32_t>(to.point.begin(), to.point.end()).size() == box.num_points());
  CHECK(std::set<std::int32_t>(to.elem.begin(), to.elem.end()).size() == box.num_elem());
  for (std::int32_t n = 0; n < std::int32_t(box.num_points()); ++n)
    CHECK(point_at(mesh, to.point[std::size_t(n)]) == point_at(box, n));
  std::map<std::array<std::int32_t, 8>, int> orders; // of local nodes
  for (std::size_t e = 0; e < box.num_elem(); ++e) {
    std::array<std::int32_t, 8> order{};
    for (std::size_t k = 0; k < 8; ++k) {
      const std::int32_t n = mesh.node[8 * std::size_t(to.elem[e]) + k];
      for (std::size_t old = 0; old < 8; ++old)
        if (to.point[std::size_t(box.node[8 * e + old])] == n)
          order[k] = std::int32_t(old);
    }
    CHECK(std::set<std::int32_t>(order.begin(), order.end()).size() == 8);
    ++orders[order];
  }
  CHECK(orders.size() == 24);
  CHECK(least_jacobian(mesh) == Approx(1)); // each is the unit cube, right way round
  ElementMesh again = box, tetra = make_tetra_box({1, 1, 1}, {1, 1, 1});
  CHECK(renumber(again, 3).point == to.point);
  CHECK(again.node == mesh.node);
  CHECK(renumber(again, 4).point != to.point);
  CHECK_THROWS_AS(renumber(tetra, 1), std::invalid_argument);
}

TEST_CASE("sets, supports and loads follow the numbers of a model", "[hexa]") {
  HexaModel model;
  model.mesh = make_hexa_box({2, 2, 2}, {2, 2, 2});
  model.node_sets["left"] = {0, 3, 6};
  model.elem_sets["some"] = {1, 2, 7};
  model.face_sets["left"] = {{0, 3, 9, 12}};
  model.edge_sets["left"] = {{0, 3}, {3, 6}};
  model.held = {{0, 7}, {4, 1}, {26, 2}};
  model.held_parts = {{1, {0, 4}}, {2, {26}}};
  model.loads = {{"a", {{8, {1, 2, 3}}, {20, {4, 5, 6}}, {20, {7, 8, 9}}}}};
  for (int n = 0; n < 27; ++n)
    model.loads[0].warming.push_back(n);
  const HexaModel before = model;
  const Renumbering to = renumber(model, 5);
  ElementMesh mesh = before.mesh;
  renumber(mesh, 5);
  CHECK(model.mesh.node == mesh.node);
  const auto check_set = [](const std::vector<std::int32_t>& set,
                            const std::vector<std::int32_t>& old,
                            const std::vector<std::int32_t>& number) {
    CHECK(std::is_sorted(set.begin(), set.end()));
    std::set<std::int32_t> expected;
    for (const std::int32_t n : old)
      expected.insert(number[std::size_t(n)]);
    CHECK(std::set<std::int32_t>(set.begin(), set.end()) == expected);
  };
  check_set(model.node_sets["left"], {0, 3, 6}, to.point);
  check_set(model.elem_sets["some"], {1, 2, 7}, to.elem);
  for (std::size_t n = 0; n < 27; ++n)
    CHECK(model.loads[0].warming[std::size_t(to.point[n])] == double(n));
  const auto members = [](const auto& parts) {
    std::vector<std::int32_t> all;
    for (const auto& part : parts) {
      CHECK(std::is_sorted(part.begin(), part.end()));
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  check_set(members(model.face_sets["left"]), {0, 3, 9, 12}, to.point);
  check_set(members(model.edge_sets["left"]), {0, 3, 6}, to.point);
  check_set(model.held_parts[0].nodes, {0, 4}, to.point);
  check_set(model.held_parts[1].nodes, {26}, to.point);
  REQUIRE(model.held.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK((i == 0 || model.held[i].node > model.held[i - 1].node));
    for (const HeldComponents& old : before.held)
      if (to.point[std::size_t(old.node)] == model.held[i].node)
        CHECK(old.components == model.held[i].components);
  }
  double sum = 0; // of components times the coordinate along them, which no numbering changes
  for (const NodeForce& f : model.loads[0].forces)
    for (std::size_t axis = 0; axis < 3; ++axis)
      sum += f.force[axis] * point_at(model.mesh, f.node)[axis];
  // Node 8 is at (2, 2, 0), node 20 at (2, 0, 2).
  CHECK(sum == 2 * (1 + 2) + 2 * (4 + 7 + 6 + 9));
}

TEST_CASE("a box without a part of it has the other cells, in their order", "[hexa]") {
  const ElementMesh mesh = make_hexa_box_without({3, 1, 3}, {3, 2, 3}, {1, 0, 1}, {3, 1, 3});
  CHECK(mesh.num_elem() == 5);
  CHECK(mesh.num_points() == 24);
  CHECK(point_at(mesh, 0) == Vector{0, 0, 0});
  CHECK(point_at(mesh, 23) == Vector{1, 2, 3});
  CHECK(least_jacobian(mesh) == Approx(2));
  CHECK(boundary_triangles(mesh).size() == 3 * 44);
  const std::vector<std::int32_t> second(mesh.node.begin() + 8, mesh.node.begin() + 16);
  CHECK(second == std::vector<std::int32_t>{1, 2, 6, 5, 9, 10, 14, 13});
  // A hole within.
  const ElementMesh hollow = make_hexa_box_without({3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {2, 2, 2});
  CHECK(hollow.num_elem() == 26);
  CHECK(hollow.num_points() == 64);
  CHECK_THROWS_AS(make_hexa_box_without({2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {2, 2, 2}),
                  std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_box_without({2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {1, 1, 3}),
                  std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_box_without({2, 2, 2}, {1, 1, 1}, {1, 0, 0}, {1, 1, 1}),
                  std::invalid_argument);
}
