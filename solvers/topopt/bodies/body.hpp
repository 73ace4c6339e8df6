// SPDX-License-Identifier: Apache-2.0
// A DesignBody is what an optimiser needs of a body of elements with a modulus for each: solves,
// energies and filters. hexa.hpp is of hexahedra of any shape, solids.hpp of meshes with other
// elements, voxels.hpp of cubes on a lattice.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/hexa/thermal_load.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>
#include <ossatura/kernels/topopt/element_volumes.hpp>
#include <ossatura/kernels/topopt/node_values.hpp>
#include <ossatura/kernels/topopt/simp.hpp>
#include <ossatura/solvers/hexa/solver.hpp>
#include <ossatura/solvers/topopt/bodies/force.hpp>
#include <ossatura/solvers/topopt/bodies/mass_matrix.hpp>
#include <ossatura/solvers/topopt/filters/element_filter.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>
#include <ossatura/solvers/topopt/process/element_process.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// How the linear systems of a body are solved.
struct DesignEngineInfo {
  std::string operator_name, reason; ///< how the matrix is applied, and why so
  OperatorCost cost;                 ///< of a product
  bool is_deterministic = false;     ///< bitwise repeatable solves
  std::string preconditioner;        ///< levels and sizes
  int num_formings = 0;              ///< of coarse levels so far
  std::optional<VoxelCutInfo> cut{}; ///< how processes divide it, where several do
};

/// Of one load case, where the density is above 0.5; both below 0 where it is so nowhere.
struct LargestValues {
  double displacement = -1; ///< m
  double stress = -1;       ///< Pa, von Mises, of the mean strain of elements as solid material
};

/// A body keeps nodes and elements in an order of its own. Vectors of the backend are in that
/// order: by node [num_nodes, 3], zero at held components, by element [num_elem], where places
/// without an element have no volume. Vectors of the host are in the order of the mesh or
/// lattice.
///
/// Of a body that processes divide (cut_voxels.hpp) each has all elements, and the nodes that it
/// sees: vectors by element are the same on all, those by node are of these nodes, and vectors of
/// the host have all. All processes call all functions then, with the same numbers.
template<class Exec>
class DesignBody {
public:
  using Vector = Array<double, Exec>;

  virtual ~DesignBody() = default;

  virtual std::int64_t num_nodes() const = 0; ///< of vectors
  std::int64_t num_dofs() const { return 3 * num_nodes(); }
  std::int64_t num_elem() const { return volume().size(); } ///< places of elements
  virtual ElementVolumes<Exec> volume() const = 0;          ///< m^3
  virtual double mean_edge() const = 0;                     ///< m
  virtual const Constraints<Exec>& held() const = 0;
  virtual DesignEngineInfo engine() const = 0;

  /// Whether there is one vector of displacements for each solve, for the sake of memory: a step
  /// that breaks down leaves zeros.
  virtual bool solves_in_place() const { return false; }
  /// Whether spare(), for the sake of memory, is room for vectors by element.
  virtual bool lends_room() const { return solves_in_place(); }
  /// The part by which moduli that are kept may be larger than those of the law, but for rounding
  /// in double precision.
  virtual double modulus_rounding() const { return 0; }
  /// As HexaSolver::set_springs. Throws std::invalid_argument where the body takes none.
  virtual void set_springs(const Exec& exec, const Vector& spring) = 0;
  /// Takes the moduli that the law has for densities. Fences.
  virtual void set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) = 0;
  /// Prepares solves for the moduli. Fences.
  virtual void prepare(const Exec& exec) = 0;
  /// Residuals relative to the forces that end solves from now on.
  virtual void set_tolerance(double tolerance) = 0;
  /// As HexaSolver::solve, f as place_forces gives it, or a vector that is zero at held components.
  /// Fences.
  virtual SolveResult solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) = 0;
  /// Is told of each iteration of solves from now on; what it throws ends them.
  void observe(IterationObserver observer) { observer_ = std::move(observer); }
  const IterationObserver& observer() const { return observer_; }
  /// A vector [num_nodes, 3] that lasts until the next solve or moduli, which overwrite it.
  virtual Vector spare(const Exec& exec) const = 0;
  /// y = A u, springs included, at all components. Does not fence.
  virtual void apply(const Exec& exec, const Vector& u, const Vector& y) const = 0;
  /// x . y of vectors [num_nodes, 3]. Fences.
  virtual double dot(const Exec& exec, const Vector& x, const Vector& y) const {
    return ossatura::dot(exec, x, y);
  }
  /// f . u and f . f. Fence.
  virtual double dot(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) const {
    return ossatura::dot(exec, f, u);
  }
  virtual double square(const Exec& exec, const DesignForce<Exec>& f) const {
    return ossatura::square(exec, f);
  }
  /// Of a body that processes divide, what each of them computed for itself becomes that of the
  /// first one where it differs, as by processors that round otherwise: processes that part would
  /// wait for each other. Returns whether x [num_elem] has changed here. Fence.
  virtual bool agree(const Exec&, const Vector& /*x*/) const { return false; }
  virtual void agree(std::vector<double>&) const {}
  /// energy(e) += weight u^T K_e v for a modulus of 1. Does not fence.
  virtual void add_energies(const Exec& exec, double weight, const Vector& u, const Vector& v,
                            const Vector& energy) const = 0;
  /// stress(e) = von Mises stress in Pa of the mean strain of element e, of solid material whatever
  /// its density, and 0 at places without an element. Does not fence.
  virtual void solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                            const Vector& stress) const = 0;
  /// The same on all processes. Fences.
  virtual LargestValues largest_values(const Exec& exec, const SimpLaw& law, const Vector& density,
                                       const Vector& u) const = 0;
  /// force [num_nodes, 3] += the sum of factor(e) times the derivative of that stress by u. Does
  /// not fence.
  virtual void add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                                 const Vector& u, const Vector& force) const = 0;
  /// Whether Poisson's ratios may differ from element to element.
  virtual bool has_ratios() const { return false; }
  /// force [num_nodes, 3] += the forces of a load on `mass` by element, kg / m^3. Does not fence.
  virtual void add_body_forces(const Exec& exec, const BodyLoad& load, const Vector& mass,
                               const Vector& force) const = 0;
  /// work(e) += weight times the work of the forces on element e for 1 kg / m^3. Does not fence.
  virtual void add_body_work(const Exec& exec, double weight, const BodyLoad& load, const Vector& u,
                             const Vector& work) const = 0;
  /// The mass matrix of the elements of the problem, which the body outlives. Fences.
  virtual std::unique_ptr<MassMatrix<Exec>> make_mass(const Exec& exec,
                                                      const DesignProblem& problem) const = 0;
  /// As those of HexaSolver.
  virtual void precondition(const Exec& exec, const Vector& r, const Vector& z) const = 0;
  virtual void make_admissible(const Exec& exec, const Vector& u) const = 0;
  /// Of nodes that are `warming` [num_nodes] warmer, in the order of the mesh. Throws
  /// std::invalid_argument as expansions(problem) does. Fences.
  virtual ThermalLoad<Exec> thermal_load(const Exec& exec, const DesignProblem& problem,
                                         const std::vector<double>& warming) const = 0;
  /// force [num_nodes, 3] += the forces of a load for the moduli. Does not fence.
  virtual void add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                                  const Vector& force) const = 0;
  /// work(e) += weight times the work of the forces on element e for a modulus of 1. Does not
  /// fence.
  virtual void add_thermal_work(const Exec& exec, double weight, const ThermalLoad<Exec>& load,
                                const Vector& u, const Vector& work) const = 0;
  /// Makes such energies densities, J / m^3, of the moduli. Does not fence.
  virtual void energy_density(const Exec& exec, const Vector& energy) const = 0;
  /// `kind` is not none. Throws std::invalid_argument for a filter that the body does not have.
  virtual std::unique_ptr<ElementFilter<Exec>> make_filter(const Exec& exec, DesignFilter kind,
                                                           double radius,
                                                           const MirrorPlanes& mirrors) const = 0;

  /// `process` asks for something; elements that have to be solid for it become so in `role`.
  /// Throws std::invalid_argument where the body does not fit. Fences.
  virtual std::unique_ptr<ElementProcess<Exec>>
  make_process(const Exec& exec, const DesignProblem& problem, const DesignProcess& process,
               const Array<std::uint8_t, Exec>& role) const = 0;

  /// What the next moduli are prepared by. Fence.
  virtual HexaPreconditionerState state(const Exec& exec) const = 0;
  virtual void set_state(const Exec& exec, const HexaPreconditionerState& state) = 0;

  // From the order of the mesh to that of the body and back. Downloads fence.
  virtual Vector upload_nodes(const Exec& exec, const std::vector<double>& values) const = 0;
  /// The numbers that nodes have in vectors of the backend, -1 for none. Fences.
  virtual Array<int, Exec> place_nodes(const Exec& exec,
                                       const std::vector<std::int32_t>& nodes) const = 0;
  /// [count, 3] values of some nodes, each named once, of a vector [num_nodes, 3]. Fences.
  virtual std::vector<double> take_nodes(const Exec& exec, const std::vector<std::int32_t>& nodes,
                                         const Vector& values) const {
    return take_at_nodes(exec, place_nodes(exec, nodes), values);
  }
  /// A vector [num_nodes, 3] of some nodes, each named once, and zero elsewhere. Fences.
  Vector place_values(const Exec& exec, const std::vector<NodeForce>& values) const;
  /// Forces, of each node at most once, without those at held components. Fences.
  virtual DesignForce<Exec> place_forces(const Exec& exec,
                                         const std::vector<NodeForce>& forces) const {
    const Vector placed = place_values(exec, forces);
    clear(exec, held(), placed);
    return {placed, {}};
  }
  virtual std::vector<double> download_nodes(const Exec& exec, const Vector& values) const = 0;
  virtual Vector upload_elements(const Exec& exec, const std::vector<double>& values) const = 0;
  virtual std::vector<double> download_elements(const Exec& exec, const Vector& values) const = 0;
  /// The same into arrays of the backend. Fence.
  virtual void copy_nodes(const Exec& exec, const Vector& values, const Vector& result) const;
  virtual void copy_elements(const Exec& exec, const Vector& values, const Vector& result) const;
  /// Places without an element are void.
  virtual Array<std::uint8_t, Exec> upload_roles(const Exec& exec,
                                                 const std::vector<std::uint8_t>& role) const = 0;

protected:
  IterationObserver observer_;
};

template<class Exec>
Array<double, Exec> DesignBody<Exec>::place_values(const Exec& exec,
                                                   const std::vector<NodeForce>& values) const {
  std::vector<std::int32_t> node;
  std::vector<double> value;
  for (const NodeForce& one : values) {
    node.push_back(one.node);
    value.insert(value.end(), one.force, one.force + 3);
  }
  const Vector placed = make_zeros<double>(exec, num_dofs(), "ossatura::design::by_node");
  put_at_nodes(exec, place_nodes(exec, node), 3, value, placed);
  return placed;
}
template<class Exec>
void DesignBody<Exec>::copy_nodes(const Exec& exec, const Vector& values,
                                  const Vector& result) const {
  const std::vector<double> on_host = download_nodes(exec, values);
  upload_to(exec, on_host, result);
  fence(exec, "ossatura::design::copy");
}
template<class Exec>
void DesignBody<Exec>::copy_elements(const Exec& exec, const Vector& values,
                                     const Vector& result) const {
  const std::vector<double> on_host = download_elements(exec, values);
  upload_to(exec, on_host, result);
  fence(exec, "ossatura::design::copy");
}

/// The body of a problem, as options say. Throws std::invalid_argument for a mesh, a material or
/// supports that make no sense. Fences.
template<class Exec>
std::unique_ptr<DesignBody<Exec>> make_design_body(const Exec& exec, const DesignProblem& problem,
                                                   const DesignOptions& options);

} // namespace ossatura
