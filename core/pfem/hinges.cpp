// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/hinges.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/rigid_blocks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace ossatura {

namespace {

constexpr std::size_t num_edges = 12, num_faces = 6, num_vertices = 8; // of an element

/// [num_elem] which of `count` blocks that faces join.
std::vector<std::int32_t> find_blocks(const HexaEntities& entities, std::size_t num_elem,
                                      std::int32_t& count) {
  JoinedSets sets(num_elem);
  std::vector<std::int32_t> first(std::size_t(entities.num_faces), -1);
  for (std::size_t i = 0; i < num_faces * num_elem; ++i) {
    std::int32_t& elem = first[std::size_t(entities.face[i])];
    if (elem < 0)
      elem = std::int32_t(i / num_faces);
    else
      sets.join(elem, std::int32_t(i / num_faces));
  }
  std::unordered_map<std::int32_t, std::int32_t> number;
  std::vector<std::int32_t> block(num_elem);
  for (std::size_t e = 0; e < num_elem; ++e)
    block[e] =
        number.emplace(sets.find(std::int32_t(e)), std::int32_t(number.size())).first->second;
  count = std::int32_t(number.size());
  return block;
}

/// Vertices, and behind them the middles of bent edges, which hold beside the line of the others.
class BlockNodes {
public:
  BlockNodes(const CurvedHexaMesh& shape, const HexaEntities& entities)
      : vertices_(shape.mesh.point)
      , num_(shape.mesh.num_points())
      , middle_of_edge_(shape.map ? std::size_t(entities.num_edges) : 0, -1) {
    if (!shape.map)
      return;
    std::vector<bool> done(middle_of_edge_.size());
    for (std::size_t i = 0; i < entities.edge.size(); ++i)
      if (const auto edge = std::size_t(entities.edge[i]); !done[edge]) {
        done[edge] = true;
        add_middle(shape, i, edge);
      }
  }

  std::size_t count() const { return num_ + middle_.size(); }
  /// -1 of a straight edge.
  std::int32_t of_edge(std::size_t edge) const {
    return middle_of_edge_.empty() ? -1 : middle_of_edge_[edge];
  }
  std::array<double, 3> point(std::int32_t node) const {
    if (std::size_t(node) >= num_)
      return middle_[std::size_t(node) - num_];
    const double* x = &vertices_[3 * std::size_t(node)];
    return {x[0], x[1], x[2]};
  }

private:
  void add_middle(const CurvedHexaMesh& shape, std::size_t i, std::size_t edge) {
    constexpr double least_rise = 1e-3; // of the length; less is rounding in files
    const HexaEdge& local = hexa_edge[i % num_edges];
    const std::int32_t* node = &shape.mesh.node[num_vertices * (i / num_edges)];
    double xi[3], x[3], jacobian[9];
    for (int d = 0; d < 3; ++d)
      xi[d] = d == local.axis ? 0 : corner(local.node[0], d);
    shape.map->evaluate(std::int64_t(i / num_edges), xi, x, jacobian);
    const double* a = &vertices_[3 * std::size_t(node[local.node[0]])];
    const double* b = &vertices_[3 * std::size_t(node[local.node[1]])];
    double along[3], off[3], length = 0, product = 0, rise = 0;
    for (int d = 0; d < 3; ++d) {
      along[d] = b[d] - a[d];
      off[d] = x[d] - (a[d] + b[d]) / 2;
      length += along[d] * along[d];
      product += along[d] * off[d];
    }
    for (int d = 0; d < 3; ++d)
      rise += std::pow(off[d] - product / length * along[d], 2);
    if (rise <= least_rise * least_rise * length)
      return;
    middle_of_edge_[edge] = std::int32_t(count());
    middle_.push_back({x[0], x[1], x[2]});
  }
  /// Of vertex `v` of the reference hexahedron.
  static double corner(int v, int d) {
    const int x = v % 4 == 1 || v % 4 == 2 ? 1 : -1, y = v % 4 >= 2 ? 1 : -1, z = v >= 4 ? 1 : -1;
    return d == 0 ? x : d == 1 ? y : z;
  }

  const std::vector<double>& vertices_;
  std::size_t num_;
  std::vector<std::int32_t> middle_of_edge_; ///< [num_edges] nodes; empty: all are straight
  std::vector<std::array<double, 3>> middle_;
};

} // namespace

std::optional<std::int32_t> find_loaded_hinge(const CurvedHexaMesh& shape,
                                              const HexaEntities& entities,
                                              const HierarchicNumbering& numbering,
                                              const std::vector<std::uint8_t>& held,
                                              const std::vector<double>& force) {
  std::int32_t num_blocks = 0;
  const std::vector<std::int32_t> block = find_blocks(entities, shape.mesh.num_elem(), num_blocks);
  if (num_blocks < 2)
    return std::nullopt;
  const BlockNodes nodes(shape, entities);
  RigidBlocks blocks(num_blocks, nodes.count(), bounding_box(shape.mesh.point),
                     [&nodes](std::int32_t node) { return nodes.point(node); });
  const auto hold = [&](std::int32_t node, std::size_t mode) {
    for (int c = 0; c < 3; ++c)
      if ((held[mode] >> c & 1) != 0)
        blocks.hold(node, c);
  };
  for (std::size_t i = 0; i < shape.mesh.node.size(); ++i)
    blocks.add(shape.mesh.node[i], block[i / num_vertices]);
  for (std::size_t i = 0; i < entities.edge.size(); ++i)
    if (const std::int32_t node = nodes.of_edge(std::size_t(entities.edge[i])); node >= 0)
      blocks.add(node, block[i / num_edges]);
  for (std::size_t node = 0; node < shape.mesh.num_points(); ++node)
    hold(std::int32_t(node), node);
  for (std::size_t edge = 0; edge < std::size_t(entities.num_edges); ++edge) {
    const std::int32_t node = nodes.of_edge(edge), mode = numbering.edge_mode_begin[edge];
    if (node >= 0 && mode < numbering.edge_mode_begin[edge + 1])
      hold(node, std::size_t(mode));
  }
  blocks.settle();
  if (blocks.are_held())
    return std::nullopt;
  RigidBlocks::WorkOfBlock work;
  for (std::size_t node = 0; node < shape.mesh.num_points(); ++node) {
    const double* f = &force[3 * node];
    if (f[0] != 0 || f[1] != 0 || f[2] != 0)
      blocks.add_work(std::int32_t(node), {f[0], f[1], f[2]}, work);
  }
  return blocks.find_moved(work);
}

} // namespace ossatura
