// SPDX-License-Identifier: Apache-2.0
// SolidBody is the body of a mesh of solid elements of any kinds, in the order of the mesh.
#pragma once

#include <ossatura/solvers/solids/solver.hpp>
#include <ossatura/solvers/topopt/bodies/mesh_order.hpp>

namespace ossatura {

template<class Exec>
class SolidBody final : public MeshOrderBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  /// Throws std::invalid_argument where the problem has no solids, for what SolidSolver refuses,
  /// and for options that its solver does not have (describe_unknown_to_solids). Fences.
  SolidBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  const SolidSolver<Exec>& solver() const { return solver_; }

  std::int64_t num_nodes() const override { return solver_.arrays().num_nodes; }
  ElementVolumes<Exec> volume() const override { return {geometry_.volume, {}, 0}; }
  double mean_edge() const override { return geometry_.mean_edge; }
  const Constraints<Exec>& held() const override { return solver_.held(); }
  DesignEngineInfo engine() const override;
  void set_springs(const Exec& exec, const Vector& spring) override {
    solver_.set_springs(exec, spring);
  }
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) override {
    fill_modulus(exec, law, density, modulus_);
  }
  void prepare(const Exec& exec) override { solver_.set_modulus(exec, modulus_); }
  SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) override {
    return solver_.solve(exec, f.vector, u);
  }
  Vector spare(const Exec&) const override { return spare_; }
  void apply(const Exec& exec, const Vector& u, const Vector& y) const override {
    solver_.apply(exec, u, y);
  }
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override;
  void energy_density(const Exec& exec, const Vector& energy) const override;
  /// Von Mises stress in Pa of the mean stress of each element. Does not fence.
  void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec&) const override { return {}; } // all is made anew
  void set_state(const Exec&, const HexaPreconditionerState&) override {}

private:
  SolidSolver<Exec> solver_;
  SolidGeometry<Exec> geometry_;
  Vector spare_;   ///< [num_nodes, 3]
  Vector modulus_; ///< [num_elem]
};

/// What of the options is unknown to the solver of solid elements, and what to take instead; empty
/// if nothing is.
std::string describe_unknown_to_solids(const DesignOptions& options);

} // namespace ossatura
