// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/surface/points.hpp>
#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ossatura {

namespace {

/// Whether some three of the fixed nodes are not on a line. The longest edge from the first one is
/// the measure.
bool is_fixed_beside_a_line(const SoftObject& object) {
  if (object.fixed.size() < 3)
    return false;
  const auto x = [&](std::int32_t i, int c) { return object.mesh.point[3 * std::size_t(i) + c]; };
  const std::int32_t first = object.fixed[0];
  double longest[3] = {}, length2 = 0;
  for (const std::int32_t i : object.fixed) {
    double edge[3], norm2 = 0;
    for (int c = 0; c < 3; ++c) {
      edge[c] = x(i, c) - x(first, c);
      norm2 += edge[c] * edge[c];
    }
    if (norm2 > length2) {
      length2 = norm2;
      std::copy(edge, edge + 3, longest);
    }
  }
  for (const std::int32_t i : object.fixed) {
    double area2 = 0;
    for (int c = 0; c < 3; ++c) {
      const int p = (c + 1) % 3, q = (c + 2) % 3;
      const double normal =
          (x(i, p) - x(first, p)) * longest[q] - (x(i, q) - x(first, q)) * longest[p];
      area2 += normal * normal;
    }
    if (area2 > 1e-16 * length2 * length2)
      return true;
  }
  return false;
}

using surface_points::Point;
using surface_points::six_volumes;

Point corner_of(const ElementMesh& mesh, std::size_t elem, int corner) {
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  const double* const x = &mesh.point[3 * std::size_t(mesh.node[n * elem + std::size_t(corner)])];
  return {x[0], x[1], x[2]};
}

Point centre_of(const ElementMesh& mesh, std::size_t elem) {
  const int n = nodes_per_elem(mesh.shape);
  Point centre{};
  for (int a = 0; a < n; ++a)
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += corner_of(mesh, elem, a)[d] / n;
  return centre;
}

/// A hexahedron is six tetrahedra about its diagonal.
bool is_within(const ElementMesh& mesh, std::size_t elem, const Point& x) {
  constexpr int of_tetra[1][4] = {{0, 1, 2, 3}};
  constexpr int of_hexa[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                 {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
  const bool is_tetra = mesh.shape == ElementShape::tetra;
  for (int k = 0; k < (is_tetra ? 1 : 6); ++k) {
    const int(&corner)[4] = is_tetra ? of_tetra[k] : of_hexa[k];
    Point p[4];
    for (int a = 0; a < 4; ++a)
      p[a] = corner_of(mesh, elem, corner[a]);
    const double whole = six_volumes(p[0], p[1], p[2], p[3]);
    bool inside = whole != 0;
    for (int a = 0; a < 4 && inside; ++a) {
      Point q[4] = {p[0], p[1], p[2], p[3]};
      q[a] = x;
      inside = six_volumes(q[0], q[1], q[2], q[3]) * whole >= 0;
    }
    if (inside)
      return true;
  }
  return false;
}

bool lies_in(const ElementMesh& inner, const ElementMesh& outer) {
  const Box box = bounding_box(outer.point);
  const std::size_t stride = std::max<std::size_t>(1, inner.num_elem() / 64);
  for (std::size_t e = 0; e < inner.num_elem(); e += stride) {
    const Point centre = centre_of(inner, e);
    if (!contains(box, centre.data(), 0))
      continue;
    for (std::size_t f = 0; f < outer.num_elem(); ++f)
      if (is_within(outer, f, centre))
        return true;
  }
  return false;
}

} // namespace

LooseObject why_loose(const SoftObject& object) {
  if (object.density > 0 || object.node_mass > 0)
    return LooseObject::no;
  if (object.mesh.shape == ElementShape::triangle)
    return LooseObject::membrane;
  if (is_fixed_beside_a_line(object))
    return LooseObject::no;
  return object.fixed.empty() ? LooseObject::nothing_fixed : LooseObject::fixed_on_line;
}

InsideObstacle find_inside(const SoftObstacle& obstacle, const SoftObject& object) {
  const double slack = rounding_of(bounding_box(object.mesh.point));
  InsideObstacle inside;
  for (std::size_t i = 0; i < object.mesh.point.size(); i += 3) {
    double r[3];
    for (std::size_t d = 0; d < 3; ++d)
      r[d] = object.mesh.point[i + d] - obstacle.point[d];
    const double distance =
        obstacle.kind == SoftObstacle::Kind::sphere
            ? std::hypot(r[0], r[1], r[2]) - obstacle.radius
            : r[0] * obstacle.normal[0] + r[1] * obstacle.normal[1] + r[2] * obstacle.normal[2];
    inside.count += distance < -slack;
    if (distance < -slack && -distance > inside.depth) {
      inside.depth = -distance;
      inside.deepest = std::int64_t(i / 3);
    }
  }
  return inside;
}

std::optional<NestedObjects> find_nested(const SoftScene& scene) {
  const auto& objects = scene.objects;
  const auto is_volume = [&](std::size_t i) {
    return objects[i].mesh.shape != ElementShape::triangle;
  };
  for (std::size_t i = 0; i < objects.size(); ++i)
    for (std::size_t j = 0; j < objects.size(); ++j)
      if (i != j && is_volume(i) && is_volume(j) && lies_in(objects[i].mesh, objects[j].mesh))
        return NestedObjects{i, j};
  return {};
}

bool may_lock(const SoftObject& object) {
  return object.mesh.shape != ElementShape::triangle &&
         poisson_ratio(object.material) > locks_above;
}

double rest_volume(const SoftObject& object) {
  double volume = 0;
  for (std::size_t e = 0; e < object.mesh.num_elem(); ++e)
    volume += element_volume(object.mesh, e);
  return volume * (object.mesh.shape == ElementShape::triangle ? object.material.thickness : 1);
}

double total_mass(const SoftObject& object) {
  return object.node_mass > 0 ? object.node_mass * double(object.mesh.num_points())
                              : object.density * rest_volume(object);
}

std::int64_t count_inverted(const ElementMesh& mesh, const double* positions) {
  if (mesh.shape == ElementShape::triangle)
    return 0;
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  const auto is_upper = [](std::size_t a, std::size_t d) { // of the corners of VTK's hexahedron
    return d == 0 ? (a + 1) / 2 % 2 == 1 : d == 1 ? a / 2 % 2 == 1 : a >= 4;
  };
  std::int64_t count = 0;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    Point origin{}, end[3] = {};
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t c = 0; c < 3; ++c) {
        const double x = positions[3 * std::size_t(mesh.node[n * e + a]) + c];
        if (mesh.shape == ElementShape::tetra)
          (a == 0 ? origin : end[a - 1])[c] = x;
        else
          for (std::size_t d = 0; d < 3; ++d) // the slopes in the middle, times 8
            end[d][c] += is_upper(a, d) ? x : -x;
      }
    count += six_volumes(origin, end[0], end[1], end[2]) <= 0;
  }
  return count;
}

double largest_stretch(const ElementMesh& mesh, const double* positions) {
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  const auto squared = [&](const double* x, std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c)
      sum += std::pow(x[3 * a + c] - x[3 * b + c], 2);
    return sum;
  };
  double largest = 0;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (std::size_t a = 1; a < n; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const auto i = std::size_t(mesh.node[n * e + a]), j = std::size_t(mesh.node[n * e + b]);
        largest = std::max(largest, squared(positions, i, j) / squared(mesh.point.data(), i, j));
      }
  return std::sqrt(largest);
}

} // namespace ossatura
