// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/voxels.hpp>

#include <ossatura/kernels/topopt/body_loads/voxel_load.hpp>
#include <ossatura/kernels/topopt/frequencies/voxel_mass.hpp>
#include <ossatura/kernels/topopt/largest_values.hpp>
#include <ossatura/kernels/topopt/temperatures/voxel_load.hpp>
#include <ossatura/kernels/topopt/voxel_energies.hpp>
#include <ossatura/kernels/topopt/voxel_stress.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <cmath>

namespace ossatura {

namespace {

template<class Exec>
class VoxelMass final : public MassMatrix<Exec> {
public:
  using Vector = Array<double, Exec>;

  VoxelMass(const VoxelGrid<Exec>& grid, const LameField<Exec>& lame, double edge)
      : grid_(grid)
      , lame_(lame)
      , edge_(edge) {}

  void apply(const Exec& exec, const Vector& mass, int count, const Vector& x,
             const Vector& y) const override {
    apply_mass(exec, grid_, edge_, mass, count, x, y);
  }
  void add_energies(const Exec& exec, double weight, const Vector& u,
                    const Vector& energy) const override {
    add_mass_energies(exec, grid_, lame_, edge_, weight, u, energy);
  }

private:
  VoxelGrid<Exec> grid_;
  LameField<Exec> lame_;
  double edge_;
};

} // namespace

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
  return f.vector.extent(0) > 0
             ? this->solver_->solve(exec, f.vector, u, this->observer_, norm)
             : this->solver_->solve_points(exec, f.points, u, this->observer_, norm);
}

template<class Exec>
void VoxelBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u,
                                   const Vector& v, const Vector& energy) const {
  ossatura::add_energies(exec, problem_.grid, problem_.lame, problem_.edge, weight, u, v, energy);
}

template<class Exec>
void VoxelBody<Exec>::add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                                      const Vector& force) const {
  ossatura::add_body_forces(exec, problem_.grid, this->origin(), problem_.edge, load, mass, force);
}

template<class Exec>
void VoxelBody<Exec>::add_body_work(const Exec& exec, double weight, const BodyLoad& load,
                                    const Vector& u, const Vector& work) const {
  ossatura::add_body_work(exec, problem_.grid, problem_.lame, this->origin(), problem_.edge, load,
                          weight, u, work);
}

template<class Exec>
std::unique_ptr<MassMatrix<Exec>> VoxelBody<Exec>::make_mass(const Exec&,
                                                             const DesignProblem&) const {
  return std::make_unique<VoxelMass<Exec>>(problem_.grid, problem_.lame, problem_.edge);
}

template<class Exec>
void VoxelBody<Exec>::precondition(const Exec& exec, const Vector& r, const Vector& z) const {
  this->solver_->precondition(exec, r, z);
  clear(exec, problem_.held, z);
}

template<class Exec>
void VoxelBody<Exec>::make_admissible(const Exec& exec, const Vector& u) const {
  clear(exec, problem_.held, u);
}

template<class Exec>
ThermalLoad<Exec> VoxelBody<Exec>::thermal_load(const Exec& exec, const DesignProblem& problem,
                                                const std::vector<double>& warming) const {
  const auto load = make_thermal_load(exec, problem_.grid, problem_.lame, problem_.edge,
                                      this->upload_elements(exec, expansions(problem)),
                                      this->place_node_values(exec, 1, warming));
  fence(exec, "ossatura::design::thermal_load");
  return load;
}

template<class Exec>
void VoxelBody<Exec>::add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                                         const Vector& force) const {
  ossatura::add_thermal_forces(exec, problem_.grid, problem_.lame, problem_.edge, load, force);
}

template<class Exec>
void VoxelBody<Exec>::add_thermal_work(const Exec& exec, double weight,
                                       const ThermalLoad<Exec>& load, const Vector& u,
                                       const Vector& work) const {
  ossatura::add_thermal_work(exec, problem_.grid, problem_.lame, problem_.edge, load, weight, u,
                             work);
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
LargestValues VoxelBody<Exec>::largest_values(const Exec& exec, const SimpLaw& law,
                                              const Vector& density, const Vector& u) const {
  const VoxelMeanStrains<Exec> strains{problem_.grid, problem_.lame, problem_.edge};
  return {largest_displacement(exec, strains, density, u),
          largest_solid_stress(exec, strains, law, density, u)};
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
