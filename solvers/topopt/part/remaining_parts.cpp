// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/remaining_parts.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/mechanics/held_motions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

std::int32_t first_node(const DesignProblem& problem, std::size_t e) {
  if (!problem.lattice)
    return *problem.nodes_of(e).begin();
  return problem.lattice->node().number(problem.lattice->elem().place(std::int32_t(e)));
}

/// Joins the nodes of an element.
void join_nodes(const DesignProblem& problem, std::size_t e, JoinedSets& sets) {
  if (!problem.lattice) {
    const NodeRange nodes = problem.nodes_of(e);
    for (std::size_t a = 1; a < nodes.size(); ++a)
      sets.join(nodes[0], nodes[a]);
    return;
  }
  const LatticeBody& body = *problem.lattice;
  const std::array<int, 3> at = body.elem().place(std::int32_t(e));
  const std::int32_t first = body.node().number(at);
  for (int corner = 1; corner < 8; ++corner)
    sets.join(first, body.node().number(
                         {at[0] + (corner & 1), at[1] + (corner >> 1 & 1), at[2] + (corner >> 2)}));
}

/// The parts that void elements leave of a body, and what holds each.
class RemainingParts {
public:
  /// `with_void`: as if void elements were none.
  explicit RemainingParts(const DesignProblem& problem, bool with_void = false)
      : problem_(problem)
      , sets_(problem.num_nodes()) {
    for_parts(problem.num_elem(), 1 << 12, [&](std::size_t first, std::size_t end) {
      for (std::size_t e = first; e < end; ++e)
        if (with_void || problem.role.empty() || problem.role[e] != DesignRole::void_)
          join_nodes(problem, e, sets_);
    });
    for (const std::vector<std::int32_t>& body : problem.rigid)
      for (const std::int32_t node : body)
        sets_.join(body.front(), node);
    const Box box = problem.bounds();
    for (std::size_t d = 0; d < 3; ++d)
      nothing_held_.centre[d] = (box[d] + box[d + 3]) / 2;
    nothing_held_.size = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]) / 2;
    for_held([this](std::int32_t node, int component) { hold(node, component); });
  }

  /// Those of the part of a node that nothing holds; empty if there are none.
  std::string free_motions(std::int32_t node) {
    const auto found = held_.find(sets_.find(node));
    return (found == held_.end() ? nothing_held_ : found->second).free_motions();
  }

  /// Whether there are none.
  bool is_held(std::int32_t node) {
    const auto [found, is_new] = is_held_.emplace(sets_.find(node), false);
    if (is_new)
      found->second = free_motions(node).empty();
    return found->second;
  }

  /// A node that the load case moves, and with it all that is held of its part, as a rigid motion
  /// does; or none.
  std::optional<std::int32_t> find_idle(const DesignLoadCase& load_case) {
    struct Moved {
      std::int32_t node; // the first one
      std::array<double, 6> load{}, motion{};
      double square = 0, off = 0; // of the values, and of what the motion differs from them by
    };
    std::unordered_map<std::int32_t, Moved> moved; // by the least node of a part
    std::map<std::pair<std::int32_t, int>, double> values;
    for (const NodeDisplacement& one : load_case.loads.displacements) {
      const std::int32_t part = sets_.find(one.node);
      if (one.value == 0 ||
          !values.emplace(std::make_pair(one.node, one.component), one.value).second)
        continue;
      Moved& own = moved.emplace(part, Moved{one.node}).first->second;
      own.square += one.value * one.value;
      const std::array<double, 6> r = at(one.node, one.component);
      for (std::size_t i = 0; i < 6; ++i)
        own.load[i] += one.value * r[i];
    }
    for (auto& [part, own] : moved)
      own.motion = held_.at(part).fit(own.load);
    const auto compare = [&](std::int32_t node, int component) {
      const auto found = moved.find(sets_.find(node));
      if (found == moved.end())
        return;
      const auto value = values.find({node, component});
      double off = value == values.end() ? 0 : value->second;
      const std::array<double, 6> r = at(node, component);
      for (std::size_t i = 0; i < 6; ++i)
        off -= r[i] * found->second.motion[i];
      found->second.off += off * off;
    };
    for_held(compare);
    constexpr double slack = 1e-6; // far below strains of which anything can be said
    for (const NodeDisplacement& one : load_case.loads.displacements)
      if (const auto found = moved.find(sets_.find(one.node)); found != moved.end())
        if (const Moved& own = found->second; own.off <= slack * slack * own.square)
          return own.node;
    return std::nullopt;
  }

private:
  /// Calls visit(node, component) for what supports hold, moved or not, and springs.
  template<class Visit>
  void for_held(const Visit& visit) const {
    for (const HeldComponents& held : problem_.held)
      for (int c = 0; c < 3; ++c)
        if ((held.components >> c & 1) != 0)
          visit(held.node, c);
    for (const NodeSpring& spring : problem_.springs)
      if (spring.stiffness > 0)
        visit(spring.node, spring.component);
  }

  /// The values there of the six rigid motions.
  std::array<double, 6> at(std::int32_t node, int component) const {
    return nothing_held_.at(problem_.point(node).data(), component);
  }

  void hold(std::int32_t node, int component) {
    HeldMotions& part = held_.emplace(sets_.find(node), nothing_held_).first->second;
    part.add(problem_.point(node).data(), component);
  }

  const DesignProblem& problem_;
  JoinedSets sets_;
  HeldMotions nothing_held_;
  std::unordered_map<std::int32_t, HeldMotions> held_; ///< by the least node of a part
  std::unordered_map<std::int32_t, bool> is_held_;     ///< likewise
};

bool has_void(const DesignProblem& problem) {
  const std::vector<DesignRole>& role = problem.role;
  return std::find(role.begin(), role.end(), DesignRole::void_) != role.end();
}

} // namespace

std::optional<CutNode> find_cut_node(const DesignProblem& problem) {
  if (!has_void(problem))
    return {}; // the body hangs together, or is held in each part
  RemainingParts parts(problem);
  std::optional<CutNode> cut;
  const auto look_at = [&](CutNode::Use use, std::size_t which, std::int32_t node) {
    if (!cut && !parts.is_held(node))
      cut = CutNode{use, which, node, parts.free_motions(node)};
  };
  const auto look = [&](CutNode::Use use, std::size_t which, const std::vector<NodeForce>& nodes) {
    for (const NodeForce& one : nodes)
      if (one.force[0] != 0 || one.force[1] != 0 || one.force[2] != 0)
        look_at(use, which, one.node);
  };
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    look(CutNode::Use::force, k, problem.cases[k].loads.forces);
    for (const NodeDisplacement& one : problem.cases[k].loads.displacements)
      look_at(CutNode::Use::displacement, k, one.node);
  }
  look(CutNode::Use::output, 0, problem.output);
  for (std::size_t j = 0; j < problem.limits.size(); ++j)
    look(CutNode::Use::limit, j, problem.limits[j].direction);
  return cut;
}

std::optional<std::size_t> find_floating_element(const DesignProblem& problem) {
  if (!has_void(problem))
    return {};
  RemainingParts parts(problem);
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    if (problem.role[e] != DesignRole::void_ && !parts.is_held(first_node(problem, e)))
      return e;
  return {};
}

std::optional<IdleDisplacement> find_idle_displacement(const DesignProblem& problem) {
  std::optional<RemainingParts> whole, remaining; // made where a case moves something
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    const NodeLoads& loads = problem.cases[k].loads;
    if (loads.displacements.empty())
      continue;
    if (!whole)
      whole.emplace(problem, true);
    if (const std::optional<std::int32_t> node = whole->find_idle(problem.cases[k])) {
      if (loads.forces.empty() && loads.body.empty() && loads.warming.empty())
        return IdleDisplacement{k, *node, false};
      continue; // supports that give way under a load
    }
    if (!has_void(problem))
      continue;
    if (!remaining)
      remaining.emplace(problem);
    if (const std::optional<std::int32_t> node = remaining->find_idle(problem.cases[k]))
      return IdleDisplacement{k, *node, true};
  }
  return std::nullopt;
}

} // namespace ossatura
