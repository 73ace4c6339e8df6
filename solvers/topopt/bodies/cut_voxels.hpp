// SPDX-License-Identifier: Apache-2.0
// CutVoxelBody is the body of equal cubes whose linear systems several processes solve together.
//
// The design is the same on all: each process has all elements and computes filters and updates
// for itself, which is little beside the solves, and needs no messages. Nodes are cut among them
// (solvers/bone/problem.hpp): a process has moduli, displacements and levels of what it sees.
// Results by element are found by the owner of the lowest corner and go to all. Sums over nodes go
// by groups, and operators have a fixed order of sums, so that the results have the same bits for
// any number of processes.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/groups.hpp>
#include <ossatura/kernels/image/grid_share.hpp>
#include <ossatura/solvers/topopt/bodies/voxel_elements.hpp>

namespace ossatura {

template<class Exec>
class CutVoxelBody final : public VoxelElements<Exec> {
public:
  using Vector = Array<double, Exec>;

  /// Called by all processes of options.ranks, with one problem. Throws std::invalid_argument as
  /// VoxelElements does, UsageError for cycles that need one process. Fences.
  CutVoxelBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  std::int64_t num_nodes() const override { return seen_.grid.num_nodes; }
  const Constraints<Exec>& held() const override { return seen_.held; }
  DesignEngineInfo engine() const override;
  bool lends_room() const override { return false; } // spare() is of the nodes seen alone
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) override;
  SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) override;
  double dot(const Exec& exec, const Vector& x, const Vector& y) const override {
    return sums_.dot(exec, x, y);
  }
  double dot(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) const override {
    return sums_.dot(exec, f.vector, u);
  }
  double square(const Exec& exec, const DesignForce<Exec>& f) const override {
    return sums_.dot(exec, f.vector, f.vector);
  }
  bool agree(const Exec& exec, const Vector& x) const override;
  void agree(std::vector<double>& numbers) const override {
    share_.communicator().broadcast(numbers);
  }
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override;
  void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                       const Vector& force) const override;
  void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                     const Vector& work) const override;
  ThermalLoad<Exec> thermal_load(const Exec& exec, const DesignProblem& problem,
                                 const std::vector<double>& warming) const override;
  void add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                          const Vector& force) const override;
  void add_thermal_work(const Exec& exec, double weight, const ThermalLoad<Exec>& load,
                        const Vector& u, const Vector& work) const override;
  // Frequencies are for one process: std::invalid_argument.
  std::unique_ptr<MassMatrix<Exec>> make_mass(const Exec&, const DesignProblem&) const override {
    refuse_frequencies();
  }
  void precondition(const Exec&, const Vector&, const Vector&) const override {
    refuse_frequencies();
  }
  void make_admissible(const Exec&, const Vector&) const override { refuse_frequencies(); }
  void energy_density(const Exec& exec, const Vector& energy) const override;
  void solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                    const Vector& stress) const override;
  LargestValues largest_values(const Exec& exec, const SimpLaw& law, const Vector& density,
                               const Vector& u) const override;
  void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                         const Vector& u, const Vector& force) const override;
  void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const override;
  Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const override;
  /// -1 where a node is not seen.
  Array<int, Exec> place_nodes(const Exec& exec,
                               const std::vector<std::int32_t>& nodes) const override {
    return share_.find(exec, this->find_places(exec, nodes));
  }
  std::vector<double> take_nodes(const Exec& exec, const std::vector<std::int32_t>& nodes,
                                 const Vector& values) const override;
  std::vector<double> download_nodes(const Exec& exec, const Vector& values) const override;

private:
  [[noreturn]] static void refuse_frequencies() {
    fail<std::invalid_argument>("frequencies of designs on voxels are for one process");
  }
  /// The law for the elements that this process sees.
  SimpLaw law_of_seen(const Exec& exec, const SimpLaw& law) const;

  VoxelProblem<Exec> seen_; ///< what this process sees; `problem_` has the grid of all elements
  GridShare<Exec> share_;
  GroupSums<Exec> sums_;
  Vector by_element_;       ///< [nodes seen] of the elements that are seen, for kernels
  mutable Vector relative_; ///< likewise, of SimpLaw::relative, once it is known
};

} // namespace ossatura
