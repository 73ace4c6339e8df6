// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/hexa.hpp>

#include <ossatura/kernels/topopt/body_loads/hexa_load.hpp>
#include <ossatura/kernels/topopt/largest_values.hpp>
#include <ossatura/solvers/topopt/filters/helmholtz.hpp>
#include <ossatura/solvers/topopt/filters/listed_cone.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

#include <algorithm>
#include <stdexcept>

namespace ossatura {

namespace {

/// None where all materials have the same.
ElementRatios ratios_of(const DesignProblem& problem) {
  ElementRatios ratios;
  std::vector<std::uint8_t> number; // by material
  for (const HexaMaterial& one : problem.materials) {
    const auto found = std::find(ratios.poisson.begin(), ratios.poisson.end(), one.poisson);
    number.push_back(std::uint8_t(found - ratios.poisson.begin()));
    if (found == ratios.poisson.end())
      ratios.poisson.push_back(one.poisson);
  }
  if (ratios.poisson.size() < 2)
    return {};
  for (const std::uint8_t material : problem.material) {
    OSSATURA_REQUIRE(material < number.size(),
                     "material " << int(material) << " of " << number.size() << " for an element");
    ratios.of_elem.push_back(number[material]);
  }
  return ratios;
}

template<class Exec>
class EquationFilter final : public ElementFilter<Exec> {
public:
  using Vector = Array<double, Exec>;

  EquationFilter(const Exec& exec, const HexaArrays<Exec>& arrays, double radius, double mean_edge)
      : filter_(exec, arrays, radius)
      , reaches_(radius >= mean_edge) {}

  bool reaches_neighbours() const override { return reaches_; }
  SolveResult apply(const Exec& exec, const Vector& x, const Vector& y) const override {
    return filter_.apply(exec, x, y);
  }
  SolveResult apply_transposed(const Exec& exec, const Vector& gradient,
                               const Vector& result) const override {
    return filter_.apply_transposed(exec, gradient, result);
  }
  void filter_sensitivities(const Exec&, const Vector&, const Vector&,
                            const Vector&) const override {
    throw std::logic_error("the Helmholtz filter is of densities");
  }

private:
  HelmholtzFilter<Exec> filter_;
  bool reaches_;
};

} // namespace

template<class Exec>
HexaBody<Exec>::HexaBody(const Exec& exec, const DesignProblem& problem,
                         const DesignOptions& options)
    : MeshOrderBody<Exec, HexaSolver<Exec>, HexaGeometry<Exec>>(
          exec, [&](const HexaArrays<Exec>& arrays) { return measure_hexas(exec, arrays); },
          problem.mesh, problem.poisson, problem.held, options.solver, ratios_of(problem)) {
  if (!problem.rigid.empty())
    this->solver_.set_rigid(exec, problem.rigid, problem.points());
}

template<class Exec>
DesignEngineInfo HexaBody<Exec>::engine() const {
  const HexaSolver<Exec>& solver = this->solver_;
  return {std::string(name_of(solver.kind())), solver.reason(),   solver.cost(),
          solver.is_deterministic(),           solver.describe(), solver.num_formings()};
}

template<class Exec>
void HexaBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                                  const Vector& energy) const {
  const HexaSolver<Exec>& solver = this->solver_;
  ossatura::add_energies(exec, solver.arrays(), solver.lame(), weight, u, v, energy,
                         solver.ratios());
}

template<class Exec>
void HexaBody<Exec>::add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                                     const Vector& force) const {
  ossatura::add_body_forces(exec, this->solver_.arrays(), load, mass, force);
}

template<class Exec>
void HexaBody<Exec>::add_body_work(const Exec& exec, double weight, const BodyLoad& load,
                                   const Vector& u, const Vector& work) const {
  ossatura::add_body_work(exec, this->solver_.arrays(), load, weight, u, work);
}

template<class Exec>
ThermalLoad<Exec> HexaBody<Exec>::thermal_load(const Exec& exec, const DesignProblem& problem,
                                               const std::vector<double>& warming) const {
  const HexaSolver<Exec>& solver = this->solver_;
  const auto load = make_thermal_load(exec, solver.arrays(), solver.lame(), solver.ratios(),
                                      this->upload_elements(exec, expansions(problem)),
                                      this->upload_nodes(exec, warming));
  fence(exec, "ossatura::design::thermal_load"); // the uploads go
  return load;
}

template<class Exec>
void HexaBody<Exec>::solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                                  const Vector& stress) const {
  const HexaSolver<Exec>& solver = this->solver_;
  fill_solid_stress(exec, HexaMeanStrains<Exec>{solver.arrays(), solver.lame(), solver.ratios()},
                    law, u, stress);
}

template<class Exec>
LargestValues HexaBody<Exec>::largest_values(const Exec& exec, const SimpLaw& law,
                                             const Vector& density, const Vector& u) const {
  const HexaSolver<Exec>& solver = this->solver_;
  const HexaMeanStrains<Exec> strains{solver.arrays(), solver.lame(), solver.ratios()};
  return {largest_displacement(exec, strains, density, u),
          largest_solid_stress(exec, strains, law, density, u)};
}

template<class Exec>
void HexaBody<Exec>::add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                                       const Vector& u, const Vector& force) const {
  const HexaSolver<Exec>& solver = this->solver_;
  ossatura::add_stress_forces(
      exec, HexaMeanStrains<Exec>{solver.arrays(), solver.lame(), solver.ratios()}, law, factor, u,
      force);
}

template<class Exec>
std::unique_ptr<ElementFilter<Exec>>
HexaBody<Exec>::make_filter(const Exec& exec, DesignFilter kind, double radius,
                            const MirrorPlanes& mirrors) const {
  const HexaGeometry<Exec>& geometry = this->geometry_;
  if (kind == DesignFilter::helmholtz)
    return std::make_unique<EquationFilter<Exec>>(exec, this->solver_.arrays(), radius,
                                                  geometry.mean_edge);
  return std::make_unique<ListedConeFilter<Exec>>(exec, geometry.centroid, geometry.volume, radius,
                                                  mirrors);
}

#define OSSATURA_INSTANTIATE(Exec) template class HexaBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
