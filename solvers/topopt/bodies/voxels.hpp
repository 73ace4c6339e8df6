// SPDX-License-Identifier: Apache-2.0
// VoxelBody is the body of a mesh of equal cubes, solved by the multigrid of voxels
// (solvers/bone/solver.hpp): no matrix, no list of nodes or neighbours, and moduli that change in
// place. Nodes are in the order of the grid of voxels.
#pragma once

#include <ossatura/solvers/topopt/bodies/voxel_elements.hpp>

namespace ossatura {

template<class Exec>
class VoxelBody final : public VoxelElements<Exec> {
public:
  using Vector = Array<double, Exec>;

  /// Throws std::invalid_argument as VoxelElements does. Fences.
  VoxelBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  std::int64_t num_nodes() const override { return problem_.grid.num_nodes; }
  const Constraints<Exec>& held() const override { return problem_.held; }
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) override;
  SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) override;
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override;
  void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                       const Vector& force) const override;
  void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                     const Vector& work) const override;
  std::unique_ptr<MassMatrix<Exec>> make_mass(const Exec& exec,
                                              const DesignProblem& problem) const override;
  void precondition(const Exec& exec, const Vector& r, const Vector& z) const override;
  void make_admissible(const Exec& exec, const Vector& u) const override;
  ThermalLoad<Exec> thermal_load(const Exec& exec, const DesignProblem& problem,
                                 const std::vector<double>& warming) const override;
  void add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                          const Vector& force) const override;
  void add_thermal_work(const Exec& exec, double weight, const ThermalLoad<Exec>& load,
                        const Vector& u, const Vector& work) const override;
  void energy_density(const Exec& exec, const Vector& energy) const override;
  void solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                    const Vector& stress) const override;
  LargestValues largest_values(const Exec& exec, const SimpLaw& law, const Vector& density,
                               const Vector& u) const override;
  void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                         const Vector& u, const Vector& force) const override;
  void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const override;
  Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const override {
    return this->place_node_values(exec, 3, values);
  }
  Array<int, Exec> place_nodes(const Exec& exec,
                               const std::vector<std::int32_t>& nodes) const override {
    return this->find_places(exec, nodes);
  }
  DesignForce<Exec> place_forces(const Exec& exec,
                                 const std::vector<NodeForce>& forces) const override;
  std::vector<double> download_nodes(const Exec& exec, const Vector& values) const override {
    return this->take_node_values(exec, 3, values);
  }

private:
  using VoxelElements<Exec>::problem_;
};

} // namespace ossatura
