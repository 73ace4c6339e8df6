// SPDX-License-Identifier: Apache-2.0
// SolidBody is the body of a mesh of solid elements of any kinds, in the order of the mesh.
#pragma once

#include <ossatura/solvers/solids/solver.hpp>
#include <ossatura/solvers/topopt/bodies/mesh_order.hpp>

namespace ossatura {

template<class Exec>
class SolidBody final : public MeshOrderBody<Exec, SolidSolver<Exec>, SolidGeometry<Exec>> {
public:
  using Vector = Array<double, Exec>;

  /// Throws std::invalid_argument where the problem has no solids, for what SolidSolver refuses,
  /// and for options that its solver does not have (describe_unknown_to_solids). Fences.
  SolidBody(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);

  DesignEngineInfo engine() const override;
  void solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                    const Vector& stress) const override;
  LargestValues largest_values(const Exec& exec, const SimpLaw& law, const Vector& density,
                               const Vector& u) const override;
  void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                         const Vector& u, const Vector& force) const override;
  void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                       const Vector& force) const override;
  void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                     const Vector& work) const override;
  ThermalLoad<Exec> thermal_load(const Exec& exec, const DesignProblem& problem,
                                 const std::vector<double>& warming) const override;
  /// Von Mises stress in Pa of the mean stress of each element. Does not fence.
  void von_mises(const Exec& exec, const Vector& u, const Vector& stress) const;
  std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                   double radius,
                                                   const MirrorPlanes& mirrors) const override;
  HexaPreconditionerState state(const Exec&) const override { return {}; } // all is made anew
  void set_state(const Exec&, const HexaPreconditionerState&) override {}

private:
  Vector moment_; ///< of make_shape_moments, for problems with loads on mass; else empty
};

/// What of the options is unknown to the solver of solid elements, and what to take instead; empty
/// if nothing is.
std::string describe_unknown_to_solids(const DesignOptions& options);

} // namespace ossatura
