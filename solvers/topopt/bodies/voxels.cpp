// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/voxels.hpp>

#include <ossatura/kernels/topopt/solid_stress.hpp>
#include <ossatura/kernels/topopt/voxel_energies.hpp>
#include <ossatura/kernels/topopt/voxel_stress.hpp>

#include <cmath>

namespace ossatura {

template<class Exec>
VoxelBody<Exec>::VoxelBody(const Exec& exec, const DesignProblem& problem,
                           const DesignOptions& options)
    : VoxelElements<Exec>(exec, problem, options) {
  problem_.material = {};
  this->solver_ = std::make_unique<VoxelSolver<Exec>>(exec, problem_, this->options_);
}

template<class Exec>
void VoxelBody<Exec>::set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) {
  store_moduli(exec, law, density, problem_.lame);
}

template<class Exec>
SolveResult VoxelBody<Exec>::solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) {
  clear(exec, problem_.held, u);
  const double norm = std::sqrt(square(exec, f)); // f is zero at held components
  if (norm == 0)
    Kokkos::deep_copy(exec, u, 0.0);
  return f.vector.extent(0) > 0 ? this->solver_->solve(exec, f.vector, u, {}, norm)
                                : this->solver_->solve_points(exec, f.points, u, {}, norm);
}

template<class Exec>
void VoxelBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u,
                                   const Vector& v, const Vector& energy) const {
  ossatura::add_energies(exec, problem_.grid, problem_.lame, problem_.edge, weight, u, v, energy);
}

template<class Exec>
void VoxelBody<Exec>::energy_density(const Exec& exec, const Vector& energy) const {
  voxel_energy_density(exec, problem_.lame, problem_.edge, energy);
}

template<class Exec>
void VoxelBody<Exec>::solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                                   const Vector& stress) const {
  fill_solid_stress(exec, VoxelMeanStrains<Exec>{problem_.grid, problem_.lame, problem_.edge}, law,
                    u, stress);
}

template<class Exec>
void VoxelBody<Exec>::add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                                        const Vector& u, const Vector& force) const {
  ossatura::add_stress_forces(exec,
                              VoxelMeanStrains<Exec>{problem_.grid, problem_.lame, problem_.edge},
                              law, factor, u, force);
}

template<class Exec>
void VoxelBody<Exec>::von_mises(const Exec& exec, const Vector& u, const Vector& stress) const {
  voxel_von_mises(exec, problem_.grid, problem_.lame, problem_.edge, u, stress);
}

template<class Exec>
DesignForce<Exec> VoxelBody<Exec>::place_forces(const Exec& exec,
                                                const std::vector<NodeForce>& forces) const {
  std::vector<std::int32_t> nodes;
  std::vector<double> values;
  for (const NodeForce& one : forces) {
    nodes.push_back(one.node);
    values.insert(values.end(), one.force, one.force + 3);
  }
  DesignForce<Exec> force;
  force.points.node = place_nodes(exec, nodes);
  force.points.force = upload(exec, "ossatura::design::force", values);
  clear(exec, problem_.held, force.points);
  return force;
}

#define OSSATURA_INSTANTIATE(Exec) template class VoxelBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
