// SPDX-License-Identifier: Apache-2.0
// Natural frequencies of designs: against a dense eigenvalue problem that plain loops assemble,
// against beams, and gradients against differences, of frequencies that are equal, too.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/kernels/topopt/frequencies/vibrating_mass.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Points and weights of Gauss on [-1, 1].
std::vector<std::array<double, 2>> four_points() {
  const double root = std::sqrt(30.0), far = std::sqrt(3. / 7 + 2. / 7 * std::sqrt(1.2)),
               near = std::sqrt(3. / 7 - 2. / 7 * std::sqrt(1.2));
  const double of_far = (18 - root) / 36, of_near = (18 + root) / 36;
  return {{-far, of_far}, {-near, of_near}, {near, of_near}, {far, of_far}};
}

/// Points that integrate products of two shape functions, from a cube whose sides are drawn
/// together for triangles.
std::vector<SolidQuadraturePoint> product_points(SolidKind kind) {
  const int corners = shape_of(kind).num_corners;
  std::vector<SolidQuadraturePoint> points;
  for (const auto& [r, a] : four_points())
    for (const auto& [s, b] : four_points())
      for (const auto& [t, c] : four_points()) {
        const double u = (1 + r) / 2, v = (1 + s) / 2, w = (1 + t) / 2, weight = a * b * c;
        if (corners == 8)
          points.push_back({{r, s, t}, weight});
        else if (corners == 6)
          points.push_back({{v * (1 - u), u, t}, weight / 4 * (1 - u)});
        else
          points.push_back(
              {{(1 - u) * (1 - v) * w, u, v * (1 - u)}, weight / 8 * (1 - u) * (1 - u) * (1 - v)});
      }
  return points;
}

struct DensePencil {
  std::size_t n = 0;
  std::vector<double> k, m; ///< [n, n]
};

/// Slopes by x, y, z at a point of an element, and the determinant of its Jacobian.
double slopes_at(const SolidMesh& mesh, const NodeRange& nodes, const SolidShapeValues& shape,
                 std::array<std::array<double, 3>, most_solid_nodes>& slope) {
  Matrix3 j = zero_matrix(); // dx_c / dr_d
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        j(c, d) +=
            mesh.point[3 * std::size_t(nodes[a]) + std::size_t(c)] * shape.slope[a][std::size_t(d)];
  const Matrix3 back = inverse(j); // dr_d / dx_c at (d, c)
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (int c = 0; c < 3; ++c) {
      slope[a][std::size_t(c)] = 0;
      for (int d = 0; d < 3; ++d)
        slope[a][std::size_t(c)] += shape.slope[a][std::size_t(d)] * back(d, c);
    }
  return determinant(j);
}

/// Stiffness and mass of elements of these moduli and mass densities, by plain loops.
DensePencil assemble(const SolidMesh& mesh, const std::vector<double>& young,
                     const std::vector<double>& poisson, const std::vector<double>& density) {
  DensePencil dense;
  dense.n = 3 * mesh.num_points();
  dense.k.resize(dense.n * dense.n);
  dense.m.resize(dense.n * dense.n);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const NodeRange nodes = mesh.nodes_of(e);
    const double nu = poisson[e], mu = young[e] / 2 / (1 + nu), lambda = 2 * mu * nu / (1 - 2 * nu);
    std::array<std::array<double, 3>, most_solid_nodes> g{};
    for (const SolidQuadraturePoint& at : quadrature_of(mesh.kind[e])) {
      const double volume =
          slopes_at(mesh, nodes, evaluate_shape(mesh.kind[e], at.at), g) * at.weight;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
          for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
              double value = lambda * g[a][i] * g[b][j] + mu * g[a][j] * g[b][i];
              for (std::size_t d = 0; i == j && d < 3; ++d)
                value += mu * g[a][d] * g[b][d];
              dense.k[(3 * std::size_t(nodes[a]) + i) * dense.n + 3 * std::size_t(nodes[b]) + j] +=
                  volume * value;
            }
    }
    for (const SolidQuadraturePoint& at : product_points(mesh.kind[e])) {
      const SolidShapeValues shape = evaluate_shape(mesh.kind[e], at.at);
      const double mass = slopes_at(mesh, nodes, shape, g) * at.weight * density[e];
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < nodes.size(); ++b)
          for (std::size_t i = 0; i < 3; ++i)
            dense.m[(3 * std::size_t(nodes[a]) + i) * dense.n + 3 * std::size_t(nodes[b]) + i] +=
                mass * shape.value[a] * shape.value[b];
    }
  }
  return dense;
}

/// Jacobi's rotations of a symmetric matrix, in place.
void make_diagonal(std::vector<double>& small, std::size_t block) {
  for (int sweep = 0; sweep < 40; ++sweep)
    for (std::size_t p = 0; p < block; ++p)
      for (std::size_t q = p + 1; q < block; ++q) {
        const double off = small[p * block + q];
        if (off == 0)
          continue;
        const double angle = 0.5 * std::atan2(2 * off, small[q * block + q] - small[p * block + p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t i = 0; i < block; ++i) {
          const double a = small[i * block + p], b = small[i * block + q];
          small[i * block + p] = c * a - s * b;
          small[i * block + q] = s * a + c * b;
        }
        for (std::size_t i = 0; i < block; ++i) {
          const double a = small[p * block + i], b = small[q * block + i];
          small[p * block + i] = c * a - s * b;
          small[q * block + i] = s * a + c * b;
        }
      }
}

/// The lowest frequencies of the free components: the largest 1 / lambda of K^-1 M, one after the
/// other by the power method, in a space that is free of those before, with plain sums.
std::vector<double> dense_frequencies(const DensePencil& all, const std::vector<bool>& held,
                                      int count) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < all.n; ++i)
    if (!held[i])
      free.push_back(i);
  const std::size_t n = free.size();
  std::vector<double> k(n * n), m(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      k[i * n + j] = all.k[free[i] * all.n + free[j]];
      m[i * n + j] = all.m[free[i] * all.n + free[j]];
    }
  reference::factorise_dense(k, n);
  // Powers of K^-1 M of a block that is larger, made orthonormal in M after each; then the largest
  // are found in it by Jacobi's rotations.
  const std::size_t block = std::min<std::size_t>(std::size_t(count) + 8, n);
  std::mt19937 random(3);
  std::vector<std::vector<double>> x(block, std::vector<double>(n));
  for (auto& one : x)
    for (double& value : one)
      value = double(random()) / double(random.max()) - 0.5;
  const auto by_mass = [&](const std::vector<double>& v) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        y[i] += m[i * n + j] * v[j];
    return y;
  };
  const auto inner = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += a[i] * b[i];
    return sum;
  };
  std::vector<double> found(block);
  std::vector<std::vector<double>> mx = x;
  for (int round = 0; round < 40; ++round)
    for (std::size_t p = 0; p < block; ++p) {
      x[p] = by_mass(x[p]);
      reference::solve_factorised(k, x[p]);
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t q = 0; q < p; ++q) {
          const double along = inner(mx[q], x[p]);
          for (std::size_t i = 0; i < n; ++i)
            x[p][i] -= along * x[q][i];
        }
      mx[p] = by_mass(x[p]);
      const double size = std::sqrt(inner(mx[p], x[p]));
      for (std::size_t i = 0; i < n; ++i) {
        x[p][i] /= size;
        mx[p][i] /= size;
      }
    }
  // x_p . M K^-1 M x_q in the basis, whose first columns are an invariant space by now.
  std::vector<double> small(block * block);
  for (std::size_t p = 0; p < block; ++p) {
    std::vector<double> y = by_mass(x[p]);
    reference::solve_factorised(k, y);
    const std::vector<double> my = by_mass(y);
    for (std::size_t q = 0; q < block; ++q)
      small[p * block + q] = inner(x[q], my);
  }
  make_diagonal(small, block);
  for (std::size_t p = 0; p < block; ++p)
    found[p] = 1 / (2 * Kokkos::numbers::pi * std::sqrt(small[p * block + p]));
  std::sort(found.begin(), found.end());
  found.resize(std::size_t(count));
  return found;
}

/// A bent box held at x = 0, of mass density 3 and E = 200.
DesignProblem bent_box(SolidKind kind, SolidKind other, const std::array<int, 3>& cells,
                       const std::array<double, 3>& size) {
  DesignProblem problem;
  const SolidMesh mesh = ossatura_test::make_solid_box(
      [&](int i) { return 2 * i < cells[0] ? kind : other; }, cells, size,
      [&](std::array<double, 3>& x) { ossatura_test::bend_inside(size, x); });
  if (kind == SolidKind::hexa8 && other == kind) {
    problem.mesh.point = mesh.point;
    problem.mesh.node = mesh.node;
    problem.mesh.shape = ElementShape::hexa;
  } else {
    problem.solids = std::make_shared<const SolidMesh>(mesh);
  }
  problem.young = 200;
  problem.materials = {{"heavy", 200, 0.3, 3}};
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (mesh.point[3 * n] == 0)
      problem.held.push_back({std::int32_t(n), 7});
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{std::int32_t(mesh.num_points()) - 1, {0, 0.2, -1}}};
  return problem;
}

SolidMesh vibrating_mesh(const DesignProblem& problem) {
  if (problem.solids)
    return *problem.solids;
  SolidMesh mesh;
  mesh.point = problem.mesh.point;
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    mesh.kind.push_back(SolidKind::hexa8);
    mesh.node.insert(mesh.node.end(), problem.nodes_of(e).begin(), problem.nodes_of(e).end());
    mesh.begin.push_back(std::int32_t(mesh.node.size()));
  }
  return mesh;
}

DesignOptions options_of_frequencies(int count, double tolerance = 1e-8) {
  DesignOptions options = options_with(tolerance);
  options.method = DesignMethod::mma;
  options.filter = DesignFilter::none;
  options.frequencies = count;
  return options;
}

std::vector<double> rough_densities(std::size_t count, double low, double range, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(count);
  for (double& one : x)
    one = low + range * double(random()) / double(random.max());
  return x;
}

/// Those of a design by plain loops; a law p of 3 and a least modulus of 1e-9.
std::vector<double> expected_frequencies(const DesignProblem& problem,
                                         const std::vector<double>& density, int count) {
  const SolidMesh mesh = vibrating_mesh(problem);
  std::vector<double> young, poisson, mass;
  for (std::size_t e = 0; e < density.size(); ++e) {
    const HexaMaterial& own = problem.materials[problem.material.empty() ? 0 : problem.material[e]];
    const double rho = density[e];
    young.push_back(own.young * (1e-9 + (1 - 1e-9) * rho * rho * rho));
    poisson.push_back(own.poisson);
    mass.push_back(own.density *
                   (rho >= 0.1 ? rho : 6e5 * std::pow(rho, 6) - 5e6 * std::pow(rho, 7)));
  }
  std::vector<bool> held(3 * mesh.num_points());
  for (const HeldComponents& one : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if ((one.components >> c & 1) != 0)
        held[3 * std::size_t(one.node) + c] = true;
  return dense_frequencies(assemble(mesh, young, poisson, mass), held, count);
}

} // namespace

OSSATURA_BACKEND_TEST("Frequencies of all kinds of elements are those of dense matrices",
                      "[natural_frequencies]") {
  const TestType exec;
  for (const auto& [kind, other] : {std::pair(SolidKind::hexa8, SolidKind::hexa8),
                                    {SolidKind::tetra4, SolidKind::tetra4},
                                    {SolidKind::tetra10, SolidKind::tetra10},
                                    {SolidKind::prism6, SolidKind::hexa8},
                                    {SolidKind::hexa20, SolidKind::prism15},
                                    {SolidKind::hexa20r, SolidKind::hexa20}}) {
    INFO(name_of(kind) << ", " << name_of(other));
    DesignProblem problem = bent_box(kind, other, {2, 1, 1}, {2, 1, 1});
    if (kind == SolidKind::hexa8 && other == kind) { // other moduli, ratios and mass densities
      problem.materials.push_back({"light", 90, 0.2, 1.3});
      problem.material.assign(problem.num_elem(), 0);
      problem.material[0] = 1;
    }
    DesignOptimizer<TestType> optimizer(exec, problem, options_of_frequencies(4));
    // Of void, of what is below and above the bend of the law, and solid.
    std::vector<double> x = rough_densities(problem.num_elem(), 0.05, 0.95, 5);
    x.back() = x.size() > 4 ? 0 : x.back();
    optimizer.set_variables(exec, upload(exec, "x", x));
    const DesignStep step = optimizer.analyse(exec);
    const std::vector<double> expected = expected_frequencies(problem, x, 4);
    REQUIRE(step.frequencies.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(step.frequencies[i] == Approx(expected[i]).epsilon(1e-8));
      CHECK(step.frequency_residuals[i] <= 1e-8);
    }
  }
}

namespace {

/// A straight bar of E = 200 and mass density 3, held at x = 0 in `held` components there and in
/// `aside` ones of all nodes.
DesignProblem straight_bar(SolidKind kind, const std::array<int, 3>& cells,
                           const std::array<double, 3>& size, double poisson,
                           std::uint8_t aside = 0) {
  DesignProblem problem;
  const SolidMesh mesh = ossatura_test::make_solid_box([&](int) { return kind; }, cells, size,
                                                       [](std::array<double, 3>&) {});
  if (kind == SolidKind::hexa8)
    problem.mesh = make_hexa_box({cells[0], cells[1], cells[2]}, {size[0], size[1], size[2]});
  else
    problem.solids = std::make_shared<const SolidMesh>(mesh);
  problem.young = 200;
  problem.poisson = poisson;
  problem.materials = {{"only", 200, poisson, 3}};
  for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
    const bool is_end = problem.points()[3 * n] == 0;
    if (is_end || aside != 0)
      problem.held.push_back({std::int32_t(n), std::uint8_t(is_end ? 7 : aside)});
  }
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{std::int32_t(problem.num_nodes()) - 1, {1, 0, 0}}};
  return problem;
}

template<class Exec>
std::vector<double> solid_frequencies(const Exec& exec, const DesignProblem& problem, int count,
                                      double tolerance) {
  DesignOptimizer<Exec> optimizer(exec, problem, options_of_frequencies(count, tolerance));
  optimizer.set_variables(exec, upload(exec, "x", std::vector<double>(problem.num_elem(), 1.0)));
  return optimizer.analyse(exec).frequencies;
}

} // namespace

OSSATURA_BACKEND_TEST("Bars and beams vibrate as theory says", "[natural_frequencies]") {
  const TestType exec;
  const double pi = Kokkos::numbers::pi, speed = std::sqrt(200. / 3);
  {
    // Along its axis: linear elements with consistent mass have 6 (1 - cos kh) / (2 + cos kh) / h^2
    // in the place of k^2, k = pi / 2L, 3 pi / 2L.
    constexpr int n = 8;
    const double length = 4, h = length / n;
    const std::vector<double> found = solid_frequencies(
        exec, straight_bar(SolidKind::hexa8, {n, 1, 1}, {length, 1, 1}, 0, 6), 2, 1e-9);
    for (int i = 0; i < 2; ++i) {
      const double angle = (2 * i + 1) * pi / 2 / n;
      const double discrete = std::sqrt(6 * (1 - std::cos(angle)) / (2 + std::cos(angle))) / h;
      CHECK(found[std::size_t(i)] == Approx(discrete * speed / (2 * pi)).epsilon(1e-9));
    }
    CHECK(found[0] == Approx(speed / (4 * length)).epsilon(2e-3)); // from above, by (kh)^2 / 24
    CHECK(found[0] > speed / (4 * length));
  }
  // In bending a slender square bar has two equal frequencies, of Euler and Bernoulli but for shear
  // and rotary inertia, which take less than 1 %, (h / L)^2 times 3, and what elements lack.
  for (const SolidKind kind : {SolidKind::hexa20, SolidKind::tetra10}) {
    INFO(name_of(kind));
    const double length = 20;
    const std::vector<double> found =
        solid_frequencies(exec, straight_bar(kind, {10, 1, 1}, {length, 1, 1}, 0), 3, 1e-7);
    const double expected =
        std::pow(1.875104068711961, 2) / (2 * pi * length * length) * speed / std::sqrt(12.);
    CHECK(found[0] == Approx(expected).epsilon(0.01));
    CHECK(found[1] == Approx(expected).epsilon(0.01));
    CHECK(found[2] > 5 * expected); // the second of bending, 6.27 times as high
    if (kind != SolidKind::tetra10) // whose cells are not the same along both axes
      CHECK(found[1] == Approx(found[0]).epsilon(1e-9));
  }
}

TEST_CASE("The mass of vibrations falls smoothly to nothing in void", "[natural_frequencies]") {
  CHECK(VibratingMass::value(1) == 1);
  CHECK(VibratingMass::value(0.5) == 0.5);
  CHECK(VibratingMass::value(0) == 0);
  CHECK(VibratingMass::value(-0.1) == 0);
  const double below = std::nextafter(VibratingMass::threshold, 0);
  CHECK(VibratingMass::value(below) == Approx(0.1).epsilon(1e-14));
  CHECK(VibratingMass::slope(below) == Approx(1).epsilon(1e-13));
  for (const double rho : {0.01, 0.05, 0.09, 0.3})
    CHECK((VibratingMass::value(rho + 1e-6) - VibratingMass::value(rho - 1e-6)) / 2e-6 ==
          Approx(VibratingMass::slope(rho)).epsilon(1e-6));
}

namespace {

/// What a limit has as its mean, and its gradient by variables along a direction.
template<class Exec>
void check_mean_gradient(const Exec& exec, DesignProblem problem, DesignOptions options,
                         const std::vector<double>& x, bool is_multiple, double h = 2e-3) {
  problem.limits = {{DesignLimitKind::frequency, 1.0, -1, true}};
  options.objective = DesignObjective::frequency;
  options.frequencies = 4;
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  const auto analyse = [&](const std::vector<double>& at) {
    optimizer.set_variables(exec, upload(exec, "x", at));
    return optimizer.analyse(exec);
  };
  const DesignStep here = analyse(x);
  CHECK(here.objective == here.frequencies[0]);
  CHECK(here.limits[0].value == here.frequencies[0]);
  CHECK(here.limits[0].mean < here.frequencies[0]);
  CHECK(here.limits[0].mean > std::pow(4., -1. / 16) * here.frequencies[0]);
  if (is_multiple)
    REQUIRE(here.frequencies[1] == Approx(here.frequencies[0]).epsilon(1e-9));
  else
    REQUIRE(here.frequencies[1] > 1.02 * here.frequencies[0]);
  const std::vector<double> by_objective = optimizer.objective_gradient(exec);
  analyse(x);
  const std::vector<double> by_limit = optimizer.limit_gradient(exec, 0);
  for (std::size_t e = 0; e < x.size(); ++e)
    CHECK(by_limit[e] == Approx(by_objective[e]).epsilon(1e-6).margin(1e-9));
  for (unsigned trial = 0; trial < 2; ++trial) {
    const std::vector<double> way = rough_densities(x.size(), -0.5, 1, 31 + trial);
    double expected = 0, change = 0;
    for (std::size_t e = 0; e < x.size(); ++e)
      expected += by_objective[e] * way[e];
    for (const auto& [times, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      std::vector<double> moved = x; // fourth order
      for (std::size_t e = 0; e < x.size(); ++e)
        moved[e] += times * h * way[e];
      change += weight * analyse(moved).limits[0].mean / (12 * h);
    }
    CHECK(change == Approx(expected).epsilon(1e-6));
  }
}

} // namespace

OSSATURA_BACKEND_TEST("Gradients of frequencies are those of differences, of equal ones, too",
                      "[natural_frequencies]") {
  const TestType exec;
  DesignOptions options = options_of_frequencies(4, 1e-10);
  for (const SolidKind kind : {SolidKind::hexa8, SolidKind::tetra4, SolidKind::tetra10}) {
    INFO(name_of(kind));
    const DesignProblem problem =
        bent_box(kind, kind, kind == SolidKind::hexa8 ? std::array{4, 2, 2} : std::array{2, 1, 1},
                 {2, 1, 0.8});
    check_mean_gradient(exec, problem, options, rough_densities(problem.num_elem(), 0.3, 0.6, 7),
                        false);
  }
  // Below the bend of the mass, where all is of void nearly; and a filter.
  options.min_modulus = 1e-6;
  DesignProblem box = bent_box(SolidKind::hexa8, SolidKind::hexa8, {4, 2, 2}, {2, 1, 0.8});
  check_mean_gradient(exec, box, options, rough_densities(box.num_elem(), 0.04, 0.05, 7), false,
                      2e-4);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_mean_gradient(exec, box, options, rough_densities(box.num_elem(), 0.3, 0.6, 7), false);
  const DesignProblem square = straight_bar(SolidKind::hexa8, {4, 2, 2}, {4, 1, 1}, 0.3);
  options.filter = DesignFilter::none;
  check_mean_gradient(exec, square, options, std::vector<double>(square.num_elem(), 0.5), true);
}

namespace {

/// A beam between two walls, with a solid mass of ten times the density in the middle: without one
/// that has to be carried the highest frequency is that of no beam at all.
DesignProblem clamped_beam(const std::array<int, 3>& cells) {
  DesignProblem problem;
  problem.mesh = make_hexa_box({cells[0], cells[1], cells[2]},
                               {double(cells[0]), double(cells[1]), double(cells[2])});
  problem.young = 200;
  problem.materials = {{"beam", 200, 0.3, 3}, {"mass", 200, 0.3, 30}};
  problem.material.assign(problem.num_elem(), 0);
  problem.role.assign(problem.num_elem(), DesignRole::free);
  for (int e = 0; e < cells[0] * cells[1] * cells[2]; ++e)
    if (2 * (e % cells[0]) == cells[0] || 2 * (e % cells[0]) == cells[0] - 2) {
      problem.material[std::size_t(e)] = 1;
      problem.role[std::size_t(e)] = DesignRole::solid;
    }
  hold(problem, 7, [&](double x, double, double) { return x == 0 || x == cells[0]; });
  const int middle = cells[0] / 2;
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{node_at(problem, middle, 0, 0), {0, 0, -1}}};
  return problem;
}

} // namespace

OSSATURA_BACKEND_TEST("A clamped beam gets a higher lowest frequency, and stays symmetric",
                      "[natural_frequencies]") {
  const TestType exec;
  const std::array<int, 3> cells{16, 2, 4};
  const DesignProblem problem = clamped_beam(cells);
  DesignOptions options = options_of_frequencies(3, 1e-8);
  options.objective = DesignObjective::frequency;
  options.volume_fraction = 0.5;
  options.move = move_with_frequency;
  options.filter = DesignFilter::density;
  options.radius = 1.5;
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  double first = 0;
  for (int step = 0; step < 30; ++step) {
    const double objective = optimizer.step(exec).objective;
    first = step == 0 ? objective : first;
  }
  const DesignStep end = optimizer.analyse(exec);
  INFO(first << " to " << end.frequencies[0] << ", " << end.frequencies[1]);
  CHECK(end.frequencies[0] > 1.2 * first);
  CHECK(end.volume <= 0.5 * (1 + 1e-3));
  const std::vector<double> rho = optimizer.densities(exec);
  double apart = 0;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        const auto at = [&](int x, int z) {
          return rho[std::size_t(x + cells[0] * (j + cells[1] * z))];
        };
        apart = std::max({apart, std::fabs(at(i, k) - at(cells[0] - 1 - i, k)),
                          std::fabs(at(i, k) - at(i, cells[2] - 1 - k))});
      }
  CHECK(apart < 1e-3);
}

OSSATURA_BACKEND_TEST("The least volume keeps a frequency, and runs go on with the same bits",
                      "[natural_frequencies]") {
  const TestType exec;
  DesignProblem problem = clamped_beam({12, 2, 3});
  DesignOptions options = options_of_frequencies(0, 1e-8);
  options.move = move_with_frequency;
  options.filter = DesignFilter::density;
  options.radius = 1.5;
  const double solid = solid_frequencies(exec, problem, 1, 1e-8)[0];
  problem.limits = {{DesignLimitKind::frequency, 0.8 * solid, -1, true}};
  options.objective = DesignObjective::volume;
  DesignOptimizer<TestType> whole(exec, problem, options), rest(exec, problem, options);
  DesignStep last;
  for (int step = 0; step < 18; ++step) {
    if (step == 14)
      rest.set_state(exec, whole.state(exec));
    last = whole.step(exec);
    if (step >= 14) {
      const DesignStep again = rest.step(exec);
      CHECK(again.objective == last.objective);
      CHECK(again.frequencies == last.frequencies);
    }
  }
  CHECK(rest.variables(exec) == whole.variables(exec));
  CHECK(last.frequencies.size() == std::size_t(frequencies_of_designs));
  CHECK(last.limits[0].value == Approx(0.8 * solid).epsilon(0.02));
  CHECK(last.volume < 0.85);
}

OSSATURA_BACKEND_TEST("What does not go with frequencies is refused by name",
                      "[natural_frequencies]") {
  const TestType exec;
  const DesignProblem problem = clamped_beam({6, 2, 2});
  const auto refused = [&](const DesignProblem& p, const DesignOptions& o, const char* why) {
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, p, o), ContainsSubstring(why));
  };
  DesignOptions options = options_of_frequencies(3);
  options.objective = DesignObjective::frequency;
  options.volume_fraction = 0.5;
  DesignProblem other = problem;
  other.materials[0].density = 0;
  refused(other, options, "mass density of 0");
  other.materials.clear();
  other.material.clear();
  refused(other, options, "materials with a mass density are missing");
  other = problem;
  other.mirrors = {{1, 2}};
  refused(other, options, "without mirrors");
  other = problem;
  other.limits = {{DesignLimitKind::frequency, 1.0, -1, false}};
  refused(other, options, "say at least");
  other.limits = {{DesignLimitKind::frequency, 1.0, 0, true}};
  refused(other, options, "of no load case");
  DesignOptions bad = options;
  bad.frequencies = most_frequencies + 1;
  refused(problem, bad, "11 natural frequencies: 0 to 10");
  bad = options;
  bad.method = DesignMethod::oc;
  refused(problem, bad, "take the method mma");
  bad = options;
  bad.filter = DesignFilter::sensitivity;
  refused(problem, bad, "take the filter density");
  bad = options;
  bad.grid = DesignGrid::voxels;
  refused(problem, bad, "not known on voxels");
  other = problem;
  other.role.clear();
  other.limits = {{DesignLimitKind::frequency, 1.0, -1, true}, {DesignLimitKind::mass, 1e9}};
  bad = options;
  bad.objective = DesignObjective::volume;
  refused(other, bad, "nothing at all");
  DesignOptimizer<TestType> hasty(exec, problem, options);
  CHECK_THROWS_AS(hasty.mode(exec, 3), std::invalid_argument);
}
