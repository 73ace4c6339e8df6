// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/free_motion.hpp>

#include <ossatura/core/mesh/mechanics/held_motions.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ossatura {

namespace {

struct PartMotions : HeldMotions {
  std::int64_t num_nodes = 0;
};

} // namespace

std::string describe_free_motion(const ElementMesh& mesh,
                                 const std::vector<HeldComponents>& held_components,
                                 const std::vector<NodeSpring>& springs) {
  const MeshParts parts = find_mesh_parts(mesh);
  std::vector<PartMotions> motions(parts.first.size());
  const auto of = [&](std::int32_t node) -> PartMotions& {
    return motions[std::size_t(parts.part[std::size_t(node)])];
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
           << "with node " << parts.first[i] << " (" << motions[i].num_nodes << " nodes)";
    text << " can move freely (" << motions[i].free_motions() << "): supports hold " << held
         << " of its 6 rigid motions";
    return text.str();
  }
  return {};
}

} // namespace ossatura
