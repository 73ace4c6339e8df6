// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/balance.hpp>

#include <ossatura/solvers/topopt/loads.hpp>

#include <vector>

namespace ossatura {

template<class Exec>
ForceBalance balance_design(const Exec& exec, const DesignProblem& problem,
                            const DesignOptimizer<Exec>& optimizer, std::size_t which) {
  const std::vector<double> u = optimizer.displacements(exec, int(which));
  const std::vector<double> internal = optimizer.forces(exec, int(which));

  std::vector<double> force(u.size(), 0.0);
  for (const NodeForce& load : problem.cases[which].loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      force[3 * std::size_t(load.node) + c] += load.force[c];
  // At held components the matrix knows the force, whatever loads act there.
  for (const HeldComponents& held : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if (held.components >> c & 1)
        force[3 * std::size_t(held.node) + c] = internal[3 * std::size_t(held.node) + c];

  ForceBalance balance;
  for (std::size_t i = 0; i < u.size(); ++i)
    balance.energy += 0.5 * u[i] * internal[i];
  if (!problem.springs.empty()) {
    const std::vector<double> spring = sum_springs(problem);
    for (std::size_t i = 0; i < u.size(); ++i) {
      force[i] -= spring[i] * u[i];
      balance.energy -= 0.5 * spring[i] * u[i] * u[i];
    }
  }
  const std::array<double, 3> origin = problem.point(0);
  for (std::size_t i = 0; i < u.size(); i += 3) {
    if (force[i] == 0 && force[i + 1] == 0 && force[i + 2] == 0)
      continue; // most nodes
    const std::array<double, 3> x = problem.point(std::int32_t(i / 3));
    balance.add({x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]},
                {force[i], force[i + 1], force[i + 2]}, {u[i], u[i + 1], u[i + 2]});
  }
  return balance;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template ForceBalance balance_design(const Exec&, const DesignProblem&,                          \
                                       const DesignOptimizer<Exec>&, std::size_t);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
