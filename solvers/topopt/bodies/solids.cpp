// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/solids.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/solids/body_loads.hpp>
#include <ossatura/kernels/topopt/largest_values.hpp>
#include <ossatura/solvers/topopt/filters/listed_cone.hpp>
#include <ossatura/solvers/topopt/materials.hpp>

namespace ossatura {

namespace {

const SolidMesh& require_solids(const DesignProblem& problem, const DesignOptions& options) {
  OSSATURA_REQUIRE(problem.solids != nullptr, "a body without solid elements");
  const std::string unknown = describe_unknown_to_solids(options);
  OSSATURA_REQUIRE(unknown.empty(), unknown);
  return *problem.solids;
}

SolidSolverOptions solid_solver_options(const DesignOptions& options) {
  return {options.solver.precision, options.solver.cg, options.solver.aggregation};
}

} // namespace

std::string describe_unknown_to_solids(const DesignOptions& options) {
  const HexaSolverOptions& solver = options.solver;
  const HexaSolverOptions defaults;
  const std::string on = " on a mesh with tetrahedra, prisms or second-order elements";
  if (options.grid == DesignGrid::voxels)
    return "the grid voxels is of equal cubes: take the grid mesh" + on;
  if (solver.kind != HexaOperatorKind::automatic && solver.kind != HexaOperatorKind::bsr)
    return std::string("the operator ") + name_of(solver.kind) + " is not known" + on +
           ": take auto or bsr";
  if (solver.preconditioner != HexaPreconditioner::amg)
    return std::string("the preconditioner ") + name_of(solver.preconditioner) + " is not known" +
           on + ": take amg";
  if (solver.chebyshev_degree != defaults.chebyshev_degree)
    return "the degree of the polynomial has no effect" + on +
           ", whose preconditioner is amg: "
           "leave it out";
  if (solver.forming_cost != defaults.forming_cost)
    return "the cost of forming has no effect" + on +
           ", where coarse levels are formed in each "
           "step: leave it out";
  if (options.filter == DesignFilter::helmholtz)
    return "the Helmholtz filter is not known" + on + ": take the filter density";
  return {};
}

template<class Exec>
SolidBody<Exec>::SolidBody(const Exec& exec, const DesignProblem& problem,
                           const DesignOptions& options)
    : MeshOrderBody<Exec, SolidSolver<Exec>, SolidGeometry<Exec>>(
          exec,
          [&](const SolidArrays<Exec>& arrays) {
            return measure_solids(exec, *problem.solids, arrays);
          },
          require_solids(problem, options), problem.poisson, problem.held,
          solid_solver_options(options)) {
  if (!problem.rigid.empty())
    this->solver_.set_rigid(exec, problem.rigid, problem.points());
  if (problem.has_body_loads())
    moment_ = make_shape_moments(exec, *problem.solids, this->solver_.arrays());
}

template<class Exec>
DesignEngineInfo SolidBody<Exec>::engine() const {
  const SolidSolver<Exec>& solver = this->solver_;
  return {std::string(name_of(HexaOperatorKind::bsr)),
          "the matrix of other elements than hexahedra of eight nodes is assembled",
          solver.cost(),
          true,
          solver.describe(),
          solver.num_formings()};
}

template<class Exec>
void SolidBody<Exec>::add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                                      const Vector& force) const {
  ossatura::add_body_forces(exec, this->solver_.arrays(), moment_, load, mass, force);
}

template<class Exec>
void SolidBody<Exec>::add_body_work(const Exec& exec, double weight, const BodyLoad& load,
                                    const Vector& u, const Vector& work) const {
  ossatura::add_body_work(exec, this->solver_.arrays(), moment_, load, weight, u, work);
}

template<class Exec>
ThermalLoad<Exec> SolidBody<Exec>::thermal_load(const Exec& exec, const DesignProblem& problem,
                                                const std::vector<double>& warming) const {
  const auto load = make_thermal_load(
      exec, *problem.solids, this->solver_.arrays(), this->solver_.lame(),
      this->upload_elements(exec, expansions(problem)), this->upload_nodes(exec, warming));
  fence(exec, "ossatura::design::thermal_load"); // the uploads go
  return load;
}

template<class Exec>
void SolidBody<Exec>::von_mises(const Exec& exec, const Vector& u, const Vector& stress) const {
  solid_von_mises(exec, this->solver_.arrays(), this->solver_.lame(), this->modulus_, u, stress);
}

template<class Exec>
void SolidBody<Exec>::solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                                   const Vector& stress) const {
  const SolidSolver<Exec>& solver = this->solver_;
  fill_solid_stress(exec, SolidMeanStrains<Exec>{solver.arrays(), solver.lame()}, law, u, stress);
}

template<class Exec>
LargestValues SolidBody<Exec>::largest_values(const Exec& exec, const SimpLaw& law,
                                              const Vector& density, const Vector& u) const {
  const SolidSolver<Exec>& solver = this->solver_;
  const SolidMeanStrains<Exec> strains{solver.arrays(), solver.lame()};
  return {largest_displacement(exec, strains, density, u),
          largest_solid_stress(exec, strains, law, density, u)};
}

template<class Exec>
void SolidBody<Exec>::add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                                        const Vector& u, const Vector& force) const {
  const SolidSolver<Exec>& solver = this->solver_;
  ossatura::add_stress_forces(exec, SolidMeanStrains<Exec>{solver.arrays(), solver.lame()}, law,
                              factor, u, force);
}

template<class Exec>
std::unique_ptr<ElementFilter<Exec>>
SolidBody<Exec>::make_filter(const Exec& exec, DesignFilter kind, double radius,
                             const MirrorPlanes& mirrors) const {
  if (kind == DesignFilter::helmholtz)
    fail<std::invalid_argument>("the Helmholtz filter is of hexahedra: take the filter density");
  return std::make_unique<ListedConeFilter<Exec>>(exec, this->geometry_.centroid,
                                                  this->geometry_.volume, radius, mirrors);
}

#define OSSATURA_INSTANTIATE(Exec) template class SolidBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
