// SPDX-License-Identifier: Apache-2.0
// Solves with hierarchical hexahedra: polynomials that they have in their space, Lame's sphere,
// counts of iterations, meshes of several orders, and what must not be reported as solved.
#include <ossatura/solvers/pfem/solver.hpp>

#include "tests/backend_test.hpp"
#include "tests/reference/polynomial_field.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/loads.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;

using Orders = std::vector<std::uint8_t>;

/// What a solver is made of, on the host.
struct Problem {
  CurvedHexaMesh mesh;
  HexaEntities entities;
  HierarchicNumbering numbering;
  ModeScaling scaling = ModeScaling::orthonormal;
  int points = 0; ///< 0: order + 1
  std::vector<std::uint8_t> held;
  std::vector<double> f, u;

  Problem(CurvedHexaMesh of, HexaSpace space, const Orders& order)
      : mesh(std::move(of))
      , entities(make_hexa_entities(mesh.mesh))
      , numbering(make_hierarchic_numbering(mesh.mesh, entities, space, order))
      , held(std::size_t(numbering.num_modes), 0)
      , f(3 * held.size(), 0.0)
      , u(3 * held.size(), 0.0) {}

  int load_points() const {
    return points > 0 ? points
                      : 2 + *std::max_element(numbering.order.begin(), numbering.order.end());
  }
  /// Boundary faces whose middle is where `is_there` says.
  template<class Where>
  std::vector<ElementFace> faces(const Where& is_there) const {
    return boundary_faces(mesh, entities, is_there);
  }
  void hold(const std::vector<ElementFace>& on, int components) {
    for (const std::int32_t mode : modes_of_faces(mesh.mesh, entities, numbering, on))
      held[std::size_t(mode)] |= std::uint8_t(components);
  }
  void push(const std::vector<ElementFace>& on, const Traction& traction) {
    add_traction(mesh, numbering, scaling, load_points(), on, traction, f);
  }
  void load(const ForceDensity& density) {
    add_body_force(mesh, numbering, scaling, load_points(), density, f);
  }
  std::int64_t num_free() const {
    std::int64_t count = 0;
    for (const int mask : held)
      count += 3 - (mask & 1) - (mask >> 1 & 1) - (mask >> 2);
    return count;
  }
};

struct Solved {
  SolveResult result;
  std::vector<double> u, force; ///< force: K u
  double energy = 0;
};

template<class Exec>
HierarchicSolver<Exec> make_solver(const Exec& exec, const Problem& problem,
                                   const HierarchicSolverOptions& options) {
  HierarchicOptions of_model;
  of_model.scaling = problem.scaling;
  of_model.points = problem.points;
  const ElasticityField elasticity{isotropic_elasticity(1, 0.3), {}};
  const auto model =
      make_hierarchic_model(exec, problem.mesh, problem.numbering, elasticity, of_model);
  return HierarchicSolver<Exec>(exec, problem.mesh, problem.numbering, model, problem.held,
                                options);
}

template<class Exec>
Solved solve(const Problem& problem, const HierarchicSolverOptions& options) {
  const Exec exec;
  HierarchicSolver<Exec> solver = make_solver(exec, problem, options);
  const auto u = upload(exec, "u", problem.u);
  Solved solved;
  solved.result = solver.solve(exec, upload(exec, "f", problem.f), u);
  const auto y = make_zeros<double>(exec, std::int64_t(problem.u.size()), "y");
  solver.apply(exec, u, y);
  solved.energy = 0.5 * dot(exec, u, y);
  solved.u = download(exec, u);
  solved.force = download(exec, y);
  return solved;
}

HierarchicSolverOptions with(HierarchicPreconditioner preconditioner, double tolerance) {
  HierarchicSolverOptions options;
  options.kind = HierarchicOperatorKind::packed;
  options.preconditioner = preconditioner;
  options.cg.tolerance = tolerance;
  return options;
}

constexpr HierarchicPreconditioner preconditioners[] = {
    HierarchicPreconditioner::none, HierarchicPreconditioner::jacobi,
    HierarchicPreconditioner::vertex_stars, HierarchicPreconditioner::ldlt};

/// Vertices in another order, elements in a frame turned by any of the 24 rotations.
void shuffle(ElementMesh& mesh, std::mt19937& random) {
  std::vector<int> number(mesh.num_points());
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), random);
  const ElementMesh old = mesh;
  for (std::size_t n = 0; n < number.size(); ++n)
    std::copy_n(&old.point[3 * n], 3, &mesh.point[3 * std::size_t(number[n])]);
  const int around_z[8] = {1, 2, 3, 0, 5, 6, 7, 4}, around_x[8] = {3, 2, 6, 7, 0, 1, 5, 4};
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    int from[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned turns = random() % 64; turns > 0; turns /= 2) {
      int next[8];
      for (int a = 0; a < 8; ++a)
        next[a] = from[turns % 2 == 0 ? around_z[a] : around_x[a]];
      std::copy_n(next, 8, from);
    }
    for (std::size_t a = 0; a < 8; ++a)
      mesh.node[8 * e + a] = number[std::size_t(old.node[8 * e + std::size_t(from[a])])];
  }
}

/// Moves points that are not on the surface of the unit cube by up to `part` of a cell.
void distort(ElementMesh& mesh, int cells, double part, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-part / cells, part / cells);
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    double* const x = &mesh.point[3 * n];
    if (std::all_of(x, x + 3, [](double c) { return c > 1e-9 && c < 1 - 1e-9; }))
      for (int c = 0; c < 3; ++c)
        x[c] += uniform(random);
  }
}

std::vector<double> corners_of(const ElementMesh& mesh, std::size_t elem) {
  std::vector<double> corner;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t c = 0; c < 3; ++c)
      corner.push_back(mesh.point[3 * std::size_t(mesh.node[8 * elem + a]) + c]);
  return corner;
}

/// The coefficients [num_modes, 3] of a field that the space has. `mismatch`: by how much elements
/// disagree, and what is left of the field in functions that the elements do not have.
std::vector<double> coefficients_of(const Problem& problem, const reference::PolynomialField& field,
                                    double& mismatch) {
  const HierarchicNumbering& numbering = problem.numbering;
  std::vector<double> u(3 * std::size_t(numbering.num_modes), std::nan(""));
  mismatch = 0;
  for (std::size_t e = 0; e < problem.mesh.mesh.num_elem(); ++e) {
    const int order = numbering.order[e];
    const std::vector<HierarchicMode> modes = hierarchic_modes(numbering.space, order);
    const std::size_t n = std::size_t(order) + 1;
    for (std::size_t c = 0; c < 3; ++c) {
      std::vector<double> local =
          reference::basis_coefficients(order, problem.scaling == ModeScaling::orthonormal,
                                        corners_of(problem.mesh.mesh, e), field.u[c]);
      for (std::size_t a = 0; a < modes.size(); ++a) {
        double& own = local[(modes[a].index[0] * n + modes[a].index[1]) * n + modes[a].index[2]];
        const std::int32_t seen = numbering.signed_mode[std::size_t(numbering.begin[e]) + a];
        if (seen != SignedMode::none) {
          double& global = u[3 * std::size_t(seen >> 1) + c];
          const double value = seen & 1 ? -own : own;
          mismatch = std::max(mismatch, std::isnan(global) ? 0 : std::abs(global - value));
          global = value;
          own = 0;
        }
      }
      for (const double rest : local)
        mismatch = std::max(mismatch, std::abs(rest));
    }
  }
  return u;
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x)
    most = std::isnan(value) ? value : std::max(most, std::abs(value));
  return most;
}

double largest_difference(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] -= y[i];
  return largest(x);
}

/// A sheared box of 2 x 2 x 2 elements, shuffled.
CurvedHexaMesh sheared_box(unsigned seed) {
  ElementMesh mesh = make_hexa_box({2, 2, 2}, {1, 1, 1});
  shear(mesh, {0.2, 0.1, -0.15});
  std::mt19937 random(seed);
  shuffle(mesh, random);
  return {std::move(mesh), nullptr};
}

template<class Exec>
void check_polynomial(HexaSpace space, int order) {
  INFO(name_of(space) << " of order " << order);
  const reference::PolynomialField field = reference::random_field(order, unsigned(order));
  Problem problem(sheared_box(unsigned(10 + order)), space, {std::uint8_t(order)});
  double mismatch;
  const std::vector<double> exact = coefficients_of(problem, field, mismatch);
  CHECK(mismatch < 1e-12 * largest(exact));
  const std::vector<reference::SpatialPolynomial> force = field.body_force();
  problem.load([&](const double(&x)[3], double(&density)[3]) {
    for (std::size_t c = 0; c < 3; ++c)
      density[c] = force[c](x);
  });
  problem.hold(boundary_faces(problem.entities), 7);
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (problem.held[i / 3] != 0)
      problem.u[i] = exact[i];
  const Solved solved = solve<Exec>(problem, with(HierarchicPreconditioner::vertex_stars, 1e-14));
  CHECK(largest_difference(solved.u, exact) < 1e-12 * largest(exact));
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (problem.held[i / 3] != 0)
      REQUIRE(solved.u[i] == exact[i]);
}

OSSATURA_BACKEND_TEST("polynomials of the order are exact in any frames", "[pfem]") {
  for (int order = 1; order <= 5; ++order)
    check_polynomial<TestType>(HexaSpace::trunk, order);
  check_polynomial<TestType>(HexaSpace::tensor, 3);
}

OSSATURA_BACKEND_TEST("polynomials of orders 6 and 7 are exact in any frames", "[pfem][slow]") {
  for (int order = 6; order <= 7; ++order)
    check_polynomial<TestType>(HexaSpace::trunk, order);
}

/// A box that couples on its ends bend: u = -k x y, v = k (x^2 + nu (y^2 - z^2)) / 2, w = k nu y z;
/// sigma_xx = -E k y alone.
struct BentBox {
  static constexpr double k = 0.7;
  Problem problem;
  std::vector<double> exact;

  BentBox(const int (&cells)[3], const double (&size)[3], int order)
      : problem(shuffled(cells, size), HexaSpace::trunk, {std::uint8_t(order)}) {
    const double nu = 0.3;
    reference::PolynomialField field{
        nu, std::vector<reference::SpatialPolynomial>(3, reference::SpatialPolynomial(2))};
    field.u[0].at(1, 1, 0) = -k;
    field.u[1].at(2, 0, 0) = k / 2;
    field.u[1].at(0, 2, 0) = k * nu / 2;
    field.u[1].at(0, 0, 2) = -k * nu / 2;
    field.u[2].at(0, 1, 1) = k * nu;
    double mismatch;
    exact = coefficients_of(problem, field, mismatch);
    problem.hold(problem.faces([](const double* x) { return x[0] < 1e-9; }), 7);
    for (std::size_t i = 0; i < exact.size(); ++i)
      if (problem.held[i / 3] != 0)
        problem.u[i] = exact[i];
    const double end = size[0] - 1e-9;
    problem.push(problem.faces([end](const double* x) { return x[0] > end; }),
                 [](const double(&x)[3], const double(&normal)[3], double(&traction)[3]) {
                   traction[0] = -k * x[1] * normal[0];
                 });
  }
  static CurvedHexaMesh shuffled(const int (&cells)[3], const double (&size)[3]) {
    ElementMesh mesh = make_hexa_box(cells, size);
    std::mt19937 random(3);
    shuffle(mesh, random);
    return {std::move(mesh), nullptr};
  }
};

OSSATURA_BACKEND_TEST("pure bending is exact from order 2 on", "[pfem]") {
  const double k = BentBox::k;
  for (const int order : {2, 3}) {
    const auto [problem, exact] = BentBox({2, 1, 1}, {2, 0.5, 0.6}, order);
    const Solved solved =
        solve<TestType>(problem, with(HierarchicPreconditioner::vertex_stars, 1e-13));
    INFO("order " << order);
    CHECK(largest_difference(solved.u, exact) < 1e-12);
    CHECK(solved.energy == Approx(0.5 * k * k * 2 * (0.6 * 0.125 / 3)).epsilon(1e-11));
  }
}

OSSATURA_BACKEND_TEST("a factor bends thin plates, which vertex stars leave to it", "[pfem]") {
  const double thickness = 0.005;
  const auto [problem, exact] = BentBox({5, 1, 4}, {1, thickness, 0.8}, 3);
  HierarchicSolverOptions options = with(HierarchicPreconditioner::ldlt, 1e-8);
  for (const int patience : {0, 30}) { // 0: ldlt
    if (patience > 0) {
      options.preconditioner = HierarchicPreconditioner::vertex_stars;
      options.patience = patience;
    }
    const Solved solved = solve<TestType>(problem, options);
    INFO("patience " << patience << ", " << solved.result.iterations << " iterations");
    CHECK(solved.result.converged);
    CHECK(solved.result.in_energy);
    CHECK(solved.result.fell_back == (patience > 0));
    CHECK(solved.result.iterations - patience <= 3);
    CHECK(largest_difference(solved.u, exact) < 1e-6 * largest(exact));
    CHECK(solved.energy ==
          Approx(0.5 * BentBox::k * BentBox::k * std::pow(thickness, 3) * 0.8 / 3).epsilon(1e-6));
  }
  // For the stars, but not for the factor.
  options.memory = BackendTraits<TestType>::is_device ? 4000000 : 3000000;
  options.cg.max_iterations = 100;
  const Solved alone = solve<TestType>(problem, options);
  CHECK_FALSE(alone.result.fell_back);
  CHECK(alone.result.iterations == 100);
  options.preconditioner = HierarchicPreconditioner::ldlt;
  CHECK_THROWS_WITH(solve<TestType>(problem, options), ContainsSubstring("a factor of the matrix"));
}

OSSATURA_BACKEND_TEST("linear fields are in balance on a distorted mesh of several orders",
                      "[pfem]") {
  std::mt19937 random(5);
  ElementMesh mesh = make_hexa_box({2, 2, 2}, {1, 1, 1});
  distort(mesh, 2, 0.2, random);
  shuffle(mesh, random);
  const reference::PolynomialField field = reference::random_field(1, 7);
  for (const Orders& order : {Orders{4}, Orders{1, 3, 2, 5, 4, 2, 3, 1}}) {
    Problem problem({mesh, nullptr}, HexaSpace::trunk, order);
    double mismatch;
    const std::vector<double> exact = coefficients_of(problem, field, mismatch);
    CHECK(mismatch < 1e-13 * largest(exact));
    problem.hold(boundary_faces(problem.entities), 7);
    const TestType exec;
    const HierarchicSolver<TestType> solver =
        make_solver(exec, problem, with(HierarchicPreconditioner::none, 1e-10));
    const auto y = make_zeros<double>(exec, std::int64_t(exact.size()), "y");
    solver.apply(exec, upload(exec, "u", exact), y);
    const std::vector<double> reaction = download(exec, y);
    double residual = 0;
    for (std::size_t i = 0; i < reaction.size(); ++i)
      residual = std::max(residual, problem.held[i / 3] == 0 ? std::abs(reaction[i]) : 0);
    CHECK(residual < 1e-14 * largest(exact));
    CHECK(largest(reaction) > 0.01);
  }
}

/// The error in the energy norm (per cent) of Lame's sphere with an inner pressure of 1, an octant
/// of three elements, E = 1, Poisson's ratio 0.3; free components are counted.
template<class Exec>
double sphere_error(HexaSpace space, int order, std::int64_t& num_free) {
  Problem problem(make_sphere_octant(1, 2, 1, 1), space, {std::uint8_t(order)});
  problem.points = order + 4;
  for (int axis = 0; axis < 3; ++axis)
    problem.hold(problem.faces([axis](const double* x) { return std::abs(x[axis]) < 1e-9; }),
                 1 << axis);
  problem.push(problem.faces([](const double* x) {
    return std::abs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1) < 1e-9;
  }),
               [](const double(&)[3], const double(&normal)[3], double(&traction)[3]) {
                 for (int c = 0; c < 3; ++c)
                   traction[c] = -normal[c];
               });
  num_free = problem.num_free();
  // Of three elements, stars are almost the whole body.
  HierarchicSolverOptions options = with(num_free < 1000 ? HierarchicPreconditioner::vertex_stars
                                                         : HierarchicPreconditioner::jacobi,
                                         1e-11);
  const Solved solved = solve<Exec>(problem, options);
  CHECK(solved.result.converged);
  const double exact = 0.2 * Kokkos::numbers::pi;
  return 100 * std::sqrt(std::abs(exact - solved.energy) / exact);
}

struct SphereRow {
  HexaSpace space;
  int order, num_free;
  double error;
};

template<class Exec>
void check_sphere(const std::vector<SphereRow>& rows) {
  for (const SphereRow& row : rows) {
    INFO(name_of(row.space) << " of order " << row.order);
    std::int64_t num_free = 0;
    CHECK(sphere_error<Exec>(row.space, row.order, num_free) == Approx(row.error).epsilon(0.02));
    CHECK(num_free == row.num_free);
  }
}

OSSATURA_BACKEND_TEST("Lame's sphere converges exponentially with the order", "[pfem]") {
  check_sphere<TestType>({{HexaSpace::trunk, 1, 24, 55.47},
                          {HexaSpace::trunk, 2, 78, 20.53},
                          {HexaSpace::trunk, 3, 132, 6.596},
                          {HexaSpace::trunk, 4, 225, 1.854},
                          {HexaSpace::trunk, 5, 357, 0.4873},
                          {HexaSpace::tensor, 1, 24, 55.47},
                          {HexaSpace::tensor, 2, 126, 20.38},
                          {HexaSpace::tensor, 3, 360, 5.981}});
}

OSSATURA_BACKEND_TEST("Lame's sphere converges exponentially at higher orders", "[pfem][slow]") {
  check_sphere<TestType>({{HexaSpace::trunk, 6, 537, 0.1415},
                          {HexaSpace::trunk, 7, 774, 0.0372},
                          {HexaSpace::trunk, 8, 1077, 0.01052},
                          {HexaSpace::trunk, 9, 1455, 0.00312},
                          {HexaSpace::trunk, 10, 1917, 0.000898},
                          {HexaSpace::tensor, 4, 780, 1.514},
                          {HexaSpace::tensor, 5, 1440, 0.3669}});
}

/// Distorted elements of the unit cube, clamped at x = 0, with a body force. The counts that are
/// expected of 3 x 3 x 3 are those of a program of its own (numpy) on another mesh of this kind.
Problem clamped_box(int cells, const Orders& order, ModeScaling scaling) {
  std::mt19937 random(5);
  ElementMesh mesh = make_hexa_box({cells, cells, cells}, {1, 1, 1});
  distort(mesh, cells, 0.25, random);
  shuffle(mesh, random);
  Problem problem({std::move(mesh), nullptr}, HexaSpace::trunk, order);
  problem.scaling = scaling;
  problem.hold(problem.faces([](const double* x) { return x[0] < 1e-9; }), 7);
  problem.load([](const double(&)[3], double(&density)[3]) {
    density[0] = 1;
    density[1] = -0.5;
    density[2] = 0.25;
  });
  return problem;
}

struct IterationRow {
  int order, num_free, stars, jacobi, none; ///< 0: not here
};

template<class Exec>
void check_iterations(const IterationRow& row) {
  const Problem problem = clamped_box(3, {std::uint8_t(row.order)}, ModeScaling::paper);
  CHECK(problem.num_free() == row.num_free);
  const auto count = [&](HierarchicPreconditioner preconditioner) {
    const Solved solved = solve<Exec>(problem, with(preconditioner, 1e-8));
    CHECK(solved.result.converged);
    return solved.result.iterations;
  };
  INFO("order " << row.order);
  CHECK(std::abs(count(HierarchicPreconditioner::vertex_stars) - row.stars) <= 4);
  CHECK(count(HierarchicPreconditioner::jacobi) == Approx(row.jacobi).epsilon(0.1));
  if (row.none > 0) // by how matrices are formed, too: 127 or 128 for 116 at order 2
    CHECK(count(HierarchicPreconditioner::none) == Approx(row.none).epsilon(0.15));
}

OSSATURA_BACKEND_TEST("iterations grow with the order but with vertex stars", "[pfem]") {
  check_iterations<TestType>({2, 504, 30, 84, 116});
  check_iterations<TestType>({4, 1521, 33, 139, 0});
}

OSSATURA_BACKEND_TEST("iterations with vertex stars do not grow to order 6", "[pfem][slow]") {
  check_iterations<TestType>({4, 1521, 33, 139, 235});
  check_iterations<TestType>({6, 3807, 33, 239, 0});
}

OSSATURA_BACKEND_TEST("order 1 by multigrid, and stars in fp64, take as many iterations",
                      "[pfem]") {
  const Problem problem = clamped_box(3, {3}, ModeScaling::orthonormal);
  HierarchicSolverOptions options = with(HierarchicPreconditioner::vertex_stars, 1e-8);
  const Solved direct = solve<TestType>(problem, options);
  options.precision = Precision::fp64;
  const Solved in_double = solve<TestType>(problem, options);
  CHECK(in_double.result.iterations == direct.result.iterations);
  options.most_direct_vertices = 63; // of 64
  const Solved by_cycle = solve<TestType>(problem, options);
  CHECK(by_cycle.result.converged);
  CHECK(by_cycle.result.iterations <= direct.result.iterations + 3);
  CHECK(by_cycle.energy == Approx(direct.energy).epsilon(1e-8));
}

OSSATURA_BACKEND_TEST("every operator leads to the same solution", "[pfem]") {
  const Problem problem = clamped_box(2, {3}, ModeScaling::orthonormal);
  HierarchicSolverOptions options = with(HierarchicPreconditioner::vertex_stars, 1e-9);
  const Solved packed = solve<TestType>(problem, options);
  for (const HierarchicOperatorKind kind :
       {HierarchicOperatorKind::automatic, HierarchicOperatorKind::bsr,
        HierarchicOperatorKind::matrix_free, HierarchicOperatorKind::shared}) {
    options.kind = kind;
    const Solved solved = solve<TestType>(problem, options);
    INFO(name_of(kind));
    CHECK(solved.result.converged);
    CHECK(std::abs(solved.result.iterations - packed.result.iterations) <= 1);
    CHECK(largest_difference(solved.u, packed.u) < 1e-7 * largest(packed.u));
  }
}

const Orders several_orders{2, 4, 3, 2, 4, 4, 3, 2};

/// The displacement of element `elem` at xi.
std::vector<double> displacement(const Problem& problem, const std::vector<double>& u,
                                 std::size_t elem, const double (&xi)[3]) {
  const int order = problem.numbering.order[elem];
  std::vector<double> value[3], sum(3, 0.0);
  for (int n = 0; n <= order; ++n)
    for (std::size_t axis = 0; axis < 3; ++axis)
      value[axis].push_back(double(reference::evaluate(
          reference::hierarchic_polynomial(n, problem.scaling == ModeScaling::orthonormal),
          xi[axis])));
  const std::vector<HierarchicMode> modes = hierarchic_modes(problem.numbering.space, order);
  for (std::size_t a = 0; a < modes.size(); ++a) {
    const std::int32_t seen =
        problem.numbering.signed_mode[std::size_t(problem.numbering.begin[elem]) + a];
    if (seen == SignedMode::none)
      continue;
    double product = seen & 1 ? -1 : 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      product *= value[axis][modes[a].index[axis]];
    for (std::size_t c = 0; c < 3; ++c)
      sum[c] += product * u[3 * std::size_t(seen >> 1) + c];
  }
  return sum;
}

/// The point of a face with the given weights of its four vertices, as an element sees it.
void locate(const ElementMesh& mesh, std::size_t elem, const std::int32_t (&vertex)[4],
            const double (&weight)[4], double (&xi)[3]) {
  for (double& c : xi)
    c = 0;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t k = 0; k < 4; ++k)
      if (mesh.node[8 * elem + a] == vertex[k]) {
        xi[0] += ((a + 1) & 2) != 0 ? weight[k] : -weight[k];
        xi[1] += (a & 2) != 0 ? weight[k] : -weight[k];
        xi[2] += (a & 4) != 0 ? weight[k] : -weight[k];
      }
}

OSSATURA_BACKEND_TEST("elements of several orders fit and are between those of one", "[pfem]") {
  const HierarchicSolverOptions options = with(HierarchicPreconditioner::vertex_stars, 1e-9);
  const Problem problem = clamped_box(2, several_orders, ModeScaling::orthonormal);
  const Solved mixed = solve<TestType>(problem, options);
  CHECK(mixed.result.converged);
  const auto energy = [&](int order) {
    return solve<TestType>(clamped_box(2, {std::uint8_t(order)}, ModeScaling::orthonormal), options)
        .energy;
  };
  CHECK(energy(2) < 0.999 * mixed.energy);
  CHECK(mixed.energy < 0.999 * energy(4));

  const ElementMesh& mesh = problem.mesh.mesh;
  int shared = 0;
  for (std::size_t i = 0; i < problem.entities.face.size(); ++i)
    for (std::size_t k = i + 1; k < problem.entities.face.size(); ++k) {
      if (problem.entities.face[i] != problem.entities.face[k])
        continue;
      ++shared;
      const HexaFace& frame = hexa_face_frame[i % 6];
      const double s = 0.37, t = 0.81;
      const double weight[4] = {(1 - s) * (1 - t), (1 - s) * t, s * (1 - t), s * t};
      std::int32_t vertex[4];
      for (std::size_t v = 0; v < 4; ++v)
        vertex[v] = mesh.node[8 * (i / 6) + std::size_t(frame.node[v / 2][v % 2])];
      double one[3], other[3];
      locate(mesh, i / 6, vertex, weight, one);
      locate(mesh, k / 6, vertex, weight, other);
      const std::vector<double> there = displacement(problem, mixed.u, k / 6, other);
      CHECK(largest_difference(displacement(problem, mixed.u, i / 6, one), there) <
            1e-13 * largest(mixed.u));
      CHECK(largest(there) > 1e-3 * largest(mixed.u));
    }
  CHECK(shared == 12);
}

OSSATURA_BACKEND_TEST("element by element the iteration is that of the assembled matrix",
                      "[pfem]") {
  for (const HierarchicPreconditioner preconditioner :
       {HierarchicPreconditioner::none, HierarchicPreconditioner::jacobi}) {
    Problem problem = clamped_box(2, several_orders, ModeScaling::orthonormal);
    for (std::size_t i = 0; i < problem.u.size(); ++i)
      if (problem.held[i / 3] != 0)
        problem.u[i] = 0.01 * double(i % 7); // prescribed
    HierarchicSolverOptions options = with(preconditioner, 1e-8);
    const Solved assembled = solve<TestType>(problem, options);
    options.element_wise = true;
    const Solved by_elem = solve<TestType>(problem, options);
    INFO(name_of(preconditioner) << ", " << assembled.result.iterations << " iterations");
    CHECK(by_elem.result.converged);
    // Sums of another order: residuals fall in jumps, and meet the tolerance a little sooner or
    // later.
    CHECK(std::abs(by_elem.result.iterations - assembled.result.iterations) <=
          2 + assembled.result.iterations / 20);
    CHECK(by_elem.result.reference == Approx(assembled.result.reference).epsilon(1e-12));
    CHECK(largest_difference(by_elem.u, assembled.u) < 1e-6 * largest(assembled.u));
    CHECK(by_elem.energy == Approx(assembled.energy).epsilon(1e-6));
    for (std::size_t i = 0; i < problem.u.size(); ++i)
      if (problem.held[i / 3] != 0)
        REQUIRE(by_elem.u[i] == problem.u[i]);
  }
}

OSSATURA_BACKEND_TEST("loads have their resultants and reactions balance them", "[pfem]") {
  // Only the vertex modes add up to 1.
  const auto resultant = [](const Problem& problem, const std::vector<double>& f, std::size_t c) {
    double sum = 0;
    for (std::size_t m = 0; m < problem.mesh.mesh.num_points(); ++m)
      sum += f[3 * m + c];
    return sum;
  };
  Problem sphere(make_sphere_octant(1, 2, 1, 1), HexaSpace::trunk, {3});
  sphere.points = 9;
  const auto inside =
      sphere.faces([](const double* x) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 1.1; });
  CHECK(inside.size() == 3);
  sphere.push(inside, [](const double(&x)[3], const double(&normal)[3], double(&traction)[3]) {
    for (int c = 0; c < 3; ++c) {
      CHECK(normal[c] == Approx(-x[c]));
      traction[c] = -normal[c];
    }
  });
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(resultant(sphere, sphere.f, c) == Approx(Kokkos::numbers::pi / 4).epsilon(1e-6));

  const Problem box = clamped_box(2, {4}, ModeScaling::orthonormal);
  CHECK(boundary_faces(box.entities).size() == 24);
  CHECK(std::count(box.held.begin(), box.held.end(), 7) == 9 + 12 * 3 + 4);
  const double total[3] = {1, -0.5, 0.25};
  const Solved solved = solve<TestType>(box, with(HierarchicPreconditioner::vertex_stars, 1e-11));
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(resultant(box, box.f, c) == Approx(total[c]));
    double reaction = 0;
    for (std::size_t m = 0; m < box.mesh.mesh.num_points(); ++m)
      reaction += box.held[m] != 0 ? solved.force[3 * m + c] - box.f[3 * m + c] : 0;
    CHECK(reaction == Approx(-total[c]).epsilon(1e-8));
  }
}

OSSATURA_BACKEND_TEST("what is not held is not reported as solved", "[pfem]") {
  Problem floating = clamped_box(2, {3}, ModeScaling::orthonormal);
  std::fill(floating.held.begin(), floating.held.end(), std::uint8_t(0));
  Problem broken = clamped_box(2, {3}, ModeScaling::orthonormal);
  broken.f.back() = std::nan("");
  for (const Problem* problem : {&floating, &broken})
    for (const HierarchicPreconditioner preconditioner : preconditioners)
      for (const bool element_wise : {false, true}) {
        HierarchicSolverOptions options = with(preconditioner, 1e-8);
        options.cg.max_iterations = 200;
        options.element_wise = element_wise;
        if (element_wise && (preconditioner == HierarchicPreconditioner::vertex_stars ||
                             preconditioner == HierarchicPreconditioner::ldlt))
          continue;
        const Solved solved = solve<TestType>(*problem, options);
        INFO(name_of(preconditioner) << ", " << solved.result.iterations << " iterations");
        CHECK_FALSE(solved.result.converged);
        CHECK(solved.result.iterations <= 200);
        CHECK_FALSE(solved.result.residual <= 1e-8);
      }

  Problem idle = clamped_box(2, {3}, ModeScaling::orthonormal);
  idle.f.assign(idle.f.size(), 0.0);
  const Solved nothing = solve<TestType>(idle, with(HierarchicPreconditioner::vertex_stars, 1e-8));
  CHECK(nothing.result.converged);
  CHECK(nothing.result.iterations == 0);
  CHECK(largest(nothing.u) == 0);
}

OSSATURA_BACKEND_TEST("a solver of hierarchical hexahedra refuses what makes no sense", "[pfem]") {
  const TestType exec;
  Problem box = clamped_box(2, {2}, ModeScaling::orthonormal);
  const auto make = [&](const HierarchicSolverOptions& options) {
    make_solver(exec, box, options);
  };
  HierarchicSolverOptions options = with(HierarchicPreconditioner::vertex_stars, 1e-8);
  options.element_wise = true;
  CHECK_THROWS_AS(make(options), std::invalid_argument);
  options.preconditioner = HierarchicPreconditioner::jacobi;
  options.kind = HierarchicOperatorKind::matrix_free;
  CHECK_THROWS_AS(make(options), std::invalid_argument);
  for (const double tolerance : {0.0, 1.0}) {
    options = with(HierarchicPreconditioner::vertex_stars, tolerance);
    CHECK_THROWS_AS(make(options), std::invalid_argument);
  }

  options.cg.tolerance = 1e-8;
  for (const Precision unknown : {Precision::lean, Precision::fp32}) {
    options.precision = unknown;
    CHECK_THROWS_AS(make(options), UsageError);
  }
  options.precision = Precision::mixed;
  options.memory = 120000; // of which element matrices take 117120
  CHECK_THROWS_WITH(make(options), ContainsSubstring("vertex stars"));
  CHECK_THROWS_AS(make(options), BackendError);
  options.memory = 100000;
  CHECK_THROWS_WITH(make(options), ContainsSubstring("the matrices of all elements"));
  CHECK_THROWS_AS(make(options), BackendError);

  options.memory = 0;
  HierarchicSolver<TestType> solver = make_solver(exec, box, options);
  const auto u = make_zeros<double>(exec, 3 * box.numbering.num_modes, "u");
  CHECK_THROWS_AS(solver.solve(exec, make_zeros<double>(exec, 3, "f"), u), std::invalid_argument);
  box.held[0] = 8;
  CHECK_THROWS_AS(make(options), std::invalid_argument);
  box.held.pop_back();
  CHECK_THROWS_AS(make(options), std::invalid_argument);
  box.f.pop_back();
  CHECK_THROWS_AS(box.load([](const double(&)[3], double(&)[3]) {}), std::invalid_argument);
  CHECK_THROWS_AS(box.hold({{8, 0}}, 7), std::invalid_argument);
}

} // namespace
