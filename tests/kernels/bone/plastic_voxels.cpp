// SPDX-License-Identifier: Apache-2.0
// The forces and the tangent of plastic voxels against plain loops, differences and closed forms.
#include "tests/reference/plastic_voxels.hpp"
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>

#include <cmath>

namespace {

using namespace ossatura;

/// Of a cone that is sharp in tension, with hardening, at strains of some per cent.
YieldCone sample_cone() {
  YieldCone cone;
  cone.pressure = 0.3;
  cone.strength = 0.005;
  cone.hardening = 0.1;
  return cone;
}

template<class Exec>
struct PlasticBody {
  reference::Model model;
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;

  PlasticBody(const Exec& exec, const reference::Model& of, const YieldCone& cone)
      : model(of) {
    const MaterialImage<Exec> material = ossatura::test::upload_material(exec, model);
    voxels.grid = make_voxel_grid(exec, material.solid());
    voxels.lame = make_lame_field(exec, voxels.grid, material);
    voxels.edge = model.edge;
    voxels.cone = cone;
    voxels.colours = make_voxel_colours(exec, voxels.grid);
    state = make_plastic_state(exec, voxels.grid);
  }
  std::int64_t num_dofs() const { return voxels.grid.num_dofs(); }

  /// Internal forces of u on the lattice.
  std::vector<double> forces(const Exec& exec, const std::vector<double>& u) const {
    const auto x = ossatura::test::to_compact(exec, voxels.grid, model, u);
    const auto y = make_zeros<double>(exec, num_dofs(), "test::forces");
    GatherOperator<Exec>(exec, voxels.grid, voxels.lame, voxels.edge).apply(exec, x, y);
    subtract_plastic_forces(exec, voxels, state, x, y);
    return ossatura::test::to_lattice(voxels.grid, model, y);
  }
  /// Keeps the plastic strain of u; `before` is of the last load.
  PlasticSums commit(const Exec& exec, const std::vector<double>& before,
                     const std::vector<double>& u) const {
    const SharedEntries nodes{0, voxels.grid.num_nodes, {}, {}};
    return commit_plastic(exec, nodes, voxels, state,
                          ossatura::test::to_compact(exec, voxels.grid, model, before),
                          ossatura::test::to_compact(exec, voxels.grid, model, u));
  }
};

std::vector<double> scaled(std::vector<double> x, double factor) {
  for (double& value : x)
    value *= factor;
  return x;
}

std::vector<double> sum(std::vector<double> x, double factor, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] += factor * y[i];
  return x;
}

/// The oracle's forces of a body without plastic strain, and its plastic elements.
std::vector<double> reference_forces(const reference::Model& model, const YieldCone& cone,
                                     const std::vector<double>& u,
                                     std::vector<reference::PlasticElement>& state) {
  std::vector<double> force(u.size());
  state.resize(model.modulus.size());
  for (int z = 0; z < model.shape[2]; ++z)
    for (int y = 0; y < model.shape[1]; ++y)
      for (int x = 0; x < model.shape[0]; ++x) {
        if (!model.solid(x, y, z))
          continue;
        const auto voxel = std::size_t(model.voxel(x, y, z));
        const double modulus = model.modulus[voxel], poisson = model.poisson[voxel];
        reference::ElementVector local{};
        std::array<std::size_t, 24> dof{};
        for (std::size_t i = 0; i < 24; ++i) {
          const int v = int(i / 3);
          dof[i] = 3 * std::size_t(model.node(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2))) + i % 3;
          local[i] = u[dof[i]];
        }
        const reference::PlasticElement before = state[voxel];
        const auto of_voxel = reference::return_element(
            reference::element_matrix(modulus, poisson, model.edge),
            {cone.pressure, cone.strength * modulus, cone.hardening * modulus}, modulus, poisson,
            model.edge, local, before, state[voxel]);
        for (std::size_t i = 0; i < 24; ++i)
          force[dof[i]] += of_voxel[i];
      }
  return force;
}

OSSATURA_BACKEND_TEST("Forces of plastic voxels agree with an oracle over two loads",
                      "[plastic_voxels]") {
  const TestType exec;
  for (const double pressure : {0.0, 0.3, -0.3}) {
    YieldCone cone = sample_cone();
    cone.pressure = pressure;
    const auto model = reference::random_model({6, 5, 9}, 0.6, 100, 0.1, 0.4, 7, 0.5);
    const PlasticBody<TestType> body(exec, model, cone);
    const std::vector<double> zero(std::size_t(model.num_dofs())),
        first = scaled(reference::random_vector(model, 3), 0.01),
        second = sum(first, 0.005, reference::random_vector(model, 4));
    std::vector<reference::PlasticElement> state;
    CHECK(reference::relative_difference(body.forces(exec, first),
                                         reference_forces(model, cone, first, state)) < 1e-7);
    const PlasticSums sums = body.commit(exec, zero, first);
    CHECK(sums.num_plastic > 0.5 * body.voxels.grid.num_elem);
    CHECK(sums.elastic_energy > 0);
    CHECK(sums.work > 0);
    // The state is kept in single precision, as the constants of voxels are.
    CHECK(reference::relative_difference(body.forces(exec, second),
                                         reference_forces(model, cone, second, state)) < 1e-5);
  }
}

template<class Exec>
std::vector<double> tangent_product(const Exec& exec, const PlasticBody<Exec>& body,
                                    const std::vector<double>& u, const std::vector<double>& x) {
  body.forces(exec, u); // notes which voxels flow
  const auto at = ossatura::test::to_compact(exec, body.voxels.grid, body.model, u);
  const auto along = ossatura::test::to_compact(exec, body.voxels.grid, body.model, x);
  const auto y = make_zeros<double>(exec, body.num_dofs(), "test::tangent");
  GatherOperator<Exec>(exec, body.voxels.grid, body.voxels.lame, body.voxels.edge)
      .apply(exec, along, y);
  subtract_plastic_tangent(exec, body.voxels, body.state, at, 1, along, y);
  return ossatura::test::to_lattice(body.voxels.grid, body.model, y);
}

OSSATURA_BACKEND_TEST("The tangent of plastic voxels is the derivative of their forces, symmetric "
                      "and not negative",
                      "[plastic_voxels]") {
  const TestType exec;
  const auto model = reference::random_model({4, 4, 4}, 0.7, 10, 0.2, 0.3, 5);
  const PlasticBody<TestType> body(exec, model, sample_cone());
  const std::vector<double> zero(std::size_t(model.num_dofs())),
      first = scaled(reference::random_vector(model, 3), 0.02);
  body.commit(exec, zero, first);
  const auto u = sum(first, 0.01, reference::random_vector(model, 4)),
             x = reference::random_vector(model, 8), y = reference::random_vector(model, 9);
  const double change = 1e-7;
  const auto difference =
      scaled(sum(body.forces(exec, sum(u, change, x)), -1, body.forces(exec, sum(u, -change, x))),
             0.5 / change);
  const auto product = tangent_product(exec, body, u, x);
  CHECK(reference::relative_difference(product, difference) < 1e-6);
  const double one = reference::dot(y, product),
               other = reference::dot(x, tangent_product(exec, body, u, y));
  CHECK(one == Approx(other).epsilon(1e-12));
  CHECK(reference::dot(x, product) > 0);
}

OSSATURA_BACKEND_TEST("A voxel in bending yields at sqrt((lambda / mu + 3) / 36) of strength by "
                      "edge cubed",
                      "[plastic_voxels]") {
  const TestType exec;
  const double h = 0.5, modulus = 1000, poisson = 0.3, strength = 8;
  const auto model = reference::homogeneous({1, 1, 1}, modulus, poisson, h);
  YieldCone cone;
  cone.strength = strength;
  cone.per_modulus = false;
  const PlasticBody<TestType> body(exec, model, cone);
  // u_x = x y about the centre: what beams in bending have.
  std::vector<double> bend(24);
  for (int v = 0; v < 8; ++v)
    bend[std::size_t(3 * v)] = h * h * ((v & 1) - 0.5) * ((v >> 1 & 1) - 0.5);
  const double mu = modulus / 2.6, lambda = modulus * 0.3 / (1.3 * 0.4);
  for (const double curvature : {0.01, 0.02, 1.0}) {
    // The energy is half the moment times the angle between the faces, curvature h.
    const double moment = reference::dot(bend, body.forces(exec, scaled(bend, curvature))) / h;
    const double elastic = (lambda + 3 * mu) * curvature * std::pow(h, 4) / 12;
    const double most = std::sqrt((lambda / mu + 3) / 36) * strength * h * h * h;
    CHECK(moment == Approx(std::min(elastic, most)).epsilon(1e-9));
  }
}

OSSATURA_BACKEND_TEST("Colours of voxels visit each node once", "[plastic_voxels]") {
  const TestType exec;
  const auto model = reference::random_model({13, 9, 7}, 0.4, 1, 0.3, 0.3, 2);
  const PlasticBody<TestType> body(exec, model, sample_cone());
  // Beyond yield everywhere, with forces that are the sums over up to eight voxels.
  const auto u = scaled(reference::random_vector(model, 3), 0.1);
  std::vector<reference::PlasticElement> state;
  CHECK(reference::relative_difference(body.forces(exec, u),
                                       reference_forces(model, sample_cone(), u, state)) < 1e-11);
  const auto again = body.forces(exec, u), once_more = body.forces(exec, u);
  CHECK(again == once_more); // to the bit
}

} // namespace
