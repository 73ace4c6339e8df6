// SPDX-License-Identifier: BSD-3-Clause
// Boundary value problems with closed forms, the oracle's solutions, and what symmetry demands.
#include "solvers/voxel_solver.hpp"
#include "tests/backend_test.hpp"
#include "tests/solvers/boundary_problem.hpp"

#include <numeric>

namespace {

using namespace femura;
using femura::test::BoundaryProblem;
using femura::test::keep_supported;
using femura::test::Solution;
using femura::test::sum_plane;
using reference::Model;
using reference::relative_difference;

struct Lame {
  double lambda, mu;
  double confined() const { return lambda + 2 * mu; }
};
/// From the moduli themselves, not through the library.
Lame lame(double modulus, double poisson) {
  return {modulus * poisson / ((1 + poisson) * (1 - 2 * poisson)), modulus / (2 * (1 + poisson))};
}

/// Largest |u - expected| over the components of nodes, relative to the largest |expected|.
template<class Field>
double field_error(const Model& model, const std::vector<double>& u, const Field& expected) {
  double error = 0, scale = 0;
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    if (!model.has_node(node))
      continue;
    const auto s = model.site(node);
    const std::array<double, 3> value =
        expected(s[0] * model.edge, s[1] * model.edge, s[2] * model.edge);
    for (int c = 0; c < 3; ++c) {
      error = std::max(error, std::abs(u[3 * node + c] - value[c]));
      scale = std::max(scale, std::abs(value[c]));
    }
  }
  return error / scale;
}

/// Axial compression by `strain` along z with free sides; six rigid motions taken away.
BoundaryProblem uniaxial(Model model, double strain) {
  BoundaryProblem problem(std::move(model));
  const auto shape = problem.model.shape;
  problem.hold_plane(2, 0, 2, 0);
  problem.hold_plane(2, shape[2], 2, -strain * shape[2] * problem.model.edge);
  problem.hold(problem.model.node(0, 0, 0), 0, 0);
  problem.hold(problem.model.node(0, 0, 0), 1, 0);
  problem.hold(problem.model.node(shape[0], 0, 0), 1, 0);
  return problem;
}

/// Compression by `strain` along an axis between smooth walls on all six sides.
BoundaryProblem confined(Model model, int axis, double strain) {
  BoundaryProblem problem(std::move(model));
  for (int d = 0; d < 3; ++d) {
    const int end = problem.model.shape[d];
    problem.hold_plane(d, 0, d, 0);
    problem.hold_plane(d, end, d, d == axis ? -strain * end * problem.model.edge : 0);
  }
  return problem;
}

FEMURA_BACKEND_TEST("Uniaxial compression of a block is exact", "[voxel_solver]") {
  const double E = 1234, strain = 0.01;
  for (double nu : {0.0, 0.3, 0.45, -0.3})
    for (const auto& shape : {std::array<int, 3>{8, 8, 8}, {7, 5, 9}, {1, 1, 24}, {13, 1, 2}}) {
      const auto problem = uniaxial(reference::homogeneous(shape, E, nu, 0.034), strain);
      const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
      INFO("Poisson's ratio " << nu << ", " << shape[0] << " x " << shape[1] << " x " << shape[2]);
      CHECK(solution.result.converged);
      CHECK(field_error(problem.model, solution.u, [&](double x, double y, double z) {
              return std::array<double, 3>{nu * strain * x, nu * strain * y, -strain * z};
            }) < 1e-8);
      const double area = shape[0] * shape[1] * 0.034 * 0.034;
      CHECK(sum_plane(problem.model, solution.force, 2, shape[2], 2) ==
            Approx(-E * strain * area).epsilon(1e-8));
      CHECK(sum_plane(problem.model, solution.force, 2, 0, 2) ==
            Approx(E * strain * area).epsilon(1e-8));
    }
}

FEMURA_BACKEND_TEST("Confined compression of a block is exact along every axis", "[voxel_solver]") {
  const double E = 17000, nu = 0.3, strain = 0.02;
  for (int axis = 0; axis < 3; ++axis) {
    const auto problem = confined(reference::homogeneous({6, 9, 8}, E, nu, 0.5), axis, strain);
    const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    CHECK(field_error(problem.model, solution.u, [&](double x, double y, double z) {
            std::array<double, 3> u{};
            u[axis] = -strain * (axis == 0 ? x : axis == 1 ? y : z);
            return u;
          }) < 1e-8);
    for (int d = 0; d < 3; ++d) { // pressure on every wall
      const int end = problem.model.shape[d];
      const double area = 6. * 9 * 8 / end * 0.25;
      const double stress = d == axis ? lame(E, nu).confined() : lame(E, nu).lambda;
      CHECK(sum_plane(problem.model, solution.force, d, end, d) ==
            Approx(-stress * strain * area).epsilon(1e-8));
    }
  }
}

FEMURA_BACKEND_TEST("Simple shear of a block is exact", "[voxel_solver]") {
  const double E = 10, nu = 0.2, gamma = 0.03;
  BoundaryProblem problem(reference::homogeneous({7, 6, 8}, E, nu, 0.25));
  for (int at : {0, 8}) {
    problem.hold_plane(2, at, 0, gamma * at * 0.25);
    problem.hold_plane(2, at, 1, 0);
    problem.hold_plane(2, at, 2, 0);
  }
  for (int at : {0, 7})
    problem.hold_plane(0, at, 2, 0);
  const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
  CHECK(solution.result.converged);
  CHECK(field_error(problem.model, solution.u, [&](double, double, double z) {
          return std::array<double, 3>{gamma * z, 0, 0};
        }) < 1e-8);
  const double area = 7 * 6 * 0.0625;
  CHECK(sum_plane(problem.model, solution.force, 2, 8, 0) ==
        Approx(lame(E, nu).mu * gamma * area).epsilon(1e-8));
}

/// Layers across z with two materials.
Model laminate(double first_poisson, double second_poisson) {
  Model model = reference::homogeneous({4, 6, 12}, 1000, double(float(first_poisson)));
  for (int z : {2, 3, 7, 9, 10})
    for (int i = 0; i < 24; ++i) {
      model.modulus[24 * z + i] = 17;
      model.poisson[24 * z + i] = double(float(second_poisson));
    }
  return model;
}

FEMURA_BACKEND_TEST("A laminate compressed across its layers is springs in series",
                    "[voxel_solver]") {
  // One stress: s = strain / mean(1 / M), M = lambda + 2 mu, with u piecewise linear in z.
  const double strain = 0.01;
  for (double second : {0.3, 0.0, 0.45}) {
    const auto problem = confined(laminate(0.3, second), 2, strain);
    const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    double compliance = 0;
    std::vector<double> depth(13);
    for (int z = 0; z < 12; ++z) {
      const int voxel = problem.model.voxel(0, 0, z);
      compliance += 1 / lame(problem.model.modulus[voxel], problem.model.poisson[voxel]).confined();
      depth[z + 1] = compliance;
    }
    const double stress = strain * 12 / compliance;
    // With a Poisson ratio per voxel Lame's constants are kept as floats.
    const double tolerance = second == 0.3 ? 1e-8 : 5e-7;
    CHECK(field_error(problem.model, solution.u, [&](double, double, double z) {
            return std::array<double, 3>{0, 0, -stress * depth[int(z + 0.5)]};
          }) < tolerance);
    CHECK(sum_plane(problem.model, solution.force, 2, 12, 2) ==
          Approx(-stress * 24).epsilon(tolerance));
  }
}

FEMURA_BACKEND_TEST("A laminate compressed along its layers is springs in parallel",
                    "[voxel_solver]") {
  // Along x all layers have the strain -e; across z they share one stress t, so the strain there is
  // (t + lambda e) / M, of mean 0: t = -e mean(lambda / M) / mean(1 / M). The stress along x is
  // -M e + lambda (t + lambda e) / M; without lateral contraction, springs in parallel: -E e.
  const double strain = 0.01;
  for (const auto& poisson : {std::pair<double, double>(0, 0), {0.3, 0.3}, {0.2, 0.4}}) {
    const auto problem = confined(laminate(poisson.first, poisson.second), 0, strain);
    const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    double ratio = 0, compliance = 0, expected = 0, parallel = 0;
    const auto constants = [&](int z) {
      const int voxel = problem.model.voxel(0, 0, z);
      return lame(problem.model.modulus[voxel], problem.model.poisson[voxel]);
    };
    for (int z = 0; z < 12; ++z) {
      ratio += constants(z).lambda / constants(z).confined();
      compliance += 1 / constants(z).confined();
    }
    const double across = -strain * ratio / compliance;
    for (int z = 0; z < 12; ++z) {
      const Lame l = constants(z);
      expected += -l.confined() * strain + l.lambda * (across + l.lambda * strain) / l.confined();
      parallel += -l.confined() * strain;
    }
    const double tolerance = poisson.first == poisson.second ? 1e-8 : 5e-7;
    CHECK(sum_plane(problem.model, solution.force, 0, 4, 0) ==
          Approx(6 * expected).epsilon(tolerance));
    if (poisson.first == 0)
      CHECK(expected == Approx(parallel).epsilon(1e-12));
  }
}

/// A porous body held at its bottom, loaded at random everywhere.
BoundaryProblem porous(std::array<int, 3> shape, unsigned seed, double contrast = 100) {
  BoundaryProblem problem(
      keep_supported(reference::random_model(shape, 0.7, contrast, 0.3, 0.3, seed, 0.5)));
  problem.clamp_plane(2, 0);
  problem.f = reference::random_vector(problem.model, seed + 1);
  return problem;
}

FEMURA_BACKEND_TEST("Displacements of random porous bodies are the oracle's", "[voxel_solver]") {
  for (unsigned seed : {1u, 2u, 3u}) {
    BoundaryProblem problem = porous({6, 7, 5}, seed);
    problem.hold_plane(2, 5, 0, 0.7); // prescribed values as well as forces
    const auto expected =
        reference::solve(reference::assemble(problem.model), problem.held, problem.f, problem.u);
    for (const VoxelOperatorKind kind : {VoxelOperatorKind::offset, VoxelOperatorKind::gather})
      for (bool single : {false, true}) {
        VoxelSolverOptions options;
        options.cg.tolerance = 1e-12;
        options.matrix = kind;
        options.single_precision_cycle = single;
        options.multigrid.direct_nodes = 20;
        const Solution solution = femura::test::solve(TestType(), problem, options);
        CHECK(solution.result.converged);
        CHECK(relative_difference(solution.u, expected) < 1e-8);
      }
  }
}

FEMURA_BACKEND_TEST("Loads and reactions are in balance", "[voxel_solver]") {
  const BoundaryProblem problem = porous({8, 6, 9}, 5);
  const Solution solution = femura::test::solve(TestType(), problem, 1e-12);
  CHECK(solution.result.converged);
  double wrong = 0, largest = 0;
  for (int i = 0; i < problem.model.num_dofs(); ++i) {
    if (!problem.held[i])
      wrong = std::max(wrong, std::abs(solution.force[i] - problem.f[i]));
    largest = std::max(largest, std::abs(solution.force[i]));
  }
  CHECK(wrong < 1e-9 * largest);
  for (int c = 0; c < 3; ++c) {
    double sum = 0;
    for (int node = 0; node < problem.model.num_lattice_nodes(); ++node)
      sum += solution.force[3 * node + c];
    CHECK(std::abs(sum) < 1e-9 * largest);
  }
}

/// Signed permutation of the axes: axis d of the original becomes `axis[d]`, reversed or not.
struct Rotation {
  std::array<int, 3> axis;
  std::array<bool, 3> reversed;

  std::array<int, 3> shape(const std::array<int, 3>& n) const {
    std::array<int, 3> turned{};
    for (int d = 0; d < 3; ++d)
      turned[axis[d]] = n[d];
    return turned;
  }
  /// `last` is the largest coordinate along each original axis.
  std::array<int, 3> site(const std::array<int, 3>& s, const std::array<int, 3>& last) const {
    std::array<int, 3> turned{};
    for (int d = 0; d < 3; ++d)
      turned[axis[d]] = reversed[d] ? last[d] - s[d] : s[d];
    return turned;
  }
};

/// The 24 proper rotations of a cube.
std::vector<Rotation> rotations() {
  std::vector<Rotation> all;
  std::array<int, 3> axis{0, 1, 2};
  do {
    int sign = 1;
    for (int i = 0; i < 3; ++i)
      for (int j = i + 1; j < 3; ++j)
        sign *= axis[i] < axis[j] ? 1 : -1;
    for (int bits = 0; bits < 8; ++bits) {
      const std::array<bool, 3> reversed{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      const int flips = reversed[0] + reversed[1] + reversed[2];
      if (sign * (flips % 2 ? -1 : 1) == 1)
        all.push_back({axis, reversed});
    }
  } while (std::next_permutation(axis.begin(), axis.end()));
  return all;
}

/// A lattice vector in the turned frame.
std::vector<double> turn(const Rotation& rotation, const Model& model, const Model& turned,
                         const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = rotation.site(model.site(node), model.shape);
    for (int d = 0; d < 3; ++d)
      y[3 * turned.node(s[0], s[1], s[2]) + rotation.axis[d]] =
          (rotation.reversed[d] ? -1 : 1) * x[3 * node + d];
  }
  return y;
}

BoundaryProblem turn(const Rotation& rotation, const BoundaryProblem& problem) {
  const Model& model = problem.model;
  Model turned = reference::homogeneous(rotation.shape(model.shape), 0, 0.3, model.edge);
  const std::array<int, 3> last{model.shape[0] - 1, model.shape[1] - 1, model.shape[2] - 1};
  for (int z = 0; z <= last[2]; ++z)
    for (int y = 0; y <= last[1]; ++y)
      for (int x = 0; x <= last[0]; ++x) {
        const auto s = rotation.site({x, y, z}, last);
        turned.modulus[turned.voxel(s[0], s[1], s[2])] = model.modulus[model.voxel(x, y, z)];
        turned.poisson[turned.voxel(s[0], s[1], s[2])] = model.poisson[model.voxel(x, y, z)];
      }
  BoundaryProblem result(turned);
  result.f = turn(rotation, model, turned, problem.f);
  result.u = turn(rotation, model, turned, problem.u);
  const auto held =
      turn(rotation, model, turned, std::vector<double>(problem.held.begin(), problem.held.end()));
  for (std::size_t i = 0; i < held.size(); ++i)
    result.held[i] = held[i] != 0;
  return result;
}

FEMURA_BACKEND_TEST("All 24 rotations of a body rotate its displacements", "[voxel_solver]") {
  const BoundaryProblem problem = porous({4, 5, 6}, 9);
  const Solution straight = femura::test::solve(TestType(), problem, 1e-11);
  REQUIRE(straight.result.converged);
  const auto all = rotations();
  REQUIRE(all.size() == 24);
  for (const Rotation& rotation : all) {
    const BoundaryProblem turned = turn(rotation, problem);
    const Solution solution = femura::test::solve(TestType(), turned, 1e-11);
    INFO("axes " << rotation.axis[0] << rotation.axis[1] << rotation.axis[2]);
    CHECK(solution.result.converged);
    CHECK(relative_difference(solution.u, turn(rotation, problem.model, turned.model, straight.u)) <
          1e-8);
  }
}

FEMURA_BACKEND_TEST("Solutions add up as their loads do", "[voxel_solver]") {
  BoundaryProblem first = porous({7, 5, 6}, 11), second = first;
  first.hold_plane(2, 6, 1, 0.2);
  second.hold_plane(2, 6, 1, -0.5);
  second.f = reference::random_vector(second.model, 77);
  BoundaryProblem both = first;
  for (int i = 0; i < both.model.num_dofs(); ++i) {
    both.u[i] = 2 * first.u[i] - 3 * second.u[i];
    both.f[i] = 2 * first.f[i] - 3 * second.f[i];
  }
  const Solution a = femura::test::solve(TestType(), first, 1e-12),
                 b = femura::test::solve(TestType(), second, 1e-12),
                 sum = femura::test::solve(TestType(), both, 1e-12);
  std::vector<double> expected;
  for (int i = 0; i < both.model.num_dofs(); ++i)
    expected.push_back(2 * a.u[i] - 3 * b.u[i]);
  CHECK(sum.result.converged);
  CHECK(relative_difference(sum.u, expected) < 1e-9);
}

FEMURA_BACKEND_TEST("One solver takes any number of loads, and starts from what it is given",
                    "[voxel_solver]") {
  const TestType exec;
  const BoundaryProblem problem = porous({6, 6, 6}, 21);
  const auto device = femura::test::upload_problem(exec, problem);
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-10;
  VoxelSolver<TestType> solver(exec, device, options);
  const auto f = femura::test::to_compact(exec, device.grid, problem.model, problem.f);
  const auto u = make_zeros<double>(exec, device.grid.num_dofs(), "test::u");
  const auto again = make_zeros<double>(exec, device.grid.num_dofs(), "test::again");
  const SolveResult first = solver.solve(exec, f, u);
  CHECK(first.converged);
  const SolveResult second = solver.solve(exec, f, again);
  CHECK(second.iterations == first.iterations);
  exec.fence();
  // offsets' atomics aside, bitwise
  CHECK(relative_difference(femura::test::host_values(again), femura::test::host_values(u)) <
        1e-14);
  const SolveResult restarted = solver.solve(exec, f, u); // from the solution
  CHECK(restarted.initial_residual <= 1e-9 * first.initial_residual);
  // no forces: back to zero
  const SolveResult unloaded = solver.solve(exec, Array<double, TestType>(), u);
  CHECK(unloaded.converged);
  CHECK(dot(exec, u, u) < 1e-16 * dot(exec, again, again));
}

/// u_i = amplitude_i sin(k x + a) cos(k y + b) sin(k z + c) and the body force that goes with it.
struct Manufactured {
  static constexpr double k = 2.3, a = 0.3, b = -0.2, c = 0.5;
  std::array<double, 3> amplitude{1, -0.7, 0.4};

  /// The factor along axis d, differentiated `order` times.
  static double factor(int d, double x, int order) {
    const double phase = d == 0 ? a : d == 1 ? b + 1.57079632679489661923 : c;
    return std::pow(k, order) * std::sin(k * x + phase + order * 1.57079632679489661923);
  }
  static double derivative(const std::array<double, 3>& p, const std::array<int, 3>& order) {
    return factor(0, p[0], order[0]) * factor(1, p[1], order[1]) * factor(2, p[2], order[2]);
  }
  double displacement(int i, const std::array<double, 3>& p) const {
    return amplitude[i] * derivative(p, {0, 0, 0});
  }
  /// -div sigma = -mu laplace(u) - (lambda + mu) grad(div u).
  double force(int i, const std::array<double, 3>& p, const Lame& l) const {
    double value = 3 * k * k * l.mu * displacement(i, p);
    for (int j = 0; j < 3; ++j) {
      std::array<int, 3> order{};
      ++order[i];
      ++order[j];
      value -= (l.lambda + l.mu) * amplitude[j] * derivative(p, order);
    }
    return value;
  }
};

/// Calls visit(point, weight, shape functions, nodes) at 3 x 3 x 3 Gauss points of every voxel.
template<class Visit>
void for_each_gauss_point(const Model& model, const Visit& visit) {
  const double h = model.edge, points[3] = {0.5 - std::sqrt(0.15), 0.5, 0.5 + std::sqrt(0.15)},
               weights[3] = {5. / 18, 8. / 18, 5. / 18};
  for (int z = 0; z < model.shape[2]; ++z)
    for (int y = 0; y < model.shape[1]; ++y)
      for (int x = 0; x < model.shape[0]; ++x)
        for (int g = 0; g < 27; ++g) {
          const int i[3] = {g % 3, g / 3 % 3, g / 9};
          double shape[8];
          int node[8];
          for (int v = 0; v < 8; ++v) {
            shape[v] = 1;
            for (int d = 0; d < 3; ++d)
              shape[v] *= v >> d & 1 ? points[i[d]] : 1 - points[i[d]];
            node[v] = model.node(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2));
          }
          visit(std::array<double, 3>{(x + points[i[0]]) * h, (y + points[i[1]]) * h,
                                      (z + points[i[2]]) * h},
                weights[i[0]] * weights[i[1]] * weights[i[2]] * h * h * h, shape, node);
        }
}

template<class Exec>
double manufactured_error(const Exec& exec, int n) {
  const double E = 3, nu = 0.3;
  const Manufactured exact;
  BoundaryProblem problem(reference::homogeneous({n, n, n}, E, nu, 1.0 / n));
  const Model& model = problem.model;
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    bool boundary = false;
    for (int d = 0; d < 3; ++d)
      boundary = boundary || s[d] == 0 || s[d] == n;
    for (int i = 0; i < 3 && boundary; ++i)
      problem.hold(
          node, i,
          exact.displacement(i, {s[0] * model.edge, s[1] * model.edge, s[2] * model.edge}));
  }
  for_each_gauss_point(model,
                       [&](const auto& p, double weight, const auto& shape, const auto& node) {
                         for (int i = 0; i < 3; ++i) {
                           const double force = weight * exact.force(i, p, lame(E, nu));
                           for (int v = 0; v < 8; ++v)
                             problem.f[3 * node[v] + i] += force * shape[v];
                         }
                       });
  const Solution solution = femura::test::solve(exec, problem, 1e-8);
  CHECK(solution.result.converged);
  double error = 0, norm = 0;
  for_each_gauss_point(model,
                       [&](const auto& p, double weight, const auto& shape, const auto& node) {
                         for (int i = 0; i < 3; ++i) {
                           double u = 0;
                           for (int v = 0; v < 8; ++v)
                             u += shape[v] * solution.u[3 * node[v] + i];
                           const double expected = exact.displacement(i, p);
                           error += weight * (u - expected) * (u - expected);
                           norm += weight * expected * expected;
                         }
                       });
  return std::sqrt(error / norm);
}

FEMURA_BACKEND_TEST("Displacements converge with the square of the edge", "[voxel_solver]") {
  const double coarse = manufactured_error(TestType(), 8),
               fine = manufactured_error(TestType(), 16),
               finest = manufactured_error(TestType(), 32);
  INFO("L2 errors " << coarse << ", " << fine << ", " << finest);
  CHECK(coarse < 0.02);
  CHECK(std::log2(coarse / fine) == Approx(2).margin(0.05));
  CHECK(std::log2(fine / finest) == Approx(2).margin(0.05));
}

FEMURA_BACKEND_TEST("Empty slabs around a body change nothing", "[voxel_solver]") {
  const BoundaryProblem body = porous({5, 6, 4}, 31);
  const Solution expected = femura::test::solve(TestType(), body, 1e-12);
  const std::array<int, 3> gap{3, 1, 6};
  Model model = reference::homogeneous({12, 8, 15}, 0, 0.3, body.model.edge);
  model.poisson.assign(model.poisson.size(), body.model.poisson[0]);
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 5; ++x)
        model.modulus[model.voxel(x + gap[0], y + gap[1], z + gap[2])] =
            body.model.modulus[body.model.voxel(x, y, z)];
  BoundaryProblem moved(model);
  const auto move = [&](int node) {
    const auto s = body.model.site(node);
    return model.node(s[0] + gap[0], s[1] + gap[1], s[2] + gap[2]);
  };
  for (int i = 0; i < body.model.num_dofs(); ++i) {
    moved.held[3 * move(i / 3) + i % 3] = body.held[i];
    moved.f[3 * move(i / 3) + i % 3] = body.f[i];
  }
  const Solution solution = femura::test::solve(TestType(), moved, 1e-12);
  CHECK(solution.result.converged);
  std::vector<double> back;
  for (int i = 0; i < body.model.num_dofs(); ++i)
    back.push_back(solution.u[3 * move(i / 3) + i % 3]);
  CHECK(relative_difference(back, expected.u) < 1e-9);
}

FEMURA_BACKEND_TEST("Isolated voxels that are held entirely do not disturb the rest",
                    "[voxel_solver]") {
  Model model = reference::homogeneous({9, 5, 6}, 5, 0.3);
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 4; x < 9; ++x)
        model.modulus[model.voxel(x, y, z)] = 0;
  model.modulus[model.voxel(7, 2, 3)] = 1e4;
  BoundaryProblem problem(model);
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 6, 2, -0.1);
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      problem.hold(model.node(7 + (v & 1), 2 + (v >> 1 & 1), 3 + (v >> 2)), c, 0.25);
  const auto expected =
      reference::solve(reference::assemble(model), problem.held, problem.f, problem.u);
  const Solution solution = femura::test::solve(TestType(), problem, 1e-11);
  CHECK(solution.result.converged);
  CHECK(relative_difference(solution.u, expected) < 1e-8);
}

FEMURA_BACKEND_TEST("An unloaded island that nothing holds is harmless", "[voxel_solver]") {
  Model model = reference::homogeneous({9, 5, 6}, 5, 0.3);
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 4; x < 6; ++x)
        model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model); // the right part floats
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    if (s[0] > 4)
      continue;
    for (int c = 0; c < 3 && s[2] == 0; ++c)
      problem.hold(node, c, 0);
    if (s[2] == 6)
      problem.hold(node, 2, -0.1);
  }
  const Solution solution = femura::test::solve(TestType(), problem, 1e-9);
  CHECK(solution.result.converged);
  const reference::SparseMatrix k = reference::assemble(model);
  const auto force = k * solution.u;
  double wrong = 0, largest = 0;
  for (int i = 0; i < model.num_dofs(); ++i) {
    wrong = std::max(wrong, problem.held[i] ? 0 : std::abs(force[i]));
    largest = std::max(largest, std::abs(force[i]));
  }
  CHECK(largest > 0.01);
  CHECK(wrong < 1e-7 * largest);
}

FEMURA_BACKEND_TEST("Two blocks joined by a strut one voxel thin are the oracle's",
                    "[voxel_solver]") {
  Model model = reference::homogeneous({4, 4, 14}, 100, 0.3);
  for (int z = 4; z < 10; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x)
        if (x != 1 || y != 2)
          model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model);
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 14, 2, -0.1);
  problem.hold_plane(2, 14, 0, 0.05);
  const auto expected =
      reference::solve(reference::assemble(model), problem.held, problem.f, problem.u);
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-11;
  options.multigrid.direct_nodes = 20;
  const Solution solution = femura::test::solve(TestType(), problem, options);
  CHECK(solution.result.converged);
  CHECK(relative_difference(solution.u, expected) < 1e-8);
}

FEMURA_BACKEND_TEST("Voxels joined by edges or corners alone never yield a false convergence",
                    "[voxel_solver]") {
  for (bool corners : {false, true}) {
    Model model = reference::homogeneous({8, 8, 8}, 10, 0.3);
    for (int z = 0; z < 8; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
          // edges: the cells of one colour of a checkerboard; corners: one cell of every eight and
          // its opposite
          const int odd = (x & 1) + (y & 1) + (z & 1);
          if (corners ? odd != 0 && odd != 3 : odd % 2 != 0)
            model.modulus[model.voxel(x, y, z)] = 0;
        }
    BoundaryProblem problem(model);
    problem.clamp_plane(2, 0);
    problem.hold_plane(2, 8, 2, -0.1);
    const Solution solution = femura::test::solve(TestType(), problem, 1e-8);
    INFO("corners " << corners << ", " << solution.result.iterations << " iterations, residual "
                    << solution.result.true_relative_residual);
    const reference::SparseMatrix k = reference::assemble(model);
    const auto start = k * problem.u, end = k * solution.u;
    double before = 0, after = 0;
    for (int i = 0; i < model.num_dofs(); ++i)
      if (!problem.held[i]) {
        before += start[i] * start[i];
        after += end[i] * end[i];
      }
    CHECK(before > 0);
    CHECK(solution.result.true_relative_residual ==
          Approx(std::sqrt(after / before)).epsilon(1e-4).margin(1e-12));
    CHECK(solution.result.converged == (solution.result.true_relative_residual <= 1e-8));
  }
}

FEMURA_BACKEND_TEST("A body that is held nowhere or everywhere comes back", "[voxel_solver]") {
  // Self-balanced forces on a free body: singular, consistent.
  BoundaryProblem free(reference::homogeneous({6, 6, 6}, 1, 0.3));
  for (int node = 0; node < free.model.num_lattice_nodes(); ++node) {
    const int z = free.model.site(node)[2];
    free.f[3 * node + 2] = z == 0 ? -1 : z == 6 ? 1 : 0;
  }
  const Solution floating = femura::test::solve(TestType(), free, 1e-8);
  const auto force = reference::assemble(free.model) * floating.u;
  CHECK(floating.result.converged == (relative_difference(force, free.f) <= 1.001e-8));

  BoundaryProblem held(reference::homogeneous({3, 4, 5}, 1, 0.3));
  for (int i = 0; i < held.model.num_dofs(); ++i)
    held.hold(i / 3, i % 3, 0.1 * i);
  const Solution fixed = femura::test::solve(TestType(), held, 1e-8);
  CHECK(fixed.result.converged);
  CHECK(fixed.result.iterations == 0);
  CHECK(fixed.u == held.u);
}

} // namespace
