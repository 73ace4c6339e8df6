// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/element_check.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/turned_top.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ossatura {
namespace {

/// Volumes (areas) below this part of the longest edge's cube (square) are rounding.
constexpr double flat = 1e-12;

using Vector = std::array<double, 3>;

Vector operator-(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

const char* noun(ElementShape shape) {
  return shape == ElementShape::triangle ? "triangle"
         : shape == ElementShape::tetra  ? "tetrahedron"
                                         : "hexahedron";
}

/// The nodes of an element in units of its size, so that nothing over- or underflows.
struct Corners {
  std::array<Vector, 8> x;
  int num;
};

Corners corners_of(const ElementMesh& mesh, const std::int32_t* node) {
  Corners corners{};
  corners.num = nodes_per_elem(mesh.shape);
  double size = 0;
  for (int k = 0; k < corners.num; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // Halves: the difference of two large numbers of different signs is finite then.
      corners.x[k][axis] = mesh.point[3 * std::size_t(node[k]) + axis] / 2 -
                           mesh.point[3 * std::size_t(node[0]) + axis] / 2;
      size = std::max(size, std::abs(corners.x[k][axis]));
    }
  if (size > 0)
    for (int k = 0; k < corners.num; ++k)
      for (double& x : corners.x[k])
        x /= size;
  return corners;
}

double longest_edge(const Corners& corners) {
  double square = 0;
  for (int a = 0; a < corners.num; ++a)
    for (int b = 0; b < a; ++b) {
      const Vector edge = corners.x[a] - corners.x[b];
      square = std::max(square, dot(edge, edge));
    }
  return std::sqrt(square);
}

/// The least and the greatest Jacobian determinant of a hexahedron where coordinates are +-place.
std::pair<double, double> jacobians_of(const Corners& corners, double place) {
  constexpr int sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                              {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  std::pair<double, double> range{1e300, -1e300};
  for (const auto& at : sign) {
    Vector column[3] = {};
    for (int k = 0; k < 8; ++k)
      for (int axis = 0; axis < 3; ++axis) {
        double slope = 0.125 * sign[k][axis];
        for (int other = 0; other < 3; ++other)
          if (other != axis)
            slope *= 1 + sign[k][other] * at[other] * place;
        for (std::size_t i = 0; i < 3; ++i)
          column[axis][i] += slope * corners.x[k][i];
      }
    const double determinant = dot(cross(column[0], column[1]), column[2]);
    range = {std::min(range.first, determinant), std::max(range.second, determinant)};
  }
  return range;
}

std::string turn_hexa(const Corners& corners, std::int32_t* node) {
  // At the Gauss points, and at the corners, where an element folds first.
  const auto inner = jacobians_of(corners, 1 / std::sqrt(3.0)), outer = jacobians_of(corners, 1);
  const double least = std::min(inner.first, outer.first);
  const double greatest = std::max(inner.second, outer.second);
  const double edge = longest_edge(corners), rounding = flat * edge * edge * edge;
  if (greatest < -rounding || least > rounding) {
    if (const int turned = turned_top(corners.x, 4); turned > 0)
      return describe_turned_top("hexahedron", 4, turned);
    if (greatest < 0)
      std::swap_ranges(node, node + 4, node + 4);
    return {};
  }
  return "the hexahedron has no volume, or is in part inside out or flat at a corner: its nodes go "
         "around the bottom "
         "and then, above them, around the top; smooth the mesh there where they do";
}

} // namespace

std::string turn_element(ElementMesh& mesh, std::size_t elem) {
  const int num = nodes_per_elem(mesh.shape);
  std::int32_t* node = mesh.node.data() + elem * std::size_t(num);
  for (int a = 0; a < num; ++a)
    if (std::find(node, node + a, node[a]) != node + a)
      return std::string("the ") + noun(mesh.shape) +
             " has a node twice: remove elements without volume from the mesh";
  const Corners corners = corners_of(mesh, node);
  if (mesh.shape == ElementShape::hexa)
    return turn_hexa(corners, node);
  const Vector normal = cross(corners.x[1] - corners.x[0], corners.x[2] - corners.x[0]);
  const double edge = longest_edge(corners);
  if (mesh.shape == ElementShape::triangle)
    return dot(normal, normal) > flat * flat * edge * edge * edge * edge
               ? std::string()
               : "the triangle has no area: remove such elements from the mesh";
  const double volume = dot(normal, corners.x[3] - corners.x[0]);
  if (!(std::abs(volume) > flat * edge * edge * edge))
    return "the tetrahedron has no volume: remove such elements from the mesh";
  if (volume < 0)
    std::swap(node[2], node[3]);
  return {};
}

std::optional<std::pair<std::size_t, std::string>>
turn_elements(ElementMesh& mesh, std::vector<std::uint8_t>* turned) {
  constexpr std::size_t least = 1024;
  const std::size_t num = std::size_t(nodes_per_elem(mesh.shape));
  if (turned != nullptr)
    turned->assign(mesh.num_elem(), 0);
  return first_problem(mesh.num_elem(), least, [&](std::size_t elem) {
    const std::int32_t* last = &mesh.node[elem * num] + num - 1;
    const std::int32_t before = *last;
    std::string problem = turn_element(mesh, elem);
    if (turned != nullptr)
      (*turned)[elem] = *last != before;
    return problem;
  });
}

} // namespace ossatura
