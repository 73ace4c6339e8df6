// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/voxels.hpp>

#include <ossatura/core/mesh/cube_lattice.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/topopt/frequencies/voxel_mass.hpp>
#include <ossatura/kernels/topopt/lattice_cone.hpp>
#include <ossatura/kernels/topopt/lattice_order.hpp>
#include <ossatura/kernels/topopt/solid_stress.hpp>
#include <ossatura/kernels/topopt/temperatures/voxel_load.hpp>
#include <ossatura/kernels/topopt/voxel_energies.hpp>
#include <ossatura/kernels/topopt/voxel_stress.hpp>
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/topopt/materials.hpp>
#include <ossatura/solvers/topopt/process/lattice.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace ossatura {

namespace {

template<class Exec>
class LatticeConeFilter final : public ElementFilter<Exec> {
public:
  using Vector = Array<double, Exec>;

  explicit LatticeConeFilter(const LatticeCone<Exec>& filter)
      : filter_(filter) {}

  bool reaches_neighbours() const override { return filter_.reach > 0; }
  SolveResult apply(const Exec& exec, const Vector& x, const Vector& y) const override {
    apply_cone_filter(exec, filter_, x, y);
    return done();
  }
  SolveResult apply_transposed(const Exec& exec, const Vector& gradient,
                               const Vector& result) const override {
    apply_cone_filter_transposed(exec, filter_, gradient, result);
    return done();
  }
  void filter_sensitivities(const Exec& exec, const Vector& density, const Vector& gradient,
                            const Vector& result) const override {
    ossatura::filter_sensitivities(exec, filter_, density, gradient, result);
  }

private:
  static SolveResult done() {
    SolveResult result;
    result.converged = true;
    return result;
  }

  LatticeCone<Exec> filter_;
};

template<class Exec>
class VoxelMass final : public MassMatrix<Exec> {
public:
  using Vector = Array<double, Exec>;

  VoxelMass(const VoxelGrid<Exec>& grid, const LameField<Exec>& lame, double edge)
      : grid_(grid)
      , lame_(lame)
      , edge_(edge) {}

  void apply(const Exec& exec, const Vector& mass, const Vector& x,
             const Vector& y) const override {
    apply_mass(exec, grid_, edge_, mass, x, y);
  }
  void add_energies(const Exec& exec, double weight, const Vector& u,
                    const Vector& energy) const override {
    add_mass_energies(exec, grid_, lame_, edge_, weight, u, energy);
  }

private:
  VoxelGrid<Exec> grid_;
  LameField<Exec> lame_;
  double edge_;
};

/// 1 where the lattice has an element.
VoxelImage image_of(const CubeLattice& lattice) {
  VoxelImage image;
  image.shape = lattice.shape;
  image.value.assign(image.num_voxels(), 0);
  for (const std::array<int, 3>& place : lattice.elem)
    image.value[std::size_t(place[0]) + std::size_t(lattice.shape[0]) *
                                            (std::size_t(place[1]) + std::size_t(lattice.shape[1]) *
                                                                         std::size_t(place[2]))] =
        1;
  return image;
}

/// The numbers that the grid has for nodes and for the lowest corners of elements.
template<class Exec>
void number_places(const Exec& exec, const VoxelGrid<Exec>& grid, const CubeLattice& lattice,
                   std::vector<std::int32_t>& node_place, std::vector<std::int32_t>& elem_place) {
  const std::size_t nx = std::size_t(lattice.shape[0]) + 1, ny = std::size_t(lattice.shape[1]) + 1,
                    nz = std::size_t(lattice.shape[2]) + 1;
  std::vector<std::int32_t> at(nx * ny * nz, -1);
  const std::vector<std::uint64_t> sites = download(exec, list_sites(exec, grid));
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const Site s = detail::unpack_site(sites[i]);
    at[std::size_t(s.x) + nx * (std::size_t(s.y) + ny * std::size_t(s.z))] = std::int32_t(i);
  }
  const auto find = [&](const std::array<int, 3>& place) {
    return at[std::size_t(place[0]) + nx * (std::size_t(place[1]) + ny * std::size_t(place[2]))];
  };
  for (const std::array<int, 3>& place : lattice.node)
    node_place.push_back(find(place));
  for (const std::array<int, 3>& place : lattice.elem)
    elem_place.push_back(find(place));
}

/// The inverse of the coarsest level is formed for each design, and not once: a level more is
/// cheaper than one of the default size.
template<class Exec>
constexpr int most_direct_nodes = BackendTraits<Exec>::is_device ? 400 : 60;

template<class Exec>
VoxelSolverOptions voxel_solver_options(const DesignOptions& options) {
  VoxelSolverOptions result = options.voxels;
  result.matrix = default_voxel_operator<Exec>;
  if (result.multigrid.direct_nodes == 0)
    result.multigrid.direct_nodes = most_direct_nodes<Exec>;
  result.cg = options.solver.cg;
  result.multigrid.renewable = true;
  return result;
}

} // namespace

template<class Exec>
VoxelBody<Exec>::VoxelBody(const Exec& exec, const DesignProblem& problem,
                           const DesignOptions& options)
    : options_(voxel_solver_options<Exec>(options))
    , lattice_(problem.lattice) {
  OSSATURA_REQUIRE(problem.rigid.empty(),
                   "rigid bodies are not known to the solver on voxels: take the grid mesh");
  // The sums of eight and products with the edge are single numbers, too.
  double least = problem.young, largest = problem.young;
  for (const HexaMaterial& one : problem.materials) {
    least = std::min(least, one.young);
    largest = std::max(largest, one.young);
  }
  OSSATURA_REQUIRE(least * options.min_modulus >= 1e-30 && largest <= 1e30,
                   "moduli from " << least * options.min_modulus << " to " << largest
                                  << " Pa do not fit single precision");
  for (const HeldComponents& held : problem.held)
    OSSATURA_REQUIRE(held.node >= 0 && std::size_t(held.node) < problem.num_nodes() &&
                         held.components < 8,
                     "components " << int(held.components) << " of node " << held.node << " of "
                                   << problem.num_nodes());
  const auto mask = lattice_ ? place_lattice(exec, problem) : place_mesh(exec, problem);
  problem_.material = {};
  problem_.held = make_constraints(exec, mask);
  solver_ = std::make_unique<VoxelSolver<Exec>>(exec, problem_, options_);
}

template<class Exec>
Array<std::uint8_t, Exec> VoxelBody<Exec>::place_mesh(const Exec& exec,
                                                      const DesignProblem& problem) {
  const CubeLattice lattice = find_cube_lattice(problem.mesh);
  origin_ = lattice.origin;
  problem_ = make_voxel_problem(
      exec, make_material(to_device(exec, image_of(lattice)), problem.poisson), lattice.edge);
  number_places(exec, problem_.grid, lattice, node_place_, elem_place_);
  std::vector<std::uint8_t> mask(std::size_t(problem_.grid.num_nodes));
  for (const HeldComponents& held : problem.held)
    mask[std::size_t(node_place_[std::size_t(held.node)])] |= held.components;
  return upload(exec, "ossatura::voxel_body::held", mask);
}

template<class Exec>
Array<std::uint8_t, Exec> VoxelBody<Exec>::place_lattice(const Exec& exec,
                                                         const DesignProblem& problem) {
  OSSATURA_REQUIRE(lattice_->is_of_cubes(), "the cells of the lattice are no cubes");
  for (std::size_t axis = 0; axis < 3; ++axis)
    origin_[axis] = lattice_->plane(int(axis)).front();
  problem_ = make_voxel_problem(
      exec,
      make_material(make_cell_image(exec, make_lattice_order(exec, lattice_->elem())),
                    problem.poisson),
      lattice_->edge());
  std::map<std::int32_t, std::uint8_t> held;
  for (const HeldComponents& one : problem.held)
    held[one.node] |= one.components;
  std::vector<std::int32_t> nodes;
  std::vector<std::uint8_t> components;
  for (const auto& [node, some] : held) {
    nodes.push_back(node);
    components.push_back(some);
  }
  const auto mask =
      make_zeros<std::uint8_t>(exec, problem_.grid.num_nodes, "ossatura::voxel_body::held");
  put_at_nodes(exec, find_nodes(exec, problem_.grid, lattice_->node(), nodes), 1, components, mask);
  return mask;
}

template<class Exec>
DesignEngineInfo VoxelBody<Exec>::engine() const {
  DesignEngineInfo info;
  info.operator_name = name_of(options_.matrix);
  const double nodes = double(num_nodes());
  VoxelOperators<Exec>::find(options_.matrix, [&](auto entry) {
    using Operator = typename decltype(entry)::type;
    info.is_deterministic = Operator::is_reproducible;
    info.cost.bytes_kept =
        std::int64_t(Operator::bytes_kept(nodes, double(problem_.grid.num_elem)));
    info.cost.flops = double(Operator::flops_per_voxel) * double(problem_.grid.num_elem);
  });
  // Two vectors and the moduli.
  const double real = options_.precision == Precision::lean ? 4 : 8;
  info.cost.bytes_moved = nodes * (6 * real + 4);
  std::ostringstream reason;
  reason << "cubes of " << problem_.edge << " m in a box of " << problem_.grid.shape[0] << " x "
         << problem_.grid.shape[1] << " x " << problem_.grid.shape[2];
  info.reason = reason.str();
  std::ostringstream levels;
  levels << "multigrid of voxels in " << name_of(options_.precision) << " precision, nodes";
  for (const MultigridLevelInfo& level : solver_->level_info())
    levels << ' ' << level.num_nodes;
  info.preconditioner = levels.str();
  return info;
}

template<class Exec>
void VoxelBody<Exec>::set_springs(const Exec&, const Vector&) {
  fail<std::invalid_argument>("springs are not known to the solver on voxels: take the grid mesh");
}

template<class Exec>
void VoxelBody<Exec>::set_modulus(const Exec& exec, const SimpLaw& law, const Vector& density) {
  store_moduli(exec, law, density, problem_.lame);
}

template<class Exec>
SolveResult VoxelBody<Exec>::solve(const Exec& exec, const DesignForce<Exec>& f, const Vector& u) {
  clear(exec, problem_.held, u);
  const double norm = std::sqrt(square(exec, f)); // f is zero at held components
  if (norm == 0)
    Kokkos::deep_copy(exec, u, 0.0);
  return f.vector.extent(0) > 0 ? solver_->solve(exec, f.vector, u, {}, norm)
                                : solver_->solve_points(exec, f.points, u, {}, norm);
}

template<class Exec>
void VoxelBody<Exec>::apply(const Exec& exec, const Vector& u, const Vector& y) const {
  solver_->apply(exec, u, y);
}

template<class Exec>
void VoxelBody<Exec>::add_energies(const Exec& exec, double weight, const Vector& u,
                                   const Vector& v, const Vector& energy) const {
  ossatura::add_energies(exec, problem_.grid, problem_.lame, problem_.edge, weight, u, v, energy);
}

template<class Exec>
std::unique_ptr<MassMatrix<Exec>> VoxelBody<Exec>::make_mass(const Exec&,
                                                             const DesignProblem&) const {
  return std::make_unique<VoxelMass<Exec>>(problem_.grid, problem_.lame, problem_.edge);
}

template<class Exec>
void VoxelBody<Exec>::precondition(const Exec& exec, const Vector& r, const Vector& z) const {
  solver_->precondition(exec, r, z);
  clear(exec, problem_.held, z);
}

template<class Exec>
void VoxelBody<Exec>::make_admissible(const Exec& exec, const Vector& u) const {
  clear(exec, problem_.held, u);
}

template<class Exec>
ThermalLoad<Exec> VoxelBody<Exec>::thermal_load(const Exec& exec, const DesignProblem& problem,
                                                const std::vector<double>& warming) const {
  const auto load =
      make_thermal_load(exec, problem_.grid, problem_.lame, problem_.edge,
                        upload_elements(exec, expansions(problem)), place_nodal(exec, warming, 1));
  fence(exec, "ossatura::design::thermal_load");
  return load;
}

template<class Exec>
void VoxelBody<Exec>::add_thermal_forces(const Exec& exec, const ThermalLoad<Exec>& load,
                                         const Vector& force) const {
  ossatura::add_thermal_forces(exec, problem_.grid, problem_.lame, problem_.edge, load, force);
}

template<class Exec>
void VoxelBody<Exec>::add_thermal_work(const Exec& exec, double weight,
                                       const ThermalLoad<Exec>& load, const Vector& u,
                                       const Vector& work) const {
  ossatura::add_thermal_work(exec, problem_.grid, problem_.lame, problem_.edge, load, weight, u,
                             work);
}

template<class Exec>
void VoxelBody<Exec>::energy_density(const Exec& exec, const Vector& energy) const {
  voxel_energy_density(exec, problem_.lame, problem_.edge, energy);
}

template<class Exec>
void VoxelBody<Exec>::solid_stress(const Exec& exec, const SimpLaw& law, const Vector& u,
                                   const Vector& stress) const {
  fill_solid_stress(exec, VoxelMeanStrains<Exec>{problem_.grid, problem_.lame, problem_.edge}, law,
                    u, stress);
}

template<class Exec>
void VoxelBody<Exec>::add_stress_forces(const Exec& exec, const SimpLaw& law, const Vector& factor,
                                        const Vector& u, const Vector& force) const {
  ossatura::add_stress_forces(exec,
                              VoxelMeanStrains<Exec>{problem_.grid, problem_.lame, problem_.edge},
                              law, factor, u, force);
}

template<class Exec>
void VoxelBody<Exec>::von_mises(const Exec& exec, const Vector& u, const Vector& stress) const {
  voxel_von_mises(exec, problem_.grid, problem_.lame, problem_.edge, u, stress);
}

template<class Exec>
std::unique_ptr<ElementFilter<Exec>>
VoxelBody<Exec>::make_filter(const Exec& exec, DesignFilter kind, double radius,
                             const MirrorPlanes& mirrors) const {
  if (kind == DesignFilter::helmholtz)
    fail<std::invalid_argument>(
        "the Helmholtz filter is not known on voxels: take the filter density, or the grid mesh");
  MirrorPlanes in_voxels = mirrors;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (double& place : in_voxels.place[axis])
      place = (place - origin_[axis]) / problem_.edge;
  return std::make_unique<LatticeConeFilter<Exec>>(make_lattice_cone(
      exec, problem_.grid, problem_.lame.mu_value, problem_.edge, radius, in_voxels));
}

template<class Exec>
Array<double, Exec> VoxelBody<Exec>::upload_nodes(const Exec& exec,
                                                  const std::vector<double>& values) const {
  return place_nodal(exec, values, 3);
}

template<class Exec>
Array<double, Exec> VoxelBody<Exec>::place_nodal(const Exec& exec,
                                                 const std::vector<double>& values,
                                                 int components) const {
  OSSATURA_REQUIRE(std::int64_t(values.size()) == components * num_nodes(),
                   values.size() << " components of " << num_nodes() << " nodes");
  if (lattice_) {
    const Vector placed =
        make_zeros<double>(exec, components * num_nodes(), "ossatura::design::by_node");
    put_in_grid(exec, problem_.grid, make_lattice_order(exec, lattice_->node()), components, values,
                placed);
    return placed;
  }
  const auto count = std::size_t(components);
  std::vector<double> placed(values.size());
  for (std::size_t i = 0; i < node_place_.size(); ++i)
    for (std::size_t c = 0; c < count; ++c)
      placed[count * std::size_t(node_place_[i]) + c] = values[count * i + c];
  return upload(exec, "ossatura::design::by_node", placed);
}

template<class Exec>
Array<int, Exec> VoxelBody<Exec>::place_nodes(const Exec& exec,
                                              const std::vector<std::int32_t>& nodes) const {
  if (lattice_)
    return find_nodes(exec, problem_.grid, lattice_->node(), nodes);
  std::vector<std::int32_t> places;
  for (const std::int32_t node : nodes)
    places.push_back(node_place_[std::size_t(node)]);
  return upload(exec, "ossatura::design::nodes", places);
}

template<class Exec>
DesignForce<Exec> VoxelBody<Exec>::place_forces(const Exec& exec,
                                                const std::vector<NodeForce>& forces) const {
  std::vector<std::int32_t> nodes;
  std::vector<double> values;
  for (const NodeForce& one : forces) {
    nodes.push_back(one.node);
    values.insert(values.end(), one.force, one.force + 3);
  }
  DesignForce<Exec> force;
  force.points.node = place_nodes(exec, nodes);
  force.points.force = upload(exec, "ossatura::design::force", values);
  clear(exec, problem_.held, force.points);
  return force;
}

template<class Exec>
std::vector<double> VoxelBody<Exec>::download_nodes(const Exec& exec, const Vector& values) const {
  if (lattice_)
    return take_from_grid(exec, problem_.grid, make_lattice_order(exec, lattice_->node()), 3,
                          num_nodes(), values);
  const auto placed = host_view(exec, values);
  std::vector<double> result(3 * node_place_.size());
  for (std::size_t i = 0; i < node_place_.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      result[3 * i + c] = placed(3 * std::size_t(node_place_[i]) + c);
  return result;
}

template<class Exec>
template<class T>
Array<T, Exec> VoxelBody<Exec>::place_elements(const Exec& exec, const std::vector<T>& values,
                                               T elsewhere) const {
  OSSATURA_REQUIRE(std::int64_t(values.size()) == problem_.grid.num_elem,
                   values.size() << " values of " << problem_.grid.num_elem << " elements");
  if (lattice_) {
    const auto placed = make_uninitialized<T>(exec, num_nodes(), "ossatura::design::by_element");
    Kokkos::deep_copy(exec, placed, elsewhere);
    put_in_grid(exec, problem_.grid, make_lattice_order(exec, lattice_->elem()), 1, values, placed);
    return placed;
  }
  std::vector<T> placed(node_place_.size(), elsewhere);
  for (std::size_t e = 0; e < elem_place_.size(); ++e)
    placed[std::size_t(elem_place_[e])] = values[e];
  return upload(exec, "ossatura::design::by_element", placed);
}

template<class Exec>
Array<double, Exec> VoxelBody<Exec>::upload_elements(const Exec& exec,
                                                     const std::vector<double>& values) const {
  return place_elements(exec, values, 0.0);
}

template<class Exec>
std::vector<double> VoxelBody<Exec>::download_elements(const Exec& exec,
                                                       const Vector& values) const {
  if (lattice_)
    return take_from_grid(exec, problem_.grid, make_lattice_order(exec, lattice_->elem()), 1,
                          problem_.grid.num_elem, values);
  const auto placed = host_view(exec, values);
  std::vector<double> result(elem_place_.size());
  for (std::size_t e = 0; e < elem_place_.size(); ++e)
    result[e] = placed(std::size_t(elem_place_[e]));
  return result;
}

template<class Exec>
Array<std::uint8_t, Exec>
VoxelBody<Exec>::upload_roles(const Exec& exec, const std::vector<std::uint8_t>& role) const {
  return place_elements(exec, role, std::uint8_t(DesignRole::void_));
}

template<class Exec>
std::unique_ptr<ElementProcess<Exec>>
VoxelBody<Exec>::make_process(const Exec& exec, const DesignProblem& problem,
                              const DesignProcess& process,
                              const Array<std::uint8_t, Exec>& role) const {
  return make_lattice_process(exec, problem_.grid, problem_.lame.mu_value, origin_, problem_.edge,
                              problem.mirrors, process, role);
}

#define OSSATURA_INSTANTIATE(Exec) template class VoxelBody<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
