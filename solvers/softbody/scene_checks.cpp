// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/softbody/scene_checks.hpp>

#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>

#include <algorithm>
#include <cmath>

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

std::int64_t count_inside(const SoftObstacle& obstacle, const SoftObject& object) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < object.mesh.point.size(); i += 3) {
    double r[3];
    for (std::size_t d = 0; d < 3; ++d)
      r[d] = object.mesh.point[i + d] - obstacle.point[d];
    const double distance =
        obstacle.kind == SoftObstacle::Kind::sphere
            ? std::hypot(r[0], r[1], r[2]) - obstacle.radius
            : r[0] * obstacle.normal[0] + r[1] * obstacle.normal[1] + r[2] * obstacle.normal[2];
    count += distance < 0;
  }
  return count;
}

bool may_lock(const SoftObject& object) {
  return object.mesh.shape != ElementShape::triangle &&
         poisson_ratio(object.material) > locks_above;
}

double total_mass(const SoftObject& object) {
  if (object.node_mass > 0)
    return object.node_mass * double(object.mesh.num_points());
  double volume = 0;
  for (std::size_t e = 0; e < object.mesh.num_elem(); ++e)
    volume += element_volume(object.mesh, e);
  return object.density * volume *
         (object.mesh.shape == ElementShape::triangle ? object.material.thickness : 1);
}

} // namespace ossatura
