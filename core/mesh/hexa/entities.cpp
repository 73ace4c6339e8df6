// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/hexa/entities.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <array>

namespace ossatura {
namespace {

/// Vertices of the bottom by their ends along the first two axes, in the order of
/// ElementShape::hexa.
constexpr int bottom_vertex[2][2] = {{0, 3}, {1, 2}};

/// The vertices of an edge or a face, the lowest first, in an order that all its elements find.
template<std::size_t num>
using Key = std::array<std::int32_t, num>;

void require_nodes(const ElementMesh& mesh) {
  OSSATURA_REQUIRE(mesh.shape == ElementShape::hexa,
                   "edges and faces of a mesh of shape " << name_of(mesh.shape));
  OSSATURA_REQUIRE(mesh.num_elem() <= std::size_t(INT32_MAX / 12),
                   mesh.num_elem() << " elements; their edges are numbered with 32 bits");
  for (std::size_t elem = 0; elem < mesh.num_elem(); ++elem) {
    const std::int32_t* node = mesh.node.data() + 8 * elem;
    for (int a = 0; a < 8; ++a) {
      OSSATURA_REQUIRE(node[a] >= 0 && std::size_t(node[a]) < mesh.num_points(),
                       "element " << elem << " has node " << node[a] << " of "
                                  << mesh.num_points());
      OSSATURA_REQUIRE(std::find(node, node + a, node[a]) == node + a,
                       "element " << elem << " has node " << node[a] << " twice");
    }
  }
}

/// Numbers equal keys alike, in the order of first occurrence; returns how many there are. Keys are
/// gathered by their lowest vertex, so that only the few around a vertex are sorted.
template<std::size_t num>
std::int32_t number_keys(const std::vector<Key<num>>& key, std::size_t num_points,
                         std::size_t most_equal, std::size_t keys_per_elem,
                         std::vector<std::int32_t>& number) {
  std::vector<std::int32_t> begin(num_points + 1), order(key.size());
  for (const Key<num>& k : key)
    ++begin[std::size_t(k[0]) + 1];
  for (std::size_t p = 0; p < num_points; ++p)
    begin[p + 1] += begin[p];
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < key.size(); ++i)
    order[std::size_t(next[std::size_t(key[i][0])]++)] = std::int32_t(i);

  number.resize(key.size()); // first the occurrence with the same key that comes first
  for (std::size_t p = 0; p < num_points; ++p) {
    const auto first = order.begin() + begin[p], last = order.begin() + begin[p + 1];
    const auto key_of = [&](std::int32_t i) -> const Key<num>& { return key[std::size_t(i)]; };
    std::sort(first, last, [&](std::int32_t a, std::int32_t b) {
      return key_of(a) != key_of(b) ? key_of(a) < key_of(b) : a < b;
    });
    for (auto same = first; same != last;) {
      auto i = same;
      for (; i != last && key_of(*i) == key_of(*same); ++i) {
        OSSATURA_REQUIRE(std::size_t(i - same) < most_equal,
                         "a face of element " << std::size_t(*i) / keys_per_elem
                                              << " has more than " << most_equal << " elements");
        number[std::size_t(*i)] = *same;
      }
      same = i;
    }
  }
  std::int32_t count = 0;
  for (std::size_t i = 0; i < number.size(); ++i)
    number[i] = std::size_t(number[i]) == i ? count++ : number[std::size_t(number[i])];
  return count;
}

} // namespace

HexaEntity hexa_entity(const std::uint8_t (&index)[3]) {
  int inner[3], end[3]; // axes along which it is between the ends, and the others' ends
  int dimension = 0, num_ends = 0, axis_of_end = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (index[axis] >= 2) {
      inner[dimension++] = axis;
    } else {
      axis_of_end = axis;
      end[num_ends++] = index[axis];
    }
  }
  switch (dimension) {
  case 0:
    return {0, 4 * end[2] + bottom_vertex[end[0]][end[1]]};
  case 1:
    return {1, 4 * inner[0] + 2 * end[0] + end[1]};
  case 2:
    return {2, 2 * axis_of_end + end[0]};
  default:
    return {3, 0};
  }
}

FaceView view_of_face(const std::int32_t* node, const HexaFace& face) {
  FaceView view{{0, 0}, false};
  std::int32_t lowest = node[face.node[0][0]];
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      if (node[face.node[a][b]] < lowest) {
        lowest = node[face.node[a][b]];
        view.origin[0] = a;
        view.origin[1] = b;
      }
  const int a = view.origin[0], b = view.origin[1];
  view.swapped = node[face.node[a][1 - b]] < node[face.node[1 - a][b]];
  return view;
}

HexaEntities make_hexa_entities(const ElementMesh& mesh) {
  require_nodes(mesh);
  std::vector<Key<2>> edge;
  std::vector<Key<4>> face;
  edge.reserve(12 * mesh.num_elem());
  face.reserve(6 * mesh.num_elem());
  for (std::size_t elem = 0; elem < mesh.num_elem(); ++elem) {
    const std::int32_t* node = mesh.node.data() + 8 * elem;
    for (const HexaEdge& e : hexa_edge) {
      const auto ends = std::minmax(node[e.node[0]], node[e.node[1]]);
      edge.push_back({ends.first, ends.second});
    }
    for (const HexaFace& f : hexa_face_frame) {
      const FaceView view = view_of_face(node, f);
      const int a = view.origin[0], b = view.origin[1];
      const auto next = std::minmax(node[f.node[1 - a][b]], node[f.node[a][1 - b]]);
      face.push_back({node[f.node[a][b]], next.first, next.second, node[f.node[1 - a][1 - b]]});
    }
  }
  HexaEntities entities;
  entities.num_edges = number_keys(edge, mesh.num_points(), edge.size(), 12, entities.edge);
  entities.num_faces = number_keys(face, mesh.num_points(), 2, 6, entities.face);
  return entities;
}

} // namespace ossatura
