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

/// The columns of this rank's loads; fewer where `solve_load(k)`, which gives the mean stress of
/// load k, ended it.
template<class SolveLoad>
std::vector<StressColumn> solve_loads(const RankPart& loads, const SolveLoad& solve_load) {
  std::vector<StressColumn> columns;
  for (int k = int(loads.begin); k < loads.end; ++k) {
    const std::optional<std::array<double, 6>> mean = solve_load(k);
    if (!mean)
      break; // what there is of the matrix says nothing
    columns.push_back({k, *mean});
    for (const double stress : columns.back().stress)
      if (!std::isfinite(stress))
        fail<InputError>("the apparent stress is not finite: lengths or moduli are too small or "
                         "too large to compute with");
  }
  return columns;
}

/// From the columns of all ranks, and the material of the `solid` of the places of a box.
HomogenisedStiffness join_columns(const std::vector<StressColumn>& columns, const LameSummary& lame,
                                  double places, double solid) {
  HomogenisedStiffness found;
  for (const StressColumn& column : columns)
    for (int i = 0; i < 6; ++i)
      found.stiffness[i][column.load] = column.stress[i];
  found.voigt = isotropic_stiffness(lame.lambda_sum / places, lame.mu_sum / places);
  const bool has_void = solid < places; // then the mean compliance is infinite
  const double bulk = has_void ? 0 : places / lame.inverse_bulk_sum;
  const double mu = has_void ? 0 : places / lame.inverse_mu_sum;
  found.reuss = isotropic_stiffness(bulk - 2 * mu / 3, mu);
  return found;
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

  const std::vector<StressColumn> columns = comm.gather(together(comm, [&] {
    const auto u =
        make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::displacement");
    return solve_loads(part_of_rank(comm, 6), [&](int k) -> std::optional<std::array<double, 6>> {
      set_uniform_strain(exec, problem, k, u);
      if (!solve(k, u))
        return {};
      return mean_stress(exec, problem.grid, problem.lame, problem.edge, u, volume);
    });
  }));
  if (columns.size() < 6)
    return {};
  return join_columns(columns, summarise_lame(exec, share_nodes(exec, problem), problem.lame),
                      voxels, problem.grid.num_elem);
}

template<class Exec>
std::optional<HomogenisedStiffness> homogenise(const Exec& exec, const UnitCell<Exec>& cell,
                                               const SolveCellLoad<Exec>& solve,
                                               const Communicator& comm) {
  const std::vector<StressColumn> columns = comm.gather(together(comm, [&] {
    const std::int64_t n = cell.problem.grid.num_dofs();
    const auto f = make_uninitialized<double>(exec, n, "ossatura::bone::force");
    const auto w = make_uninitialized<double>(exec, n, "ossatura::bone::displacement");
    return solve_loads(part_of_rank(comm, 6), [&](int k) -> std::optional<std::array<double, 6>> {
      load_unit_cell(exec, cell, k, f);
      Kokkos::deep_copy(exec, w, 0);
      if (!solve(k, f, w))
        return {};
      return mean_stress_of_cell(exec, cell, k, w);
    });
  }));
  if (columns.size() < 6)
    return {};
  const auto& shape = cell.problem.rim->shape;
  const LameSummary lame = summarise_lame(exec, share_nodes(exec, cell.problem), cell.own);
  return join_columns(columns, lame, double(shape[0]) * shape[1] * shape[2],
                      double(lame.num_solid));
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::optional<HomogenisedStiffness> homogenise(                                         \
      const Exec&, const VoxelProblem<Exec>&, const SolveStrain<Exec>&, const Communicator&);      \
  template std::optional<HomogenisedStiffness> homogenise(                                         \
      const Exec&, const UnitCell<Exec>&, const SolveCellLoad<Exec>&, const Communicator&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
