// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/frequencies/families.hpp>

#include <ossatura/core/mesh/mechanics/free_motion.hpp>
#include <ossatura/core/mesh/mechanics/lattice_motion.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace ossatura {

namespace {

constexpr const char* axis_names = "xyz";

std::string plane_name(const MirrorPlane& mirror) {
  std::ostringstream name;
  name << "the mirror " << axis_names[mirror.axis] << " = " << mirror.place;
  return name.str();
}

std::string free_motion_in(const DesignProblem& problem, unsigned family) {
  const std::vector<HeldComponents> held = held_in_family(problem, family);
  return problem.lattice  ? describe_free_motion(*problem.lattice, held, problem.springs)
         : problem.solids ? describe_free_motion(*problem.solids, held, problem.springs)
                          : describe_free_motion(problem.mesh, held, problem.springs);
}

/// Then a support of the plane cannot be told from the plane of symmetry that a mesh holds itself.
bool is_held_across(const MirrorSupports& supports, std::size_t mirror, int axis) {
  std::map<std::int32_t, unsigned> held;
  for (const HeldComponents& one : supports.held)
    held[one.node] |= one.components;
  const std::vector<std::int32_t>& nodes = supports.on_plane[mirror];
  return std::all_of(nodes.begin(), nodes.end(), [&](std::int32_t node) {
    const auto found = held.find(node);
    return found != held.end() && (found->second >> axis & 1) != 0;
  });
}

} // namespace

std::vector<HeldComponents> held_in_family(const DesignProblem& problem, unsigned family) {
  if (!problem.mirror_supports)
    return problem.held;
  std::map<std::int32_t, unsigned> held;
  for (const HeldComponents& one : problem.mirror_supports->held)
    held[one.node] |= one.components;
  for (std::size_t m = 0; m < problem.mirrors.size(); ++m) {
    const unsigned across = 1u << problem.mirrors[m].axis;
    for (const std::int32_t node : problem.mirror_supports->on_plane[m])
      held[node] |= (family >> m & 1) != 0 ? 7 & ~across : across;
  }
  std::vector<HeldComponents> all;
  for (const auto& [node, components] : held)
    all.push_back({node, std::uint8_t(components)});
  return all;
}

std::string describe_no_families(const DesignProblem& problem) {
  if (problem.mirrors.empty())
    return {};
  if (!problem.mirror_supports ||
      problem.mirror_supports->on_plane.size() != problem.mirrors.size())
    return "natural frequencies with mirrors are those of the whole part, and what is held without "
           "the mirrors is not said: give DesignProblem::mirror_supports";
  for (std::size_t m = 0; m < problem.mirrors.size(); ++m) {
    const MirrorPlane& mirror = problem.mirrors[m];
    for (std::size_t k = 0; k < m; ++k)
      if (problem.mirrors[k].axis == mirror.axis)
        return plane_name(problem.mirrors[k]) + " and " + plane_name(mirror) +
               " make images without end, and there is no whole part that has natural frequencies: "
               "leave one of them out";
    if (is_held_across(*problem.mirror_supports, m, mirror.axis))
      return "supports, too, hold all nodes on " + plane_name(mirror) +
             " across it, so that the natural frequencies whose modes move these are not known: "
             "leave those supports out, since mirrors hold their planes themselves, or leave the "
             "mirror out";
  }
  for (unsigned family = 1; family < count_families(problem); ++family)
    if (const std::string motion = free_motion_in(problem, family); !motion.empty())
      return "in modes that are antisymmetric about the mirrors along " +
             antisymmetric_axes(problem, family) + ' ' + motion +
             ", since the whole part is held by less than the model with its mirrors: hold more "
             "nodes or components";
  return {};
}

std::string antisymmetric_axes(const DesignProblem& problem, unsigned family) {
  std::string axes;
  for (std::size_t m = 0; m < problem.mirrors.size(); ++m)
    if ((family >> m & 1) != 0)
      axes += (axes.empty() ? "" : " ") + std::string(1, axis_names[problem.mirrors[m].axis]);
  return axes;
}

} // namespace ossatura
