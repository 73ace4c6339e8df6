// SPDX-License-Identifier: Apache-2.0
// HexaBody is the body of a mesh of hexahedra of any shape, in the order of the mesh.
#pragma once

#include <ossatura/kernels/hexa/geometry.hpp>
#include <ossatura/solvers/topopt/bodies/mesh_order.hpp>

namespace ossatura {

template<class Exec>
class HexaBody final : public MeshOrderBody<Exec, HexaSolver<Exec>, HexaGeometry<Exec>> {
public:
  using Vector = Array<double, Exec>;

  HexaBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  DesignEngineInfo engine() const override;
  void solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                    const Vector& stress) const override;
  LargestValues largest_values(const Exec& exec, const SimpLaw& law, const Vector& density,
                               const Vector& u) const override;
  void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                         const Vector& u, const Vector& force) const override;
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override;
  bool has_ratios() const override { return true; }
  void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                       const Vector& force) const override;
  void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                     const Vector& work) const override;
  ThermalLoad<Exec> thermal_load(const Exec& exec, const DesignProblem& problem,
                                 const std::vector<double>& warming) const override;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec& exec) const override {
    return this->solver_.state(exec);
  }
  void set_state(const Exec& exec, const HexaPreconditionerState& state) override {
    this->solver_.set_state(exec, state);
  }
};

} // namespace ossatura
