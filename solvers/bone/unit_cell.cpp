// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/unit_cell.hpp>

#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/kernels/bone/loads/uniform_stress.hpp>

#include <cmath>

namespace ossatura {

namespace {

UniformStrain unit_strain(int component) {
  UniformStrain strain{};
  strain[component] = 1;
  return strain;
}

/// Voxels become cells, the corners of which have 32-bit numbers.
constexpr std::int64_t most_voxels = (std::int64_t(1) << 28) - 1;
constexpr int longest_axis = (1 << 20) - 1; // with the rim as long as grids may be

void require_size(const Kokkos::Array<int, 3>& shape) {
  for (int d = 0; d < 3; ++d)
    if (shape[d] > longest_axis)
      fail<InputError>("a unit cell of ", shape[d], " voxels along an axis: up to ", longest_axis,
                       " are taken; crop the image, or make its voxels larger");
}

void require_voxels(std::int64_t num_voxels) {
  if (num_voxels > most_voxels)
    fail<InputError>("a unit cell of ", num_voxels, " voxels with its rim: up to ", most_voxels,
                     " are taken; crop the image, or make its voxels larger");
}

/// The values of voxels that are not of the rim.
template<class Exec>
struct ClearRim {
  VoxelGrid<Exec> grid;
  Kokkos::Array<int, 3> shape;
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    if (s.x >= shape[0] || s.y >= shape[1] || s.z >= shape[2])
      value(node) = 0;
  }
};

template<class Exec>
Array<float, Exec> without_rim(const Exec& exec, const VoxelGrid<Exec>& grid,
                               const PeriodicRim<Exec>& rim, const Array<float, Exec>& value) {
  const Array<float, Exec> own =
      make_uninitialized<float>(exec, grid.num_nodes, "ossatura::unit_cell::own");
  Kokkos::deep_copy(exec, own, value);
  Kokkos::parallel_for("ossatura::unit_cell::own", range(exec, grid.num_nodes),
                       ClearRim<Exec>{grid, rim.shape, own});
  return own;
}

} // namespace

template<class Exec>
UnitCell<Exec> make_unit_cell(const Exec& exec, const MaterialImage<Exec>& material, double edge) {
  require_size(material.solid().shape);
  MaterialImage<Exec> with_rim = material;
  with_rim.first = add_rim(exec, material.first);
  if (!material.uniform_poisson())
    with_rim.second = add_rim(exec, material.second);
  UnitCell<Exec> cell;
  VoxelProblem<Exec>& problem = cell.problem;
  problem = make_voxel_problem(exec, with_rim, edge);
  problem.material = {};
  require_voxels(problem.grid.num_elem);
  const auto rim = std::make_shared<const PeriodicRim<Exec>>(find_rim(exec, problem.grid));
  problem.held = make_constraints(exec, rim->ghosts);
  problem.rim = rim;
  const bool uniform = problem.lame.lambda_value.data() == problem.lame.mu_value.data();
  cell.own = problem.lame;
  cell.own.mu_value = without_rim(exec, problem.grid, *rim, problem.lame.mu_value);
  cell.own.lambda_value = uniform
                              ? cell.own.mu_value
                              : without_rim(exec, problem.grid, *rim, problem.lame.lambda_value);
  cell.volume = std::pow(edge, 3);
  for (int d = 0; d < 3; ++d)
    cell.volume *= rim->shape[d];
  fence(exec, "ossatura::make_unit_cell");
  return cell;
}

template<class Exec>
void load_unit_cell(const Exec& exec, const UnitCell<Exec>& cell, int component,
                    const Array<double, Exec>& f) {
  const VoxelProblem<Exec>& problem = cell.problem;
  release_uniform_strain(exec, problem.grid, problem.lame, problem.edge, unit_strain(component), f);
  clear(exec, problem.held, f);
  // The forces of the voxels before they cancel, at least (Cauchy and Schwarz).
  const LameSummary lame = summarise_lame(exec, share_nodes(exec, problem), cell.own);
  const double scale = problem.edge * problem.edge * (lame.lambda_sum + 2 * lame.mu_sum) /
                       std::sqrt(double(lame.num_solid));
  constexpr double rounding = 1e-13;
  if (std::sqrt(dot(exec, f, f)) <= rounding * scale)
    Kokkos::deep_copy(exec, f, 0);
  fence(exec, "ossatura::load_unit_cell");
}

template<class Exec>
std::array<double, 6> mean_stress_of_cell(const Exec& exec, const UnitCell<Exec>& cell,
                                          int component, const Array<double, Exec>& w) {
  const VoxelProblem<Exec>& problem = cell.problem;
  add_uniform_strain(exec, problem.grid, problem.edge, unit_strain(component), w);
  return mean_stress(exec, problem.grid, cell.own, problem.edge, w, cell.volume);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template UnitCell<Exec> make_unit_cell(const Exec&, const MaterialImage<Exec>&, double);         \
  template void load_unit_cell(const Exec&, const UnitCell<Exec>&, int,                            \
                               const Array<double, Exec>&);                                        \
  template std::array<double, 6> mean_stress_of_cell(const Exec&, const UnitCell<Exec>&, int,      \
                                                     const Array<double, Exec>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
