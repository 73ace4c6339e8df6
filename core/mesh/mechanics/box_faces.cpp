// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/box_faces.hpp>

#include <ossatura/core/machine/select_indices.hpp>
#include <ossatura/core/mesh/hexa/faces.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

namespace ossatura {

namespace {

using Point = std::array<double, 3>;

/// Of the boundary, with a node that is chosen.
struct TouchedFace {
  std::array<std::int32_t, 4> corner; ///< around the face
  int num_corners;
  bool whole; ///< all nodes are chosen
};

/// Twice the area, along the normal.
Point normal_of(const std::vector<Point>& polygon) {
  Point normal{};
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    Point a{}, b{};
    for (std::size_t d = 0; d < 3; ++d) {
      a[d] = polygon[i - 1][d] - polygon[0][d];
      b[d] = polygon[i][d] - polygon[0][d];
    }
    for (std::size_t d = 0; d < 3; ++d)
      normal[d] += a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
  }
  return normal;
}

double norm_of(const Point& v) {
  return std::hypot(v[0], v[1], v[2]);
}

/// What of a convex polygon is on the side of a plane where sign * x[axis] <= sign * place.
std::vector<Point> clip(const std::vector<Point>& polygon, std::size_t axis, double place,
                        double sign) {
  std::vector<Point> rest;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double da = sign * (a[axis] - place), db = sign * (b[axis] - place);
    if (da <= 0)
      rest.push_back(a);
    if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
      Point between{};
      for (std::size_t d = 0; d < 3; ++d)
        between[d] = a[d] + da / (da - db) * (b[d] - a[d]);
      rest.push_back(between);
    }
  }
  return rest;
}

/// The area of a polygon in a box; of one that is not plane by triangles. What is nearer to a side
/// of the box than `slack` lies in it.
double area_in(std::vector<Point> polygon, const Box& box, double slack) {
  for (Point& x : polygon)
    for (std::size_t d = 0; d < 6; ++d)
      if (std::fabs(x[d % 3] - box[d]) <= slack)
        x[d % 3] = box[d];
  double area = 0;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    std::vector<Point> rest{polygon[0], polygon[i - 1], polygon[i]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      rest = clip(rest, axis, box[axis], -1);
      rest = clip(rest, axis, box[axis + 3], 1);
    }
    area += norm_of(normal_of(rest)) / 2;
  }
  return area;
}

BoxFaces measure(const std::vector<TouchedFace>& faces, const std::vector<double>& point,
                 const Box& box) {
  const double slack = rounding_of(bounding_box(point));
  const auto polygon_of = [&](const TouchedFace& face) {
    std::vector<Point> polygon;
    for (int i = 0; i < face.num_corners; ++i) {
      const double* x = &point[3 * std::size_t(face.corner[std::size_t(i)])];
      polygon.push_back({x[0], x[1], x[2]});
    }
    return polygon;
  };
  BoxFaces found;
  std::unordered_map<std::int32_t, std::vector<Point>> normals; // of whole faces, by node
  for (const TouchedFace& face : faces) {
    if (!face.whole)
      continue;
    const Point normal = normal_of(polygon_of(face));
    found.whole += norm_of(normal) / 2;
    for (int i = 0; i < face.num_corners; ++i)
      normals[face.corner[std::size_t(i)]].push_back(normal);
  }
  found.in_box = found.whole;
  for (const TouchedFace& face : faces) {
    if (face.whole)
      continue;
    const std::vector<Point> polygon = polygon_of(face);
    const Point normal = normal_of(polygon);
    bool goes_on = false;
    for (int i = 0; i < face.num_corners; ++i)
      if (const auto at = normals.find(face.corner[std::size_t(i)]); at != normals.end())
        for (const Point& other : at->second)
          goes_on = goes_on || normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2] >
                                   std::sqrt(0.5) * norm_of(normal) * norm_of(other) * 1.001;
    if (!goes_on)
      continue;
    const double area = area_in(polygon, box, slack);
    found.in_box += area;
    found.missed += area > 0.55 * norm_of(normal) / 2 ? 1 : 0;
  }
  return found;
}

std::vector<std::uint8_t> marks_of(const std::vector<std::int32_t>& nodes, std::size_t count) {
  std::vector<std::uint8_t> chosen(count);
  for (const std::int32_t node : nodes)
    chosen[std::size_t(node)] = 1;
  return chosen;
}

} // namespace

BoxFaces measure_box_faces(const ElementMesh& mesh, const std::vector<std::int32_t>& nodes,
                           const Box& box) {
  const std::vector<std::uint8_t> chosen = marks_of(nodes, mesh.num_points());
  const auto is_touched = [&](std::size_t e) {
    const auto first = mesh.node.begin() + std::ptrdiff_t(8 * e);
    return std::any_of(first, first + 8, [&](std::int32_t v) { return chosen[std::size_t(v)]; });
  };
  std::map<std::array<std::int32_t, 4>, TouchedFace> once; // by their sorted nodes
  for (const std::int32_t e : select_indices(mesh.num_elem(), is_touched))
    for (const auto& corners : hexa_face) {
      TouchedFace face{{}, 4, true};
      bool touched = false;
      for (std::size_t i = 0; i < 4; ++i) {
        face.corner[i] = mesh.node[8 * std::size_t(e) + std::size_t(corners[i])];
        const bool is_chosen = chosen[std::size_t(face.corner[i])] != 0;
        touched = touched || is_chosen;
        face.whole = face.whole && is_chosen;
      }
      if (!touched)
        continue;
      std::array<std::int32_t, 4> key = face.corner;
      std::sort(key.begin(), key.end());
      if (!once.emplace(key, face).second)
        once.erase(key); // the other side of a face inside the body
    }
  std::vector<TouchedFace> faces;
  for (const auto& [key, face] : once)
    faces.push_back(face);
  return measure(faces, mesh.point, box);
}

BoxFaces measure_box_faces(const SolidMesh& mesh, const std::vector<std::int32_t>& nodes,
                           const Box& box) {
  const std::vector<std::uint8_t> chosen = marks_of(nodes, mesh.num_points());
  std::vector<TouchedFace> faces;
  for (const FaceOfElement& one : boundary_faces(mesh)) {
    const NodeRange of_elem = mesh.nodes_of(std::size_t(one.elem));
    const SolidFaceNodes of_face = face_nodes(mesh.kind[std::size_t(one.elem)], one.face);
    TouchedFace face{{}, of_face.num_corners, true};
    bool touched = false;
    const int stride = of_face.num_nodes / of_face.num_corners; // 2 where mid-nodes are between
    for (int k = 0; k < of_face.num_nodes; ++k) {
      const std::int32_t node = of_elem[std::size_t(of_face.node[k])];
      const bool is_chosen = chosen[std::size_t(node)] != 0;
      touched = touched || is_chosen;
      face.whole = face.whole && is_chosen;
      if (k % stride == 0)
        face.corner[std::size_t(k / stride)] = node;
    }
    if (touched)
      faces.push_back(face);
  }
  return measure(faces, mesh.point, box);
}

} // namespace ossatura
