// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/free_motion.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/mesh/mechanics/held_motions.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <sstream>

namespace ossatura {

namespace {

struct PartMotions : HeldMotions {
  std::int64_t num_nodes = 0;
  Box box{};
};

void widen(PartMotions& part, const Box& box, std::int64_t num_nodes) {
  if (part.num_nodes == 0)
    part.box = box;
  for (std::size_t d = 0; d < 3; ++d) {
    part.box[d] = std::min(part.box[d], box[d]);
    part.box[d + 3] = std::max(part.box[d + 3], box[d + 3]);
  }
  part.num_nodes += num_nodes;
}

/// Of each part its nodes, and centre and size of the box around them.
std::vector<PartMotions> measure_parts(const MeshParts& parts, const std::vector<double>& point) {
  std::vector<PartMotions> motions(parts.first.size());
  std::mutex mutex;
  for_parts(parts.part.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
    while (first < end) { // nodes of one part after the other
      const std::int32_t part = parts.part[first];
      std::size_t last = first;
      while (last < end && parts.part[last] == part)
        ++last;
      double low[3], high[3];
      for (std::size_t d = 0; d < 3; ++d)
        low[d] = high[d] = point[3 * first + d];
      for (std::size_t i = first; i < last; ++i)
        for (std::size_t d = 0; d < 3; ++d) {
          low[d] = std::min(low[d], point[3 * i + d]);
          high[d] = std::max(high[d], point[3 * i + d]);
        }
      const std::lock_guard<std::mutex> lock(mutex);
      widen(motions[std::size_t(part)], {low[0], low[1], low[2], high[0], high[1], high[2]},
            std::int64_t(last - first));
      first = last;
    }
  });
  for (PartMotions& part : motions) {
    for (std::size_t d = 0; d < 3; ++d)
      part.centre[d] = (part.box[d] + part.box[d + 3]) / 2;
    part.size = std::hypot(part.box[3] - part.box[0], part.box[4] - part.box[1],
                           part.box[5] - part.box[2]) /
                2;
  }
  return motions;
}

} // namespace

std::string describe_free_motion(const ElementMesh& mesh,
                                 const std::vector<HeldComponents>& held_components,
                                 const std::vector<NodeSpring>& springs) {
  const MeshParts parts = find_mesh_parts(mesh);
  std::vector<PartMotions> motions = measure_parts(parts, mesh.point);
  const auto of = [&](std::int32_t node) -> PartMotions& {
    return motions[std::size_t(parts.part[std::size_t(node)])];
  };
  const auto point = [&mesh](std::int32_t node) { return &mesh.point[3 * std::size_t(node)]; };
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
