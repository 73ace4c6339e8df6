// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/support_checks.hpp>

#include <ossatura/core/mesh/mechanics/held_motions.hpp>
#include <ossatura/kernels/bone/node_parts.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ossatura {

namespace {

/// A part of the specimen with what holds and loads it.
struct Part {
  std::int64_t num_voxels = 0;
  std::vector<const HeldNode*> nodes;
  HeldMotions motions;
  bool is_pushed = false;   ///< by forces
  bool is_strained = false; ///< by displacements that are no rigid motion of it

  bool carries() const { return is_pushed || is_strained; }
};

void find_motions(Part& part) {
  HeldMotions& motions = part.motions;
  const auto place = [](const HeldNode& node) {
    return std::array<double, 3>{double(node.site.x), double(node.site.y), double(node.site.z)};
  };
  for (const HeldNode* node : part.nodes)
    for (std::size_t d = 0; d < 3; ++d)
      motions.centre[d] += place(*node)[d] / double(part.nodes.size());
  for (const HeldNode* node : part.nodes)
    for (std::size_t d = 0; d < 3; ++d)
      motions.size = std::max(motions.size, std::abs(place(*node)[d] - motions.centre[d]));
  std::array<double, 6> load{};
  double largest = 0;
  for (const HeldNode* node : part.nodes)
    for (int c = 0; c < 3; ++c)
      if (node->components >> c & 1) {
        motions.add(place(*node).data(), c);
        const std::array<double, 6> r = motions.at(place(*node).data(), c);
        for (std::size_t i = 0; i < 6; ++i)
          load[i] += r[i] * node->displacement[c];
        largest = std::max(largest, std::abs(node->displacement[c]));
      }
  const std::array<double, 6> rigid = motions.fit(load);
  for (const HeldNode* node : part.nodes)
    for (int c = 0; c < 3; ++c)
      if (node->components >> c & 1) {
        const std::array<double, 6> r = motions.at(place(*node).data(), c);
        double rest = node->displacement[c];
        for (std::size_t i = 0; i < 6; ++i)
          rest -= r[i] * rigid[i];
        part.is_strained = part.is_strained || std::abs(rest) > 1e-9 * largest;
      }
}

/// By the smallest voxel.
std::map<std::int64_t, Part> collect_parts(const std::vector<HeldNode>& held,
                                           const NodeParts& of_held, const NodeParts& of_loaded) {
  std::map<std::int64_t, Part> parts;
  for (std::size_t i = 0; i < held.size(); ++i) {
    Part& part = parts[of_held.part[i]];
    part.nodes.push_back(&held[i]);
    part.num_voxels = of_held.size[i];
  }
  for (std::size_t i = 0; i < of_loaded.part.size(); ++i) {
    Part& part = parts[of_loaded.part[i]];
    part.num_voxels = of_loaded.size[i];
    part.is_pushed = true;
  }
  for (auto& [first, part] : parts)
    find_motions(part);
  return parts;
}

/// The first part that moves freely and is pushed or the largest.
std::optional<FreePart> find_free_part(const std::map<std::int64_t, Part>& parts,
                                       const Kokkos::Array<int, 3>& shape) {
  std::int64_t largest = 0;
  for (const auto& [first, part] : parts)
    largest = std::max(largest, part.num_voxels);
  const std::int64_t nx = shape[0], ny = shape[1];
  for (const auto& [first, part] : parts) {
    const int held = part.motions.rank();
    if (held < 6 && (part.is_pushed || part.num_voxels == largest))
      return FreePart{{first % nx, first / nx % ny, first / nx / ny},
                      part.num_voxels,
                      held,
                      part.motions.free_motions()};
  }
  return {};
}

/// The mean cross-section of the bone is the measure, so that a porous face of porous bone is no
/// small one.
template<class Exec>
std::vector<SmallContact> find_small_contacts(const Exec& exec, const VoxelProblem<Exec>& problem,
                                              const BoneLoad<Exec>& load,
                                              const std::vector<HeldNode>& held) {
  std::vector<MovedSupport> supports = sum_supports(held, problem.edge, load.regions);
  for (const SideContact& side : load.pushed_sides) {
    MovedSupport pushed;
    pushed.reaction.name = side.name;
    pushed.reaction.is_plate = true;
    pushed.reaction.normal = side.normal;
    pushed.reaction.num_nodes = side.num_nodes;
    pushed.reaction.contact_area = side.area;
    supports.push_back(pushed);
  }
  const NodeBox box = bounding_box(exec, problem.grid);
  const double volume = double(problem.grid.num_elem) * std::pow(problem.edge, 3);
  std::vector<SmallContact> small;
  for (const auto& [support, displacement] : supports) {
    const int a = support.normal;
    const double cross_section = volume / (problem.edge * (box.upper[a] - box.lower[a]));
    if (support.is_plate && support.contact_area < least_contact * cross_section)
      small.push_back({support, cross_section});
  }
  return small;
}

} // namespace

template<class Exec>
SupportFindings examine_supports(const Exec& exec, const VoxelProblem<Exec>& problem,
                                 const BoneLoad<Exec>& load) {
  const VoxelGrid<Exec>& grid = problem.grid;
  const VoxelArray<Exec>& image = problem.material.solid();
  const NodeParts of_held = find_node_parts(exec, grid, image, problem.held.node);
  const std::vector<HeldNode> held = list_held_nodes(exec, grid, problem.held, load.u,
                                                     Array<double, Exec>(), problem.lame.mu_value);
  NodeParts of_loaded;
  if (load.force.extent(0) > 0)
    if (const auto loaded = find_loaded_nodes(exec, problem.held, load.force); loaded.num_dofs > 0)
      of_loaded = find_node_parts(exec, grid, image, loaded.node);

  SupportFindings found;
  found.num_parts = of_held.num_parts;
  found.is_loaded = !of_loaded.part.empty();
  for (const HeldNode& node : held)
    for (const double u : node.displacement)
      found.is_loaded = found.is_loaded || u != 0;
  const std::map<std::int64_t, Part> parts = collect_parts(held, of_held, of_loaded);
  for (const auto& [first, part] : parts)
    found.num_carrying += part.carries() ? part.num_voxels : 0;
  found.free = find_free_part(parts, grid.shape);
  found.small_contacts = find_small_contacts(exec, problem, load, held);
  return found;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template SupportFindings examine_supports(const Exec&, const VoxelProblem<Exec>&,                \
                                            const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
