// SPDX-License-Identifier: Apache-2.0
// HexaBody is the body of a mesh of hexahedra of any shape, in the order of the mesh.
#pragma once

#include <ossatura/kernels/hexa/geometry.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>

namespace ossatura {

template<class Exec>
class HexaBody final : public DesignBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  HexaBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  const HexaSolver<Exec>& solver() const { return solver_; }

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
  bool has_mass() const override { return true; }
  bool has_ratios() const override { return true; }
  void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                       const Vector& force) const override;
  void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                     const Vector& work) const override;
  void energy_density(const Exec& exec, const Vector& energy) const override;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec& exec) const override { return solver_.state(exec); }
  void set_state(const Exec& exec, const HexaPreconditionerState& state) override {
    solver_.set_state(exec, state);
  }
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

private:
  HexaSolver<Exec> solver_;
  HexaGeometry<Exec> geometry_;
  Vector spare_;   ///< [num_nodes, 3]
  Vector modulus_; ///< [num_elem]
};

} // namespace ossatura
