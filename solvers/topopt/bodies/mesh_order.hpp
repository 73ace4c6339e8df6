// SPDX-License-Identifier: Apache-2.0
// A MeshOrderBody is a body whose solver and sizes of elements keep nodes and elements in the order
// of its mesh.
#pragma once

#include <ossatura/kernels/algebra/many_vectors.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/solids/fields.hpp>
#include <ossatura/kernels/solids/mass.hpp>
#include <ossatura/kernels/solids/thermal_load.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>
#include <ossatura/solvers/topopt/process/listed.hpp>

#include <vector>

namespace ossatura {

template<class Exec>
class ListedMass final : public MassMatrix<Exec> {
public:
  using Vector = Array<double, Exec>;

  explicit ListedMass(ElementMasses<Exec> masses)
      : masses_(std::move(masses)) {}

  void apply(const Exec& exec, const Vector& mass, int count, const Vector& x,
             const Vector& y) const override {
    const std::int64_t n = 3 * std::int64_t(masses_.num_nodes);
    const ManyVectors<Exec> from{x, n}, to{y, n};
    for (int j = 0; j < count; ++j)
      apply_mass(exec, masses_, mass, from.row(j), to.row(j));
  }
  void add_energies(const Exec& exec, double weight, const Vector& u,
                    const Vector& energy) const override {
    add_mass_energies(exec, masses_, weight, u, energy);
  }

private:
  ElementMasses<Exec> masses_;
};

/// `Solver` has the words of HexaSolver, `Geometry` those of HexaGeometry.
template<class Exec, class Solver, class Geometry>
class MeshOrderBody : public DesignBody<Exec> {
public:
  using Vector = Array<double, Exec>;

  const Solver& solver() const { return solver_; }

  std::int64_t num_nodes() const override { return solver_.arrays().num_nodes; }
  ElementVolumes<Exec> volume() const override { return {geometry_.volume, {}, 0}; }
  double mean_edge() const override { return geometry_.mean_edge; }
  const Constraints<Exec>& held() const override { return solver_.held(); }
  void set_springs(const Exec& exec, const Vector& spring) override {
    solver_.set_springs(exec, spring);
  }
  void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) override {
    fill_modulus(exec, law, density, modulus_);
  }
  void prepare(const Exec& exec) override { solver_.set_modulus(exec, modulus_); }
  void set_tolerance(double tolerance) override { solver_.set_tolerance(tolerance); }
  SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) override {
    return solver_.solve(exec, f.vector, u, this->observer_);
  }
  Vector spare(const Exec&) const override { return spare_; }
  void apply(const Exec& exec, const Vector& u, const Vector& y) const override {
    solver_.apply(exec, u, y);
  }
  void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                    const Vector& energy) const override {
    ossatura::add_energies(exec, solver_.arrays(), solver_.lame(), weight, u, v, energy);
  }
  std::unique_ptr<MassMatrix<Exec>> make_mass(const Exec& exec,
                                              const DesignProblem& problem) const override {
    return std::make_unique<ListedMass<Exec>>(problem.solids
                                                  ? make_element_masses(exec, *problem.solids)
                                                  : make_element_masses(exec, problem.mesh));
  }
  void precondition(const Exec& exec, const Vector& r, const Vector& z) const override {
    solver_.precondition(exec, r, z);
  }
  void make_admissible(const Exec& exec, const Vector& u) const override {
    solver_.make_admissible(exec, u);
  }
  void add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                          const Vector& force) const override {
    ossatura::add_thermal_forces(exec, solver_.arrays(), load, modulus_, force);
  }
  void add_thermal_work(const Exec& exec, double weight, const ThermalLoad<Exec>& load,
                        const Vector& u, const Vector& work) const override {
    ossatura::add_thermal_work(exec, solver_.arrays(), load, weight, u, work);
  }
  void energy_density(const Exec& exec, const Vector& energy) const override {
    ossatura::energy_density(exec, modulus_, geometry_.volume, energy);
  }

  Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const override {
    return upload(exec, "ossatura::design::by_node", values);
  }
  Array<int, Exec> place_nodes(const Exec& exec,
                               const std::vector<std::int32_t>& nodes) const override {
    return upload(exec, "ossatura::design::nodes", nodes);
  }
  std::vector<double> download_nodes(const Exec& exec, const Vector& values) const override {
    return download(exec, values);
  }
  Vector upload_elements(const Exec& exec, const std::vector<double>& values) const override {
    return upload(exec, "ossatura::design::by_element", values);
  }
  std::vector<double> download_elements(const Exec& exec, const Vector& values) const override {
    return download(exec, values);
  }
  void copy_nodes(const Exec& exec, const Vector& values, const Vector& result) const override {
    copy_elements(exec, values, result);
  }
  void copy_elements(const Exec& exec, const Vector& values, const Vector& result) const override {
    Kokkos::deep_copy(exec, result, values);
    fence(exec, "ossatura::design::copy");
  }
  Array<std::uint8_t, Exec> upload_roles(const Exec& exec,
                                         const std::vector<std::uint8_t>& role) const override {
    return upload(exec, "ossatura::design::role", role);
  }
  std::unique_ptr<ElementProcess<Exec>>
  make_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
               const Array<std::uint8_t, Exec>& role) const override {
    return make_listed_process(exec, problem, process, geometry_.volume, role);
  }

protected:
  /// The solver is made of exec and `arguments`, its sizes by measure(arrays).
  template<class Measure, class... Arguments>
  explicit MeshOrderBody(const Exec& exec, const Measure& measure, const Arguments&... arguments)
      : solver_(exec, arguments...)
      , geometry_(measure(solver_.arrays()))
      , spare_(make_zeros<double>(exec, 3 * std::int64_t(solver_.arrays().num_nodes),
                                  "ossatura::design::product"))
      , modulus_(make_zeros<double>(exec, solver_.arrays().num_elem, "ossatura::design::modulus")) {
  }

  Solver solver_;
  Geometry geometry_;
  Vector spare_;   ///< [num_nodes, 3]
  Vector modulus_; ///< [num_elem]
};

} // namespace ossatura
