// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/support_checks.hpp>

#include <ossatura/core/mesh/mechanics/held_motions.hpp>
#include <ossatura/kernels/bone/loads/loaded_nodes.hpp>
#include <ossatura/kernels/bone/loads/parts.hpp>
#include <ossatura/solvers/bone/islands.hpp>

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

/// Parts with held or loaded nodes, by the smallest voxel. `of_held` and `of_loaded` are the parts
/// of these nodes.
std::map<std::int64_t, Part> collect_parts(const std::vector<SpecimenPart>& list,
                                           const std::vector<HeldNode>& held,
                                           const std::vector<int>& of_held,
                                           const std::vector<int>& of_loaded) {
  std::map<std::int64_t, Part> parts;
  const auto find = [&](int number) -> Part& {
    const SpecimenPart& listed = list[std::size_t(number)];
    Part& part = parts[listed.first];
    part.num_voxels = listed.num_voxels;
    return part;
  };
  for (std::size_t i = 0; i < held.size(); ++i)
    find(of_held[i]).nodes.push_back(&held[i]);
  for (const int number : of_loaded)
    find(number).is_pushed = true;
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
/// small one. Listed nodes that no face of a voxel has all of are points or lines by intent.
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
  const NodeBox box = bounding_box(exec, problem.grid, ranks_of(problem));
  const double volume = double(count_voxels(exec, problem)) * std::pow(problem.edge, 3);
  std::vector<SmallContact> small;
  for (const auto& [support, displacement] : supports) {
    const int a = support.normal;
    const double cross_section = volume / (problem.edge * (box.upper[a] - box.lower[a]));
    const bool is_listed = load.regions.empty() && support.contact_area == 0;
    if (support.is_plate && !is_listed && support.contact_area < least_contact * cross_section)
      small.push_back({support, cross_section});
  }
  return small;
}

/// By the means of the places of their nodes along the normal.
bool are_plates_exchanged(const std::vector<HeldNode>& held,
                          const std::vector<NamedRegion>& regions) {
  double mean[2] = {0, 0}; // lower, upper
  bool is_there[2] = {false, false};
  for (const NamedRegion& named : regions) {
    if (named.name != "lower plate" && named.name != "upper plate")
      continue;
    const int plate = named.name == "upper plate";
    double sum = 0;
    std::int64_t count = 0;
    for (const HeldNode& node : held)
      if (named.region.contains(node.site, node.sets)) {
        const int at[3] = {node.site.x, node.site.y, node.site.z};
        sum += at[named.normal];
        ++count;
      }
    is_there[plate] = count > 0;
    mean[plate] = count > 0 ? sum / double(count) : 0;
  }
  return is_there[0] && is_there[1] && mean[1] < mean[0];
}

} // namespace

template<class Exec>
SupportFindings examine_supports(const Exec& exec, const VoxelProblem<Exec>& problem,
                                 const BoneLoad<Exec>& load) {
  const VoxelGrid<Exec>& grid = problem.grid;
  const Communicator comm = ranks_of(problem);
  const SpecimenParts<Exec> all =
      find_parts(exec, problem.ranks.get(), grid, problem.lame.mu_value, problem.held.mask);
  const std::vector<int> of_held = parts_of_nodes(exec, comm, grid.owned, all, problem.held.node);
  const std::vector<HeldNode> held =
      list_held_nodes(exec, grid, problem.held, load.u, Array<double, Exec>(),
                      problem.lame.mu_value, comm, load.node_sets);
  std::vector<int> of_loaded;
  if (comm.any(load.force.extent(0) > 0))
    of_loaded = parts_of_nodes(exec, comm, grid.owned, all,
                               find_loaded_nodes(exec, problem.held, load.force).node);

  SupportFindings found;
  found.num_parts = std::int64_t(all.list.size());
  found.is_loaded = !of_loaded.empty();
  for (const HeldNode& node : held)
    for (const double u : node.displacement)
      found.is_loaded = found.is_loaded || u != 0;
  const std::map<std::int64_t, Part> parts = collect_parts(all.list, held, of_held, of_loaded);
  for (const auto& [first, part] : parts)
    found.num_carrying += part.carries() ? part.num_voxels : 0;
  found.free = find_free_part(parts, grid.shape);
  found.small_contacts = find_small_contacts(exec, problem, load, held);
  found.are_plates_exchanged = are_plates_exchanged(held, load.regions);
  return found;
}

template<class Exec>
PartShares find_part_shares(const Exec& exec, const VoxelProblem<Exec>& problem) {
  PartShares shares;
  const PartsInBox<Exec> found = find_parts_in_box(exec, problem);
  const std::vector<SpecimenPart>& list = found.parts.list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ++shares.num_parts;
    shares.num_voxels += list[i].num_voxels;
    shares.largest = std::max(shares.largest, list[i].num_voxels);
    shares.beyond += found.reaches_beyond(i, all_sides) ? list[i].num_voxels : 0;
  }
  return shares;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template PartShares find_part_shares(const Exec&, const VoxelProblem<Exec>&);                    \
  template SupportFindings examine_supports(const Exec&, const VoxelProblem<Exec>&,                \
                                            const BoneLoad<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
