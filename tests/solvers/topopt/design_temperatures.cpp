// SPDX-License-Identifier: Apache-2.0
// Designs that are warmer than where nothing is strained, of every kind of element: against dense
// systems, against what expands freely and what cannot, and gradients against differences.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/solid_element.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/bound/compliance_bound.hpp>
#include <ossatura/solvers/topopt/check_options.hpp>
#include <ossatura/solvers/topopt/part/surface_body.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;
using Point = std::array<double, 3>;

constexpr double alpha = 0.01;

/// A box of elements of a kind; hexahedra of eight nodes are a mesh of these, which has a body of
/// its own.
template<class Move>
DesignProblem box_of(SolidKind kind, const std::array<int, 3>& cells, const Point& size,
                     const Move& move) {
  DesignProblem problem;
  problem.young = 200;
  problem.materials = {{"warm", 200, 0.3, 0, alpha}};
  if (kind != SolidKind::hexa8) {
    problem.solids = std::make_shared<const SolidMesh>(
        ossatura_test::make_solid_box([&](int) { return kind; }, cells, size, move));
    return problem;
  }
  const int of_box[3] = {cells[0], cells[1], cells[2]};
  problem.mesh = make_hexa_box(of_box, {size[0], size[1], size[2]});
  for (std::size_t n = 0; n < problem.mesh.num_points(); ++n) {
    Point x = problem.point(std::int32_t(n));
    move(x);
    std::copy(x.begin(), x.end(), problem.mesh.point.begin() + std::ptrdiff_t(3 * n));
  }
  return problem;
}

void stay(Point&) {}

/// Enough for C3D20R, one of which on others by a single face has a motion without stiffness.
std::array<int, 3> few_cells(SolidKind kind) {
  const int across = kind == SolidKind::hexa20r ? 2 : 1;
  return {2, across, across};
}

DesignOptions warm_options(double tolerance = 1e-12) {
  DesignOptions options = options_with(tolerance);
  options.min_modulus = 1e-3;
  options.filter = DesignFilter::none;
  options.method = DesignMethod::mma;
  return options;
}

Values rough_values(std::size_t count, unsigned seed, double low, double range) {
  std::mt19937 random(seed);
  Values values(count);
  for (double& one : values)
    one = low + range * double(random()) / double(random.max());
  return values;
}

/// The node at a place of a mesh of any kind.
std::int32_t find_node(const DesignProblem& problem, const Point& at) {
  for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
    const Point x = problem.point(std::int32_t(n));
    if (std::fabs(x[0] - at[0]) + std::fabs(x[1] - at[1]) + std::fabs(x[2] - at[2]) < 1e-9)
      return std::int32_t(n);
  }
  std::abort();
}

/// Of E (e + (1 - e) rho^3) for each element.
double modulus_of(const DesignProblem& problem, std::size_t e, double density, double least) {
  const double solid = problem.materials[problem.material.empty() ? 0 : problem.material[e]].young;
  return solid * (least + (1 - least) * density * density * density);
}

/// An element for the oracle: its nodes' places, what they ask for, and displacements.
struct OracleElement {
  reference::SolidElement shape;
  Values x, strain, u;
  double poisson;
};

OracleElement oracle_element(const DesignProblem& problem, std::size_t k, std::size_t e,
                             const Values& u) {
  const NodeRange nodes = problem.nodes_of(e);
  const bool reduced = problem.solids && problem.solids->kind[e] == SolidKind::hexa20r;
  const HexaMaterial& material =
      problem.materials[problem.material.empty() ? 0 : problem.material[e]];
  OracleElement one{
      reference::solid_element(int(nodes.size()), reduced), {}, {}, {}, material.poisson};
  for (const std::int32_t n : nodes) {
    one.strain.push_back(material.expansion * problem.cases[k].loads.warming[std::size_t(n)]);
    for (std::size_t c = 0; c < 3; ++c) {
      one.x.push_back(problem.point(n)[c]);
      one.u.push_back(u[3 * std::size_t(n) + c]);
    }
  }
  return one;
}

struct DenseSolution {
  Values thermal, u; ///< [num_nodes, 3]
  double compliance;
};

/// The columns of T with u = T q: six motions of each rigid body about its first node in the place
/// of the components of its nodes.
std::vector<Values> motions_of(const DesignProblem& problem) {
  const std::size_t n = 3 * problem.num_nodes();
  std::vector<Values> columns;
  std::vector<bool> is_rigid(n);
  for (const std::vector<std::int32_t>& body : problem.rigid) {
    const Point origin = problem.point(body.front());
    for (std::size_t k = 0; k < 6; ++k) {
      columns.emplace_back(n);
      for (const std::int32_t node : body) {
        const Point x = problem.point(node);
        const std::size_t i = 3 * std::size_t(node), a = (k + 1) % 3, b = (k + 2) % 3;
        is_rigid[i] = is_rigid[i + 1] = is_rigid[i + 2] = true;
        if (k < 3) {
          columns.back()[i + k] = 1;
        } else { // about axis k - 3
          columns.back()[i + a] = -(x[b] - origin[b]);
          columns.back()[i + b] = x[a] - origin[a];
        }
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!is_rigid[i]) {
      columns.emplace_back(n);
      columns.back()[i] = 1;
    }
  return columns;
}

/// T (T^T a T)^-1 T^T b.
Values solve_among(const std::vector<Values>& motions, const Values& a, const Values& b) {
  const std::size_t n = b.size(), m = motions.size();
  Values small(m * m), load(m), u(n);
  for (std::size_t k = 0; k < m; ++k) {
    const Values product = reference::dense_product(a, motions[k]);
    for (std::size_t i = 0; i < n; ++i)
      load[k] += motions[k][i] * b[i];
    for (std::size_t l = 0; l < m; ++l)
      for (std::size_t i = 0; i < n; ++i)
        small[l * m + k] += motions[l][i] * product[i];
  }
  const Values q = reference::solve_dense(small, load);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i)
      u[i] += q[k] * motions[k][i];
  return u;
}

/// Load case k by a dense matrix.
DenseSolution solve_densely(const DesignProblem& problem, const Values& density, double least,
                            std::size_t k) {
  const std::size_t n = 3 * problem.num_nodes();
  Values a(n * n), b(n);
  DenseSolution result{Values(n), {}, 0};
  for (std::size_t e = 0; e < problem.num_elem(); ++e) {
    const double modulus = modulus_of(problem, e, density[e], least);
    const OracleElement one = oracle_element(problem, k, e, Values(n));
    const Values stiffness = reference::solid_stiffness(one.shape, one.x, one.poisson);
    const Values force =
        reference::solid_thermal(one.shape, one.x, one.poisson, one.strain, one.u).force;
    std::vector<std::size_t> place;
    for (const std::int32_t node : problem.nodes_of(e))
      for (std::size_t c = 0; c < 3; ++c)
        place.push_back(3 * std::size_t(node) + c);
    for (std::size_t i = 0; i < place.size(); ++i) {
      result.thermal[place[i]] += modulus * force[i];
      for (std::size_t j = 0; j < place.size(); ++j)
        a[place[i] * n + place[j]] += modulus * stiffness[i * place.size() + j];
    }
  }
  b = result.thermal;
  for (const NodeForce& one : problem.cases[k].loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      b[3 * std::size_t(one.node) + c] += one.force[c];
  for (const HeldComponents& held : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if (const std::size_t i = 3 * std::size_t(held.node) + c; held.components >> c & 1) {
        for (std::size_t j = 0; j < n; ++j)
          a[i * n + j] = a[j * n + i] = 0;
        a[i * n + i] = 1;
        b[i] = 0;
      }
  result.u =
      problem.rigid.empty() ? reference::solve_dense(a, b) : solve_among(motions_of(problem), a, b);
  for (std::size_t i = 0; i < n; ++i)
    result.compliance += b[i] * result.u[i];
  return result;
}

double largest(const Values& values) {
  double most = 0;
  for (const double one : values)
    most = std::max(most, std::fabs(one));
  return most;
}

double largest_difference_of(const Values& a, const Values& b) {
  Values apart = a;
  for (std::size_t i = 0; i < a.size(); ++i)
    apart[i] -= b[i];
  return largest(apart);
}

/// A bent box held at x = 0, warm at random, under two load cases; the second has forces, too.
DesignProblem warm_problem(SolidKind kind) {
  const Point size{2, 1, 1};
  DesignProblem problem = box_of(kind, few_cells(kind), size, [&](Point& x) {
    ossatura_test::bend_inside(size, x);
    x[2] += 0.1 * x[0] * x[1];
  });
  std::vector<std::int32_t> end;
  for (std::size_t n = 0; n < problem.num_nodes(); ++n)
    if (const double x = problem.point(std::int32_t(n))[0]; x == 0)
      problem.held.push_back({std::int32_t(n), 7});
    else if (x == 2)
      end.push_back(std::int32_t(n));
  problem.cases.resize(2);
  problem.cases[0] = {{"warm", {}}, 0.7};
  problem.cases[0].loads.warming = rough_values(problem.num_nodes(), 3, -1, 4);
  problem.cases[1] = {{"both", {{end[0], {1, 0.3, -2}}, {end[2], {0, 0, 1}}}}, 1.3};
  problem.cases[1].loads.warming = rough_values(problem.num_nodes(), 4, -2, 3);
  problem.role.assign(problem.num_elem(), DesignRole::free);
  return problem;
}

/// Makes every other element of a material that expands otherwise, and of another ratio where the
/// body knows several.
void add_second_material(DesignProblem& problem) {
  problem.materials.push_back({"other", 500, problem.solids ? 0.3 : 0.1, 0, -0.5 * alpha});
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    problem.material.push_back(std::uint8_t(e % 2));
}

} // namespace

OSSATURA_BACKEND_TEST("Warm designs of every kind of element solve the dense system",
                      "[design_temperatures]") {
  const TestType exec;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    INFO(name_of(kind));
    DesignProblem problem = warm_problem(kind);
    add_second_material(problem);
    const DesignOptions options = warm_options();
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const Values x = rough_values(problem.num_elem(), 5, 0.1, 0.9);
    optimizer.set_variables(exec, upload(exec, "x", x));
    const DesignStep step = optimizer.analyse(exec);
    Values energy(problem.num_elem()), volume(problem.num_elem());
    for (std::size_t k = 0; k < 2; ++k) {
      const DenseSolution dense = solve_densely(problem, x, options.min_modulus, k);
      CHECK(largest_difference_of(optimizer.thermal_forces(exec, int(k)), dense.thermal) <
            1e-12 * largest(dense.thermal));
      CHECK(largest_difference_of(optimizer.displacements(exec, int(k)), dense.u) <
            1e-8 * largest(dense.u));
      CHECK(step.cases[k] == Approx(dense.compliance).epsilon(1e-8));
      for (std::size_t e = 0; e < x.size(); ++e) {
        const OracleElement one = oracle_element(problem, k, e, dense.u);
        energy[e] +=
            modulus_of(problem, e, x[e], options.min_modulus) *
            reference::solid_thermal(one.shape, one.x, one.poisson, one.strain, one.u).energy;
        volume[e] = 0;
        for (const reference::SolidSample& at : reference::solid_samples(one.shape, one.x))
          volume[e] += at.weight;
      }
      const DesignBalance balance = balance_design(exec, problem, optimizer, k);
      CHECK(balance.force_error() < 1e-7);
      CHECK(balance.moment_error() < 1e-7);
      CHECK(balance.energy_error() < 1e-7);
    }
    for (std::size_t e = 0; e < x.size(); ++e)
      energy[e] /= volume[e];
    CHECK(largest_difference_of(optimizer.energies(exec), energy) < 1e-8 * largest(energy));
  }
}

OSSATURA_BACKEND_TEST("What expands freely is longer by alpha T, and has no stress",
                      "[design_temperatures]") {
  const TestType exec;
  const Point size{2, 1, 1};
  constexpr double by = 30;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    INFO(name_of(kind));
    DesignProblem problem =
        box_of(kind, few_cells(kind), size, [&](Point& x) { ossatura_test::bend_inside(size, x); });
    problem.held = {{find_node(problem, {0, 0, 0}), 7},
                    {find_node(problem, {2, 0, 0}), 6},
                    {find_node(problem, {0, 1, 0}), 4}};
    problem.cases.resize(1);
    problem.cases[0].loads.warming.assign(problem.num_nodes(), by);
    DesignOptimizer<TestType> optimizer(exec, problem, warm_options(1e-13));
    optimizer.set_variables(exec, upload(exec, "x", rough_values(problem.num_elem(), 5, 0, 1)));
    optimizer.analyse(exec);
    Values expected;
    for (std::size_t n = 0; n < problem.num_nodes(); ++n)
      for (const double x : problem.point(std::int32_t(n)))
        expected.push_back(alpha * by * x);
    CHECK(largest_difference_of(optimizer.displacements(exec, 0), expected) < 1e-9);
    const double of_clamped = 200 * alpha * by; // Pa
    CHECK(largest(optimizer.stresses(exec)) < 1e-8 * of_clamped);
    CHECK(largest(optimizer.energies(exec)) < 1e-8 * of_clamped * alpha * by);
    for (const double force : balance_design(exec, problem, optimizer, 0).support_force)
      CHECK(std::fabs(force) < 1e-8 * of_clamped);
  }
}

// T = 3 + g . x bends a body, without stress: u = alpha (3 x + (g . x) x - g |x|^2 / 2), which has
// the curvature alpha g. Elements of second order have it where their edges are straight.
OSSATURA_BACKEND_TEST("A linear temperature bends, without stress", "[design_temperatures]") {
  const TestType exec;
  const Point gradient{2, -1, 5};
  for (const SolidKind kind :
       {SolidKind::tetra10, SolidKind::prism15, SolidKind::hexa20, SolidKind::hexa20r}) {
    INFO(name_of(kind));
    DesignProblem problem = box_of(kind, {2, 1, 2}, {2, 1, 1}, stay);
    const auto temperature = [&](const Point& x) {
      return 3 + gradient[0] * x[0] + gradient[1] * x[1] + gradient[2] * x[2];
    };
    const auto exact = [&](const Point& x, std::size_t c) {
      const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
      return alpha * (temperature(x) * x[c] - gradient[c] * square / 2);
    };
    const Point held[3] = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}};
    problem.cases.resize(1);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int32_t node = find_node(problem, held[i]);
      problem.held.push_back({node, std::uint8_t(i == 0 ? 7 : i == 1 ? 6 : 4)});
      for (std::size_t c = i; i > 0 && c < 3; ++c) // what the others hold is to move so
        problem.cases[0].loads.displacements.push_back({node, int(c), exact(held[i], c)});
    }
    Values expected;
    for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
      const Point x = problem.point(std::int32_t(n));
      problem.cases[0].loads.warming.push_back(temperature(x));
      for (std::size_t c = 0; c < 3; ++c)
        expected.push_back(exact(x, c));
    }
    DesignOptimizer<TestType> optimizer(exec, problem, warm_options(1e-13));
    optimizer.set_variables(exec, upload(exec, "x", rough_values(problem.num_elem(), 6, 0.2, 0.8)));
    optimizer.analyse(exec);
    CHECK(largest_difference_of(optimizer.displacements(exec, 0), expected) < 1e-9);
    CHECK(largest(optimizer.stresses(exec)) < 1e-7);
    CHECK(largest(optimizer.energies(exec)) < 1e-9);
    const DesignBalance balance = balance_design(exec, problem, optimizer, 0);
    for (std::size_t c = 0; c < 3; ++c)
      CHECK(std::fabs(balance.support_force[c]) + std::fabs(balance.imposed_force[c]) < 1e-7);
  }
}

OSSATURA_BACKEND_TEST("A bar between walls is pressed by E A alpha T", "[design_temperatures]") {
  const TestType exec;
  constexpr double by = 7, density = 0.5;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    for (const double moved : {0.0, 0.02}) {
      INFO(name_of(kind) << ", " << moved);
      DesignProblem problem = box_of(kind, {3, 1, 1}, {3, 1, 2}, stay);
      problem.cases.resize(1);
      for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
        const Point x = problem.point(std::int32_t(n));
        const unsigned held =
            unsigned(x[0] == 0 || x[0] == 3) | unsigned(x[1] == 0) << 1 | unsigned(x[2] == 0) << 2;
        if (held != 0)
          problem.held.push_back({std::int32_t(n), std::uint8_t(held)});
        if (x[0] == 3)
          problem.cases[0].loads.displacements.push_back({std::int32_t(n), 0, moved});
      }
      problem.cases[0].loads.warming.assign(problem.num_nodes(), by);
      DesignOptions options = warm_options();
      options.min_modulus = 1e-9;
      DesignOptimizer<TestType> optimizer(exec, problem, options);
      optimizer.set_variables(exec, upload(exec, "x", Values(problem.num_elem(), density)));
      const DesignStep step = optimizer.analyse(exec);
      const double modulus = modulus_of(problem, 0, density, 1e-9);
      const double force = modulus * 2 * (moved / 3 - alpha * by);
      // f . u - r . v: forces of temperature push the wall that moves, too.
      const Values f = optimizer.thermal_forces(exec, 0), u = optimizer.displacements(exec, 0);
      CHECK(step.cases[0] ==
            Approx(std::inner_product(f.begin(), f.end(), u.begin(), 0.0) - force * moved)
                .epsilon(1e-8));
      const DesignBalance balance = balance_design(exec, problem, optimizer, 0);
      CHECK(balance.imposed_force[0] == Approx(force).epsilon(1e-8));
      CHECK(balance.support_force[0] == Approx(-force).epsilon(1e-8));
      CHECK(balance.imposed_work == Approx(force * moved).epsilon(1e-8).margin(1e-12));
      // Of solid material, relaxed by the root of the density.
      CHECK(optimizer.stresses(exec)[1] ==
            Approx(std::sqrt(density) * 200 * (alpha * by - moved / 3)).epsilon(1e-8));
      CHECK(optimizer.energies(exec)[1] ==
            Approx(0.5 * modulus * std::pow(moved / 3 - alpha * by, 2)).epsilon(1e-8));
    }
  }
}

OSSATURA_BACKEND_TEST("Gradients of warm designs are those of differences",
                      "[design_temperatures]") {
  const TestType exec;
  for (const SolidKind kind : {SolidKind::tetra4, SolidKind::tetra10, SolidKind::prism6,
                               SolidKind::prism15, SolidKind::hexa8, SolidKind::hexa20}) {
    INFO(name_of(kind));
    DesignProblem problem = warm_problem(kind);
    add_second_material(problem);
    DesignOptions options = warm_options();
    check_gradients(exec, problem, options);
    if (kind != SolidKind::hexa8 && kind != SolidKind::tetra10)
      continue;
    options.filter = DesignFilter::density;
    options.radius = 1.6;
    options.projection = true;
    options.sharpness.start = 3;
    check_gradients(exec, problem, options);
    // With gravity, moved nodes, and as a mechanism that warmth drives.
    options = warm_options();
    BodyLoad gravity;
    gravity.acceleration = {1, 0, -9};
    problem.cases[1].loads.body = {gravity};
    for (HexaMaterial& one : problem.materials)
      one.density = 3;
    check_gradients(exec, problem, options, 0.35, 0.4);
    problem.cases[1].loads.body.clear();
    problem.cases[0].loads.displacements = {{problem.held[0].node, 0, 0.05}};
    check_gradients(exec, problem, options);
    problem.cases[0].loads.displacements.clear();
    options.objective = DesignObjective::mechanism;
    problem.output = {{find_node(problem, {2, 0, 0}), {0, 0.5, 1}}};
    check_gradients(exec, problem, options);
  }
}

OSSATURA_BACKEND_TEST("Rigid ends of warm bodies of every kind have six unknowns",
                      "[design_temperatures]") {
  const TestType exec;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    INFO(name_of(kind));
    DesignProblem problem = warm_problem(kind);
    problem.rigid.emplace_back();
    for (std::size_t n = 0; n < problem.num_nodes(); ++n)
      if (problem.point(std::int32_t(n))[0] == 2)
        problem.rigid[0].push_back(std::int32_t(n));
    const DesignOptions options = warm_options();
    {
      DesignOptimizer<TestType> optimizer(exec, problem, options);
      const Values x = rough_values(problem.num_elem(), 5, 0.1, 0.9);
      optimizer.set_variables(exec, upload(exec, "x", x));
      const DesignStep step = optimizer.analyse(exec);
      for (std::size_t k = 0; k < 2; ++k) {
        const DenseSolution dense = solve_densely(problem, x, options.min_modulus, k);
        CHECK(largest_difference_of(optimizer.displacements(exec, int(k)), dense.u) <
              1e-8 * largest(dense.u));
        CHECK(step.cases[k] == Approx(dense.compliance).epsilon(1e-8));
      }
    }
    if (kind != SolidKind::hexa20r)
      check_gradients(exec, problem, options);
  }
}

OSSATURA_BACKEND_TEST("Warm designs become better, and go on with the same bits",
                      "[design_temperatures]") {
  const TestType exec;
  DesignProblem problem = box_of(SolidKind::hexa8, {12, 4, 4}, {3, 1, 1}, stay);
  hold(problem, 7, [](double x, double, double) { return x == 0 || x == 3; });
  problem.cases.resize(1);
  for (std::size_t n = 0; n < problem.num_nodes(); ++n)
    if (const Point x = problem.point(std::int32_t(n)); x[0] == 1.5 && x[2] == 0)
      problem.cases[0].loads.forces.push_back({std::int32_t(n), {0, 0, -1}});
  problem.cases[0].loads.warming.assign(problem.num_nodes(), 0.5);
  DesignOptions options = warm_options(1e-8);
  options.filter = DesignFilter::density;
  options.radius = 0.4;
  DesignOptimizer<TestType> whole(exec, problem, options), rest(exec, problem, options);
  const double first = whole.step(exec).objective;
  for (int step = 0; step < 3; ++step)
    whole.step(exec);
  rest.set_state(exec, whole.state(exec));
  DesignStep last;
  for (int step = 0; step < 6; ++step) {
    last = whole.step(exec);
    CHECK(rest.step(exec).objective == last.objective);
  }
  CHECK(last.objective < 0.5 * first);
}

OSSATURA_BACKEND_TEST("Temperatures that make no sense are refused", "[design_temperatures]") {
  const TestType exec;
  const DesignProblem good = warm_problem(SolidKind::hexa8);
  const auto refusal = [&](const DesignProblem& problem, const DesignOptions& options) {
    try {
      DesignOptimizer<TestType>(exec, problem, options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DesignOptions options = warm_options();
  CHECK(refusal(good, options).empty());
  options.method = DesignMethod::oc;
  CHECK_THAT(refusal(good, options), ContainsSubstring("take the method mma"));
  options = warm_options();
  DesignProblem problem = good;
  problem.cases[1].loads.warming.pop_back();
  CHECK_THAT(refusal(problem, options), ContainsSubstring("11 temperatures of 12 nodes"));
  problem.cases[1].loads.warming.push_back(std::nan(""));
  CHECK_THAT(refusal(problem, options),
             ContainsSubstring("load case 2 (both): node 11 is warmer by nan"));
  problem = good;
  problem.materials[0].expansion = 0;
  CHECK_THAT(refusal(problem, options), ContainsSubstring("no material has a coefficient"));
  problem.materials[0].expansion = std::nan("");
  CHECK_THAT(refusal(problem, options), ContainsSubstring("a coefficient of expansion of nan"));
  problem = box_of(SolidKind::hexa8, {2, 1, 1}, {2, 1, 1}, stay);
  hold(problem, 7, [](double x, double, double) { return x == 0; });
  problem.cases.resize(1);
  problem.cases[0].loads.warming.assign(12, 1);
  options.grid = DesignGrid::voxels;
  CHECK(refusal(problem, options).empty());
  CHECK_THROWS_WITH(make_surface_body(problem, {}, TriangleSurface{}, 1),
                    ContainsSubstring("has temperatures, which are not carried over to its cubes"));
  options = warm_options();
  CHECK_THAT(describe_no_bound(good, options), ContainsSubstring("change with the design"));
  options.projection = true;
  options.filter = DesignFilter::density;
  options.robust = 0.2;
  CHECK_THAT(describe_not_robust(good, options), ContainsSubstring("leave temperatures out"));
}
