// SPDX-License-Identifier: Apache-2.0
// Second-order convergence to a smooth solution with a body force.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;
using ossatura::test::lame;
using ossatura::test::Lame;
using ossatura::test::Solution;
using reference::Model;

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
  const Solution solution = ossatura::test::solve(exec, problem, 1e-8);
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

OSSATURA_BACKEND_TEST("Displacements converge with the square of the edge", "[voxel_solver]") {
  const double coarse = manufactured_error(TestType(), 8),
               fine = manufactured_error(TestType(), 16),
               finest = manufactured_error(TestType(), 24);
  INFO("L2 errors " << coarse << ", " << fine << ", " << finest);
  CHECK(coarse < 0.02);
  CHECK(std::log2(coarse / fine) == Approx(2).margin(0.05));
  CHECK(std::log(fine / finest) / std::log(1.5) == Approx(2).margin(0.05));
}

} // namespace
