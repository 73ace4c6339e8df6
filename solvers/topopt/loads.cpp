// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/loads.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

namespace ossatura {

namespace {

/// The sum of forces, nodes ascending and each once; `what` names them in errors.
std::vector<NodeForce> sum_forces(const std::vector<NodeForce>& forces, std::size_t num_nodes,
                                  const std::string& what) {
  std::map<std::int32_t, NodeForce> sum;
  for (const NodeForce& f : forces) {
    OSSATURA_REQUIRE(f.node >= 0 && std::size_t(f.node) < num_nodes,
                     what << ": node " << f.node << " of " << num_nodes);
    NodeForce& own = sum.try_emplace(f.node, NodeForce{f.node, {0, 0, 0}}).first->second;
    for (int c = 0; c < 3; ++c) {
      OSSATURA_REQUIRE(std::isfinite(f.force[c]), what << ": " << f.force[c] << " at " << f.node);
      own.force[c] += f.force[c];
    }
  }
  std::vector<NodeForce> list;
  for (const auto& [node, force] : sum)
    list.push_back(force);
  return list;
}

/// On the components that are free; throws if there is nothing.
template<class Exec>
DesignForce<Exec> make_force(const Exec& exec, const std::vector<NodeForce>& forces,
                             std::size_t num_nodes, const DesignBody<Exec>& body,
                             const std::string& what) {
  const DesignForce<Exec> force = body.place_forces(exec, sum_forces(forces, num_nodes, what));
  OSSATURA_REQUIRE(square(exec, force) > 0, what << ": nothing on components that are free");
  return force;
}

} // namespace

template<class Exec>
DesignLoads<Exec> make_design_loads(const Exec& exec, const DesignProblem& problem,
                                    bool is_mechanism, const DesignBody<Exec>& body) {
  const std::size_t num_nodes = problem.num_nodes();
  DesignLoads<Exec> loads;
  OSSATURA_REQUIRE(!problem.cases.empty(), "no load case");
  for (std::size_t k = 0; k < problem.cases.size(); ++k) {
    const DesignLoadCase& c = problem.cases[k];
    std::ostringstream what;
    what << "load case " << k + 1;
    if (!c.loads.name.empty())
      what << " (" << c.loads.name << ')';
    OSSATURA_REQUIRE(c.weight > 0 && std::isfinite(c.weight), what.str()
                                                                  << ": weight " << c.weight);
    loads.cases.push_back(
        {make_force(exec, c.loads.forces, num_nodes, body, what.str()), c.weight});
  }
  OSSATURA_REQUIRE(is_mechanism == !problem.output.empty(),
                   problem.output.size() << " output directions, which are of mechanisms alone");
  loads.has_output = is_mechanism;
  if (is_mechanism)
    loads.output = make_force(exec, problem.output, num_nodes, body, "the output");
  return loads;
}

std::vector<double> sum_springs(const DesignProblem& problem) {
  const std::size_t num_nodes = problem.num_nodes();
  std::vector<double> spring(3 * num_nodes);
  for (const NodeSpring& s : problem.springs) {
    OSSATURA_REQUIRE(s.node >= 0 && std::size_t(s.node) < num_nodes && s.component >= 0 &&
                         s.component < 3 && s.stiffness >= 0 && std::isfinite(s.stiffness),
                     "a spring of " << s.stiffness << " from component " << s.component
                                    << " of node " << s.node);
    spring[3 * std::size_t(s.node) + std::size_t(s.component)] += s.stiffness;
  }
  return spring;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template DesignLoads<Exec> make_design_loads(const Exec&, const DesignProblem&, bool,            \
                                               const DesignBody<Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
