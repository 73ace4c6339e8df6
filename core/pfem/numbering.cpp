// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/numbering.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>

namespace ossatura {
namespace {

/// The modes of elements of an order and where they belong.
struct LocalModes {
  std::vector<HierarchicMode> mode;
  std::vector<HexaEntity> entity;
};

/// The modes that belong to one edge (dimension 1), face (2) or interior (3).
std::int32_t num_inner_modes(HexaSpace space, int dimension, int order) {
  if (order < 2)
    return 0;
  if (dimension == 1)
    return order - 1;
  if (space == HexaSpace::tensor)
    return dimension == 2 ? (order - 1) * (order - 1) : (order - 1) * (order - 1) * (order - 1);
  if (order < 2 * dimension)
    return 0;
  return dimension == 2 ? (order - 2) * (order - 3) / 2
                        : (order - 3) * (order - 4) * (order - 5) / 6;
}

/// The place of mode (m, n) among those of a face, ascending by m, then n; or none.
std::int32_t place_on_face(HexaSpace space, int order, int m, int n) {
  if (space == HexaSpace::tensor)
    return m > order || n > order ? SignedMode::none : (m - 2) * (order - 1) + n - 2;
  if (m + n > order)
    return SignedMode::none;
  // The row of index k has order - k - 1 modes.
  return (m - 2) * (order - 1) - (m - 2) * (m + 1) / 2 + n - 2;
}

bool is_odd(int n) {
  return n % 2 != 0;
}

/// The lowest order of the elements around each edge or face.
std::vector<std::uint8_t> lowest_order(const std::vector<std::int32_t>& entity, std::int32_t count,
                                       const std::vector<std::uint8_t>& order) {
  auto lowest = std::vector<std::uint8_t>(std::size_t(count), std::uint8_t(max_hexa_order));
  const std::size_t per_elem = order.empty() ? 1 : entity.size() / order.size();
  for (std::size_t i = 0; i < entity.size(); ++i) {
    std::uint8_t& low = lowest[std::size_t(entity[i])];
    low = std::min(low, order[i / per_elem]);
  }
  return lowest;
}

/// Numbers the modes of entities from `next` on, which is then the first behind them.
std::vector<std::int32_t> number_modes(HexaSpace space, int dimension,
                                       const std::vector<std::uint8_t>& order, std::int64_t& next) {
  std::vector<std::int32_t> begin;
  begin.reserve(order.size() + 1);
  for (const std::uint8_t q : order) {
    begin.push_back(std::int32_t(next));
    next += num_inner_modes(space, dimension, q);
    OSSATURA_REQUIRE(next <= std::int64_t(1) << 30,
                     "more than 2^30 modes; lower the order or take fewer elements");
  }
  begin.push_back(std::int32_t(next));
  return begin;
}

/// The modes of one element as it sees them.
class ElementView {
public:
  ElementView(const HierarchicNumbering& numbering, const HexaEntities& entities,
              const std::vector<std::uint8_t>& edge_order,
              const std::vector<std::uint8_t>& face_order, const std::int32_t* node,
              std::size_t elem)
      : numbering_(numbering)
      , edge_order_(edge_order)
      , face_order_(face_order)
      , node_(node)
      , edge_(entities.edge.data() + 12 * elem)
      , face_(entities.face.data() + 6 * elem)
      , next_interior_(numbering.interior_mode_begin[elem]) {
    for (int f = 0; f < 6; ++f)
      view_[f] = view_of_face(node, hexa_face_frame[f]);
  }

  /// To be called for each mode of the element in turn.
  std::int32_t next(const HierarchicMode& mode, const HexaEntity& entity) {
    switch (entity.dimension) {
    case 0:
      return SignedMode::make(node_[entity.number], false);
    case 1:
      return on_edge(entity.number, mode.index[hexa_edge[entity.number].axis]);
    case 2:
      return on_face(entity.number, mode);
    default:
      return SignedMode::make(next_interior_++, false);
    }
  }

private:
  std::int32_t on_edge(int number, int n) const {
    const auto edge = std::size_t(edge_[number]);
    if (n > edge_order_[edge])
      return SignedMode::none;
    const HexaEdge& local = hexa_edge[number];
    return SignedMode::make(numbering_.edge_mode_begin[edge] + n - 2,
                            is_odd(n) && node_[local.node[0]] > node_[local.node[1]]);
  }

  std::int32_t on_face(int number, const HierarchicMode& mode) const {
    const auto face = std::size_t(face_[number]);
    const int axis = hexa_face_frame[number].axis;
    const int index[2] = {mode.index[axis == 0 ? 1 : 0], mode.index[axis == 2 ? 1 : 2]};
    const FaceView& view = view_[number];
    const int first = view.swapped ? 1 : 0;
    const std::int32_t place =
        place_on_face(numbering_.space, face_order_[face], index[first], index[1 - first]);
    if (place < 0)
      return SignedMode::none;
    // Where the frame starts at the upper end of an axis, it runs against it.
    const bool negative =
        (view.origin[0] == 1 && is_odd(index[0])) != (view.origin[1] == 1 && is_odd(index[1]));
    return SignedMode::make(numbering_.face_mode_begin[face] + place, negative);
  }

  const HierarchicNumbering& numbering_;
  const std::vector<std::uint8_t>&edge_order_, &face_order_;
  const std::int32_t *node_, *edge_, *face_;
  FaceView view_[6];
  std::int32_t next_interior_;
};

} // namespace

HierarchicNumbering make_hierarchic_numbering(const ElementMesh& mesh, const HexaEntities& entities,
                                              HexaSpace space,
                                              const std::vector<std::uint8_t>& order) {
  const std::size_t num_elem = mesh.num_elem();
  OSSATURA_REQUIRE(entities.edge.size() == 12 * num_elem && entities.face.size() == 6 * num_elem,
                   "edges and faces are those of another mesh");
  OSSATURA_REQUIRE(order.size() == 1 || order.size() == num_elem,
                   order.size() << " orders for " << num_elem << " elements");
  LocalModes local[max_hexa_order + 1];
  for (const std::uint8_t p : order) {
    OSSATURA_REQUIRE(p >= 1 && p <= max_hexa_order,
                     "elements of order " << int(p) << "; orders are 1 to " << max_hexa_order);
    if (!local[p].mode.empty())
      continue;
    local[p].mode = hierarchic_modes(space, p);
    for (const HierarchicMode& mode : local[p].mode)
      local[p].entity.push_back(entity_of(mode));
  }

  HierarchicNumbering numbering;
  numbering.space = space;
  numbering.order = order;
  if (order.size() == 1)
    numbering.order.assign(num_elem, order[0]);
  const auto edge_order = lowest_order(entities.edge, entities.num_edges, numbering.order);
  const auto face_order = lowest_order(entities.face, entities.num_faces, numbering.order);
  auto next = std::int64_t(mesh.num_points());
  numbering.edge_mode_begin = number_modes(space, 1, edge_order, next);
  numbering.face_mode_begin = number_modes(space, 2, face_order, next);
  numbering.interior_mode_begin = number_modes(space, 3, numbering.order, next);
  numbering.edge_begin = numbering.edge_mode_begin.front();
  numbering.face_begin = numbering.face_mode_begin.front();
  numbering.interior_begin = numbering.interior_mode_begin.front();
  numbering.num_modes = std::int32_t(next);

  numbering.begin.reserve(num_elem + 1);
  numbering.begin.push_back(0);
  for (const std::uint8_t p : numbering.order)
    numbering.begin.push_back(numbering.begin.back() + std::int64_t(local[p].mode.size()));
  numbering.signed_mode.reserve(std::size_t(numbering.begin.back()));
  for (std::size_t elem = 0; elem < num_elem; ++elem) {
    const LocalModes& modes = local[numbering.order[elem]];
    ElementView view(numbering, entities, edge_order, face_order, mesh.node.data() + 8 * elem,
                     elem);
    for (std::size_t k = 0; k < modes.mode.size(); ++k)
      numbering.signed_mode.push_back(view.next(modes.mode[k], modes.entity[k]));
  }
  return numbering;
}

} // namespace ossatura
