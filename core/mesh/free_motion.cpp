// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/free_motion.hpp>

#include <ossatura/core/mesh/held_motions.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace ossatura {

namespace {

/// The parts of a mesh: disjoint sets of nodes.
class MeshParts {
public:
  explicit MeshParts(const ElementMesh& mesh)
      : parent_(mesh.num_points()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      for (std::size_t a = 1; a < 8; ++a)
        parent_[std::size_t(part_of(mesh.node[8 * e]))] = part_of(mesh.node[8 * e + a]);
  }
  std::int32_t part_of(std::int32_t node) {
    while (parent_[std::size_t(node)] != node) {
      std::int32_t& up = parent_[std::size_t(node)];
      up = parent_[std::size_t(up)];
      node = up;
    }
    return node;
  }

private:
  std::vector<std::int32_t> parent_;
};

struct PartMotions : HeldMotions {
  std::int64_t num_nodes = 0;
};

} // namespace

std::string describe_free_motion(const ElementMesh& mesh,
                                 const std::vector<HeldComponents>& held_components,
                                 const std::vector<NodeSpring>& springs) {
  MeshParts parts(mesh);
  std::vector<std::int32_t> first; // node of each part
  std::vector<std::int32_t> index(mesh.num_points(), -1);
  for (std::int32_t node = 0; std::size_t(node) < mesh.num_points(); ++node)
    if (std::int32_t& part = index[std::size_t(parts.part_of(node))]; part < 0) {
      part = std::int32_t(first.size());
      first.push_back(node);
    }
  std::vector<PartMotions> motions(first.size());
  const auto of = [&](std::int32_t node) -> PartMotions& {
    return motions[std::size_t(index[std::size_t(parts.part_of(node))])];
  };
  const auto point = [&mesh](std::int32_t node) { return &mesh.point[3 * std::size_t(node)]; };
  const auto num_nodes = std::int32_t(mesh.num_points());
  for (std::int32_t node = 0; node < num_nodes; ++node) {
    PartMotions& part = of(node);
    ++part.num_nodes;
    for (int d = 0; d < 3; ++d)
      part.centre[d] += point(node)[d];
  }
  for (PartMotions& part : motions)
    for (double& component : part.centre)
      component /= double(part.num_nodes);
  for (std::int32_t node = 0; node < num_nodes; ++node) {
    PartMotions& part = of(node);
    const double* x = point(node);
    part.size = std::max(
        part.size, std::hypot(x[0] - part.centre[0], x[1] - part.centre[1], x[2] - part.centre[2]));
  }
  for (const HeldComponents& held : held_components)
    for (int c = 0; c < 3; ++c)
      if ((held.components >> c & 1) != 0)
        of(held.node).add(point(held.node), c);
  for (const NodeSpring& spring : springs)
    if (spring.stiffness > 0)
      of(spring.node).add(point(spring.node), spring.component);

  for (std::size_t i = 0; i < motions.size(); ++i) {
    const int held = motions[i].rank();
    if (held == 6)
      continue;
    std::ostringstream text;
    if (motions.size() == 1)
      text << "the body";
    else
      text << "the mesh has " << motions.size() << " parts that share no nodes, of which the one "
           << "with node " << first[i] << " (" << motions[i].num_nodes << " nodes)";
    text << " can move freely (" << motions[i].free_motions() << "): supports hold " << held
         << " of its 6 rigid motions";
    return text.str();
  }
  return {};
}

} // namespace ossatura
