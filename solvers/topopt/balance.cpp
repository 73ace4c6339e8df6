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

/// The forces on mass and of temperature, which act on all nodes [num_nodes, 3]; empty: there are
/// none.
template<class Exec>
std::vector<double> forces_on_all(const Exec& exec, const NodeLoads& loads,
                                  const DesignOptimizer<Exec>& optimizer, int which) {
  std::vector<double> all;
  if (!loads.body.empty())
    all = optimizer.body_forces(exec, which);
  if (loads.warming.empty())
    return all;
  const std::vector<double> thermal = optimizer.thermal_forces(exec, which);
  all.resize(thermal.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] += thermal[i];
  return all;
}

} // namespace

template<class Exec>
DesignBalance balance_design(const Exec& exec, const DesignProblem& problem,
                             const DesignOptimizer<Exec>& optimizer, std::size_t which) {
  const NodeLoads& loads = problem.cases[which].loads;
  std::map<std::int32_t, OutsideForce> outside; // of few nodes
  for (const NodeForce& load : loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      outside[load.node].force[c] += load.force[c];
  for (const HeldComponents& held : problem.held)
    outside[held.node].held |= held.components;
  for (const NodeDisplacement& u : loads.displacements) {
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
  const auto add = [&](std::int32_t node, const double* f, const double* u) {
    const std::array<double, 3> x = problem.point(node);
    balance.add({x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]}, {f[0], f[1], f[2]},
                {u[0], u[1], u[2]});
  };
  const std::vector<double> all = forces_on_all(exec, loads, optimizer, int(which));
  std::size_t i = 0;
  for (const auto& [node, what] : outside) {
    const double* u = &found.displacement[3 * i];
    std::array<double, 3> f = what.force;
    for (std::size_t c = 0; c < 3; ++c) {
      f[c] += all.empty() ? 0 : all[3 * std::size_t(node) + c];
      const double load = f[c];
      // At held components the matrix knows the force, whatever loads act there.
      if (what.held >> c & 1) {
        f[c] = found.force[3 * i + c];
        const bool moved = (what.moved >> c & 1) != 0;
        // What acts there besides is no force of the support.
        const double reaction = f[c] - load;
        (moved ? balance.imposed_force : balance.support_force)[c] += reaction;
        balance.imposed_work += moved ? reaction * u[c] : 0;
      }
      f[c] -= what.stiffness[c] * u[c];
      balance.energy -= 0.5 * what.stiffness[c] * u[c] * u[c];
    }
    add(node, f.data(), u);
    ++i;
  }
  if (all.empty())
    return balance;
  const std::vector<double> moved = optimizer.displacements(exec, int(which));
  auto done = outside.begin();
  for (std::int32_t node = 0; 3 * std::size_t(node) < all.size(); ++node)
    if (done != outside.end() && done->first == node)
      ++done;
    else
      add(node, &all[3 * std::size_t(node)], &moved[3 * std::size_t(node)]);
  return balance;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template DesignBalance balance_design(const Exec&, const DesignProblem&,                         \
                                        const DesignOptimizer<Exec>&, std::size_t);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
