// SPDX-License-Identifier: Apache-2.0
// Marching tetrahedra [1] cut the surface from hexahedra that are divided into 24 tetrahedra each.
// Neighbours agree on the cut of their common face whatever their numbering, and a tetrahedron
// leaves no ambiguous case [2]. Each corner of the tetrahedra is above or below once and for all,
// so that the result is the boundary of a set of corners of a simplicial complex; where that set
// reaches the body's own surface, the triangles of that surface, clipped by the same rule, close
// the result.
//
// [1] A. Doi, A. Koide: An efficient method of triangulating equi-valued surfaces by using
//     tetrahedral cells. IEICE Transactions E74(1) (1991) 214-224.
// [2] G. M. Nielson, B. Hamann: The asymptotic decider: resolving the ambiguity in marching cubes.
//     IEEE Visualization (1991) 83-91. doi 10.1109/VISUAL.1991.175782
#include <ossatura/core/mesh/iso_surface.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/hexa/faces.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace ossatura {
namespace {

using Point = std::array<double, 3>;

constexpr double end_distance = 0.01; // of a vertex from the ends of its edge, in edges
constexpr int centre = 14;            // corners of tetrahedra: 8 nodes, 6 centres of faces, this
constexpr int num_corners = 15;

/// By which corners of a tetrahedron are above (bit k: corner k): an even order of the corners that
/// begins with those above or, where three are, with the one that is not.
constexpr int corner_order[16][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2}, {0, 1, 2, 3},
                                     {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 0, 3}, {3, 2, 1, 0},
                                     {3, 2, 1, 0}, {0, 3, 1, 2}, {1, 3, 2, 0}, {2, 3, 0, 1},
                                     {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 1, 2, 3}, {0, 1, 2, 3}};

/// The mean, bitwise the same in any order and never outside the range of the values: a sum of two
/// halves is monotonic and exact for equal values.
template<std::size_t Count>
double mean(std::array<double, Count> value) {
  std::sort(value.begin(), value.end());
  for (std::size_t count = Count; count > 1; count /= 2)
    for (std::size_t k = 0; k < count / 2; ++k)
      value[k] = 0.5 * value[2 * k] + 0.5 * value[2 * k + 1];
  return value[0];
}

/// A face by its sorted nodes.
struct SolidFace {
  std::array<std::int32_t, 4> key;
  std::int64_t place; ///< six times the place of its cell, and the face
};

/// A corner of a face of the body's surface, with its neighbours in the face.
struct Corner {
  std::int32_t node, next, previous;
};

/// A hexahedron with the corners of its tetrahedra.
struct Cell {
  const std::int32_t* node;
  std::size_t place;
  Point point[num_corners];
  double value[num_corners];
  bool above[num_corners];
  int vertex[num_corners][num_corners]; ///< from a corner above to one that is not; [c][c]: corner
};

class IsoSurface {
public:
  IsoSurface(const ElementMesh& mesh, const std::vector<double>& field, double level)
      : mesh_(mesh)
      , field_(field)
      , level_(level)
      , above_(field.size()) {}

  SolidParts make() {
    for (std::size_t n = 0; n < field_.size(); ++n)
      above_[n] = field_[n] > level_;
    find_cells();
    number_faces();
    leave_out_touching_nodes();
    const std::size_t num_faces = vertex_on_face_.size() / 4;
    OSSATURA_REQUIRE(field_.size() + num_faces + elem_.size() <
                         std::size_t(std::numeric_limits<std::int32_t>::max()),
                     "the iso-surface has too many cells to number");
    root_.resize(field_.size() + num_faces + elem_.size());
    std::iota(root_.begin(), root_.end(), 0);
    for (std::size_t place = 0; place < elem_.size(); ++place)
      cut(place);
    return number_parts();
  }

private:
  const std::int32_t* nodes_of(std::size_t elem) const { return mesh_.node.data() + 8 * elem; }

  /// Cells: the elements with a node above.
  void find_cells() {
    for (std::size_t e = 0; e < mesh_.num_elem(); ++e)
      if (std::any_of(nodes_of(e), nodes_of(e) + 8,
                      [&](std::int32_t n) { return above_[std::size_t(n)] != 0; }))
        elem_.push_back(e);
  }

  /// Numbers the faces with a node above; all elements that have such a face are cells.
  void number_faces() {
    std::vector<SolidFace> faces;
    for (std::size_t place = 0; place < elem_.size(); ++place)
      for (std::size_t f = 0; f < 6; ++f) {
        SolidFace face{{}, std::int64_t(6 * place + f)};
        bool any_above = false;
        for (std::size_t k = 0; k < 4; ++k) {
          face.key[k] = nodes_of(elem_[place])[hexa_face[f][k]];
          any_above = any_above || above_[std::size_t(face.key[k])] != 0;
        }
        std::sort(face.key.begin(), face.key.end());
        if (any_above)
          faces.push_back(face);
      }
    std::sort(faces.begin(), faces.end(),
              [](const SolidFace& a, const SolidFace& b) { return a.key < b.key; });
    face_number_.assign(6 * elem_.size(), -1);
    std::int64_t number = 0;
    for (std::size_t first = 0, next; first < faces.size(); first = next, ++number) {
      for (next = first; next < faces.size() && faces[next].key == faces[first].key; ++next)
        face_number_[std::size_t(faces[next].place)] = number;
      OSSATURA_REQUIRE(next - first <= 2, "the face of nodes "
                                              << faces[first].key[0] << ", " << faces[first].key[1]
                                              << ", " << faces[first].key[2] << ", "
                                              << faces[first].key[3] << " belongs to "
                                              << next - first << " elements");
      if (next - first == 1)
        own_face_.push_back(faces[first].place);
    }
    std::sort(own_face_.begin(), own_face_.end());
    vertex_on_face_.assign(std::size_t(4 * number), -1);
  }

  /// Nodes around which the body's surface is not one fan, as where elements have nothing but an
  /// edge in common, count as not above: the iso-surface could not be a manifold there.
  void leave_out_touching_nodes() {
    std::vector<Corner> corners;
    for (const std::int64_t place : own_face_)
      for (int k = 0; k < 4; ++k) {
        const int* face = hexa_face[place % 6];
        const std::int32_t* node = nodes_of(elem_[std::size_t(place / 6)]);
        const Corner corner{node[face[k]], node[face[(k + 1) % 4]], node[face[(k + 3) % 4]]};
        if (above_[std::size_t(corner.node)])
          corners.push_back(corner);
      }
    std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
      return a.node != b.node ? a.node < b.node : a.next < b.next;
    });
    for (auto first = corners.cbegin(), next = first; first != corners.cend(); first = next) {
      next = std::find_if(first, corners.cend(),
                          [&](const Corner& corner) { return corner.node != first->node; });
      if (!is_one_fan(first, next))
        above_[std::size_t(first->node)] = false;
    }
  }

  using CornerIterator = std::vector<Corner>::const_iterator;

  /// Whether going from face to face around their common node meets every one of them once.
  static bool is_one_fan(CornerIterator first, CornerIterator last) {
    const auto same_next = [](const Corner& a, const Corner& b) { return a.next == b.next; };
    if (std::adjacent_find(first, last, same_next) != last)
      return false;
    std::ptrdiff_t count = 0;
    auto corner = first;
    do {
      const std::int32_t edge = corner->previous;
      corner = std::find_if(first, last, [&](const Corner& other) { return other.next == edge; });
      ++count;
    } while (corner != last && corner != first && count < last - first);
    return corner == first && count == last - first;
  }

  /// A node that counts as not above though its value is: the surface passes beside it.
  double value_at(std::int32_t node) const {
    const double value = field_[std::size_t(node)];
    return above_[std::size_t(node)] ? value : std::min(value, level_);
  }

  void load(Cell& cell, std::size_t place) const {
    cell.node = nodes_of(elem_[place]);
    cell.place = place;
    std::array<double, 8> corner;
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t n = std::size_t(cell.node[k]);
      cell.point[k] = {mesh_.point[3 * n], mesh_.point[3 * n + 1], mesh_.point[3 * n + 2]};
      cell.value[k] = value_at(cell.node[k]);
      cell.above[k] = above_[n] != 0;
      corner[k] = field_[n];
    }
    const auto add_centre = [&](std::size_t c, auto value, auto at) {
      cell.value[c] = mean(value);
      cell.above[c] = cell.value[c] > level_;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        for (std::size_t k = 0; k < value.size(); ++k)
          value[k] = cell.point[at(k)][axis];
        cell.point[c][axis] = mean(value);
      }
    };
    for (std::size_t f = 0; f < 6; ++f) {
      const auto at = [&](std::size_t k) { return std::size_t(hexa_face[f][k]); };
      add_centre(8 + f,
                 std::array<double, 4>{corner[at(0)], corner[at(1)], corner[at(2)], corner[at(3)]},
                 at);
    }
    add_centre(centre, corner, [](std::size_t k) { return k; });
  }

  /// Of a corner among all nodes, then faces, then cells.
  std::int32_t number_of(const Cell& cell, int corner) const {
    if (corner < 8)
      return cell.node[corner];
    if (corner == centre)
      return std::int32_t(root_.size() - elem_.size() + cell.place);
    return std::int32_t(field_.size()) +
           std::int32_t(face_number_[6 * cell.place + std::size_t(corner - 8)]);
  }

  std::int32_t find_root(std::int32_t number) {
    while (root_[std::size_t(number)] != number) {
      std::int32_t& up = root_[std::size_t(number)];
      up = root_[std::size_t(up)];
      number = up;
    }
    return number;
  }

  void join(const Cell& cell, int a, int b) {
    if (!cell.above[a] || !cell.above[b])
      return;
    const std::int32_t one = find_root(number_of(cell, a)), other = find_root(number_of(cell, b));
    root_[std::size_t(std::max(one, other))] = std::min(one, other); // nodes before centres
  }

  /// Along the edges of a cell's tetrahedra.
  void join_corners(const Cell& cell) {
    for (int f = 0; f < 6; ++f)
      for (int k = 0; k < 4; ++k) {
        join(cell, hexa_face[f][k], hexa_face[f][(k + 1) % 4]);
        join(cell, hexa_face[f][k], 8 + f);
      }
    for (int corner = 0; corner < centre; ++corner)
      join(cell, corner, centre);
  }

  /// Surface and numbers of its parts.
  SolidParts number_parts() {
    SolidParts parts;
    std::vector<std::int32_t> number(root_.size(), -1);
    const auto part_of = [&](std::int32_t corner) {
      std::int32_t& own = number[std::size_t(find_root(corner))];
      if (own < 0)
        own = parts.num_parts++;
      return own;
    };
    parts.part_of_node.assign(field_.size(), -1);
    for (std::size_t n = 0; n < field_.size(); ++n)
      if (above_[n] != 0)
        parts.part_of_node[n] = part_of(std::int32_t(n));
    for (const auto& triangle : surface_.triangle)
      parts.part_of_triangle.push_back(part_of(corner_of_vertex_[std::size_t(triangle[0])]));
    parts.surface = std::move(surface_);
    return parts;
  }

  /// The triangles in and on a cell.
  void cut(std::size_t place) {
    Cell cell;
    load(cell, place);
    join_corners(cell);
    const auto own = std::lower_bound(own_face_.begin(), own_face_.end(), std::int64_t(6 * place));
    const bool at_surface = own != own_face_.end() && *own < std::int64_t(6 * place + 6);
    const bool first_above = cell.above[0];
    if (!at_surface && std::all_of(cell.above, cell.above + num_corners,
                                   [&](bool above) { return above == first_above; }))
      return;
    std::fill_n(&cell.vertex[0][0], num_corners * num_corners, -1);
    for (int f = 0; f < 6; ++f)
      for (int k = 0; k < 4; ++k)
        cut_tetra(cell, {8 + f, hexa_face[f][(k + 1) % 4], hexa_face[f][k], centre});
    for (auto face = own; face != own_face_.end() && *face < std::int64_t(6 * place + 6); ++face) {
      const int f = int(*face % 6);
      for (int k = 0; k < 4; ++k)
        clip_triangle(cell, {8 + f, hexa_face[f][k], hexa_face[f][(k + 1) % 4]});
    }
  }

  /// `corner` of positive volume.
  void cut_tetra(Cell& cell, const std::array<int, 4>& corner) {
    unsigned above = 0;
    for (unsigned k = 0; k < 4; ++k)
      above |= unsigned(cell.above[corner[k]]) << k;
    const int* order = corner_order[above];
    const int a = corner[std::size_t(order[0])], b = corner[std::size_t(order[1])],
              c = corner[std::size_t(order[2])], d = corner[std::size_t(order[3])];
    switch ((above & 1u) + (above >> 1 & 1u) + (above >> 2 & 1u) + (above >> 3)) {
    case 1:
      add_triangle(crossing(cell, a, b), crossing(cell, a, c), crossing(cell, a, d));
      break;
    case 2:
      add_quadrangle(
          {crossing(cell, a, c), crossing(cell, a, d), crossing(cell, b, d), crossing(cell, b, c)});
      break;
    case 3:
      add_triangle(crossing(cell, b, a), crossing(cell, d, a), crossing(cell, c, a));
      break;
    default:
      break;
    }
  }

  /// The part above of a triangle of the body's own surface.
  void clip_triangle(Cell& cell, const std::array<int, 3>& corner) {
    std::array<int, 4> polygon{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = corner[k], b = corner[(k + 1) % 3];
      if (cell.above[a])
        polygon[count++] = crossing(cell, a, a);
      if (cell.above[a] != cell.above[b])
        polygon[count++] = cell.above[a] ? crossing(cell, a, b) : crossing(cell, b, a);
    }
    if (count == 3)
      add_triangle(polygon[0], polygon[1], polygon[2]);
    else if (count == 4)
      add_quadrangle(polygon);
  }

  /// The vertex on the edge from a corner above to one that is not, or the corner itself.
  int crossing(Cell& cell, int above, int below) {
    int& known = cell.vertex[above][below];
    if (known >= 0)
      return known;
    int* shared = shared_vertex(cell, above, below);
    if (shared && *shared >= 0)
      return known = *shared;
    const Point &p = cell.point[above], &q = cell.point[below];
    const double t =
        above == below
            ? 0
            : std::clamp((cell.value[above] - level_) / (cell.value[above] - cell.value[below]),
                         end_distance, 1 - end_distance);
    OSSATURA_REQUIRE(surface_.vertex.size() < std::size_t(std::numeric_limits<int>::max()),
                     "the iso-surface has too many vertices to number");
    known = int(surface_.vertex.size());
    surface_.vertex.push_back(
        {p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])});
    corner_of_vertex_.push_back(number_of(cell, above));
    if (shared)
      *shared = known;
    return known;
  }

  /// Where cells keep the number of a vertex in common; null for one that a cell has alone.
  int* shared_vertex(const Cell& cell, int a, int b) {
    if (a > b)
      std::swap(a, b);
    if (b < 8) {
      const std::uint64_t low = std::uint64_t(std::min(cell.node[a], cell.node[b]));
      const std::uint64_t high = std::uint64_t(std::max(cell.node[a], cell.node[b]));
      return &vertex_on_edge_.try_emplace(high << 32 | low, -1).first->second;
    }
    if (a >= 8 || b == centre)
      return nullptr;
    const int* face = hexa_face[b - 8];
    const std::int64_t rank =
        std::count_if(face, face + 4, [&](int corner) { return cell.node[corner] < cell.node[a]; });
    const std::int64_t number = face_number_[6 * cell.place + std::size_t(b - 8)];
    return &vertex_on_face_[std::size_t(4 * number + rank)];
  }

  void add_triangle(int a, int b, int c) { surface_.triangle.push_back({a, b, c}); }

  /// Cut at its shorter diagonal.
  void add_quadrangle(const std::array<int, 4>& v) {
    const auto squared_distance = [&](int a, int b) {
      const Point &p = surface_.vertex[std::size_t(a)], &q = surface_.vertex[std::size_t(b)];
      return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
             (p[2] - q[2]) * (p[2] - q[2]);
    };
    const bool first = squared_distance(v[0], v[2]) <= squared_distance(v[1], v[3]);
    add_triangle(v[0], v[1], first ? v[2] : v[3]);
    add_triangle(first ? v[0] : v[1], v[2], v[3]);
  }

  const ElementMesh& mesh_;
  const std::vector<double>& field_;
  const double level_;
  std::vector<std::uint8_t> above_;       // by node
  std::vector<std::size_t> elem_;         // of each cell
  std::vector<std::int64_t> face_number_; // [cells, 6], -1: no node above
  std::vector<std::int64_t> own_face_;    // places of faces that one element alone has, ascending
  std::vector<int> vertex_on_face_;       // [faces, 4] between the centre and the sorted nodes
  std::unordered_map<std::uint64_t, int> vertex_on_edge_; // by both nodes; twice the same: the node
  TriangleSurface surface_;
  std::vector<std::int32_t> corner_of_vertex_; // the end above of each vertex's edge
  std::vector<std::int32_t> root_;             // of corners, towards the first of their part
};

/// Of the 24 tetrahedra together.
double volume_of(const ElementMesh& mesh, std::size_t elem) {
  Point p[8];
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis)
      p[k][axis] = mesh.point[3 * std::size_t(mesh.node[8 * elem + k]) + axis] -
                   mesh.point[3 * std::size_t(mesh.node[8 * elem]) + axis];
  double volume = 0;
  for (const auto& face : hexa_face) {
    const Point &a = p[face[0]], &b = p[face[1]], &c = p[face[2]], &d = p[face[3]];
    for (std::size_t x = 0; x < 3; ++x) {
      const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
      volume += (a[x] + b[x] + c[x] + d[x]) *
                ((c[y] - a[y]) * (d[z] - b[z]) - (c[z] - a[z]) * (d[y] - b[y])) / 24;
    }
  }
  return volume;
}

} // namespace

std::vector<double> node_means(const ElementMesh& mesh, const std::vector<double>& value) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "the mesh is not of hexahedra");
  OSSATURA_REQUIRE(value.size() == mesh.num_elem(),
                   value.size() << " values for " << mesh.num_elem() << " elements");
  std::vector<double> sum(mesh.num_points()), weight(mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const double volume = volume_of(mesh, e);
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t n = std::size_t(mesh.node[8 * e + k]);
      sum[n] += volume * value[e];
      weight[n] += volume;
    }
  }
  for (std::size_t n = 0; n < sum.size(); ++n)
    if (weight[n] != 0)
      sum[n] /= weight[n];
  return sum;
}

TriangleSurface iso_surface(const ElementMesh& mesh, const std::vector<double>& field,
                            double level) {
  return solid_parts(mesh, field, level).surface;
}

SolidParts solid_parts(const ElementMesh& mesh, const std::vector<double>& field, double level) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "the mesh is not of hexahedra");
  OSSATURA_REQUIRE(field.size() == mesh.num_points(),
                   field.size() << " values for " << mesh.num_points() << " points");
  OSSATURA_REQUIRE(std::isfinite(level) && std::all_of(field.begin(), field.end(),
                                                       [](double x) { return std::isfinite(x); }),
                   "the field or the level is not finite");
  return IsoSurface(mesh, field, level).make();
}

} // namespace ossatura
