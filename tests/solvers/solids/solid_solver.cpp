// SPDX-License-Identifier: Apache-2.0
// Solves on solid elements: the patch test of every kind, a direct solve of the oracle's matrix,
// and a cantilever against the theory of beams.
#include <ossatura/solvers/solids/solver.hpp>

#include "tests/backend_test.hpp"
#include "tests/reference/solid_element.hpp"
#include "tests/solid_meshes.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

namespace {

using namespace ossatura;
using namespace ossatura_test;

SolidSolverOptions exact() {
  SolidSolverOptions options;
  options.precision = Precision::fp64;
  options.cg = {1e-13, 500};
  options.aggregation.max_coarse_dofs = 300; // quicker for few elements
  return options;
}

std::vector<std::int32_t> nodes_at(const SolidMesh& mesh, std::size_t axis, double place) {
  std::vector<std::int32_t> nodes;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (std::abs(mesh.point[3 * n + axis] - place) < 1e-12)
      nodes.push_back(std::int32_t(n));
  return nodes;
}

std::vector<double> by_node(const SolidMesh& mesh, const std::vector<NodeForce>& forces) {
  std::vector<double> f(3 * mesh.num_points());
  for (const NodeForce& one : forces)
    for (std::size_t c = 0; c < 3; ++c)
      f[3 * std::size_t(one.node) + c] += one.force[c];
  return f;
}

struct Solved {
  SolveResult result;
  std::vector<double> u;
};

template<class Exec>
Solved solve(const SolidMesh& mesh, double poisson, const std::vector<HeldComponents>& held,
             const std::vector<double>& modulus, const std::vector<double>& f,
             const SolidSolverOptions& options) {
  const Exec exec;
  SolidSolver<Exec> solver(exec, mesh, poisson, held, options);
  solver.set_modulus(exec, upload(exec, "modulus", modulus));
  const auto u = make_zeros<double>(exec, std::int64_t(f.size()), "u");
  const SolveResult result = solver.solve(exec, upload(exec, "f", f), u);
  return {result, download(exec, u)};
}

/// The box under tension along x, E = 7: the largest error of u = (x, -nu y, -nu z) / 7.
template<class Exec>
double error_of_patch(const SolidMesh& mesh, const std::array<double, 3>& size) {
  const double poisson = 0.3, young = 7;
  std::vector<HeldComponents> held;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const std::int32_t n : nodes_at(mesh, axis, 0))
      held.push_back({n, std::uint8_t(1 << axis)});
  const std::vector<double> f =
      by_node(mesh, traction_forces(mesh, nodes_at(mesh, 0, size[0]), {1, 0, 0}));
  const Solved solved =
      solve<Exec>(mesh, poisson, held, std::vector<double>(mesh.num_elem(), young), f, exact());
  CHECK(solved.result.converged);
  double error = 0;
  for (std::size_t i = 0; i < solved.u.size(); ++i)
    error = std::max(error,
                     std::abs(solved.u[i] - mesh.point[i] * (i % 3 == 0 ? 1 : -poisson) / young));
  return error * young / size[0];
}

} // namespace

OSSATURA_BACKEND_TEST("Solids of every kind, and mixed, pass the patch test", "[solids]") {
  const std::array<double, 3> size{2, 1, 1};
  const auto bend = [&](std::array<double, 3>& x) { bend_inside(size, x); };
  for (const SolidKind kind : all_solid_kinds) {
    INFO(name_of(kind));
    const SolidMesh mesh = make_solid_box([kind](int) { return kind; }, {3, 2, 2}, size, bend);
    CHECK(error_of_patch<TestType>(mesh, size) < 1e-12);
  }
  for (const auto& [one, other] : {std::pair(SolidKind::hexa8, SolidKind::prism6),
                                   std::pair(SolidKind::prism15, SolidKind::hexa20)}) {
    INFO(name_of(one) << " beside " << name_of(other));
    const SolidMesh mesh = make_solid_box(
        [one = one, other = other](int i) { return i < 2 ? one : other; }, {3, 2, 2}, size, bend);
    CHECK_FALSE(find_misfit_face(mesh));
    CHECK(error_of_patch<TestType>(mesh, size) < 1e-12);
  }
}

OSSATURA_BACKEND_TEST("Solves are those of elimination in the oracle's matrix", "[solids]") {
  const double poisson = 0.25;
  for (const SolidKind kind : {SolidKind::tetra4, SolidKind::tetra10, SolidKind::prism15}) {
    INFO(name_of(kind));
    const SolidMesh mesh = make_solid_box(kind, {2, 1, 1}, {2, 1, 1});
    std::vector<double> modulus;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e)
      modulus.push_back(e % 3 == 0 ? 1 : e % 3 == 1 ? 1e-3 : 0.4);
    std::vector<HeldComponents> held;
    std::vector<bool> is_held(3 * mesh.num_points());
    for (const std::int32_t n : nodes_at(mesh, 0, 0)) {
      held.push_back({n, 7});
      for (std::size_t c = 0; c < 3; ++c)
        is_held[3 * std::size_t(n) + c] = true;
    }
    const std::vector<double> f =
        by_node(mesh, traction_forces(mesh, nodes_at(mesh, 0, 2), {0.2, 0.5, -1}));

    const std::size_t dofs = 3 * mesh.num_points();
    std::vector<double> a(dofs * dofs), b = f;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const NodeRange nodes = mesh.nodes_of(e);
      std::vector<double> x;
      for (const std::int32_t n : nodes)
        for (std::size_t d = 0; d < 3; ++d)
          x.push_back(mesh.point[3 * std::size_t(n) + d]);
      const std::vector<double> k =
          reference::solid_stiffness(reference::solid_element(int(nodes.size())), x, poisson);
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j)
          a[(3 * std::size_t(nodes[i / 3]) + i % 3) * dofs + 3 * std::size_t(nodes[j / 3]) +
            j % 3] += modulus[e] * k[i * x.size() + j];
    }
    for (std::size_t i = 0; i < dofs; ++i)
      for (std::size_t j = 0; j < dofs; ++j)
        if (is_held[i] || is_held[j])
          a[i * dofs + j] = i == j ? 1 : 0;
    for (std::size_t i = 0; i < dofs; ++i)
      b[i] = is_held[i] ? 0 : b[i];
    const std::vector<double> expected = reference::semidefinite_solve(a, b);

    double largest = 0;
    for (const double u : expected)
      largest = std::max(largest, std::abs(u));
    SolidSolverOptions fp64 = exact();
    fp64.cg.tolerance = 1e-11; // of the largest modulus: rounding
    SolidSolverOptions mixed = fp64;
    mixed.precision = Precision::mixed;
    for (const SolidSolverOptions& options : {fp64, mixed}) {
      const Solved solved = solve<TestType>(mesh, poisson, held, modulus, f, options);
      CHECK(solved.result.converged);
      double error = 0;
      for (std::size_t i = 0; i < dofs; ++i)
        error = std::max(error, std::abs(solved.u[i] - expected[i]));
      CHECK(error < 1e-8 * largest);
    }
  }
}

// Timoshenko: F l^3 / (3 E I) + F l / (kappa G A), kappa = 5 / 6, for a Poisson's ratio of 0, with
// which a clamped end is that of the theory. With F = E = 1, l = 10 and a square of 1: 4000 + 24.
OSSATURA_BACKEND_TEST("A cantilever of second-order solids bends as a beam, one of C3D4 does not",
                      "[solids]") {
  const double poisson = 0, length = 10;
  const double beam = 4 * length * length * length + length * 2 * 6 / 5;
  for (const SolidKind kind : {SolidKind::tetra4, SolidKind::tetra10, SolidKind::prism15,
                               SolidKind::hexa20r, SolidKind::hexa20}) {
    INFO(name_of(kind));
    const SolidMesh mesh = make_solid_box(kind, {10, 1, 2}, {length, 1, 1});
    std::vector<HeldComponents> held;
    for (const std::int32_t n : nodes_at(mesh, 0, 0))
      held.push_back({n, 7});
    const std::vector<double> f =
        by_node(mesh, traction_forces(mesh, nodes_at(mesh, 0, length), {0, 0, 1}));
    SolidSolverOptions options = exact();
    options.cg.tolerance = 1e-9;
    const Solved solved =
        solve<TestType>(mesh, poisson, held, std::vector<double>(mesh.num_elem(), 1.), f, options);
    CHECK(solved.result.converged);
    double work = 0;
    for (std::size_t i = 0; i < f.size(); ++i)
      work += f[i] * solved.u[i];
    if (kind == SolidKind::tetra4)
      CHECK(work < 0.5 * beam); // what its note says
    else
      CHECK(work == Approx(beam).epsilon(2e-3));
  }
}

OSSATURA_BACKEND_TEST("Springs hold a body of solids, and what is no problem is refused",
                      "[solids]") {
  using Exec = TestType;
  const Exec exec;
  const SolidMesh mesh = make_solid_box(SolidKind::tetra10, {1, 1, 1}, {1, 1, 1});
  SolidSolver<Exec> solver(exec, mesh, 0.3, {}, exact());
  const std::int64_t dofs = 3 * std::int64_t(mesh.num_points());
  const auto f = make_zeros<double>(exec, dofs, "f"), u = make_zeros<double>(exec, dofs, "u");
  CHECK_THROWS_AS(solver.solve(exec, f, u), std::invalid_argument);
  // The same spring and force at all nodes: the body moves as one.
  const std::vector<double> k(std::size_t(dofs), 2.), push(std::size_t(dofs), 3.);
  solver.set_springs(exec, upload(exec, "k", k));
  const std::vector<double> modulus(mesh.num_elem(), 5.);
  solver.set_modulus(exec, upload(exec, "modulus", modulus));
  CHECK(solver.solve(exec, upload(exec, "push", push), u).converged);
  for (const double x : download(exec, u))
    CHECK(x == Approx(1.5).epsilon(1e-10));
  CHECK(solver.num_formings() == 1);
  CHECK_THROWS_AS(solver.set_modulus(exec, upload(exec, "modulus", std::vector<double>(6, 0.))),
                  std::invalid_argument);
  CHECK_THROWS_AS((SolidSolver<Exec>(exec, mesh, 0.5, {}, exact())), std::invalid_argument);
  CHECK_THROWS_AS((SolidSolver<Exec>(exec, mesh, 0.3, {{-1, 7}}, exact())), std::invalid_argument);
  for (const double tolerance : {0.0, 1.0}) {
    SolidSolverOptions options = exact();
    options.cg.tolerance = tolerance;
    CHECK_THROWS_AS((SolidSolver<Exec>(exec, mesh, 0.3, {}, options)), std::invalid_argument);
  }
}
