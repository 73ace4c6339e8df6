// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/balance.hpp>

#include <ossatura/solvers/topopt/loads.hpp>

#include <array>
#include <map>
#include <vector>

namespace ossatura {

template<class Exec>
ForceBalance balance_design(const Exec& exec, const DesignProblem& problem,
                            const DesignOptimizer<Exec>& optimizer, std::size_t which) {
  const std::vector<double> u = optimizer.displacements(exec, int(which));
  const std::vector<double> internal = optimizer.forces(exec, int(which));

  std::map<std::int32_t, std::array<double, 3>> force; // zero at most nodes
  for (const NodeForce& load : problem.cases[which].loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      force[load.node][c] += load.force[c];
  // At held components the matrix knows the force, whatever loads act there.
  for (const HeldComponents& held : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if (held.components >> c & 1)
        force[held.node][c] = internal[3 * std::size_t(held.node) + c];

  ForceBalance balance;
  for (std::size_t i = 0; i < u.size(); ++i)
    balance.energy += 0.5 * u[i] * internal[i];
  if (!problem.springs.empty()) {
    const std::vector<double> spring = sum_springs(problem);
    for (std::size_t i = 0; i < u.size(); ++i)
      if (spring[i] != 0) {
        force[std::int32_t(i / 3)][i % 3] -= spring[i] * u[i];
        balance.energy -= 0.5 * spring[i] * u[i] * u[i];
      }
  }
  const std::array<double, 3> origin = problem.point(0);
  for (const auto& [node, f] : force) {
    const std::array<double, 3> x = problem.point(node);
    const double* at = &u[3 * std::size_t(node)];
    balance.add({x[0] - origin[0], x[1] - origin[1], x[2] - origin[2]}, {f[0], f[1], f[2]},
                {at[0], at[1], at[2]});
  }
  return balance;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template ForceBalance balance_design(const Exec&, const DesignProblem&,                          \
                                       const DesignOptimizer<Exec>&, std::size_t);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
