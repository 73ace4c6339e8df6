// SPDX-License-Identifier: Apache-2.0
// Marching tetrahedra [1] cut the surface from elements that are divided into tetrahedra: each edge
// of each face, with the centre of the face and that of the element; a hexahedron has 24.
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
#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/part_sort.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

namespace ossatura {
namespace {

using Point = std::array<double, 3>;

constexpr double end_distance = 0.01;    // of a vertex from the ends of its edge, in edges
constexpr std::size_t block_elem = 4096; // that a thread looks at in one go
constexpr std::size_t block_cells = 1024;
// Corners of tetrahedra: nodes, centres of faces, the centre.
constexpr int most_corners = most_solid_nodes + most_solid_faces + 1;

/// By which corners of a tetrahedron are above (bit k: corner k): an even order of the corners that
/// begins with those above or, where three are, with the one that is not.
constexpr int corner_order[16][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 3, 2}, {0, 1, 2, 3},
                                     {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 0, 3}, {3, 2, 1, 0},
                                     {3, 2, 1, 0}, {0, 3, 1, 2}, {1, 3, 2, 0}, {2, 3, 0, 1},
                                     {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 1, 2, 3}, {0, 1, 2, 3}};

/// The mean, bitwise the same in any order and never outside the range of the values: a sum of two
/// halves is monotonic and exact for equal values.
double mean(std::vector<double>& value) {
  std::sort(value.begin(), value.end());
  const std::size_t count = value.size();
  if ((count & (count - 1)) != 0) {
    double sum = 0;
    for (const double one : value)
      sum += one / double(count);
    return std::clamp(sum, value.front(), value.back());
  }
  for (std::size_t left = count; left > 1; left /= 2)
    for (std::size_t k = 0; k < left / 2; ++k)
      value[k] = 0.5 * value[2 * k] + 0.5 * value[2 * k + 1];
  return value[0];
}

/// Faces of the elements of a kind, as rings of nodes.
struct CellShape {
  int num_nodes, num_faces;
  SolidFaceNodes face[most_solid_faces];

  int centre() const { return num_nodes + num_faces; }
};

constexpr CellShape cell_shape(SolidKind kind) {
  CellShape shape{nodes_per_elem(kind), shape_of(kind).num_faces, {}};
  for (int f = 0; f < shape.num_faces; ++f)
    shape.face[f] = face_nodes(kind, f);
  return shape;
}
constexpr CellShape cell_shapes[num_solid_kinds] = {
    cell_shape(SolidKind::tetra4),  cell_shape(SolidKind::tetra10), cell_shape(SolidKind::prism6),
    cell_shape(SolidKind::prism15), cell_shape(SolidKind::hexa8),   cell_shape(SolidKind::hexa20),
    cell_shape(SolidKind::hexa20r)};

/// Elements of one mesh or the other.
struct CellMesh {
  const ElementMesh* hexahedra; ///< or
  const SolidMesh* solids;

  std::size_t num_elem() const { return solids ? solids->num_elem() : hexahedra->num_elem(); }
  const std::vector<double>& point() const { return solids ? solids->point : hexahedra->point; }
  const std::int32_t* nodes_of(std::size_t e) const {
    return solids ? solids->nodes_of(e).first : hexahedra->node.data() + 8 * e;
  }
  const CellShape& shape_of(std::size_t e) const {
    return cell_shapes[int(solids ? solids->kind[e] : SolidKind::hexa8)];
  }
};

/// A face by its sorted corners; those of triangles begin with -1.
struct SolidFace {
  std::array<std::int32_t, 4> key;
  std::int64_t place; ///< six times the place of its cell, and the face
};

/// A corner of a face of the body's surface, with its neighbours in the face.
struct Corner {
  std::int32_t node, next, previous;
};

/// An element with the corners of its tetrahedra.
struct Cell {
  const CellShape* shape;
  const std::int32_t* node;
  std::size_t place;
  Point point[most_corners];
  double value[most_corners];
  bool above[most_corners];
  int vertex[most_corners]
            [most_corners]; ///< from a corner above to one that is not; [c][c]: corner
};

/// What a block of cells adds to the surface, its vertices numbered from 0.
struct SurfacePiece {
  TriangleSurface surface;
  std::vector<std::int32_t> corner_of_vertex; ///< the end above of each vertex's edge
  std::vector<std::uint64_t> key;             ///< of each vertex, by which other cells know it

  std::unordered_map<std::uint64_t, int> vertex_of_key;
};

constexpr std::uint64_t alone = ~std::uint64_t(0); ///< key of a vertex that one cell has alone

class IsoSurface {
public:
  IsoSurface(const CellMesh& mesh, const std::vector<double>& field, double level)
      : mesh_(mesh)
      , field_(field)
      , level_(level)
      , above_(field.size()) {}

  SolidParts make() {
    for_parts(field_.size(), 1 << 16, [&](std::size_t first, std::size_t end) {
      for (std::size_t n = first; n < end; ++n)
        above_[n] = field_[n] > level_;
    });
    find_cells();
    number_faces();
    leave_out_touching_nodes();
    OSSATURA_REQUIRE(field_.size() + num_faces_ + elem_.size() <
                         std::size_t(std::numeric_limits<std::int32_t>::max()),
                     "the iso-surface has too many cells to number");
    parts_.emplace(field_.size() + num_faces_ + elem_.size());
    join_pieces(cut_blocks());
    return number_parts();
  }

private:
  const std::int32_t* nodes_of(std::size_t elem) const { return mesh_.nodes_of(elem); }

  /// Cells: the elements with a node above.
  void find_cells() {
    const std::size_t num_blocks = (mesh_.num_elem() + block_elem - 1) / block_elem;
    std::vector<std::vector<std::size_t>> cells(num_blocks);
    for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t block = first; block < end; ++block)
        for (std::size_t e = block_elem * block;
             e < std::min(mesh_.num_elem(), block_elem * (block + 1)); ++e) {
          const int num_nodes = mesh_.shape_of(e).num_nodes;
          if (std::any_of(nodes_of(e), nodes_of(e) + num_nodes,
                          [&](std::int32_t n) { return above_[std::size_t(n)] != 0; }))
            cells[block].push_back(e);
        }
    });
    for (const std::vector<std::size_t>& of_block : cells)
      elem_.insert(elem_.end(), of_block.begin(), of_block.end());
  }

  /// The faces with a node above, those of the same nodes beside each other.
  std::vector<SolidFace> sorted_faces() const {
    std::vector<std::vector<SolidFace>> of_block((elem_.size() + block_elem - 1) / block_elem);
    for_parts(of_block.size(), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t block = first; block < end; ++block)
        for (std::size_t place = block_elem * block;
             place < std::min(elem_.size(), block_elem * (block + 1)); ++place)
          list_faces(place, of_block[block]);
    });
    std::vector<SolidFace> faces;
    for (std::vector<SolidFace>& some : of_block) {
      faces.insert(faces.end(), some.begin(), some.end());
      some = {};
    }
    sort_parts(faces, [](const SolidFace& a, const SolidFace& b) {
      return a.key != b.key ? a.key < b.key : a.place < b.place;
    });
    return faces;
  }

  void list_faces(std::size_t place, std::vector<SolidFace>& faces) const {
    const CellShape& shape = mesh_.shape_of(elem_[place]);
    const std::int32_t* const node = nodes_of(elem_[place]);
    for (int f = 0; f < shape.num_faces; ++f) {
      const SolidFaceNodes& ring = shape.face[f];
      SolidFace face{{-1, -1, -1, -1}, std::int64_t(6 * place) + f};
      bool any_above = false;
      for (int k = 0; k < ring.num_nodes; ++k)
        any_above = any_above || above_[std::size_t(node[ring.node[k]])] != 0;
      for (int k = 0; k < ring.num_corners; ++k) // between which mid-nodes are
        face.key[std::size_t(k)] = node[ring.node[k * (ring.num_nodes / ring.num_corners)]];
      std::sort(face.key.begin(), face.key.end());
      if (any_above)
        faces.push_back(face);
    }
  }

  /// Numbers the faces with a node above; all elements that have such a face are cells.
  void number_faces() {
    const std::vector<SolidFace> faces = sorted_faces();
    face_number_.assign(6 * elem_.size(), -1);
    for (std::size_t first = 0, next; first < faces.size(); first = next, ++num_faces_) {
      for (next = first; next < faces.size() && faces[next].key == faces[first].key; ++next)
        face_number_[std::size_t(faces[next].place)] = std::int64_t(num_faces_);
      const auto& key = faces[first].key;
      OSSATURA_REQUIRE(next - first <= 2,
                       "the face of nodes "
                           << (key[0] < 0 ? std::string() : std::to_string(key[0]) + ", ") << key[1]
                           << ", " << key[2] << ", " << key[3] << " belongs to " << next - first
                           << " elements");
      if (next - first == 1)
        own_face_.push_back(faces[first].place);
    }
    sort_parts(own_face_, std::less<>());
  }

  /// Nodes around which the body's surface is not one fan, as where elements have nothing but an
  /// edge in common, count as not above: the iso-surface could not be a manifold there.
  void leave_out_touching_nodes() {
    std::vector<Corner> corners;
    for (const std::int64_t place : own_face_) {
      const std::size_t elem = elem_[std::size_t(place / 6)];
      const SolidFaceNodes& ring = mesh_.shape_of(elem).face[place % 6];
      const int count = ring.num_nodes;
      const std::int32_t* const node = nodes_of(elem);
      for (int k = 0; k < count; ++k) {
        const Corner corner{node[ring.node[k]], node[ring.node[(k + 1) % count]],
                            node[ring.node[(k + count - 1) % count]]};
        if (above_[std::size_t(corner.node)])
          corners.push_back(corner);
      }
    }
    sort_parts(corners, [](const Corner& a, const Corner& b) {
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
    cell.shape = &mesh_.shape_of(elem_[place]);
    cell.node = nodes_of(elem_[place]);
    cell.place = place;
    const std::vector<double>& point = mesh_.point();
    const int num_nodes = cell.shape->num_nodes;
    for (int k = 0; k < num_nodes; ++k) {
      const std::size_t n = std::size_t(cell.node[k]);
      cell.point[k] = {point[3 * n], point[3 * n + 1], point[3 * n + 2]};
      cell.value[k] = value_at(cell.node[k]);
      cell.above[k] = above_[n] != 0;
    }
    std::vector<double> value;
    /// Of the nodes at(0), .., at(count - 1).
    const auto add_centre = [&](int c, int count, const auto& at) {
      value.clear();
      for (int k = 0; k < count; ++k)
        value.push_back(field_[std::size_t(cell.node[at(k)])]);
      cell.value[c] = mean(value);
      cell.above[c] = cell.value[c] > level_;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        value.clear();
        for (int k = 0; k < count; ++k)
          value.push_back(cell.point[at(k)][axis]);
        cell.point[c][axis] = mean(value);
      }
    };
    for (int f = 0; f < cell.shape->num_faces; ++f) {
      const SolidFaceNodes& ring = cell.shape->face[f];
      add_centre(num_nodes + f, ring.num_nodes, [&](int k) { return ring.node[k]; });
    }
    add_centre(cell.shape->centre(), num_nodes, [](int k) { return k; });
  }

  /// Of a corner among all nodes, then faces, then cells.
  std::int32_t number_of(const Cell& cell, int corner) const {
    if (corner < cell.shape->num_nodes)
      return cell.node[corner];
    if (corner == cell.shape->centre())
      return std::int32_t(field_.size() + num_faces_ + cell.place);
    return std::int32_t(field_.size()) +
           std::int32_t(face_number_[6 * cell.place + std::size_t(corner - cell.shape->num_nodes)]);
  }

  void join(const Cell& cell, int a, int b) {
    if (cell.above[a] && cell.above[b])
      parts_->join(number_of(cell, a), number_of(cell, b));
  }

  /// Along the edges of a cell's tetrahedra.
  void join_corners(const Cell& cell) {
    const CellShape& shape = *cell.shape;
    for (int f = 0; f < shape.num_faces; ++f) {
      const SolidFaceNodes& ring = shape.face[f];
      for (int k = 0; k < ring.num_nodes; ++k) {
        join(cell, ring.node[k], ring.node[(k + 1) % ring.num_nodes]);
        join(cell, ring.node[k], shape.num_nodes + f);
      }
    }
    for (int corner = 0; corner < shape.centre(); ++corner)
      join(cell, corner, shape.centre());
  }

  /// Surface and numbers of its parts: nodes are before centres in each.
  SolidParts number_parts() {
    SolidParts parts;
    std::vector<std::int32_t> number(field_.size() + num_faces_ + elem_.size(), -1);
    /// `corner[i]`, if any, is replaced by the number of its part.
    const auto replace = [&](std::vector<std::int32_t>& corner) {
      for_parts(corner.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i)
          if (corner[i] >= 0)
            corner[i] = parts_->find(corner[i]);
      });
      for (std::int32_t& one : corner)
        if (one >= 0) {
          std::int32_t& own = number[std::size_t(one)];
          if (own < 0)
            own = parts.num_parts++;
          one = own;
        }
    };
    parts.part_of_node.assign(field_.size(), -1);
    for (std::size_t n = 0; n < field_.size(); ++n)
      if (above_[n] != 0)
        parts.part_of_node[n] = std::int32_t(n);
    replace(parts.part_of_node);
    for (const auto& triangle : surface_.triangle)
      parts.part_of_triangle.push_back(corner_of_vertex_[std::size_t(triangle[0])]);
    replace(parts.part_of_triangle);
    parts.surface = std::move(surface_);
    return parts;
  }

  /// By all threads.
  std::vector<SurfacePiece> cut_blocks() {
    std::vector<SurfacePiece> pieces((elem_.size() + block_cells - 1) / block_cells);
    for_parts(pieces.size(), 1, [&](std::size_t first, std::size_t end) {
      Cell cell;
      for (std::size_t block = first; block < end; ++block) {
        SurfacePiece& piece = pieces[block];
        for (std::size_t place = block_cells * block;
             place < std::min(elem_.size(), block_cells * (block + 1)); ++place)
          cut(cell, place, piece);
        piece.vertex_of_key = {};
      }
    });
    return pieces;
  }

  /// Of the vertices that several pieces have the first piece's counts, so that numbers are those
  /// of cells cut one after the other.
  void join_pieces(std::vector<SurfacePiece> pieces) {
    std::vector<std::vector<int>> number(pieces.size()); // of the vertices of each piece
    const std::vector<SharedVertex> shared = shared_vertices(pieces);
    for_parts(pieces.size(), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        number[i].assign(pieces[i].key.size(), 0);
    });
    const auto is_first = [&](std::size_t i) {
      return i == 0 || shared[i - 1].key != shared[i].key;
    };
    const auto number_at = [&](const SharedVertex& one) -> int& {
      return number[std::size_t(one.piece)][std::size_t(one.vertex)];
    };
    for_parts(shared.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        if (!is_first(i))
          number_at(shared[i]) = -1;
    });
    std::vector<std::size_t> vertices(pieces.size() + 1), triangles(pieces.size() + 1);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      vertices[i + 1] =
          vertices[i] + std::size_t(std::count(number[i].begin(), number[i].end(), 0));
      triangles[i + 1] = triangles[i] + pieces[i].surface.triangle.size();
    }
    OSSATURA_REQUIRE(vertices.back() < std::size_t(std::numeric_limits<int>::max()),
                     "the iso-surface has too many vertices to number");
    surface_.vertex.resize(vertices.back());
    corner_of_vertex_.resize(vertices.back());
    for_parts(pieces.size(), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        std::size_t next = vertices[i];
        for (std::size_t v = 0; v < number[i].size(); ++v)
          if (number[i][v] == 0) {
            surface_.vertex[next] = pieces[i].surface.vertex[v];
            corner_of_vertex_[next] = pieces[i].corner_of_vertex[v];
            number[i][v] = int(next++);
          }
      }
    });
    for_parts(shared.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        if (!is_first(i)) {
          std::size_t own = i;
          while (!is_first(own))
            --own;
          number_at(shared[i]) = number_at(shared[own]);
        }
    });
    surface_.triangle.resize(triangles.back());
    for_parts(pieces.size(), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        std::size_t next = triangles[i];
        for (const std::array<int, 3>& t : pieces[i].surface.triangle)
          surface_.triangle[next++] = {number[i][std::size_t(t[0])], number[i][std::size_t(t[1])],
                                       number[i][std::size_t(t[2])]};
      }
    });
  }

  /// A vertex of a piece that others may have.
  struct SharedVertex {
    std::uint64_t key;
    std::int32_t piece, vertex;
  };

  /// By keys, and pieces.
  static std::vector<SharedVertex> shared_vertices(const std::vector<SurfacePiece>& pieces) {
    std::vector<SharedVertex> shared;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      for (std::size_t v = 0; v < pieces[i].key.size(); ++v)
        if (pieces[i].key[v] != alone)
          shared.push_back({pieces[i].key[v], std::int32_t(i), std::int32_t(v)});
    sort_parts(shared, [](const SharedVertex& a, const SharedVertex& b) {
      return a.key != b.key ? a.key < b.key : a.piece < b.piece;
    });
    return shared;
  }

  /// The triangles in and on a cell.
  void cut(Cell& cell, std::size_t place, SurfacePiece& piece) {
    load(cell, place);
    join_corners(cell);
    const auto own = std::lower_bound(own_face_.begin(), own_face_.end(), std::int64_t(6 * place));
    const bool at_surface = own != own_face_.end() && *own < std::int64_t(6 * place + 6);
    const bool first_above = cell.above[0];
    const CellShape& shape = *cell.shape;
    const int num_corners = shape.centre() + 1;
    if (!at_surface && std::all_of(cell.above, cell.above + num_corners,
                                   [&](bool above) { return above == first_above; }))
      return;
    for (int corner = 0; corner < num_corners; ++corner)
      std::fill_n(cell.vertex[corner], num_corners, -1);
    for (int f = 0; f < shape.num_faces; ++f)
      for (int k = 0, count = shape.face[f].num_nodes; k < count; ++k)
        cut_tetra(cell,
                  {shape.num_nodes + f, shape.face[f].node[(k + 1) % count], shape.face[f].node[k],
                   shape.centre()},
                  piece);
    for (auto face = own; face != own_face_.end() && *face < std::int64_t(6 * place + 6); ++face) {
      const int f = int(*face % 6);
      for (int k = 0, count = shape.face[f].num_nodes; k < count; ++k)
        clip_triangle(
            cell, {shape.num_nodes + f, shape.face[f].node[k], shape.face[f].node[(k + 1) % count]},
            piece);
    }
  }

  /// `corner` of positive volume.
  void cut_tetra(Cell& cell, const std::array<int, 4>& corner, SurfacePiece& piece) const {
    unsigned above = 0;
    for (unsigned k = 0; k < 4; ++k)
      above |= unsigned(cell.above[corner[k]]) << k;
    const int* order = corner_order[above];
    const int a = corner[std::size_t(order[0])], b = corner[std::size_t(order[1])],
              c = corner[std::size_t(order[2])], d = corner[std::size_t(order[3])];
    const auto vertex = [&](int one, int other) { return crossing(cell, one, other, piece); };
    switch ((above & 1u) + (above >> 1 & 1u) + (above >> 2 & 1u) + (above >> 3)) {
    case 1:
      piece.surface.triangle.push_back({vertex(a, b), vertex(a, c), vertex(a, d)});
      break;
    case 2:
      add_quadrangle({vertex(a, c), vertex(a, d), vertex(b, d), vertex(b, c)}, piece.surface);
      break;
    case 3:
      piece.surface.triangle.push_back({vertex(b, a), vertex(d, a), vertex(c, a)});
      break;
    default:
      break;
    }
  }

  /// The part above of a triangle of the body's own surface.
  void clip_triangle(Cell& cell, const std::array<int, 3>& corner, SurfacePiece& piece) const {
    std::array<int, 4> polygon{};
    std::size_t count = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = corner[k], b = corner[(k + 1) % 3];
      if (cell.above[a])
        polygon[count++] = crossing(cell, a, a, piece);
      if (cell.above[a] != cell.above[b])
        polygon[count++] =
            cell.above[a] ? crossing(cell, a, b, piece) : crossing(cell, b, a, piece);
    }
    if (count == 3)
      piece.surface.triangle.push_back({polygon[0], polygon[1], polygon[2]});
    else if (count == 4)
      add_quadrangle(polygon, piece.surface);
  }

  /// The vertex on the edge from a corner above to one that is not, or the corner itself.
  int crossing(Cell& cell, int above, int below, SurfacePiece& piece) const {
    int& known = cell.vertex[above][below];
    if (known >= 0)
      return known;
    known = int(piece.key.size());
    const std::uint64_t key = key_of(cell, above, below);
    if (key != alone) {
      const auto [place, is_new] = piece.vertex_of_key.try_emplace(key, known);
      if (!is_new)
        return known = place->second;
    }
    const Point &p = cell.point[above], &q = cell.point[below];
    const double t =
        above == below
            ? 0
            : std::clamp((cell.value[above] - level_) / (cell.value[above] - cell.value[below]),
                         end_distance, 1 - end_distance);
    piece.surface.vertex.push_back(
        {p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])});
    piece.corner_of_vertex.push_back(number_of(cell, above));
    piece.key.push_back(key);
    return known;
  }

  /// By what all cells that have it know the vertex between two corners.
  std::uint64_t key_of(const Cell& cell, int a, int b) const {
    if (a > b)
      std::swap(a, b);
    const CellShape& shape = *cell.shape;
    if (b < shape.num_nodes) {
      const std::uint64_t low = std::uint64_t(std::min(cell.node[a], cell.node[b]));
      const std::uint64_t high = std::uint64_t(std::max(cell.node[a], cell.node[b]));
      return high << 32 | low;
    }
    if (a >= shape.num_nodes || b == shape.centre())
      return alone;
    const int f = b - shape.num_nodes;
    const int* const ring = shape.face[f].node;
    const std::ptrdiff_t rank =
        std::count_if(ring, ring + shape.face[f].num_nodes,
                      [&](int corner) { return cell.node[corner] < cell.node[a]; });
    const std::int64_t number = face_number_[6 * cell.place + std::size_t(f)];
    return std::uint64_t(1) << 63 | std::uint64_t(8 * number + rank); // of at most 8 nodes
  }

  /// Cut at its shorter diagonal.
  static void add_quadrangle(const std::array<int, 4>& v, TriangleSurface& surface) {
    const auto squared_distance = [&](int a, int b) {
      const Point &p = surface.vertex[std::size_t(a)], &q = surface.vertex[std::size_t(b)];
      return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
             (p[2] - q[2]) * (p[2] - q[2]);
    };
    const bool first = squared_distance(v[0], v[2]) <= squared_distance(v[1], v[3]);
    surface.triangle.push_back({v[0], v[1], first ? v[2] : v[3]});
    surface.triangle.push_back({first ? v[0] : v[1], v[2], v[3]});
  }

  const CellMesh mesh_;
  const std::vector<double>& field_;
  const double level_;
  std::vector<std::uint8_t> above_;       // by node
  std::vector<std::size_t> elem_;         // of each cell
  std::vector<std::int64_t> face_number_; // [cells, 6], -1: no node above
  std::vector<std::int64_t> own_face_;    // places of faces that one element alone has, ascending
  std::size_t num_faces_ = 0;
  TriangleSurface surface_;
  std::vector<std::int32_t> corner_of_vertex_; // the end above of each vertex's edge
  std::optional<JoinedSets> parts_; // of corners that are above: nodes, then faces, then cells
};

/// Of the 24 tetrahedra together.
double volume_of(const ElementMesh& mesh, std::size_t elem) {
  Point p[8];
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t axis = 0; axis < 3; ++axis)
      p[k][axis] = mesh.point[3 * std::size_t(mesh.node[8 * elem + k]) + axis] -
                   mesh.point[3 * std::size_t(mesh.node[8 * elem]) + axis];
  double volume = 0;
  for (const auto& face : hexa_shape.face) {
    const Point &a = p[face[0]], &b = p[face[1]], &c = p[face[2]], &d = p[face[3]];
    for (std::size_t x = 0; x < 3; ++x) {
      const std::size_t y = (x + 1) % 3, z = (x + 2) % 3;
      volume += (a[x] + b[x] + c[x] + d[x]) *
                ((c[y] - a[y]) * (d[z] - b[z]) - (c[z] - a[z]) * (d[y] - b[y])) / 24;
    }
  }
  return volume;
}

/// Means of the values of elements at nodes, summed in the order of the elements.
/// nodes_of(e) and volume(e) are of an element.
template<class NodesOf, class Volume>
std::vector<double> means_at_nodes(std::size_t num_points, const std::vector<double>& value,
                                   const NodesOf& nodes_of, const Volume& volume) {
  // Each thread has nodes of its own, and looks at the blocks of elements that may have them.
  const std::size_t num_blocks = (value.size() + block_elem - 1) / block_elem;
  std::vector<double> volumes(value.size());
  std::vector<std::pair<std::int32_t, std::int32_t>> nodes_of_block(num_blocks); // lowest, highest
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block) {
      auto& [low, high] = nodes_of_block[block];
      low = std::numeric_limits<std::int32_t>::max();
      high = -1;
      for (std::size_t e = block_elem * block; e < std::min(value.size(), block_elem * (block + 1));
           ++e) {
        volumes[e] = volume(e);
        for (const std::int32_t n : nodes_of(e)) {
          low = std::min(low, n);
          high = std::max(high, n);
        }
      }
    }
  });
  std::vector<double> sum(num_points), weight(num_points);
  for_parts(num_points, 1 << 16, [&](std::size_t first, std::size_t end) {
    const auto is_own = [&](std::int32_t n) {
      return std::size_t(n) >= first && std::size_t(n) < end;
    };
    for (std::size_t block = 0; block < num_blocks; ++block) {
      const auto [low, high] = nodes_of_block[block];
      if (high < 0 || std::size_t(high) < first || std::size_t(low) >= end)
        continue;
      for (std::size_t e = block_elem * block; e < std::min(value.size(), block_elem * (block + 1));
           ++e)
        for (const std::int32_t n : nodes_of(e))
          if (is_own(n)) {
            sum[std::size_t(n)] += volumes[e] * value[e];
            weight[std::size_t(n)] += volumes[e];
          }
    }
    for (std::size_t n = first; n < end; ++n)
      if (weight[n] != 0)
        sum[n] /= weight[n];
  });
  return sum;
}

SolidParts cut_mesh(const CellMesh& mesh, const std::vector<double>& field, double level) {
  OSSATURA_REQUIRE(3 * field.size() == mesh.point().size(),
                   field.size() << " values for " << mesh.point().size() / 3 << " points");
  OSSATURA_REQUIRE(std::isfinite(level) && std::all_of(field.begin(), field.end(),
                                                       [](double x) { return std::isfinite(x); }),
                   "the field or the level is not finite");
  return IsoSurface(mesh, field, level).make();
}

} // namespace

std::vector<double> node_means(const ElementMesh& mesh, const std::vector<double>& value) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "the mesh is not of hexahedra");
  OSSATURA_REQUIRE(value.size() == mesh.num_elem(),
                   value.size() << " values for " << mesh.num_elem() << " elements");
  return means_at_nodes(
      mesh.num_points(), value,
      [&](std::size_t e) {
        return NodeRange{mesh.node.data() + 8 * e, mesh.node.data() + 8 * (e + 1)};
      },
      [&](std::size_t e) { return volume_of(mesh, e); });
}

std::vector<double> node_means(const SolidMesh& mesh, const std::vector<double>& value) {
  OSSATURA_REQUIRE(value.size() == mesh.num_elem(),
                   value.size() << " values for " << mesh.num_elem() << " elements");
  return means_at_nodes(
      mesh.num_points(), value, [&](std::size_t e) { return mesh.nodes_of(e); },
      [&](std::size_t e) { return volume_of(mesh, e); });
}

TriangleSurface iso_surface(const ElementMesh& mesh, const std::vector<double>& field,
                            double level) {
  return solid_parts(mesh, field, level).surface;
}

SolidParts solid_parts(const ElementMesh& mesh, const std::vector<double>& field, double level) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa, "the mesh is not of hexahedra");
  return cut_mesh({&mesh, nullptr}, field, level);
}

SolidParts solid_parts(const SolidMesh& mesh, const std::vector<double>& field, double level) {
  return cut_mesh({nullptr, &mesh}, field, level);
}

} // namespace ossatura
