// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/load.hpp>

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

template<class Exec>
struct SumShares {
  Array<int, Exec> share;
  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    sum += share(node);
  }
};

template<class Exec>
struct AddShares {
  Array<int, Exec> share;
  Kokkos::Array<double, 3> force; ///< of one share
  Array<double, Exec> f;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    for (int c = 0; c < 3; ++c)
      f(3 * node + c) += share(node) * force[c];
  }
};

/// own [5]: forces along x, y and z on held components, the sizes of these and of all.
template<class Exec>
struct HeldForces {
  Array<std::uint8_t, Exec> held;
  Array<double, Exec> force;
  std::int64_t first; ///< node

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    const std::int64_t node = first + i;
    for (int c = 0; c < 3; ++c) {
      const double f = force(3 * node + c);
      own[4] += fabs(f);
      if (held(node) >> c & 1) {
        own[c] += f;
        own[3] += fabs(f);
      }
    }
  }
};

/// The node that is nearest to the centre of voxels, along each axis.
std::array<int, 3> central_nodes(const std::vector<std::uint64_t>& voxels) {
  std::array<double, 3> sum{0, 0, 0};
  for (const std::uint64_t packed : voxels) {
    const Site s = detail::unpack_site(packed);
    sum[0] += s.x;
    sum[1] += s.y;
    sum[2] += s.z;
  }
  std::array<int, 3> nodes{};
  for (std::size_t d = 0; d < 3; ++d) // of the voxel at 0 the centre is at 0.5
    nodes[d] = voxels.empty() ? 0 : int(std::floor(sum[d] / double(voxels.size()) + 1 - 1e-9));
  return nodes;
}

/// Throws where a plate touches no node, or both hold one.
template<class Exec>
void require_plates(const Exec& exec, const MechanicalTest& test, const BoneLoad<Exec>& load,
                    const VoxelProblem<Exec>& problem) {
  const Communicator comm = ranks_of(problem);
  for (const NamedRegion& named : load.regions)
    if (named.is_plate && named.region.sets != 0 &&
        count_nodes(exec, problem.grid, named.region, comm, load.node_sets) == 0)
      fail<InputError>("the ", named.name, " touches nothing: no ",
                       test.lower_contact.visible || test.upper_contact.visible
                           ? "visible bone is near the voxels of its labels"
                           : "bone is at the voxels of its labels");
  if (const std::int64_t both = test.lower_contact.is_given() && test.upper_contact.is_given()
                                    ? count_in_sets(exec, problem.grid, load.node_sets,
                                                    lower_plate_set | upper_plate_set, comm)
                                    : 0)
    fail<InputError>("both plates touch ", both,
                     " nodes of the bone: let them reach less far (--surface-depth), or choose "
                     "labels that are apart (--plate-labels)");
}

} // namespace

std::string describe(const NodeChoice& where) {
  if (where.label)
    return (where.line ? std::string("line ") + "xyz"[*where.line] + " through label " : "label ") +
           std::to_string(*where.label);
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
  const Communicator comm = ranks_of(problem);
  load.node_sets =
      find_plate_nodes(exec, problem.grid, problem.lame.mu_value, problem.edge, test, comm);
  load.regions = make_load_case(exec, problem.grid, problem.edge, test, comm, load.node_sets);
  require_plates(exec, test, load, problem);
  load.u = prescribe(exec, load.regions, problem, load.node_sets);
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
                             double plate_depth, LabelVoxels labels)
    : exec_(exec)
    , problem_(problem)
    , comm_(ranks_of(problem))
    , layers_(int(layers_within(plate_depth, problem.edge)))
    , labels_(std::move(labels))
    , box_(bounding_box(exec, problem.grid, comm_))
    , mask_(make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::bone::held")) {
  load_.u = make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::bone::displacement");
}

template<class Exec>
PrescribedRegion ListedLoad<Exec>::region_of(const NodeChoice& where) const {
  PrescribedRegion region;
  const bool is_node = !where.is_face && !where.label;
  for (int d = 0; d < 3; ++d) {
    region.lower[d] = is_node ? where.node[d] : box_.lower[d];
    region.upper[d] = is_node ? where.node[d] : box_.upper[d];
  }
  region.sets = where.label ? 1 : 0;
  if (where.line) {
    const std::array<int, 3> nodes = central_nodes(labels_.at(*where.label));
    for (int d = 0; d < 3; ++d)
      if (d != *where.line)
        region.lower[d] = region.upper[d] = nodes[std::size_t(d)];
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
Array<int, Exec> ListedLoad<Exec>::touching(int label) const {
  const auto found = labels_.find(label);
  OSSATURA_REQUIRE(found != labels_.end(), "the voxels of label " << label << " are not known");
  return count_touching(exec_, problem_.grid, found->second);
}

template<class Exec>
MissingNodes ListedLoad<Exec>::hold(const std::vector<PrescribedNode>& nodes) {
  return prescribe(exec_, problem_.grid, nodes, mask_, load_.u, comm_);
}

template<class Exec>
std::int64_t ListedLoad<Exec>::hold(const NodalCondition& condition) {
  PrescribedRegion region = region_of(condition.where);
  NodeSets<Exec> sets;
  if (condition.where.label) {
    sets = make_zeros<std::uint8_t>(exec_, problem_.grid.num_nodes, "ossatura::bone::label_nodes");
    mark_touched(exec_, touching(*condition.where.label), 1, false, sets);
  }
  const std::int64_t num_nodes = count_nodes(exec_, problem_.grid, region, comm_, sets);
  region.components = 0;
  for (int c = 0; c < 3; ++c)
    if (condition.components[c]) {
      region.components |= std::uint8_t(1 << c);
      region.value[c] = condition.value;
    }
  num_replaced_ = count_held_elsewhere(exec_, problem_.grid, problem_.edge, region, mask_, load_.u,
                                       comm_, sets);
  prescribe(exec_, problem_.grid, problem_.edge, {region}, mask_, load_.u, sets);
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
  const std::array<double, 5> before = sum_forces();
  require_force();
  const std::int64_t missing = add_forces(exec_, problem_.grid, forces, load_.force, comm_);
  const std::array<double, 5> after = sum_forces();
  const double all = after[4] - before[4];
  lost_part_ = all > 0 ? (after[3] - before[3]) / all : 0;
  return missing;
}

template<class Exec>
std::int64_t ListedLoad<Exec>::push_label(int label, const Kokkos::Array<double, 3>& force) {
  const VoxelGrid<Exec>& grid = problem_.grid;
  const Array<int, Exec> share = touching(label);
  std::int64_t shares = 0;
  Kokkos::parallel_reduce("ossatura::bone::sum_shares",
                          range(exec_, grid.owned.begin, grid.owned.end), SumShares<Exec>{share},
                          shares);
  shares = comm_.sum(shares);
  if (shares == 0)
    return 0;
  require_force();
  Kokkos::Array<double, 3> part{};
  for (int c = 0; c < 3; ++c)
    part[c] = force[c] / double(shares);
  Kokkos::parallel_for("ossatura::bone::add_shares", range(exec_, grid.num_nodes),
                       AddShares<Exec>{share, part, load_.force});
  const auto sets = make_zeros<std::uint8_t>(exec_, grid.num_nodes, "ossatura::bone::label_nodes");
  mark_touched(exec_, share, 1, false, sets);
  return count_in_sets(exec_, grid, sets, 1, comm_);
}

template<class Exec>
std::int64_t ListedLoad<Exec>::push(const NodalCondition& condition) {
  const std::array<double, 5> before = sum_forces();
  const std::int64_t num_nodes = push_condition(condition);
  const std::array<double, 5> after = sum_forces();
  double lost = 0, all = 0;
  for (std::size_t c = 0; c < 3; ++c)
    if (condition.components[c]) {
      lost += std::fabs(after[c] - before[c]);
      all += std::fabs(condition.value);
    }
  lost_part_ = num_nodes > 0 && all > 0 ? lost / all : 0;
  return num_nodes;
}

template<class Exec>
std::array<double, 5> ListedLoad<Exec>::sum_forces() const {
  std::array<double, 5> sums{};
  if (!has_force_)
    return sums;
  const auto& owned = problem_.grid.owned;
  sums = part_sums<5>(exec_, "ossatura::bone::held_forces", owned.end - owned.begin,
                      HeldForces<Exec>{mask_, load_.force, owned.begin});
  for (double& sum : sums)
    sum = comm_.sum(sum);
  return sums;
}

template<class Exec>
std::int64_t ListedLoad<Exec>::push_condition(const NodalCondition& condition) {
  const NodeChoice& where = condition.where;
  OSSATURA_REQUIRE(!where.line, "a force on " << describe(where));
  Kokkos::Array<double, 3> force{};
  for (int c = 0; c < 3; ++c)
    force[c] = condition.components[c] ? condition.value : 0;
  if (where.label)
    return push_label(*where.label, force);
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
