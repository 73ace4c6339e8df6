// SPDX-License-Identifier: Apache-2.0
// VoxelBody is the body of a mesh of equal cubes, solved by the multigrid of voxels
// (solvers/bone/solver.hpp): no matrix, no list of nodes or neighbours, and moduli that change in
// place. Nodes are in the order of the grid of voxels; an element is at the place of its lowest
// corner, and places without an element have no volume.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

namespace ossatura {

template<class Exec>
class VoxelBody final : public DesignBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  /// Throws std::invalid_argument for a mesh that is no lattice of cubes (find_cube_lattice), a
  /// lattice of other cells, bad material and supports out of range. Fences.
  VoxelBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  std::int64_t num_nodes() const override { return problem_.grid.num_nodes; }
  ElementVolumes<Exec> volume() const override {
    return {{}, problem_.lame.mu_value, problem_.edge * problem_.edge * problem_.edge};
  }
  double mean_edge() const override { return problem_.edge; }
  const Constraints<Exec>& held() const override { return problem_.held; }
  DesignEngineInfo engine() const override;
  bool solves_in_place() const override { return true; }
  double modulus_rounding() const override { return 6e-8; } // 2^-24, single precision
  bool takes_displacements() const override { return false; }
  void set_springs(const Exec& exec, const Vector& spring) override;
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) override;
  void prepare(const Exec& exec) override { solver_->renew(exec); }
  SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) override;
  Vector spare(const Exec&) const override { return solver_->spare(); }
  void apply(const Exec& exec, const Vector& u, const Vector& y) const override;
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override;
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
  void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                         const Vector& u, const Vector& force) const override;
  /// Von Mises stress in Pa at the centres of elements, 0 at places without one. Does not fence.
  void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec&) const override { return {}; } // all is made anew
  void set_state(const Exec&, const HexaPreconditionerState&) override {}
  Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const override;
  Array<int, Exec> place_nodes(const Exec& exec,
                               const std::vector<std::int32_t>& nodes) const override;
  DesignForce<Exec> place_forces(const Exec& exec,
                                 const std::vector<NodeForce>& forces) const override;
  std::vector<double> download_nodes(const Exec& exec, const Vector& values) const override;
  Vector upload_elements(const Exec& exec, const std::vector<double>& values) const override;
  std::vector<double> download_elements(const Exec& exec, const Vector& values) const override;
  Array<std::uint8_t, Exec> upload_roles(const Exec& exec,
                                         const std::vector<std::uint8_t>& role) const override;
  std::unique_ptr<ElementProcess<Exec>>
  make_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
               const Array<std::uint8_t, Exec>& role) const override;

private:
  /// Make grid and material, and return the held components of nodes.
  Array<std::uint8_t, Exec> place_mesh(const Exec& exec, const DesignProblem& problem);
  Array<std::uint8_t, Exec> place_lattice(const Exec& exec, const DesignProblem& problem);
  /// [num_nodes, components] in the order of the grid.
  Vector place_nodal(const Exec& exec, const std::vector<double>& values, int components) const;
  template<class T>
  Array<T, Exec> place_elements(const Exec& exec, const std::vector<T>& values, T elsewhere) const;

  VoxelProblem<Exec> problem_; ///< Pa and m in the place of MPa and mm
  VoxelSolverOptions options_;
  std::array<double, 3> origin_{};             ///< of the lattice, m
  std::shared_ptr<const LatticeBody> lattice_; ///< whose order the host has; null: that of a mesh
  std::vector<std::int32_t> node_place_, elem_place_; ///< by the order of the mesh, if there is one
  std::unique_ptr<VoxelSolver<Exec>> solver_;
};

} // namespace ossatura
