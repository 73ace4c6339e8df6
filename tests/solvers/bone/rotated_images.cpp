// SPDX-License-Identifier: Apache-2.0
// Rotated images have rotated displacements.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

#include <algorithm>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;
using ossatura::test::porous;
using ossatura::test::Solution;
using reference::Model;
using reference::relative_difference;

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

OSSATURA_BACKEND_TEST("All 24 rotations of a body rotate its displacements", "[voxel_solver]") {
  const BoundaryProblem problem = porous({4, 5, 6}, 9);
  const Solution straight = ossatura::test::solve(TestType(), problem, 1e-11);
  REQUIRE(straight.result.converged);
  const auto all = rotations();
  REQUIRE(all.size() == 24);
  for (const Rotation& rotation : all) {
    const BoundaryProblem turned = turn(rotation, problem);
    const Solution solution = ossatura::test::solve(TestType(), turned, 1e-11);
    INFO("axes " << rotation.axis[0] << rotation.axis[1] << rotation.axis[2]);
    CHECK(solution.result.converged);
    CHECK(relative_difference(solution.u, turn(rotation, problem.model, turned.model, straight.u)) <
          1e-8);
  }
}

} // namespace
