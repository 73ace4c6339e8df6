// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/hexa.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/body_loads.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/solvers/topopt/filters/helmholtz.hpp>

#include <algorithm>
#include <stdexcept>

namespace ossatura {

namespace {

SolveResult nothing_to_solve() {
  SolveResult result;
  result.converged = true;
  return result;
}

template<class Exec>
class ListedConeFilter final : public ElementFilter<Exec> {
public:
  using Vector = Array<double, Exec>;

  ListedConeFilter(const Exec& exec, const HexaGeometry<Exec>& geometry, double radius,
                   const MirrorPlanes& mirrors)
      : filter_(make_cone_filter(exec, geometry.centroid, geometry.volume, radius, mirrors)) {}

  bool reaches_neighbours() const override {
    return std::int64_t(filter_.column.extent(0)) != filter_.num_elem;
  }
  SolveResult apply(const Exec& exec, const Vector& x, const Vector& y) const override {
    apply_cone_filter(exec, filter_, x, y);
    return nothing_to_solve();
  }
  SolveResult apply_transposed(const Exec& exec, const Vector& gradient,
                               const Vector& result) const override {
    apply_cone_filter_transposed(exec, filter_, gradient, result);
    return nothing_to_solve();
  }
  void filter_sensitivities(const Exec& exec, const Vector& density, const Vector& gradient,
                            const Vector& result) const override {
    ossatura::filter_sensitivities(exec, filter_, density, gradient, result);
  }

private:
  ConeFilter<Exec> filter_;
};

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
    : solver_(exec, problem.mesh, problem.poisson, problem.held, options.solver, ratios_of(problem))
    , geometry_(measure_hexas(exec, solver_.arrays()))
    , spare_(make_zeros<double>(exec, 3 * num_nodes(), "ossatura::design::product"))
    , modulus_(make_zeros<double>(exec, std::int64_t(problem.num_elem()),
                                  "ossatura::design::modulus")) {}

template<class Exec>
DesignEngineInfo HexaBody<Exec>::engine() const {
  return {std::string(name_of(solver_.kind())), solver_.reason(),   solver_.cost(),
          solver_.is_deterministic(),           solver_.describe(), solver_.num_formings()};
}

template<class Exec>
void HexaBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                                  const Vector& energy) const {
  ossatura::add_energies(exec, solver_.arrays(), solver_.lame(), weight, u, v, energy,
                         solver_.ratios());
}

template<class Exec>
void HexaBody<Exec>::add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                                     const Vector& force) const {
  ossatura::add_body_forces(exec, solver_.arrays(), load, mass, force);
}

template<class Exec>
void HexaBody<Exec>::add_body_work(const Exec& exec, double weight, const BodyLoad& load,
                                   const Vector& u, const Vector& work) const {
  ossatura::add_body_work(exec, solver_.arrays(), load, weight, u, work);
}

template<class Exec>
void HexaBody<Exec>::energy_density(const Exec& exec, const Vector& energy) const {
  ossatura::energy_density(exec, modulus_, geometry_.volume, energy);
}

template<class Exec>
std::unique_ptr<ElementFilter<Exec>>
HexaBody<Exec>::make_filter(const Exec& exec, DesignFilter kind, double radius,
                            const MirrorPlanes& mirrors) const {
  if (kind == DesignFilter::helmholtz)
    return std::make_unique<EquationFilter<Exec>>(exec, solver_.arrays(), radius,
                                                  geometry_.mean_edge);
  return std::make_unique<ListedConeFilter<Exec>>(exec, geometry_, radius, mirrors);
}

template<class Exec>
Array<double, Exec> HexaBody<Exec>::upload_nodes(const Exec& exec,
                                                 const std::vector<double>& values) const {
  return upload(exec, "ossatura::design::by_node", values);
}

template<class Exec>
Array<int, Exec> HexaBody<Exec>::place_nodes(const Exec& exec,
                                             const std::vector<std::int32_t>& nodes) const {
  return upload(exec, "ossatura::design::nodes", nodes);
}

template<class Exec>
DesignForce<Exec> HexaBody<Exec>::place_forces(const Exec& exec,
                                               const std::vector<NodeForce>& forces) const {
  std::vector<double> sum(3 * std::size_t(num_nodes()));
  for (const NodeForce& one : forces)
    std::copy(one.force, one.force + 3, sum.begin() + 3 * std::ptrdiff_t(one.node));
  DesignForce<Exec> force{upload(exec, "ossatura::design::by_node", sum), {}};
  clear(exec, held(), force.vector);
  return force;
}

template<class Exec>
std::vector<double> HexaBody<Exec>::download_nodes(const Exec& exec, const Vector& values) const {
  return download(exec, values);
}

template<class Exec>
Array<double, Exec> HexaBody<Exec>::upload_elements(const Exec& exec,
                                                    const std::vector<double>& values) const {
  return upload(exec, "ossatura::design::by_element", values);
}

template<class Exec>
std::vector<double> HexaBody<Exec>::download_elements(const Exec& exec,
                                                      const Vector& values) const {
  return download(exec, values);
}

template<class Exec>
Array<std::uint8_t, Exec>
HexaBody<Exec>::upload_roles(const Exec& exec, const std::vector<std::uint8_t>& role) const {
  return upload(exec, "ossatura::design::role", role);
}

#define OSSATURA_INSTANTIATE(Exec) template class HexaBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
