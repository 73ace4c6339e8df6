// SPDX-License-Identifier: Apache-2.0
// VoxelElements are what bodies of equal cubes have alike, whether one process solves for them
// (voxels.hpp) or several (cut_voxels.hpp): the elements, which each process has all of, with their
// filters, their processes and the order of the problem. An element is at the place of its lowest
// corner in a grid of voxels, and places without an element have no volume.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/solvers/bone/solver.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

namespace ossatura {

template<class Exec>
class VoxelElements : public DesignBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  ElementVolumes<Exec> volume() const override {
    return {{}, problem_.lame.mu_value, problem_.edge * problem_.edge * problem_.edge};
  }
  double mean_edge() const override { return problem_.edge; }
  DesignEngineInfo engine() const override;
  bool solves_in_place() const override { return true; }
  double modulus_rounding() const override { return 6e-8; } // 2^-24, single precision
  void set_springs(const Exec& exec, const Vector& spring) override;
  void prepare(const Exec& exec) override { solver_->renew(exec); }
  void set_tolerance(double tolerance) override { solver_->set_tolerance(tolerance); }
  Vector spare(const Exec&) const override { return solver_->spare(); }
  void apply(const Exec& exec, const Vector& u, const Vector& y) const override {
    solver_->apply(exec, u, y);
  }
  /// Von Mises stress in Pa at the centres of elements, 0 at places without one. Does not fence.
  virtual void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const = 0;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec&) const override { return {}; } // all is made anew
  void set_state(const Exec&, const HexaPreconditionerState&) override {}
  Vector upload_elements(const Exec& exec, const std::vector<double>& values) const override;
  std::vector<double> download_elements(const Exec& exec, const Vector& values) const override;
  Array<std::uint8_t, Exec> upload_roles(const Exec& exec,
                                         const std::vector<std::uint8_t>& role) const override;
  std::unique_ptr<ElementProcess<Exec>>
  make_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
               const Array<std::uint8_t, Exec>& role) const override;

protected:
  /// Makes the grid, with its image, and what is held. Throws std::invalid_argument for a mesh that
  /// is no lattice of cubes (find_cube_lattice), a lattice of other cells, bad material and
  /// supports out of range. Fences.
  VoxelElements(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  /// Values of nodes from the order of the problem to that of the grid and back, and the numbers
  /// that nodes have in the grid. Fence.
  Vector place_node_values(const Exec& exec, int components,
                           const std::vector<double>& values) const;
  std::vector<double> take_node_values(const Exec& exec, int components,
                                       const Vector& values) const;
  Array<int, Exec> find_places(const Exec& exec, const std::vector<std::int32_t>& nodes) const;

  /// Where the grid's corner is, m.
  const std::array<double, 3>& origin() const { return origin_; }

  VoxelProblem<Exec> problem_; ///< Pa and m in the place of MPa and mm
  VoxelSolverOptions options_;
  std::unique_ptr<VoxelSolver<Exec>> solver_; ///< made by the body

private:
  /// Make grid and material, and return the held components of nodes.
  Array<std::uint8_t, Exec> place_mesh(const Exec& exec, const DesignProblem& problem);
  Array<std::uint8_t, Exec> place_lattice(const Exec& exec, const DesignProblem& problem);
  template<class T>
  Array<T, Exec> place_elements(const Exec& exec, const std::vector<T>& values, T elsewhere) const;

  std::array<double, 3> origin_{};             ///< of the lattice, m
  std::shared_ptr<const LatticeBody> lattice_; ///< whose order the host has; null: that of a mesh
  std::vector<std::int32_t> node_place_, elem_place_; ///< by the order of the mesh, if there is one
};

} // namespace ossatura
