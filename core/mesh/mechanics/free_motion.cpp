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
#include <unordered_map>

namespace ossatura {

namespace {

/// Nodes of a part, and the box around them.
struct PartExtent {
  std::int64_t num_nodes = 0;
  Box box{};

  void add(const PartExtent& other) {
    if (num_nodes == 0)
      box = other.box;
    for (std::size_t d = 0; d < 3; ++d) {
      box[d] = std::min(box[d], other.box[d]);
      box[d + 3] = std::max(box[d + 3], other.box[d + 3]);
    }
    num_nodes += other.num_nodes;
  }
};

struct PartMotions : HeldMotions {
  PartExtent extent;
};

/// Of each part its nodes, and centre and size of the box around them.
std::vector<PartMotions> measure_parts(const MeshParts& parts, const std::vector<double>& point) {
  std::vector<PartMotions> motions(parts.first.size());
  std::mutex mutex;
  for_parts(parts.part.size(), 1 << 14, [&](std::size_t first, std::size_t end) {
    std::unordered_map<std::int32_t, PartExtent> found;
    for (std::size_t last = first; first < end; first = last) { // as many nodes as are of one part
      while (last < end && parts.part[last] == parts.part[first])
        ++last;
      Box box;
      for (std::size_t d = 0; d < 3; ++d)
        box[d] = box[d + 3] = point[3 * first + d];
      for (std::size_t i = 3 * first; i < 3 * last; ++i) {
        box[i % 3] = std::min(box[i % 3], point[i]);
        box[i % 3 + 3] = std::max(box[i % 3 + 3], point[i]);
      }
      found[parts.part[first]].add({std::int64_t(last - first), box});
    }
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto& [part, extent] : found)
      motions[std::size_t(part)].extent.add(extent);
  });
  for (PartMotions& part : motions) {
    const Box& box = part.extent.box;
    for (std::size_t d = 0; d < 3; ++d)
      part.centre[d] = (box[d] + box[d + 3]) / 2;
    part.size = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]) / 2;
  }
  return motions;
}

std::string describe_motion(const MeshParts& parts, const std::vector<double>& points,
                            const std::vector<HeldComponents>& held_components,
                            const std::vector<NodeSpring>& springs) {
  std::vector<PartMotions> motions = measure_parts(parts, points);
  const auto of = [&](std::int32_t node) -> PartMotions& {
    return motions[std::size_t(parts.part[std::size_t(node)])];
  };
  const auto point = [&points](std::int32_t node) { return &points[3 * std::size_t(node)]; };
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
           << "with node " << parts.first[i] << " (" << motions[i].extent.num_nodes << " nodes)";
    text << " can move freely (" << motions[i].free_motions() << "): supports hold " << held
         << " of its 6 rigid motions";
    return text.str();
  }
  return {};
}

} // namespace

std::string describe_free_motion(const ElementMesh& mesh,
                                 const std::vector<HeldComponents>& held_components,
                                 const std::vector<NodeSpring>& springs) {
  return describe_motion(find_mesh_parts(mesh), mesh.point, held_components, springs);
}

std::string describe_free_motion(const SolidMesh& mesh,
                                 const std::vector<HeldComponents>& held_components,
                                 const std::vector<NodeSpring>& springs) {
  return describe_motion(find_mesh_parts(mesh), mesh.point, held_components, springs);
}

bool is_rigid_motion(const std::vector<double>& point, const std::vector<NodeDisplacement>& held) {
  constexpr double slack = 1e-6; // far below strains of which anything can be said
  const Box box = bounding_box(point);
  HeldMotions motions;
  for (std::size_t d = 0; d < 3; ++d)
    motions.centre[d] = (box[d] + box[d + 3]) / 2;
  motions.size = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]) / 2;
  std::array<double, 6> load{};
  double square = 0, off = 0;
  for (const NodeDisplacement& one : held) {
    const double* x = &point[3 * std::size_t(one.node)];
    const std::array<double, 6> r = motions.at(x, one.component);
    motions.add(x, one.component);
    for (std::size_t i = 0; i < 6; ++i)
      load[i] += one.value * r[i];
    square += one.value * one.value;
  }
  const std::array<double, 6> motion = motions.fit(load);
  for (const NodeDisplacement& one : held) {
    const std::array<double, 6> r = motions.at(&point[3 * std::size_t(one.node)], one.component);
    double left = one.value;
    for (std::size_t i = 0; i < 6; ++i)
      left -= r[i] * motion[i];
    off += left * left;
  }
  return off <= slack * slack * square;
}

} // namespace ossatura
