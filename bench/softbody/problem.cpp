// SPDX-License-Identifier: Apache-2.0
#include "bench/softbody/problem.hpp"

#include "bench/harness/kept.hpp"
#include "bench/softbody/mesh.hpp"
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/make_factor_pattern.hpp>
#include <ossatura/kernels/softbody/assembly/element_map.hpp>
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>
#include <ossatura/solvers/factor/nested_dissection.hpp>

#include <algorithm>
#include <memory>
#include <string>

namespace ossatura::bench {

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

std::string file_of(SoftModel model) {
  constexpr int num_tetra[] = {8418, 12580, 19409};
  return raptor_file(num_tetra[int(model)]);
}

/// Mean of coordinate `axis` over the nodes of an element.
double centre(const ElementMesh& mesh, std::size_t element, int axis) {
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k)
    sum += mesh.point[3 * std::size_t(mesh.node[n * element + k]) + std::size_t(axis)];
  return sum / double(n);
}

/// Stiffer in a box and held in another, as in the scene raptor-cuda of SOFA, which [1] uses.
void set_raptor(SoftProblem& problem) {
  const ElementMesh& mesh = problem.mesh;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const double y = centre(mesh, e, 1), z = centre(mesh, e, 2);
    problem.factor.push_back(y < 2.5 && z > -1 && z < 1.5 ? 10 : 1);
  }
  for (std::size_t i = 0; i < mesh.num_points(); ++i) {
    const double* const x = &mesh.point[3 * i];
    problem.fixed[i] = x[0] >= -2.2 && x[0] <= 2.2 && x[1] >= -0.3 && x[1] <= 0.110668 &&
                       x[2] >= -9.2 && x[2] <= 2.88584;
  }
}

void set_mesh(SoftProblem& problem, SoftModel model) {
  const int cube[3] = {19, 19, 19}, box[3] = {5, 4, 4};
  const double size[3] = {1, 0.8, 0.8}; // of both boxes
  switch (model) {
  case SoftModel::cloth:
    problem.mesh = make_cloth(70, 70, 1, 1);
    break;
  case SoftModel::cube:
    problem.mesh = make_hexa_box(cube, {1, 1, 1});
    break;
  case SoftModel::box:
    problem.mesh = make_hexa_box(box, size);
    break;
  case SoftModel::tetra_box:
    problem.mesh = make_tetra_box(box, size);
    break;
  default:
    problem.mesh = read_element_mesh(file_of(model)).mesh;
  }
  problem.material.young = 1e5;
  problem.material.poisson = 0.4;
  const ElementMesh& mesh = problem.mesh;
  problem.fixed.assign(mesh.num_points(), 0);
  if (model <= SoftModel::raptor3)
    return set_raptor(problem);
  for (std::size_t i = 0; i < mesh.num_points(); ++i) {
    const double* const x = &mesh.point[3 * i];
    problem.fixed[i] =
        model == SoftModel::cloth ? x[1] > 0.999 && (x[0] < 0.001 || x[0] > 0.999) : x[2] < 0.001;
  }
}

/// What the map of the elements gives: the graph of the matrix, and later the matrix.
struct Assembled {
  ElementMap<Host> map;
  BlockMatrix<Host> matrix;
};

Assembled assemble(const Host& exec, const SoftProblem& problem) {
  Assembled result;
  const ElementGroup group = {problem.mesh.shape,
                              std::vector<int>(problem.mesh.node.begin(), problem.mesh.node.end())};
  result.map = make_element_map(exec, problem.num_nodes(), {group}, problem.fixed, result.matrix);
  return result;
}

template<class T>
std::vector<T> to_host(const Array<T, Host>& values) {
  return std::vector<T>(values.data(), values.data() + values.extent(0));
}

/// Numbers the nodes in the order of elimination.
void renumber(SoftProblem& problem, const std::vector<int>& order) {
  const std::size_t n = order.size();
  std::vector<std::int32_t> position(n);
  std::vector<double> point(3 * n);
  std::vector<std::uint8_t> fixed(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t old = std::size_t(order[k]);
    position[old] = std::int32_t(k);
    fixed[k] = problem.fixed[old];
    for (std::size_t c = 0; c < 3; ++c)
      point[3 * k + c] = problem.mesh.point[3 * old + c];
  }
  for (std::int32_t& node : problem.mesh.node)
    node = position[std::size_t(node)];
  problem.mesh.point = point;
  problem.fixed = fixed;
}

void set_matrix(const Host& exec, SoftProblem& problem) {
  const Assembled assembled = assemble(exec, problem);
  const double h = problem.time_step;
  const SoftElements<Host> elements =
      make_soft_elements(exec, problem.mesh, problem.material, problem.factor);
  const std::int64_t n = 3 * std::int64_t(problem.num_nodes());
  const auto zeros = make_zeros<double>(exec, n, "ossatura::bench::zeros");
  const auto b = make_zeros<double>(exec, n, "ossatura::bench::b");
  const auto mass = upload(exec, "ossatura::bench::mass",
                           std::vector<double>(problem.mesh.num_points(), problem.node_mass));
  const ElementSystem<Host> system = {
      make_zeros<double>(exec, 3 * assembled.map.num_slots, "ossatura::bench::force"),
      make_zeros<double>(exec, 9 * assembled.map.num_pairs, "ossatura::bench::stiffness")};
  evaluate_soft_elements(exec, elements, upload(exec, "ossatura::bench::x", problem.mesh.point),
                         zeros, 0, h * (h + problem.rayleigh_stiffness), system,
                         make_zeros<int>(exec, 1, "ossatura::bench::inverted"));
  assemble_step(exec, assembled.map, system.stiffness, system.force, mass,
                1 + h * problem.rayleigh_mass, zeros, 0, zeros, assembled.matrix, b);
  fence(exec, "ossatura::bench::soft_problem");
  problem.row_begin = to_host(assembled.matrix.row_begin);
  problem.column = to_host(assembled.matrix.column);
  problem.value = to_host(assembled.matrix.value);
}

} // namespace

std::vector<SoftModel> soft_models(const Options& options) {
  if (options.quick)
    return {SoftModel::box};
  std::vector<SoftModel> models;
  for (const SoftModel model : {SoftModel::raptor1, SoftModel::raptor2, SoftModel::raptor3})
    if (!file_of(model).empty())
      models.push_back(model);
  models.push_back(SoftModel::cloth);
  models.push_back(SoftModel::cube);
  return models;
}

SoftProblem make_soft_problem(SoftModel model) {
  const Host exec;
  SoftProblem problem;
  set_mesh(problem, model);
  {
    const Assembled graph = assemble(exec, problem);
    const std::vector<int> row_begin = to_host(graph.matrix.row_begin);
    const std::vector<int> column = to_host(graph.matrix.column);
    std::vector<int> order = nested_dissection(row_begin, column);
    problem.pattern = make_factor_pattern(row_begin, column, order);
    renumber(problem, order);
  }
  set_matrix(exec, problem);
  factor_on_host(problem.pattern, problem.row_begin, problem.column, problem.value.data(),
                 problem.ldlt);
  if (problem.ldlt.num_replaced > 0)
    throw std::runtime_error("the matrix of the benchmark is not positive definite");
  return problem;
}

const SoftProblem& cached_soft_problem(SoftModel model) {
  static Kept<SoftModel, SoftProblem> kept;
  return kept.get(model, [&] { return std::make_unique<SoftProblem>(make_soft_problem(model)); });
}

SoftScene soft_scene(SoftModel model, SoftLaw law) {
  const SoftProblem& problem = cached_soft_problem(model);
  SoftScene scene;
  scene.objects.resize(1);
  SoftObject& object = scene.objects[0];
  object.name = name_of(model);
  object.mesh = problem.mesh;
  object.material = problem.material;
  object.material.law = law;
  const double shear = 0.5 * object.material.young / (1 + object.material.poisson);
  object.material.c1 = object.material.c2 = shear / 4; // the same moduli at rest
  object.material.bulk = object.material.young / (3 - 6 * object.material.poisson);
  object.factor = problem.factor;
  object.node_mass = problem.node_mass;
  object.load.assign(problem.mesh.point.size(), 0);
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i) {
    if (problem.fixed[i])
      object.fixed.push_back(std::int32_t(i));
    // The snout of the raptor, as in SOFA's scene of it.
    if (model <= SoftModel::raptor3 && problem.mesh.point[3 * i + 2] > 6.88) {
      const double pull[3] = {7.5, -6.63, -15};
      std::copy(pull, pull + 3, &object.load[3 * i]);
    }
  }
  if (model > SoftModel::raptor3)
    scene.gravity[0] = -9.81;
  return scene;
}

SoftOptions soft_options(SoftModel model) {
  const SoftProblem& problem = cached_soft_problem(model);
  SoftOptions options;
  options.time_step = problem.time_step;
  options.rayleigh_mass = problem.rayleigh_mass;
  options.rayleigh_stiffness = problem.rayleigh_stiffness;
  return options;
}

} // namespace ossatura::bench
