// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/solids/shape.hpp>

#include <ossatura/core/mesh/turned_top.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ossatura {

namespace {

using Place = std::array<double, 3>;

/// A value with its slopes along r, s and t: slopes of shape functions follow from products.
struct Slope {
  double value = 0;
  Place by{};
};
Slope operator+(const Slope& a, const Slope& b) {
  return {a.value + b.value, {a.by[0] + b.by[0], a.by[1] + b.by[1], a.by[2] + b.by[2]}};
}
Slope operator*(const Slope& a, const Slope& b) {
  Slope product{a.value * b.value, {}};
  for (std::size_t d = 0; d < 3; ++d)
    product.by[d] = a.value * b.by[d] + a.by[d] * b.value;
  return product;
}
Slope operator*(double a, const Slope& b) {
  return {a * b.value, {a * b.by[0], a * b.by[1], a * b.by[2]}};
}
Slope operator+(double a, const Slope& b) {
  return {a + b.value, b.by};
}
Slope operator-(double a, const Slope& b) {
  return a + -1 * b;
}

constexpr int hexa_sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

/// Barycentric coordinates of the corners.
void add_tetra(SolidKind kind, const Slope (&x)[3], Slope* shape) {
  const Slope corner[4] = {1 - (x[0] + x[1] + x[2]), x[0], x[1], x[2]};
  for (int k = 0; k < 4; ++k)
    shape[k] = is_second_order(kind) ? corner[k] * (-1 + 2 * corner[k]) : corner[k];
  for (int e = 0; is_second_order(kind) && e < 6; ++e)
    shape[4 + e] = 4 * (corner[tetra_shape.edge[e][0]] * corner[tetra_shape.edge[e][1]]);
}

/// Per [2] with the sides of the triangle's barycentric coordinates and t.
void add_prism(SolidKind kind, const Slope (&x)[3], Slope* shape) {
  const Slope of[3] = {1 - (x[0] + x[1]), x[0], x[1]};
  const Slope side[2] = {0.5 * (1 - x[2]), 0.5 * (1 + x[2])};
  if (!is_second_order(kind)) {
    for (int k = 0; k < 6; ++k)
      shape[k] = of[k % 3] * side[k / 3];
    return;
  }
  const Slope bubble = 1 - x[2] * x[2];
  for (int k = 0; k < 6; ++k)
    shape[k] = of[k % 3] * (-1 + 2 * of[k % 3]) * side[k / 3] + -0.5 * (of[k % 3] * bubble);
  for (int k = 0; k < 6; ++k)
    shape[6 + k] = 4 * (of[k % 3] * of[(k + 1) % 3] * side[k / 3]);
  for (int k = 0; k < 3; ++k)
    shape[12 + k] = of[k] * bubble;
}

void add_hexa(SolidKind kind, const Slope (&x)[3], Slope* shape) {
  for (int k = 0; k < 8; ++k) {
    const int(&sign)[3] = hexa_sign[k];
    shape[k] = 0.125 * ((1 + sign[0] * x[0]) * (1 + sign[1] * x[1]) * (1 + sign[2] * x[2]));
    if (is_second_order(kind))
      shape[k] = shape[k] * (-2 + (sign[0] * x[0] + sign[1] * x[1] + sign[2] * x[2]));
  }
  for (int e = 0; is_second_order(kind) && e < 12; ++e) {
    Slope product{0.25, {}};
    for (int axis = 0; axis < 3; ++axis) {
      const int a = hexa_sign[hexa_shape.edge[e][0]][axis],
                b = hexa_sign[hexa_shape.edge[e][1]][axis];
      product = product * (a == b ? 1 + a * x[axis] : 1 - x[axis] * x[axis]);
    }
    shape[8 + e] = product;
  }
}

constexpr double gauss_2 = 0.57735026918962576451, gauss_3 = 0.77459666924148337704;

/// Gauss points of the interval from -1 to 1, 2 or 3.
std::vector<std::array<double, 2>> gauss_line(int count) {
  if (count == 2)
    return {{-gauss_2, 1}, {gauss_2, 1}};
  return {{-gauss_3, 5. / 9}, {0, 8. / 9}, {gauss_3, 5. / 9}};
}

std::vector<SolidQuadraturePoint> hexa_points(int count) {
  std::vector<SolidQuadraturePoint> points;
  const auto line = gauss_line(count);
  for (const auto& t : line)
    for (const auto& s : line)
      for (const auto& r : line)
        points.push_back({{r[0], s[0], t[0]}, r[1] * s[1] * t[1]});
  return points;
}

/// The columns dx / dr, dx / ds, dx / dt at a point.
std::array<Place, 3> jacobian_of(const SolidMesh& mesh, const NodeRange& nodes,
                                 const SolidShapeValues& shape) {
  std::array<Place, 3> column{};
  const double* const origin = &mesh.point[3 * std::size_t(nodes[0])]; // far away digits cancel
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t d = 0; d < 3; ++d)
        column[d][axis] +=
            shape.slope[a][d] * (mesh.point[3 * std::size_t(nodes[a]) + axis] - origin[axis]);
  return column;
}

Place cross_product(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot_product(const Place& a, const Place& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double determinant_of(const std::array<Place, 3>& column) {
  return dot_product(cross_product(column[0], column[1]), column[2]);
}

struct FacePoint {
  double u, v, weight;
};

/// Of a triangle u, v >= 0, u + v <= 1, exact to degree 4: D. Dunavant, Int. J. Numer. Methods Eng.
/// 21 (1985) 1129-1148, doi:10.1002/nme.1620210612.
std::vector<FacePoint> triangle_points() {
  constexpr double a = 0.44594849091596488632, b = 0.09157621350977074346;
  constexpr double of_a = 0.22338158967801146570 / 2, of_b = 0.10995174365532186764 / 2;
  return {{a, a, of_a}, {1 - 2 * a, a, of_a}, {a, 1 - 2 * a, of_a},
          {b, b, of_b}, {1 - 2 * b, b, of_b}, {b, 1 - 2 * b, of_b}};
}
std::vector<FacePoint> square_points() {
  std::vector<FacePoint> points;
  for (const auto& v : gauss_line(3))
    for (const auto& u : gauss_line(3))
      points.push_back({u[0], v[0], u[1] * v[1]});
  return points;
}

/// Calls visit(shape, normal) at the points of a face, normal outwards, times area and weight.
template<class Visit>
void visit_face(const SolidMesh& mesh, const FaceOfElement& face, const Visit& visit) {
  const SolidKind kind = mesh.kind[std::size_t(face.elem)];
  const int(&corner)[4] = shape_of(kind).face[face.face];
  const bool triangle = corner[3] < 0;
  const std::vector<Place> reference = reference_nodes(kind);
  // Faces of reference elements are parallelograms and triangles.
  const Place &first = reference[std::size_t(corner[0])], &next = reference[std::size_t(corner[1])],
              &last = reference[std::size_t(corner[triangle ? 2 : 3])];
  const NodeRange nodes = mesh.nodes_of(std::size_t(face.elem));
  for (const FacePoint& point : triangle ? triangle_points() : square_points()) {
    const double u = triangle ? point.u : (1 + point.u) / 2,
                 v = triangle ? point.v : (1 + point.v) / 2;
    Place at, along, across;
    for (std::size_t d = 0; d < 3; ++d) {
      along[d] = next[d] - first[d];
      across[d] = last[d] - first[d];
      at[d] = first[d] + u * along[d] + v * across[d];
    }
    const SolidShapeValues shape = evaluate_shape(kind, at);
    const std::array<Place, 3> column = jacobian_of(mesh, nodes, shape);
    Place tangent[2] = {};
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t d = 0; d < 3; ++d) {
        tangent[0][axis] += column[d][axis] * along[d];
        tangent[1][axis] += column[d][axis] * across[d];
      }
    Place normal = cross_product(tangent[0], tangent[1]);
    for (double& component : normal)
      component *= triangle ? point.weight : point.weight / 4;
    visit(shape, normal);
  }
}

} // namespace

SolidShapeValues evaluate_shape(SolidKind kind, const std::array<double, 3>& at) {
  const Slope x[3] = {{at[0], {1, 0, 0}}, {at[1], {0, 1, 0}}, {at[2], {0, 0, 1}}};
  Slope shape[most_solid_nodes];
  const SolidShape& corners = shape_of(kind);
  if (corners.num_corners == 4)
    add_tetra(kind, x, shape);
  else if (corners.num_corners == 6)
    add_prism(kind, x, shape);
  else
    add_hexa(kind, x, shape);
  SolidShapeValues values;
  for (std::size_t a = 0; a < std::size_t(nodes_per_elem(kind)); ++a) {
    values.value[a] = shape[a].value;
    values.slope[a] = shape[a].by;
  }
  return values;
}

std::vector<std::array<double, 3>> reference_nodes(SolidKind kind) {
  const SolidShape& shape = shape_of(kind);
  std::vector<Place> nodes;
  for (int k = 0; k < shape.num_corners; ++k) {
    if (shape.num_corners == 8)
      nodes.push_back({double(hexa_sign[k][0]), double(hexa_sign[k][1]), double(hexa_sign[k][2])});
    else if (shape.num_corners == 6)
      nodes.push_back({k % 3 == 1 ? 1. : 0., k % 3 == 2 ? 1. : 0., k < 3 ? -1. : 1.});
    else
      nodes.push_back({k == 1 ? 1. : 0., k == 2 ? 1. : 0., k == 3 ? 1. : 0.});
  }
  for (int e = 0; is_second_order(kind) && e < shape.num_edges; ++e) {
    Place middle;
    for (std::size_t d = 0; d < 3; ++d)
      middle[d] =
          (nodes[std::size_t(shape.edge[e][0])][d] + nodes[std::size_t(shape.edge[e][1])][d]) / 2;
    nodes.push_back(middle);
  }
  return nodes;
}

std::vector<SolidQuadraturePoint> quadrature_of(SolidKind kind) {
  switch (kind) {
  case SolidKind::tetra4:
    return {{{0.25, 0.25, 0.25}, 1. / 6}};
  case SolidKind::tetra10: {
    constexpr double a = 0.13819660112501051518, b = 0.58541019662496845446;
    return {{{a, a, a}, 1. / 24}, {{b, a, a}, 1. / 24}, {{a, b, a}, 1. / 24}, {{a, a, b}, 1. / 24}};
  }
  case SolidKind::prism6:
    return {{{1. / 3, 1. / 3, -gauss_2}, 0.5}, {{1. / 3, 1. / 3, gauss_2}, 0.5}};
  case SolidKind::prism15: {
    std::vector<SolidQuadraturePoint> points;
    for (const auto& t : gauss_line(3))
      for (const auto& [r, s] : {std::pair(1. / 6, 1. / 6), {2. / 3, 1. / 6}, {1. / 6, 2. / 3}})
        points.push_back({{r, s, t[0]}, t[1] / 6});
    return points;
  }
  case SolidKind::hexa20:
    return hexa_points(3);
  default:
    return hexa_points(2);
  }
}

std::vector<SolidQuadraturePoint> moment_quadrature_of(SolidKind kind) {
  switch (kind) {
  case SolidKind::tetra4:
    return quadrature_of(SolidKind::tetra10);
  case SolidKind::tetra10: { // of degree 3
    constexpr double a = 1. / 6, b = 0.5, weight = 3. / 40;
    return {{{0.25, 0.25, 0.25}, -2. / 15},
            {{a, a, a}, weight},
            {{b, a, a}, weight},
            {{a, b, a}, weight},
            {{a, a, b}, weight}};
  }
  case SolidKind::prism6:    // twisted ones are of degree 3 over the triangle
  case SolidKind::prism15: { // of degree 4 over the triangle, which has an area of a half
    std::vector<SolidQuadraturePoint> points;
    for (const auto& t : gauss_line(3))
      for (const auto& [a, weight] : {std::pair(0.44594849091596488632, 0.22338158967801146570),
                                      {0.09157621350977074346, 0.10995174365532186764}})
        for (const auto& [r, s] : {std::pair(a, a), {1 - 2 * a, a}, {a, 1 - 2 * a}})
          points.push_back({{r, s, t[0]}, 0.5 * weight * t[1]});
    return points;
  }
  case SolidKind::hexa20r:
    return hexa_points(3);
  default:
    return quadrature_of(kind);
  }
}

std::vector<SolidQuadraturePoint> mass_quadrature_of(SolidKind kind) {
  // Along each direction, exact to degree 5 and 7. Products of shape functions and the determinant
  // are of degree 4, or 6 of second order, and so are those on tetrahedra and prisms, as cubes and
  // squares that are collapsed, with the determinant of the collapse.
  constexpr double near_4 = 0.33998104358485626480, far_4 = 0.86113631159405257522,
                   weight_4 = 0.65214515486254614263;
  std::vector<std::array<double, 2>> line = gauss_line(3);
  if (is_second_order(kind))
    line = {{-far_4, 1 - weight_4}, {-near_4, weight_4}, {near_4, weight_4}, {far_4, 1 - weight_4}};
  const bool is_tetra = shape_of(kind).num_corners == 4, is_hexa = shape_of(kind).num_corners == 8;
  std::vector<SolidQuadraturePoint> points;
  for (const auto& t : line)
    for (const auto& s : line)
      for (const auto& r : line) {
        const double weight = r[1] * s[1] * t[1];
        const double u = 0.5 * (1 + r[0]), v = 0.5 * (1 + s[0]), w = 0.5 * (1 + t[0]);
        if (is_hexa)
          points.push_back({{r[0], s[0], t[0]}, weight});
        else if (is_tetra)
          points.push_back(
              {{u, v * (1 - u), w * (1 - v) * (1 - u)}, weight / 8 * (1 - u) * (1 - u) * (1 - v)});
        else
          points.push_back({{u, v * (1 - u), t[0]}, weight / 4 * (1 - u)});
      }
  return points;
}

std::array<std::array<double, 3>, most_solid_nodes> pressure_forces(const SolidMesh& mesh,
                                                                    const FaceOfElement& face) {
  std::array<Place, most_solid_nodes> force{};
  visit_face(mesh, face, [&](const SolidShapeValues& shape, const Place& normal) {
    for (std::size_t a = 0; a < force.size(); ++a)
      for (std::size_t d = 0; d < 3; ++d)
        force[a][d] -= shape.value[a] * normal[d];
  });
  return force;
}

std::array<double, most_solid_nodes> face_shares(const SolidMesh& mesh, const FaceOfElement& face) {
  std::array<double, most_solid_nodes> share{};
  visit_face(mesh, face, [&](const SolidShapeValues& shape, const Place& normal) {
    const double area = std::hypot(normal[0], normal[1], normal[2]);
    for (std::size_t a = 0; a < share.size(); ++a)
      share[a] += shape.value[a] * area;
  });
  return share;
}

std::string describe_bad_element(const SolidMesh& mesh, std::size_t elem) {
  const SolidKind kind = mesh.kind[elem];
  const SolidShape& shape = shape_of(kind);
  const NodeRange nodes = mesh.nodes_of(elem);
  const std::string name = shape.noun;
  for (const std::int32_t* node = nodes.first; node != nodes.last; ++node)
    if (std::find(nodes.first, node, *node) != node)
      return "the " + name + " has a node twice: remove elements without volume from the mesh";
  const auto point = [&](int a) {
    const double* x = &mesh.point[3 * std::size_t(nodes[std::size_t(a)])];
    return Place{x[0], x[1], x[2]};
  };
  double longest = 0;
  for (int e = 0; e < shape.num_edges; ++e) {
    const Place a = point(shape.edge[e][0]), b = point(shape.edge[e][1]);
    const double length = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    longest = std::max(longest, length);
    if (!is_second_order(kind))
      continue;
    const Place m = point(shape.num_corners + e);
    const double off = std::hypot(m[0] - a[0] / 2 - b[0] / 2, m[1] - a[1] / 2 - b[1] / 2,
                                  m[2] - a[2] / 2 - b[2] / 2);
    if (!(off <= length / 2))
      return "the mid-node between corners " + std::to_string(shape.edge[e][0] + 1) + " and " +
             std::to_string(shape.edge[e][1] + 1) + " of the " + name +
             " is farther from the middle of the edge than half its length: mid-nodes are in the "
             "order of Abaqus; put those that others wrote in another order into this";
  }
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  const auto look = [&](const Place& at) {
    double determinant = determinant_of(jacobian_of(mesh, nodes, evaluate_shape(kind, at)));
    determinant = std::isfinite(determinant) ? determinant : 0;
    least = std::min(least, determinant);
    greatest = std::max(greatest, determinant);
  };
  for (const Place& at : reference_nodes(kind))
    look(at);
  for (const SolidQuadraturePoint& at : quadrature_of(kind))
    look(at.at);
  constexpr double flat = 1e-12; // volumes below this part of the longest edge's cube are rounding
  const double rounding = flat * longest * longest * longest;
  const int base = shape.num_corners / 2; // of all but tetrahedra
  if (base > 2 && (least > rounding || greatest < -rounding)) {
    std::array<Place, 8> corner{};
    for (int a = 0; a < shape.num_corners; ++a)
      corner[std::size_t(a)] = point(a);
    if (const int turned = turned_top(corner, base); turned > 0)
      return describe_turned_top(name, base, turned);
  }
  if (least > rounding)
    return {};
  if (greatest < -rounding)
    return "the " + name +
           " is inside out: the first of its faces is to turn clockwise seen from outside; turn "
           "the order of its nodes round";
  if (!(greatest > rounding) && !(least < -rounding))
    return "the " + name + " has no volume: remove such elements from the mesh";
  return "the " + name + " is in part inside out, or flat at a node: smooth the mesh there" +
         (is_second_order(kind) ? ", or put its mid-nodes in the middle of their edges" : "");
}

double volume_of(const SolidMesh& mesh, std::size_t elem) {
  const NodeRange nodes = mesh.nodes_of(elem);
  double volume = 0;
  for (const SolidQuadraturePoint& at : quadrature_of(mesh.kind[elem]))
    volume += at.weight *
              determinant_of(jacobian_of(mesh, nodes, evaluate_shape(mesh.kind[elem], at.at)));
  return volume;
}

std::array<double, 3> centre_of(const SolidMesh& mesh, std::size_t elem) {
  const NodeRange nodes = mesh.nodes_of(elem);
  const int corners = shape_of(mesh.kind[elem]).num_corners;
  Place centre{};
  for (std::size_t a = 0; a < std::size_t(corners); ++a)
    for (std::size_t d = 0; d < 3; ++d)
      centre[d] += mesh.point[3 * std::size_t(nodes[a]) + d] / corners;
  return centre;
}

} // namespace ossatura
