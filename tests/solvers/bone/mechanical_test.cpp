// SPDX-License-Identifier: Apache-2.0
// The standard tests on bodies whose answer has a closed form.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/kernels/bone/fields.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <cmath>

namespace {

using namespace ossatura;

template<class Exec>
struct Specimen {
  VoxelProblem<Exec> problem;
  Array<double, Exec> u;
  std::vector<NamedRegion> regions;

  Specimen(const Exec& exec, const reference::Model& model) {
    problem.material = ossatura::test::upload_material(exec, model);
    problem.edge = model.edge;
    problem.grid = make_voxel_grid(exec, problem.material.solid());
    problem.lame = make_lame_field(exec, problem.grid, problem.material);
  }

  /// Solves to 1e-10 and returns what the supports exert, by region.
  std::vector<std::array<double, 3>> solve(const Exec& exec, std::vector<NamedRegion> load) {
    regions = std::move(load);
    std::vector<PrescribedRegion> list;
    for (const NamedRegion& named : regions)
      list.push_back(named.region);
    const auto mask = make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "test::mask");
    u = make_zeros<double>(exec, problem.grid.num_dofs(), "test::u");
    prescribe(exec, problem.grid, problem.edge, list, mask, u);
    problem.held = make_constraints(exec, mask);
    VoxelSolverOptions options;
    options.cg.tolerance = 1e-10;
    VoxelSolver<Exec> solver(exec, problem, options);
    const SolveResult result = solver.solve(exec, {}, u);
    REQUIRE(result.converged);
    const auto force = make_zeros<double>(exec, problem.grid.num_dofs(), "test::force");
    solver.apply(exec, u, force);
    std::vector<std::array<double, 3>> reactions(regions.size());
    for (const HeldNode& node : list_held_nodes(exec, problem.grid, problem.held, u, force))
      for (int c = 0; c < 3; ++c)
        for (std::size_t k = regions.size(); k-- > 0;)
          if (regions[k].region.contains(node.site) && regions[k].region.components >> c & 1) {
            reactions[k][c] += node.force[c];
            break;
          }
    return reactions;
  }
};

OSSATURA_BACKEND_TEST("Between smooth plates a box has the stress E times strain, along any axis",
                      "[mechanical_test]") {
  const TestType exec;
  const auto model = reference::homogeneous({6, 5, 7}, 1000, 0.3, 0.5);
  for (int axis = 0; axis < 3; ++axis) {
    Specimen<TestType> specimen(exec, model);
    MechanicalTest test;
    test.axis = axis;
    test.strain = -0.02;
    test.lateral_free = true;
    const auto reactions =
        specimen.solve(exec, make_load_case(exec, specimen.problem.grid, 0.5, test));
    const double area = 0.25 * model.shape[(axis + 1) % 3] * model.shape[(axis + 2) % 3];
    CHECK(reactions[1][axis] == Approx(-0.02 * 1000 * area).epsilon(1e-8));
    CHECK(reactions[0][axis] == Approx(0.02 * 1000 * area).epsilon(1e-8));
    for (std::size_t k = 2; k < reactions.size(); ++k) // the pins
      for (int c = 0; c < 3; ++c)
        CHECK(std::abs(reactions[k][c]) < 1e-6);
  }
}

OSSATURA_BACKEND_TEST("A confined box has the confined modulus, and its walls the lateral stress",
                      "[mechanical_test]") {
  const TestType exec;
  const double nu = 0.2, strain = 0.01, modulus = 1000;
  const auto model = reference::homogeneous({4, 6, 8}, modulus, nu, 1);
  Specimen<TestType> specimen(exec, model);
  MechanicalTest test;
  test.kind = TestKind::confined;
  test.strain = strain;
  const auto reactions = specimen.solve(exec, make_load_case(exec, specimen.problem.grid, 1, test));
  const double lambda = modulus * nu / ((1 + nu) * (1 - 2 * nu)), mu = modulus / (2 * (1 + nu));
  REQUIRE(specimen.regions.size() == 6);
  CHECK(reactions[1][2] == Approx((lambda + 2 * mu) * strain * 24).epsilon(1e-8));
  for (std::size_t k = 2; k < 6; ++k) {
    const bool x_wall = specimen.regions[k].name[1] == 'x';
    const double sign = specimen.regions[k].name[0] == '+' ? 1 : -1;
    CHECK(reactions[k][x_wall ? 0 : 1] ==
          Approx(sign * lambda * strain * (x_wall ? 6 * 8 : 4 * 8)).epsilon(1e-8));
  }
}

OSSATURA_BACKEND_TEST("A laminate in confined compression is in series across and parallel along",
                      "[mechanical_test]") {
  const TestType exec;
  // Layers of 2 voxels normal to z, moduli 1000 and 4000, nu = 0.3: M = E (1 - nu) / ((1 + nu)(1 -
  // 2 nu)), k = lambda / M = nu / (1 - nu). Across, 1 / M_eff = mean of 1 / M. Along, the layers
  // share the strain and the stress t across: with the mean strain across zero, t = e k / mean(1 /
  // M) and M_eff = (1 - k^2) mean(M) + k^2 / mean(1 / M).
  auto model = reference::homogeneous({8, 8, 8}, 1000, 0.3, 1);
  for (int z = 0; z < 8; ++z)
    for (int i = 0; i < 64; ++i)
      model.modulus[i + 64 * z] = z / 2 % 2 ? 4000 : 1000;
  const double factor = 0.7 / (1.3 * 0.4), strain = -0.01;
  for (int axis : {0, 2}) {
    Specimen<TestType> specimen(exec, model);
    MechanicalTest test;
    test.kind = TestKind::confined;
    test.axis = axis;
    test.strain = strain;
    const auto reactions =
        specimen.solve(exec, make_load_case(exec, specimen.problem.grid, 1, test));
    const double k = 3. / 7, series = factor * 1600, parallel = factor * 2500;
    const double effective = axis == 2 ? series : (1 - k * k) * parallel + k * k * series;
    CHECK(reactions[1][axis] == Approx(effective * strain * 64).epsilon(1e-7));
  }
}

OSSATURA_BACKEND_TEST("A symmetric shear of a box has the shear modulus, and of layers their mean",
                      "[mechanical_test]") {
  const TestType exec;
  // Layers normal to the axis are sheared alike, and the displacement is affine.
  const double nu = 0.3, strain = 0.02;
  auto model = reference::homogeneous({6, 4, 8}, 1000, nu, 0.5);
  for (int z = 0; z < 8; ++z)
    for (int i = 0; i < 24; ++i)
      model.modulus[i + 24 * z] = z < 6 ? 1000 : 3000;
  for (const bool is_free : {false, true}) {
    Specimen<TestType> specimen(exec, model);
    MechanicalTest test;
    test.kind = TestKind::symmetric_shear;
    test.strain = strain;
    test.lateral_free = is_free;
    const auto reactions =
        specimen.solve(exec, make_load_case(exec, specimen.problem.grid, 0.5, test));
    const double stress = strain * 1500 / (2 * (1 + nu));
    REQUIRE(specimen.regions.size() == 6);
    for (std::size_t k = 2; k < 6; ++k) {
      const bool x_side = specimen.regions[k].name[1] == 'x';
      const double sign = specimen.regions[k].name[0] == '+' ? 1 : -1;
      const double area = 0.25 * 8 * (x_side ? 4 : 6);
      CHECK(reactions[k][x_side ? 1 : 0] == Approx(sign * stress * area).epsilon(0.3));
      CHECK(std::abs(reactions[k][2]) < 1e-7 * stress * area);
    }
    // Nodes on edges belong to the last side, and so does what they hold; all of it is in the mean.
    BoneLoad<TestType> load;
    load.u = specimen.u;
    load.regions = specimen.regions;
    load.test = test;
    const auto solution = evaluate_solution(exec, specimen.problem, load);
    REQUIRE(solution.response);
    CHECK(*solution.response->strain == strain);
    CHECK(*solution.response->stress == Approx(stress).epsilon(1e-8));
    CHECK(*solution.response->apparent_modulus == Approx(1500 / (2 * (1 + nu))).epsilon(1e-8));
    CHECK(solution.response->area == Approx(0.25 * 6 * 4));
    CHECK_FALSE(solution.response->force);
  }
}

OSSATURA_BACKEND_TEST("Plates balance each other in every test, in forces and in moments",
                      "[mechanical_test]") {
  const TestType exec;
  auto model = reference::homogeneous({6, 6, 10}, 500, 0.3, 0.1);
  for (int z = 2; z < 8; ++z) // a notch
    model.modulus[model.voxel(1, 2, z)] = 0;
  for (const TestKind kind :
       {TestKind::axial, TestKind::shear, TestKind::torsion, TestKind::bending}) {
    Specimen<TestType> specimen(exec, model);
    MechanicalTest test;
    test.kind = kind;
    test.direction = 1;
    test.plate_depth = 0.1;
    const auto load = make_load_case(exec, specimen.problem.grid, model.edge, test);
    REQUIRE(load.size() == 2);
    CHECK(load[1].region.upper[2] - load[1].region.lower[2] == 1);
    const auto reactions = specimen.solve(exec, load);
    double largest = 0;
    for (int c = 0; c < 3; ++c)
      largest = std::max(largest, std::abs(reactions[1][c]));
    for (int c = 0; c < 3; ++c)
      CHECK(std::abs(reactions[0][c] + reactions[1][c]) < 1e-7 * std::max(largest, 1e-3));
  }
}

OSSATURA_BACKEND_TEST(
    "Torsion of a rod gives the torque of its polar moment within the mesh's error",
    "[mechanical_test]") {
  const TestType exec;
  // A square rod a = 12 voxels wide, clamped: torque = 0.1406 G theta a^4 / L (Timoshenko, Goodier,
  // Theory of Elasticity, section 109), which the warping held at the plates and trilinear elements
  // make stiffer: by under a tenth for L = 4 a and this mesh.
  const int a = 12, length = 48;
  const auto model = reference::homogeneous({a, a, length}, 2600, 0.3, 1); // G = 1000
  Specimen<TestType> specimen(exec, model);
  MechanicalTest test;
  test.kind = TestKind::torsion;
  test.angle = 0.01;
  specimen.solve(exec, make_load_case(exec, specimen.problem.grid, 1, test));
  const auto force = make_zeros<double>(exec, specimen.problem.grid.num_dofs(), "test::force");
  VoxelSolver<TestType>(exec, specimen.problem).apply(exec, specimen.u, force);
  double torque = 0;
  for (const HeldNode& node :
       list_held_nodes(exec, specimen.problem.grid, specimen.problem.held, specimen.u, force))
    if (node.site.z == length)
      torque += (node.site.x - 0.5 * a) * node.force[1] - (node.site.y - 0.5 * a) * node.force[0];
  const double free_warping = 0.1406 * 1000 * 0.01 * std::pow(a, 4) / length;
  CHECK(torque > free_warping);
  CHECK(torque < 1.1 * free_warping);
}

OSSATURA_BACKEND_TEST("Uniform strain on a homogeneous box returns the stiffness of its material",
                      "[mechanical_test]") {
  const TestType exec;
  const auto model = reference::homogeneous({5, 6, 4}, 700, 0.25, 0.2);
  const auto d = reference::elasticity(700, 0.25);
  for (int k = 0; k < 6; ++k) {
    Specimen<TestType> specimen(exec, model);
    double strain[6] = {};
    strain[k] = 1;
    specimen.solve(exec, make_uniform_strain_case(exec, specimen.problem.grid, strain));
    const auto stress = mean_stress(exec, specimen.problem.grid, specimen.problem.lame, model.edge,
                                    specimen.u, 5 * 6 * 4 * std::pow(model.edge, 3));
    for (int i = 0; i < 6; ++i)
      CHECK(stress[i] == Approx(d[i][k]).epsilon(1e-6).margin(1e-4));
  }
}

OSSATURA_BACKEND_TEST("The apparent stiffness of a composite is symmetric and within its bounds",
                      "[mechanical_test][slow]") {
  const TestType exec;
  const auto model = reference::random_model({6, 6, 6}, 2, 100, 0.2, 0.35, 11); // no void
  double c[6][6];
  for (int k = 0; k < 6; ++k) {
    Specimen<TestType> specimen(exec, model);
    double strain[6] = {};
    strain[k] = 1;
    specimen.solve(exec, make_uniform_strain_case(exec, specimen.problem.grid, strain));
    const auto stress =
        mean_stress(exec, specimen.problem.grid, specimen.problem.lame, 1, specimen.u, 216);
    for (int i = 0; i < 6; ++i)
      c[i][k] = stress[i];
  }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < i; ++j)
      CHECK(std::abs(c[i][j] - c[j][i]) < 1e-7 * c[0][0]);
  // Voigt and Reuss: x C x lies between the energies of mean stiffness and mean compliance for
  // every strain x; the latter are isotropic with mean K, mu and harmonic means of K, mu.
  double k_voigt = 0, mu_voigt = 0, k_reuss = 0, mu_reuss = 0;
  for (std::size_t i = 0; i < model.modulus.size(); ++i) {
    const double bulk = model.modulus[i] / (3 * (1 - 2 * model.poisson[i]));
    const double mu = model.modulus[i] / (2 * (1 + model.poisson[i]));
    k_voigt += bulk / 216;
    mu_voigt += mu / 216;
    k_reuss += 1 / bulk / 216;
    mu_reuss += 1 / mu / 216;
  }
  const auto energy = [](double bulk, double mu, const double(&x)[6]) {
    const double trace = x[0] + x[1] + x[2];
    double square = 0;
    for (int i = 0; i < 6; ++i)
      square += i < 3 ? x[i] * x[i] : x[i] * x[i] / 2;
    return (bulk - 2 * mu / 3) * trace * trace + 2 * mu * square;
  };
  std::mt19937 random(1);
  for (int sample = 0; sample < 50; ++sample) {
    double x[6], apparent = 0;
    for (double& xi : x)
      xi = random() / 2147483648.0 - 1;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        apparent += x[i] * c[i][j] * x[j];
    CHECK(apparent < energy(k_voigt, mu_voigt, x));
    CHECK(apparent > energy(1 / k_reuss, 1 / mu_reuss, x));
  }
}

OSSATURA_BACKEND_TEST("Plates that meet inside the specimen are refused", "[mechanical_test]") {
  const TestType exec;
  Specimen<TestType> specimen(exec, reference::homogeneous({4, 4, 4}, 1, 0.3, 1));
  MechanicalTest test;
  test.plate_depth = 2;
  CHECK_THROWS_AS(make_load_case(exec, specimen.problem.grid, 1, test), UsageError);
  test.plate_depth = 0;
  test.kind = TestKind::shear;
  test.direction = test.axis;
  CHECK_THROWS_AS(make_load_case(exec, specimen.problem.grid, 1, test), std::invalid_argument);
}

} // namespace
