// SPDX-License-Identifier: Apache-2.0
// Solves on hexahedra: against compliances that four independent programs agree on (deal.II,
// FEniCS, Firedrake and a reference of the project's own), and what must not be reported as solved.
#include <ossatura/solvers/hexa/solver.hpp>

#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;

/// A box of 2 x 1 x 1, E = 70000 (1e-3 + (1 - 1e-3) rho^3), held at x = 0, with a uniform traction
/// of -1 in all along z at x = 2.
struct Cantilever {
  ElementMesh mesh;
  std::vector<HeldComponents> held;
  std::vector<double> modulus, force;
};

double hash_density(const int (&at)[3]) {
  const std::uint64_t hash = (std::uint64_t(at[0]) * 73856093) ^ (std::uint64_t(at[1]) * 19349663) ^
                             (std::uint64_t(at[2]) * 83492791);
  return 0.05 + 0.9 * double(hash % 1000) / 999;
}

/// `rho` <= 0 is the hash of an element's place.
Cantilever make_cantilever(const int (&cells)[3], double rho, bool shuffled = false) {
  Cantilever c;
  c.mesh = make_hexa_box(cells, {2, 1, 1});
  if (shuffled) {
    std::mt19937 random(1);
    const std::size_t num_elem = c.mesh.num_elem(), num_nodes = c.mesh.num_points();
    std::vector<int> elem(num_elem), node(num_nodes); // new to old, old to new
    std::iota(elem.begin(), elem.end(), 0);
    std::iota(node.begin(), node.end(), 0);
    std::shuffle(elem.begin(), elem.end(), random);
    std::shuffle(node.begin(), node.end(), random);
    const ElementMesh old = c.mesh;
    for (std::size_t e = 0; e < num_elem; ++e)
      for (int a = 0; a < 8; ++a) { // every other element turned by a quarter about its z
        const int from = e % 2 ? (a & 4) | ((a + 1) & 3) : a;
        c.mesh.node[8 * e + std::size_t(a)] =
            node[std::size_t(old.node[8 * std::size_t(elem[e]) + std::size_t(from)])];
      }
    for (std::size_t n = 0; n < num_nodes; ++n)
      std::copy_n(&old.point[3 * n], 3, &c.mesh.point[3 * std::size_t(node[n])]);
  }
  const std::vector<double>& x = c.mesh.point;
  c.force.assign(x.size(), 0);
  for (std::size_t n = 0; n < x.size() / 3; ++n)
    if (x[3 * n] == 0)
      c.held.push_back({std::int32_t(n), 7});
  for (std::size_t e = 0; e < c.mesh.num_elem(); ++e) {
    double centre[3] = {0, 0, 0};
    for (int a = 0; a < 8; ++a) {
      const std::size_t n = std::size_t(c.mesh.node[8 * e + std::size_t(a)]);
      for (std::size_t d = 0; d < 3; ++d)
        centre[d] += x[3 * n + d] / 8;
      if (x[3 * n] == 2)
        c.force[3 * n + 2] -= 0.25 / (cells[1] * cells[2]);
    }
    const int at[3] = {int(centre[0] * cells[0] / 2), int(centre[1] * cells[1]),
                       int(centre[2] * cells[2])};
    const double density = rho > 0 ? rho : hash_density(at);
    c.modulus.push_back(70000 * (1e-3 + (1 - 1e-3) * density * density * density));
  }
  return c;
}

HexaSolverOptions exact(HexaPreconditioner preconditioner) {
  HexaSolverOptions options;
  options.preconditioner = preconditioner;
  options.precision = Precision::fp64;
  options.cg.tolerance = 1e-12;
  return options;
}

struct Solved {
  SolveResult result;
  std::vector<double> u;
  double compliance = 0;
};

template<class Exec>
Solved solve(const Cantilever& c, const HexaSolverOptions& options) {
  const Exec exec;
  HexaSolver<Exec> solver(exec, c.mesh, 0.3, c.held, options);
  solver.set_modulus(exec, upload(exec, "modulus", c.modulus));
  const auto u = make_zeros<double>(exec, std::int64_t(c.force.size()), "u");
  Solved solved;
  solved.result = solver.solve(exec, upload(exec, "force", c.force), u);
  solved.u = download(exec, u);
  solved.compliance = std::inner_product(c.force.begin(), c.force.end(), solved.u.begin(), 0.0);
  return solved;
}

constexpr HexaPreconditioner preconditioners[] = {
    HexaPreconditioner::jacobi, HexaPreconditioner::block_jacobi, HexaPreconditioner::chebyshev,
    HexaPreconditioner::amg};

OSSATURA_BACKEND_TEST("compliances of uniform cantilevers have the published digits", "[hexa]") {
  struct Row {
    int cells[3];
    double rho, compliance;
  };
  const Row rows[] = {{{4, 2, 4}, 0.5, 3.665182494e-3},  {{6, 2, 4}, 0.5, 3.886777477e-3},
                      {{8, 2, 4}, 0.5, 3.975324994e-3},  {{12, 2, 4}, 0.5, 4.044013300e-3},
                      {{16, 2, 4}, 0.5, 4.069581807e-3}, {{8, 2, 4}, 0.2, 5.564880267e-2},
                      {{8, 2, 4}, 0.4, 7.705957152e-3},  {{8, 2, 4}, 0.7, 1.456085672e-3},
                      {{8, 2, 4}, 0.9, 6.861564955e-4}};
  for (const Row& row : rows)
    for (const HexaPreconditioner preconditioner : preconditioners) {
      INFO(name_of(preconditioner) << ", " << row.cells[0] << ", density " << row.rho);
      const Solved s = solve<TestType>(make_cantilever(row.cells, row.rho), exact(preconditioner));
      CHECK(s.result.converged);
      CHECK(s.result.residual <= 1e-12);
      CHECK(s.compliance == Approx(row.compliance).epsilon(4e-10)); // of ten digits
    }
}

OSSATURA_BACKEND_TEST("densities from a hash, mesh in order and shuffled", "[hexa]") {
  for (const HexaPreconditioner preconditioner :
       {HexaPreconditioner::jacobi, HexaPreconditioner::amg})
    for (const bool shuffled : {false, true}) {
      INFO(name_of(preconditioner) << ", shuffled " << shuffled);
      const Solved s =
          solve<TestType>(make_cantilever({16, 8, 8}, 0, shuffled), exact(preconditioner));
      CHECK(s.result.converged);
      CHECK(s.compliance == Approx(3.529637030e-3).epsilon(2e-10));
    }
}

OSSATURA_BACKEND_TEST("every operator gives the published digits, mesh in order and shuffled",
                      "[hexa][slow]") {
  for (const HexaOperatorKind kind : hexa_operator_kinds)
    for (const bool shuffled : {false, true}) {
      INFO(name_of(kind) << ", shuffled " << shuffled);
      HexaSolverOptions options = exact(HexaPreconditioner::amg);
      options.kind = kind;
      const Solved uniform = solve<TestType>(make_cantilever({6, 2, 4}, 0.5, shuffled), options);
      CHECK(uniform.result.converged);
      CHECK(uniform.compliance == Approx(3.886777477e-3).epsilon(2e-10));
      if (!shuffled)
        continue;
      const Solved hash = solve<TestType>(make_cantilever({16, 8, 8}, 0, shuffled), options);
      CHECK(hash.result.converged);
      CHECK(hash.compliance == Approx(3.529637030e-3).epsilon(2e-10));
    }
}

OSSATURA_BACKEND_TEST("aggregation takes about as many iterations on finer meshes", "[hexa]") {
  HexaSolverOptions options; // mixed precision
  options.aggregation.max_coarse_dofs = 60;
  for (const int n : {4, 6, 10}) {
    const Cantilever c = make_cantilever({2 * n, n, n}, 0, true);
    const Solved s = solve<TestType>(c, options);
    INFO(n << ": " << s.result.iterations);
    CHECK(s.result.converged);
    CHECK_FALSE(s.result.fell_back);
    CHECK(s.result.iterations <= 24);
  }
}

/// |f - A u| / |f| over free components.
template<class Exec>
double residual_of(const HexaSolver<Exec>& solver, const Cantilever& c,
                   const std::vector<double>& u) {
  const Exec exec;
  const auto y = make_zeros<double>(exec, std::int64_t(u.size()), "y");
  solver.apply(exec, upload(exec, "u", u), y);
  std::vector<double> r = download(exec, y);
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] -= c.force[i];
  for (const HeldComponents& h : c.held)
    std::fill_n(&r[3 * std::size_t(h.node)], 3, 0.0);
  return std::sqrt(std::inner_product(r.begin(), r.end(), r.begin(), 0.0) /
                   std::inner_product(c.force.begin(), c.force.end(), c.force.begin(), 0.0));
}

/// Moduli that move towards those of the hash, a tenth of the way in each of the steps.
std::vector<double> moved_modulus(const Cantilever& uniform, const Cantilever& hash, int step) {
  std::vector<double> modulus = uniform.modulus;
  for (std::size_t e = 0; e < modulus.size(); ++e)
    modulus[e] *= std::pow(hash.modulus[e] / modulus[e], 0.1 * step);
  return modulus;
}

OSSATURA_BACKEND_TEST("coarse levels serve for moduli like theirs, with the same solutions",
                      "[hexa][slow]") {
  const TestType exec;
  const int cells[3] = {16, 8, 8};
  const Cantilever uniform = make_cantilever(cells, 0.5), hash = make_cantilever(cells, 0);
  const auto f = upload(exec, "force", uniform.force);
  for (const Precision precision : {Precision::mixed, Precision::fp64}) {
    HexaSolverOptions options, anew;
    options.precision = anew.precision = precision;
    options.cg.tolerance = anew.cg.tolerance = 1e-10;
    anew.forming_cost = 0;
    HexaSolver<TestType> kept(exec, uniform.mesh, 0.3, uniform.held, options),
        formed(exec, uniform.mesh, 0.3, uniform.held, anew);
    for (int step = 0; step < 11; ++step) {
      const auto modulus = upload(exec, "modulus", moved_modulus(uniform, hash, step));
      kept.set_modulus(exec, modulus);
      formed.set_modulus(exec, modulus);
      const auto u = make_zeros<double>(exec, std::int64_t(uniform.force.size()), "u"),
                 v = make_zeros<double>(exec, std::int64_t(uniform.force.size()), "v");
      const SolveResult result = kept.solve(exec, f, u);
      CHECK(result.converged);
      CHECK_FALSE(result.fell_back);
      CHECK(formed.solve(exec, f, v).converged);
      CHECK(dot(exec, f, u) == Approx(dot(exec, f, v)).epsilon(1e-9));
    }
    CHECK(formed.num_formings() == 11);
    CHECK(kept.num_formings() >= 1);
    CHECK(kept.num_formings() <= 6);
    // No iterations are spent on a try where that might be those that are needed.
    options.cg.max_iterations = 60;
    HexaSolver<TestType> hurried(exec, uniform.mesh, 0.3, uniform.held, options);
    for (int step = 0; step < 3; ++step) {
      hurried.set_modulus(exec, upload(exec, "modulus", moved_modulus(uniform, hash, step)));
      const auto u = make_zeros<double>(exec, std::int64_t(uniform.force.size()), "u");
      CHECK(hurried.solve(exec, f, u).converged);
    }
    CHECK(hurried.num_formings() == 3);
  }
}

OSSATURA_BACKEND_TEST("coarse levels that do not serve are formed within the solve", "[hexa]") {
  const TestType exec;
  const int cells[3] = {16, 8, 8};
  const Cantilever uniform = make_cantilever(cells, 0.5);
  std::vector<double> layers = uniform.modulus; // stiff along the length in soft
  for (std::size_t e = 0; e < layers.size(); ++e)
    layers[e] *= e / 16 % 8 < 2 ? 1e3 : 1e-3;
  const auto f = upload(exec, "force", uniform.force);
  HexaSolver<TestType> solver(exec, uniform.mesh, 0.3, uniform.held, {});
  const auto solve_for = [&](const std::vector<double>& modulus) {
    solver.set_modulus(exec, upload(exec, "modulus", modulus));
    const auto u = make_zeros<double>(exec, std::int64_t(uniform.force.size()), "u");
    const SolveResult result = solver.solve(exec, f, u);
    CHECK(result.converged);
    CHECK_FALSE(result.fell_back); // in fp32 all along
    return result.iterations;
  };
  const int with_own = solve_for(uniform.modulus);
  CHECK(solver.num_formings() == 1);
  solve_for(layers); // far away
  CHECK(solver.num_formings() == 2);
  CHECK(solver.state(exec).modulus == layers);
  // What says that distance does not matter.
  solver.set_state(exec, {uniform.modulus, {1, with_own, 0, 0}});
  CHECK(solver.num_formings() == 3);
  CHECK(solve_for(layers) > with_own + 25);
  CHECK(solver.num_formings() == 4);
  CHECK(solver.state(exec).modulus == layers);
  CHECK(solver.state(exec).age.rate > 1);
  solve_for(uniform.modulus);
  CHECK(solver.num_formings() == 5);
}

OSSATURA_BACKEND_TEST("what is hard or impossible is solved or reported", "[hexa]") {
  const TestType exec;
  Cantilever islands = make_cantilever({8, 4, 4}, 0);
  for (double& e : islands.modulus)
    e = e > 8000 ? 1 : 1e-12;
  Cantilever floating = make_cantilever({4, 2, 2}, 0.5);
  floating.held.clear();
  for (const Cantilever* c : {&islands, &floating})
    for (const HexaPreconditioner preconditioner : preconditioners)
      for (const Precision precision : {Precision::mixed, Precision::fp64}) {
        HexaSolverOptions options;
        options.preconditioner = preconditioner;
        options.precision = precision;
        options.cg.max_iterations = 300;
        HexaSolver<TestType> solver(exec, c->mesh, 0.3, c->held, options);
        solver.set_modulus(exec, upload(exec, "modulus", c->modulus));
        const auto u = make_zeros<double>(exec, std::int64_t(c->force.size()), "u");
        const SolveResult result = solver.solve(exec, upload(exec, "force", c->force), u);
        const double residual = residual_of(solver, *c, download(exec, u));
        INFO(name_of(preconditioner) << ", " << result.iterations << " iterations, "
                                     << result.residual << " is " << residual);
        CHECK(result.iterations <= options.cg.max_iterations);
        CHECK(result.converged == (result.residual <= options.cg.tolerance));
        if (result.converged)
          CHECK(residual <= 1.01 * options.cg.tolerance);
        if (c == &floating)
          CHECK_FALSE(result.converged);
      }
}

OSSATURA_BACKEND_TEST("no load, a start that is the solution, and no iterations", "[hexa]") {
  const TestType exec;
  const Cantilever c = make_cantilever({6, 3, 3}, 0);
  HexaSolver<TestType> solver(exec, c.mesh, 0.3, c.held, {});
  solver.set_modulus(exec, upload(exec, "modulus", c.modulus));
  const auto u = make_zeros<double>(exec, std::int64_t(c.force.size()), "u");
  const auto f = upload(exec, "force", c.force);
  const SolveResult first = solver.solve(exec, f, u);
  REQUIRE(first.converged);
  REQUIRE(first.iterations > 2);
  const std::vector<double> once = download(exec, u);

  const SolveResult again = solver.solve(exec, f, u);
  CHECK(again.converged);
  CHECK(again.iterations == 0);
  CHECK(again.residual == Approx(first.residual));

  // A warm start counts towards the load, not towards what is left of it.
  std::vector<double> nearly = once;
  for (double& x : nearly)
    x *= 0.999;
  copy(exec, upload(exec, "nearly", nearly), u);
  CHECK(solver.solve(exec, f, u).iterations < first.iterations - 1);

  const auto repeated = make_zeros<double>(exec, std::int64_t(c.force.size()), "u");
  solver.solve(exec, f, repeated);
  REQUIRE(solver.is_deterministic());
  CHECK(download(exec, repeated) == once);

  const auto no_load = make_zeros<double>(exec, std::int64_t(c.force.size()), "f");
  const SolveResult none = solver.solve(exec, no_load, u);
  CHECK(none.converged);
  CHECK(none.iterations == 0);
  CHECK(dot(exec, u, u) == 0);

  std::vector<double> broken = c.force;
  broken[broken.size() - 1] = std::nan("");
  CHECK_FALSE(solver.solve(exec, upload(exec, "broken", broken), u).converged);
}

OSSATURA_BACKEND_TEST("springs hold a body that nothing else holds", "[hexa]") {
  // Equal springs at all nodes and forces of their size move the body by 1 without deforming it.
  const TestType exec;
  const Cantilever c = make_cantilever({4, 2, 2}, 0);
  for (const HexaPreconditioner preconditioner : preconditioners) {
    HexaSolverOptions options = exact(preconditioner);
    options.cg.tolerance = 1e-10;
    HexaSolver<TestType> solver(exec, c.mesh, 0.3, {}, options);
    const std::int64_t kept = solver.cost().bytes_kept;
    solver.set_springs(exec, upload(exec, "spring", std::vector<double>(c.force.size(), 100.0)));
    CHECK(solver.cost().bytes_kept == kept + 8 * std::int64_t(c.force.size()));
    solver.set_modulus(exec, upload(exec, "modulus", c.modulus));
    std::vector<double> force(c.force.size(), 0);
    for (std::size_t i = 1; i < force.size(); i += 3)
      force[i] = 100;
    const auto u = make_zeros<double>(exec, std::int64_t(force.size()), "u");
    CHECK(solver.solve(exec, upload(exec, "force", force), u).converged);
    const std::vector<double> moved = download(exec, u);
    double error = 0;
    for (std::size_t i = 0; i < moved.size(); ++i)
      error = std::max(error, std::abs(moved[i] - (i % 3 == 1 ? 1 : 0)));
    INFO(name_of(preconditioner));
    CHECK(error < 1e-6);
  }
}

OSSATURA_BACKEND_TEST("a solver of hexahedra refuses what makes no sense", "[hexa]") {
  const TestType exec;
  const Cantilever c = make_cantilever({2, 1, 1}, 0.5);
  using Solver = HexaSolver<TestType>;
  CHECK_THROWS_AS(Solver(exec, c.mesh, 0.5, c.held, {}), std::invalid_argument);
  CHECK_THROWS_AS(Solver(exec, c.mesh, 0.3, {{12, 7}}, {}), std::invalid_argument);
  CHECK_THROWS_AS(Solver(exec, c.mesh, 0.3, {{0, 8}}, {}), std::invalid_argument);
  for (const double tolerance : {0.0, 1.0}) {
    HexaSolverOptions options;
    options.cg.tolerance = tolerance;
    CHECK_THROWS_AS(Solver(exec, c.mesh, 0.3, c.held, options), std::invalid_argument);
  }
  for (const Precision unknown : {Precision::lean, Precision::fp32}) {
    HexaSolverOptions options;
    options.precision = unknown;
    CHECK_THROWS_AS(Solver(exec, c.mesh, 0.3, c.held, options), UsageError);
  }
  Solver solver(exec, c.mesh, 0.3, c.held, {});
  const auto u = make_zeros<double>(exec, 36, "u"), f = upload(exec, "f", c.force);
  CHECK_THROWS_AS(solver.solve(exec, f, u), std::invalid_argument);
  CHECK_THROWS_AS(solver.set_modulus(exec, u), std::invalid_argument);
  CHECK_THROWS_AS(solver.set_modulus(exec, upload(exec, "E", std::vector<double>{1, 0})),
                  std::invalid_argument);
  CHECK_THROWS_AS(solver.set_springs(exec, make_zeros<double>(exec, 12, "s")),
                  std::invalid_argument);
}

} // namespace
