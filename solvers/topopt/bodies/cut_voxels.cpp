// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/cut_voxels.hpp>

#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/algebra/component_values.hpp>
#include <ossatura/kernels/algebra/ranks/fingerprint.hpp>
#include <ossatura/kernels/topopt/body_loads/voxel_load.hpp>
#include <ossatura/kernels/topopt/largest_values.hpp>
#include <ossatura/kernels/topopt/temperatures/voxel_load.hpp>
#include <ossatura/kernels/topopt/voxel_energies.hpp>
#include <ossatura/kernels/topopt/voxel_stress.hpp>
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <cmath>

namespace ossatura {

template<class Exec>
CutVoxelBody<Exec>::CutVoxelBody(const Exec& exec, const DesignProblem& problem,
                                 const DesignOptions& options)
    : VoxelElements<Exec>(exec, problem, options) {
  VoxelProblem<Exec>& all = this->problem_;
  const Communicator& comm = *options.ranks;
  seen_ = make_cut_problem(exec, comm,
                           take_planes(exec, all.material, planes_of_rank(comm, all.grid.shape[2])),
                           all.edge);
  all.material = {};
  share_ = GridShare<Exec>(*seen_.ranks, all.grid, seen_.grid);
  const auto mask =
      make_uninitialized<std::uint8_t>(exec, seen_.grid.num_nodes, "ossatura::voxel_body::held");
  share_.take(exec, all.held.mask, mask);
  seen_.held = make_constraints(exec, mask);
  all.held = {};
  sums_ = GroupSums<Exec>(exec, seen_.ranks->comm, find_groups(exec, *seen_.ranks, seen_.grid));
  by_element_ = make_zeros<double>(exec, seen_.grid.num_nodes, "ossatura::voxel_body::by_element");
  this->options_.matrix = VoxelOperatorKind::brick; // of a fixed order of sums everywhere
  this->solver_ = std::make_unique<VoxelSolver<Exec>>(exec, seen_, this->options_);
}

template<class Exec>
DesignEngineInfo CutVoxelBody<Exec>::engine() const {
  DesignEngineInfo info = VoxelElements<Exec>::engine();
  info.cut = this->solver_->cut_info();
  return info;
}

template<class Exec>
SimpLaw CutVoxelBody<Exec>::law_of_seen(const Exec& exec, const SimpLaw& law) const {
  SimpLaw own = law;
  if (law.relative.data == nullptr)
    return own;
  if (relative_.extent(0) == 0) { // materials stay
    relative_ = make_uninitialized<double>(exec, num_nodes(), "ossatura::voxel_body::relative");
    // A view of the law's array, which has no other owner here and is read alone.
    share_.take(exec, Vector(const_cast<double*>(law.relative.data), std::size_t(this->num_elem())),
                relative_);
  }
  own.relative = relative_;
  return own;
}

template<class Exec>
void CutVoxelBody<Exec>::set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) {
  share_.take(exec, density, by_element_);
  together(share_.communicator(),
           [&] { store_moduli(exec, law_of_seen(exec, law), by_element_, seen_.lame); });
}

template<class Exec>
SolveResult CutVoxelBody<Exec>::solve(const Exec& exec, const DesignForce<Exec>& f,
                                      const Vector& u) {
  clear(exec, seen_.held, u);
  const double norm = std::sqrt(square(exec, f)); // f is zero at held components
  if (norm == 0)
    Kokkos::deep_copy(exec, u, 0.0);
  return this->solver_->solve(exec, f.vector, u, this->observer_, norm);
}

template<class Exec>
bool CutVoxelBody<Exec>::agree(const Exec& exec, const Vector& x) const {
  const Communicator& comm = share_.communicator();
  const std::uint64_t mine = fingerprint(exec, x);
  if (comm.min(mine) == comm.max(mine))
    return false;
  std::vector<RankMessage> sends, receives;
  const auto count = std::int64_t(x.extent(0));
  for (int rank = 1; rank < comm.size() && comm.is_first(); ++rank)
    sends.push_back({rank, 0, count});
  if (!comm.is_first())
    receives.push_back({0, 0, count});
  seen_.ranks->comm.exchange(exec, x, sends, x, receives);
  fence(exec, "ossatura::voxel_body::agree");
  return !comm.is_first();
}

template<class Exec>
void CutVoxelBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u,
                                      const Vector& v, const Vector& energy) const {
  share_.take(exec, energy, by_element_);
  ossatura::add_energies(exec, seen_.grid, seen_.lame, seen_.edge, weight, u, v, by_element_);
  share_.gather(exec, by_element_, energy);
}

template<class Exec>
void CutVoxelBody<Exec>::add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                                         const Vector& force) const {
  share_.take(exec, mass, by_element_);
  ossatura::add_body_forces(exec, seen_.grid, this->origin(), seen_.edge, load, by_element_, force);
}

template<class Exec>
void CutVoxelBody<Exec>::add_body_work(const Exec& exec, double weight, const BodyLoad& load,
                                       const Vector& u, const Vector& work) const {
  share_.take(exec, work, by_element_);
  ossatura::add_body_work(exec, seen_.grid, seen_.lame, this->origin(), seen_.edge, load, weight, u,
                          by_element_);
  share_.gather(exec, by_element_, work);
}

template<class Exec>
ThermalLoad<Exec> CutVoxelBody<Exec>::thermal_load(const Exec& exec, const DesignProblem& problem,
                                                   const std::vector<double>& warming) const {
  const auto take = [&](const Vector& all) {
    const auto own = make_uninitialized<double>(exec, num_nodes(), "ossatura::voxel_body::warm");
    share_.take(exec, all, own);
    fence(exec, "ossatura::voxel_body::thermal_load"); // `all` goes
    return own;
  };
  auto load = make_thermal_load(exec, seen_.grid, seen_.lame, seen_.edge,
                                take(this->upload_elements(exec, expansions(problem))),
                                take(this->place_node_values(exec, 1, warming)));
  // Energies are by element, which all processes have all of.
  const auto energy =
      make_uninitialized<double>(exec, this->num_elem(), "ossatura::voxel_body::warm");
  share_.gather(exec, load.energy, energy);
  fence(exec, "ossatura::voxel_body::thermal_load"); // those of the nodes seen go
  load.energy = energy;
  return load;
}

template<class Exec>
void CutVoxelBody<Exec>::add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                                            const Vector& force) const {
  ossatura::add_thermal_forces(exec, seen_.grid, seen_.lame, seen_.edge, load, force);
}

template<class Exec>
void CutVoxelBody<Exec>::add_thermal_work(const Exec& exec, double weight,
                                          const ThermalLoad<Exec>& load, const Vector& u,
                                          const Vector& work) const {
  share_.take(exec, work, by_element_);
  ossatura::add_thermal_work(exec, seen_.grid, seen_.lame, seen_.edge, load, weight, u,
                             by_element_);
  share_.gather(exec, by_element_, work);
}

template<class Exec>
void CutVoxelBody<Exec>::energy_density(const Exec& exec, const Vector& energy) const {
  share_.take(exec, energy, by_element_);
  voxel_energy_density(exec, seen_.lame, seen_.edge, by_element_);
  share_.gather(exec, by_element_, energy);
}

template<class Exec>
void CutVoxelBody<Exec>::solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                                      const Vector& stress) const {
  fill_solid_stress(exec, VoxelMeanStrains<Exec>{seen_.grid, seen_.lame, seen_.edge},
                    law_of_seen(exec, law), u, by_element_);
  share_.gather(exec, by_element_, stress);
}

template<class Exec>
LargestValues CutVoxelBody<Exec>::largest_values(const Exec& exec, const SimpLaw& law,
                                                 const Vector& density, const Vector& u) const {
  const auto all =
      make_uninitialized<double>(exec, this->num_elem(), "ossatura::voxel_body::largest");
  LargestValues largest;
  solid_stress(exec, law, u, all);
  largest.stress = largest_value(exec, density, all);
  const auto size = make_uninitialized<double>(exec, num_nodes(), "ossatura::voxel_body::size");
  share_.take(exec, density, by_element_);
  fill_material_displacements(exec, VoxelMeanStrains<Exec>{seen_.grid, seen_.lame, seen_.edge},
                              by_element_, u, size);
  share_.gather(exec, size, all);
  largest.displacement = largest_value(exec, all);
  return largest;
}

template<class Exec>
void CutVoxelBody<Exec>::add_stress_forces(const Exec& exec, const SimpLaw& law,
                                           const Vector& factor, const Vector& u,
                                           const Vector& force) const {
  share_.take(exec, factor, by_element_);
  ossatura::add_stress_forces(exec, VoxelMeanStrains<Exec>{seen_.grid, seen_.lame, seen_.edge},
                              law_of_seen(exec, law), by_element_, u, force);
}

template<class Exec>
void CutVoxelBody<Exec>::von_mises(const Exec& exec, const Vector& u, const Vector& stress) const {
  voxel_von_mises(exec, seen_.grid, seen_.lame, seen_.edge, u, by_element_);
  share_.gather(exec, by_element_, stress);
}

template<class Exec>
Array<double, Exec> CutVoxelBody<Exec>::upload_nodes(const Exec& exec,
                                                     const std::vector<double>& values) const {
  const std::size_t nodes = std::size_t(this->num_elem()); // places of the grid
  OSSATURA_REQUIRE(values.size() == 3 * nodes, values.size()
                                                   << " components of " << nodes << " nodes");
  const Vector placed = make_zeros<double>(exec, this->num_dofs(), "ossatura::design::by_node");
  std::vector<double> one(nodes);
  for (int c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < nodes; ++i)
      one[i] = values[3 * i + std::size_t(c)];
    share_.take(exec, this->place_node_values(exec, 1, one), by_element_);
    put_component(exec, c, by_element_, placed);
  }
  fence(exec, "ossatura::voxel_body::upload_nodes");
  return placed;
}

template<class Exec>
std::vector<double> CutVoxelBody<Exec>::download_nodes(const Exec& exec,
                                                       const Vector& values) const {
  const std::size_t nodes = std::size_t(this->num_elem());
  const auto all = make_uninitialized<double>(exec, this->num_elem(), "ossatura::design::by_node");
  std::vector<double> result(3 * nodes);
  for (int c = 0; c < 3; ++c) { // one after the other, for the memory of all nodes
    take_component(exec, c, values, by_element_);
    share_.gather(exec, by_element_, all);
    const std::vector<double> one = this->take_node_values(exec, 1, all);
    for (std::size_t i = 0; i < nodes; ++i)
      result[3 * i + std::size_t(c)] = one[i];
  }
  return result;
}

template<class Exec>
std::vector<double> CutVoxelBody<Exec>::take_nodes(const Exec& exec,
                                                   const std::vector<std::int32_t>& nodes,
                                                   const Vector& values) const {
  const std::vector<int> place = download(exec, place_nodes(exec, nodes));
  std::vector<std::int64_t> which; // of `nodes`
  std::vector<int> own;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (seen_.grid.owned.has(place[i])) {
      which.push_back(std::int64_t(i));
      own.push_back(place[i]);
    }
  const Communicator& comm = share_.communicator();
  which = comm.gather(which);
  const std::vector<double> taken =
      comm.gather(take_at_nodes(exec, upload(exec, "ossatura::voxel_body::own", own), values));
  std::vector<double> result(3 * nodes.size());
  for (std::size_t k = 0; k < which.size(); ++k)
    for (std::size_t c = 0; c < 3; ++c)
      result[3 * std::size_t(which[k]) + c] = taken[3 * k + c];
  return result;
}

#define OSSATURA_INSTANTIATE(Exec) template class CutVoxelBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
