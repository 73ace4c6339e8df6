// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/balance.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace ossatura {

namespace {
/// What acts on a node from outside.
struct OutsideForce {
  std::array<double, 3> force{};     ///< of loads
  std::array<double, 3> stiffness{}; ///< of springs
  std::uint8_t held = 0, moved = 0;  ///< components; the latter by the load case
};
} // namespace

template<class Exec>
DesignBalance balance_design(const Exec& exec, const DesignProblem& problem,
                             const DesignOptimizer<Exec>& optimizer, std::size_t which) {
  std::map<std::int32_t, OutsideForce> outside; // of few nodes
  for (const NodeForce& load : problem.cases[which].loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      outside[load.node].force[c] += load.force[c];
  const auto add = [&](const std::vector<double>& forces) { // on all nodes
    for (std::size_t i = 0; i < forces.size(); ++i)
      outside[std::int32_t(i / 3)].force[i % 3] += forces[i];
  };
  if (!problem.cases[which].loads.body.empty())
    add(optimizer.body_forces(exec, int(which)));
  if (!problem.cases[which].loads.warming.empty())
    add(optimizer.thermal_forces(exec, int(which)));
  for (const HeldComponents& held : problem.held)
    outside[held.node].held |= held.components;
  for (const NodeDisplacement& u : problem.cases[which].loads.displacements) {
    std::uint8_t& moved = outside[u.node].moved;
    moved = std::uint8_t(moved | 1u << u.component);
  }
  for (const NodeSpring& spring : problem.springs)
    outside[spring.node].stiffness[std::size_t(spring.component)] += spring.stiffness;

  std::vector<std::int32_t> nodes;
  for (const auto& [node, what] : outside)
    nodes.push_back(node);
  const DesignForces found = optimizer.forces(exec, int(which), nodes);

  DesignBalance balance;
  balance.energy = 0.5 * found.work;
  const std::array<double, 3> origin = problem.point(0);
  std::size_t i = 0;
  for (const auto& [node, what] : outside) {
    const double* u = &found.displacement[3 * i];
    std::array<double, 3> f = what.force;
    for (std::size_t c = 0; c < 3; ++c) {
      // At held components the matrix knows the force, whatever loads act there.
      if (what.held >> c & 1) {
        f[c] = found.force[3 * i + c];
        const bool moved = (what.moved >> c & 1) != 0;
        // What acts there besides is no force of the support.
        const double reaction = f[c] - what.force[c];
        (moved ? balance.imposed_force : balance.support_force)[c] += reaction;
        balance.imposed_work += moved ? reaction * u[c] : 0;
      }
      f[c] -= what.stiffness[c] * u[c];
      balance.energy -= 0.5 * what.stiffness[c] * u[c] * u[c];
    }
    const std::array<double, 3> x = problem.point(node);
    balance.add({x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]}, {f[0], f[1], f[2]},
                {u[0], u[1], u[2]});
    ++i;
  }
  return balance;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template DesignBalance balance_design(const Exec&, const DesignProblem&,                         \
                                        const DesignOptimizer<Exec>&, std::size_t);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
