// SPDX-License-Identifier: Apache-2.0
// Problems of topology optimisation for tests: cantilevers of other programs, in the half y <
// width / 2 where they are symmetric, with a mirror in the middle.
#pragma once

#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/topopt/options.hpp>
#include <ossatura/solvers/topopt/problem.hpp>

#include <cmath>
#include <cstdlib>

namespace ossatura::test {

/// For a given number of steps, solved to `tolerance`.
inline DesignOptions options_with(double tolerance) {
  DesignOptions options;
  options.change_tolerance = 0;
  options.solver.cg.tolerance = options.step_tolerance = tolerance;
  options.solver.aggregation.max_coarse_dofs = 300; // quicker for few elements
  return options;
}

/// The node at a place.
inline int node_at(const DesignProblem& problem, double x, double y, double z) {
  const double place[3] = {x, y, z};
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i) {
    double way = 0;
    for (std::size_t c = 0; c < 3; ++c)
      way += std::fabs(problem.mesh.point[3 * i + c] - place[c]);
    if (way < 1e-6)
      return int(i);
  }
  std::abort();
}

/// Holds `components` of the nodes that `chosen(x, y, z)` picks.
template<class Chosen>
void hold(DesignProblem& problem, std::uint8_t components, const Chosen& chosen) {
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i) {
    const double* x = &problem.mesh.point[3 * i];
    if (chosen(x[0], x[1], x[2]))
      problem.held.push_back({std::int32_t(i), components});
  }
}

/// Half of a box of 2 a x a x a cells of the given edge: a x by a / 2 cells wide, with u_y = 0 and
/// a mirror in the middle.
inline DesignProblem half_box(int a, double edge) {
  const int half = a / 2;
  const double middle = half * edge;
  DesignProblem problem;
  problem.mesh = make_hexa_box({2 * a, half, a}, {2 * a * edge, middle, a * edge});
  hold(problem, 2, [=](double, double y, double) { return y > middle - 1e-6 * edge; });
  problem.mirrors = {{1, middle}};
  problem.cases.resize(1);
  return problem;
}

/// Adds a force in z; on the middle, half of it belongs to this half.
inline void press(DesignProblem& problem, double x, double y, double z, double force) {
  const bool shared = y > problem.mirrors[0].place - 1e-6;
  problem.cases[0].loads.forces.push_back(
      {node_at(problem, x, y, z), {0, 0, shared ? force / 2 : force}});
}

/// Ferrari and Sigmund (2020), top3D125, with unit cells: one edge of the end pressed by half a
/// wave.
inline DesignProblem half_of_top3d(int a) {
  DesignProblem problem = half_box(a, 1);
  hold(problem, 7, [](double x, double, double) { return x < 1e-6; });
  for (int j = 0; j <= a / 2; ++j)
    press(problem, 2 * a, j, 0, -std::sin(Kokkos::numbers::pi * j / a));
  problem.mirrors.insert(problem.mirrors.end(),
                         {{0, 0}, {0, 2.0 * a}, {1, 0}, {2, 0}, {2, double(a)}});
  return problem;
}

/// Aage, Andreassen and Lazarov (2015), TopOpt in PETSc: 2 x 1 x 1, a line load on an edge.
inline DesignProblem half_of_petsc(int a) {
  const double edge = 1.0 / a;
  DesignProblem problem = half_box(a, edge);
  hold(problem, 7, [](double x, double, double) { return x < 1e-6; });
  for (int j = 0; j <= a / 2; ++j)
    press(problem, 2, j * edge, 0, j == 0 ? -0.0005 : -0.001);
  return problem;
}

/// Traeff and others (2023), TopOpt in OpenMP: held at two strips of the wall, pressed from below
/// on a disc at the end.
inline DesignProblem half_of_strips(int a) {
  DesignProblem problem = half_box(a, 1);
  const int quarter = a / 4;
  hold(problem, 7, [=](double x, double y, double) { return x < 1e-6 && y < quarter + 1e-6; });
  const double radius = (a + 1) / 5.0;
  int cells = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 0; i < 2 * a; ++i)
      for (int j = 0; j < a; ++j) { // of the whole
        const double dx = i - 2 * a, dy = j - 0.5 * (a - 1);
        if (!(dx * dx + dy * dy < radius * radius))
          continue;
        if (pass == 0)
          ++cells;
        else if (j < a / 2)
          for (int corner = 0; corner < 4; ++corner) {
            const int x = i + (corner & 1), y = j + (corner >> 1);
            problem.cases[0].loads.forces.push_back(
                {node_at(problem, x, y, 0), {0, 0, -0.25 / cells}});
          }
      }
  return problem;
}

} // namespace ossatura::test
