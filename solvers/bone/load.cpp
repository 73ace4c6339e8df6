// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/load.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

std::string describe(const NodeChoice& where) {
  if (where.is_face)
    return std::string("side ") + "xyz"[where.axis] + (where.upper ? "+" : "-");
  return "node " + std::to_string(where.node[0]) + "/" + std::to_string(where.node[1]) + "/" +
         std::to_string(where.node[2]);
}

template<class Exec>
std::array<double, 3> centre_of_bone(const Exec& exec, const VoxelProblem<Exec>& problem) {
  std::array<double, 3> centre =
      centre_of_mass(exec, problem.grid, problem.lame.mu_value, ranks_of(problem));
  for (double& x : centre)
    x *= problem.edge;
  return centre;
}

template<class Exec>
BoneLoad<Exec> load_by_test(const Exec& exec, const MechanicalTest& test,
                            VoxelProblem<Exec>& problem) {
  BoneLoad<Exec> load;
  load.test = test;
  load.regions = make_load_case(exec, problem.grid, problem.edge, test, ranks_of(problem));
  load.u = prescribe(exec, load.regions, problem);
  return load;
}

template<class Exec>
void hold_all_sides(const Exec& exec, VoxelProblem<Exec>& problem) {
  const double none[6] = {};
  prescribe(exec, make_uniform_strain_case(exec, problem.grid, none, ranks_of(problem)), problem);
}

template<class Exec>
void set_uniform_strain(const Exec& exec, const VoxelProblem<Exec>& problem, int component,
                        const Array<double, Exec>& u) {
  double strain[6] = {};
  strain[component] = 1;
  std::vector<PrescribedRegion> regions;
  for (const NamedRegion& named :
       make_uniform_strain_case(exec, problem.grid, strain, ranks_of(problem)))
    regions.push_back(named.region);
  Kokkos::deep_copy(exec, u, 0);
  prescribe(exec, problem.grid, problem.edge, regions, problem.held.mask, u);
}

template<class Exec>
ListedLoad<Exec>::ListedLoad(const Exec& exec, const VoxelProblem<Exec>& problem,
                             double plate_depth)
    : exec_(exec)
    , problem_(problem)
    , comm_(ranks_of(problem))
    , layers_(int(std::floor(plate_depth / problem.edge + 1e-9)))
    , box_(bounding_box(exec, problem.grid, comm_))
    , mask_(make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::bone::held")) {
  load_.u = make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bone::displacement");
}

template<class Exec>
PrescribedRegion ListedLoad<Exec>::region_of(const NodeChoice& where) const {
  PrescribedRegion region;
  for (int d = 0; d < 3; ++d) {
    region.lower[d] = where.is_face ? box_.lower[d] : where.node[d];
    region.upper[d] = where.is_face ? box_.upper[d] : where.node[d];
  }
  if (where.is_face) {
    const int a = where.axis;
    if (where.upper)
      region.lower[a] = box_.upper[a] - layers_;
    else
      region.upper[a] = box_.lower[a] + layers_;
  }
  return region;
}

template<class Exec>
MissingNodes ListedLoad<Exec>::hold(const std::vector<PrescribedNode>& nodes) {
  return prescribe(exec_, problem_.grid, nodes, mask_, load_.u, comm_);
}

template<class Exec>
std::int64_t ListedLoad<Exec>::hold(const NodalCondition& condition) {
  PrescribedRegion region = region_of(condition.where);
  const std::int64_t num_nodes = count_nodes(exec_, problem_.grid, region, comm_);
  region.components = 0;
  for (int c = 0; c < 3; ++c)
    if (condition.components[c]) {
      region.components |= std::uint8_t(1 << c);
      region.value[c] = condition.value;
    }
  prescribe(exec_, problem_.grid, problem_.edge, {region}, mask_, load_.u);
  return num_nodes;
}

template<class Exec>
void ListedLoad<Exec>::require_force() {
  if (!has_force_)
    load_.force = make_zeros<double>(exec_, problem_.grid.num_dofs(), "ossatura::bone::force");
  has_force_ = true;
}

template<class Exec>
std::int64_t ListedLoad<Exec>::push(const std::vector<NodalValue>& forces) {
  require_force();
  return add_forces(exec_, problem_.grid, forces, load_.force, comm_);
}

template<class Exec>
std::int64_t ListedLoad<Exec>::push(const NodalCondition& condition) {
  const NodeChoice& where = condition.where;
  const PrescribedRegion region = region_of(where);
  const std::int64_t num_nodes = count_nodes(exec_, problem_.grid, region, comm_);
  if (num_nodes == 0)
    return 0;
  require_force();
  if (!where.is_face) {
    std::vector<NodalValue> forces;
    for (int c = 0; c < 3; ++c)
      if (condition.components[c])
        forces.push_back({where.node, c, condition.value});
    add_forces(exec_, problem_.grid, forces, load_.force, comm_);
    return num_nodes;
  }
  Kokkos::Array<double, 3> force{};
  for (int c = 0; c < 3; ++c)
    force[c] = condition.components[c] ? condition.value : 0;
  const int a = where.axis;
  const std::int64_t shares =
      add_consistent_force(exec_, problem_.grid, problem_.lame.mu_value, region, a, where.upper,
                           force, load_.force, comm_);
  const int layers = std::max(1, region.upper[a] - region.lower[a]);
  const double edge = problem_.edge;
  load_.pushed_sides.push_back(
      {describe(where), a, num_nodes, edge * edge * double(shares) / layers});
  return num_nodes;
}

template<class Exec>
BoneLoad<Exec> ListedLoad<Exec>::finish(Constraints<Exec>& held) const {
  held = make_constraints(exec_, mask_);
  if (has_force_)
    update_ghosts(exec_, problem_, load_.force, 3); // which may lack shares of tractions
  return load_;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::array<double, 3> centre_of_bone(const Exec&, const VoxelProblem<Exec>&);           \
  template BoneLoad<Exec> load_by_test(const Exec&, const MechanicalTest&, VoxelProblem<Exec>&);   \
  template void hold_all_sides(const Exec&, VoxelProblem<Exec>&);                                  \
  template void set_uniform_strain(const Exec&, const VoxelProblem<Exec>&, int,                    \
                                   const Array<double, Exec>&);                                    \
  template class ListedLoad<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
