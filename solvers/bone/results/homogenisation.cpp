// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/homogenisation.hpp>

#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace ossatura {

namespace {

StiffnessMatrix isotropic_stiffness(double lambda, double mu) {
  StiffnessMatrix c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      c[i][j] = lambda + (i == j ? 2 * mu : 0);
    c[i + 3][i + 3] = mu;
  }
  return c;
}

/// The mean stress under one load: a column of the stiffness.
struct StressColumn {
  int load;
  std::array<double, 6> stress;
};

/// The columns of this rank's loads; fewer where `solve` ended it.
template<class Exec>
std::vector<StressColumn> solve_loads(const Exec& exec, const VoxelProblem<Exec>& problem,
                                      const SolveStrain<Exec>& solve, const RankPart& loads,
                                      double volume) {
  std::vector<StressColumn> columns;
  const auto u =
      make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::displacement");
  for (int k = int(loads.begin); k < loads.end; ++k) {
    set_uniform_strain(exec, problem, k, u);
    if (!solve(k, u))
      break; // what there is of the matrix says nothing
    columns.push_back({k, mean_stress(exec, problem.grid, problem.lame, problem.edge, u, volume)});
    for (const double stress : columns.back().stress)
      if (!std::isfinite(stress))
        fail<InputError>("the apparent stress is not finite: lengths or moduli are too small or "
                         "too large to compute with");
  }
  return columns;
}

} // namespace

template<class Exec>
std::optional<HomogenisedStiffness> homogenise(const Exec& exec, const VoxelProblem<Exec>& problem,
                                               const SolveStrain<Exec>& solve,
                                               const Communicator& comm) {
  const NodeBox box = bounding_box(exec, problem.grid);
  double voxels = 1;
  for (int d = 0; d < 3; ++d)
    voxels *= box.upper[d] - box.lower[d];
  const double volume = voxels * std::pow(problem.edge, 3);

  const std::vector<StressColumn> columns = comm.gather(together(
      comm, [&] { return solve_loads(exec, problem, solve, part_of_rank(comm, 6), volume); }));
  if (columns.size() < 6)
    return {};
  HomogenisedStiffness found;
  for (const StressColumn& column : columns)
    for (int i = 0; i < 6; ++i)
      found.stiffness[i][column.load] = column.stress[i];
  const LameSummary lame = summarise_lame(exec, share_nodes(exec, problem), problem.lame);
  found.voigt = isotropic_stiffness(lame.lambda_sum / voxels, lame.mu_sum / voxels);
  const bool has_void = problem.grid.num_elem < voxels; // then the mean compliance is infinite
  const double bulk = has_void ? 0 : voxels / lame.inverse_bulk_sum;
  const double mu = has_void ? 0 : voxels / lame.inverse_mu_sum;
  found.reuss = isotropic_stiffness(bulk - 2 * mu / 3, mu);
  return found;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::optional<HomogenisedStiffness> homogenise(                                         \
      const Exec&, const VoxelProblem<Exec>&, const SolveStrain<Exec>&, const Communicator&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
