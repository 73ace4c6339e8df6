// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/supports.hpp>

#include <ossatura/solvers/bone/results/contact_area.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>

namespace ossatura {

namespace {

/// Collects nodes of one support; the moments need the centre, which is known at the end.
struct Collector {
  std::vector<HeldNode> nodes;

  void add(const HeldNode& node, std::uint8_t components) {
    HeldNode part = node;
    part.components = components;
    for (int c = 0; c < 3; ++c)
      if (!(components >> c & 1))
        part.force[c] = part.displacement[c] = 0;
    nodes.push_back(part);
  }

  /// Whether the nodes lie in one plane across an axis, and in no line.
  bool is_flat() const {
    int num_across = 0;
    for (const auto& place : {&Site::x, &Site::y, &Site::z}) {
      const auto differs = [&](const HeldNode& node) {
        return node.site.*place != nodes.front().site.*place;
      };
      num_across += !std::any_of(nodes.begin(), nodes.end(), differs);
    }
    return num_across == 1;
  }

  /// `about`: what the moment is about, if not the centre of the nodes; `normal` -1: the axis along
  /// which the nodes extend least.
  MovedSupport sum(const std::string& name, double edge, int normal = -1,
                   const double* about = nullptr) const {
    MovedSupport moved;
    SupportReaction& support = moved.reaction;
    support.name = name;
    support.num_nodes = std::int64_t(nodes.size());
    std::array<int, 3> lower{INT32_MAX, INT32_MAX, INT32_MAX}, upper{-1, -1, -1};
    std::array<std::int64_t, 3> held{};
    for (const HeldNode& node : nodes) {
      const int at[3] = {node.site.x, node.site.y, node.site.z};
      for (int d = 0; d < 3; ++d) {
        lower[d] = std::min(lower[d], at[d]);
        upper[d] = std::max(upper[d], at[d]);
        held[d] += node.components >> d & 1;
        support.force[d] += node.force[d];
        moved.displacement[d] += node.displacement[d];
      }
    }
    for (int d = 0; d < 3; ++d) {
      support.centre[d] = about ? about[d] : nodes.empty() ? 0 : 0.5 * edge * (lower[d] + upper[d]);
      if (held[d] > 0)
        moved.displacement[d] /= double(held[d]);
    }
    for (const HeldNode& node : nodes) {
      const double arm[3] = {node.site.x * edge - support.centre[0],
                             node.site.y * edge - support.centre[1],
                             node.site.z * edge - support.centre[2]};
      for (int d = 0; d < 3; ++d) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        support.moment[d] += arm[a] * node.force[b] - arm[b] * node.force[a];
      }
    }
    support.normal = normal;
    if (normal < 0) {
      support.normal = 0;
      for (int d = 1; d < 3; ++d)
        if (upper[d] - lower[d] <= upper[support.normal] - lower[support.normal])
          support.normal = d;
    }
    support.is_plate = upper[support.normal] == lower[support.normal];
    support.contact_area = contact_area(nodes, support.normal, edge);
    return moved;
  }
};

bool turns(const PrescribedRegion& region) {
  for (int i = 0; i < 3; ++i)
    if (region.gradient[i][(i + 1) % 3] != region.gradient[(i + 1) % 3][i])
      return true;
  return false;
}

} // namespace

std::vector<MovedSupport> sum_by_region(const std::vector<HeldNode>& nodes, double edge,
                                        const std::vector<NamedRegion>& regions) {
  std::vector<Collector> collectors(regions.size());
  for (const HeldNode& node : nodes) {
    std::vector<std::uint8_t> components(regions.size(), 0);
    for (int c = 0; c < 3; ++c)
      for (std::size_t k = regions.size(); k-- > 0;)
        if (regions[k].region.contains(node.site, node.sets) &&
            regions[k].region.components >> c & 1) {
          components[k] |= std::uint8_t(1 << c);
          break;
        }
    for (std::size_t k = 0; k < regions.size(); ++k)
      if (components[k])
        collectors[k].add(node, components[k]);
  }
  bool any_turns = false;
  for (const NamedRegion& named : regions)
    any_turns = any_turns || turns(named.region);
  std::vector<MovedSupport> supports;
  for (std::size_t k = 0; k < regions.size(); ++k)
    if (regions[k].name != "pin") {
      supports.push_back(collectors[k].sum(regions[k].name, edge, regions[k].normal,
                                           any_turns ? regions[k].region.centre : nullptr));
      supports.back().reaction.is_plate = regions[k].is_plate;
    }
  return supports;
}

std::vector<MovedSupport> sum_supports(const std::vector<HeldNode>& nodes, double edge,
                                       const std::vector<NamedRegion>& regions) {
  return regions.empty() ? sum_by_displacement(nodes, edge) : sum_by_region(nodes, edge, regions);
}

std::vector<MovedSupport> sum_by_displacement(const std::vector<HeldNode>& nodes, double edge,
                                              std::size_t most) {
  using Key = std::array<double, 4>; // bits of the components, if they count, and displacements
  std::map<Key, Collector> groups, motions;
  Collector all;
  const auto add = [most](std::map<Key, Collector>& to, const HeldNode& node, double components) {
    if (to.size() <= most)
      to[{components, node.displacement[0], node.displacement[1], node.displacement[2]}].add(
          node, node.components);
  };
  for (const HeldNode& node : nodes) {
    add(groups, node, node.components);
    add(motions, node, 0);
    all.add(node, node.components);
  }
  const bool by_components = groups.size() <= most;
  if (!by_components && (motions.size() > most || motions.size() < 2))
    return {all.sum("all supports", edge)};
  // Two sides of a specimen are across the line between them, unless one says by itself what it is
  // across: the other may be a spot beside it.
  int normal = -1;
  if (groups.size() == 2) {
    const auto lower = groups.begin()->second.sum({}, edge).reaction.centre;
    const auto upper = std::next(groups.begin())->second.sum({}, edge).reaction.centre;
    normal = 0;
    for (int d = 1; d < 3; ++d)
      if (std::abs(upper[d] - lower[d]) > std::abs(upper[normal] - lower[normal]))
        normal = d;
  }
  std::vector<MovedSupport> supports;
  for (const auto& [key, collector] : by_components ? groups : motions) {
    std::string letters;
    for (std::size_t c = 0; c < 3; ++c)
      if (by_components ? int(key[0]) >> c & 1 : key[c + 1] != 0)
        letters += "xyz"[c];
    const bool still = key[1] == 0 && key[2] == 0 && key[3] == 0;
    supports.push_back(collector.sum(std::string(still ? "held" : "moved") +
                                         (letters.empty() ? "" : " ") + letters,
                                     edge, collector.is_flat() ? -1 : normal));
    SupportReaction& support = supports.back().reaction;
    support.is_plate = groups.size() == 2 || (groups.size() == 1 && support.is_plate);
  }
  return supports;
}

} // namespace ossatura
