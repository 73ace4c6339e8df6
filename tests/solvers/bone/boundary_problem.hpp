// SPDX-License-Identifier: Apache-2.0
// Boundary value problems on the oracle's lattice, solved by the library.
#pragma once

#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/solvers/bone/solver.hpp>

#include <vector>

namespace ossatura::test {

/// Prescribed displacements and nodal forces on the lattice of a model.
struct BoundaryProblem {
  reference::Model model;
  std::vector<char> held;   ///< [num_dofs]
  std::vector<double> u, f; ///< prescribed where held; forces

  explicit BoundaryProblem(reference::Model m)
      : model(std::move(m))
      , held(model.num_dofs())
      , u(model.num_dofs())
      , f(model.num_dofs()) {}

  /// Nothing where no solid voxel has its corner.
  void hold(int node, int component, double value) {
    if (!model.has_node(node))
      return;
    held[3 * node + component] = 1;
    u[3 * node + component] = value;
  }
  /// Holds a component of all nodes with coordinate `at` along `axis`.
  void hold_plane(int axis, int at, int component, double value) {
    for (int node = 0; node < model.num_lattice_nodes(); ++node)
      if (model.site(node)[axis] == at)
        hold(node, component, value);
  }
  void clamp_plane(int axis, int at) {
    for (int c = 0; c < 3; ++c)
      hold_plane(axis, at, c, 0);
  }
};

/// The sum of a component over the nodes of a plane.
inline double sum_plane(const reference::Model& model, const std::vector<double>& x, int axis,
                        int at, int component) {
  double sum = 0;
  for (int node = 0; node < model.num_lattice_nodes(); ++node)
    if (model.site(node)[axis] == at)
      sum += x[3 * node + component];
  return sum;
}

template<class Exec>
VoxelProblem<Exec> upload_problem(const Exec& exec, const BoundaryProblem& problem) {
  VoxelProblem<Exec> device;
  device.material = upload_material(exec, problem.model);
  device.grid = make_voxel_grid(exec, device.material.solid());
  device.lame = make_lame_field(exec, device.grid, device.material);
  device.edge = problem.model.edge;
  std::vector<std::uint8_t> mask;
  for (const auto& s : host_sites(device.grid)) {
    const int node = problem.model.node(s[0], s[1], s[2]);
    int bits = 0;
    for (int c = 0; c < 3; ++c)
      bits |= problem.held[3 * node + c] << c;
    mask.push_back(std::uint8_t(bits));
  }
  device.held = make_constraints(exec, upload(exec, "test::mask", mask));
  return device;
}

struct Solution {
  SolveResult result;
  std::vector<double> u;     ///< displacements on the lattice
  std::vector<double> force; ///< K u on the lattice: loads and reactions
};

template<class Exec>
Solution solve(const Exec& exec, const BoundaryProblem& problem,
               const VoxelSolverOptions& options) {
  const VoxelProblem<Exec> device = upload_problem(exec, problem);
  VoxelSolver<Exec> solver(exec, device, options);
  const auto u = to_compact(exec, device.grid, problem.model, problem.u);
  const auto force = make_zeros<double>(exec, device.grid.num_dofs(), "test::force");
  Solution solution;
  solution.result = solver.solve(exec, to_compact(exec, device.grid, problem.model, problem.f), u);
  solver.apply(exec, u, force);
  solution.u = to_lattice(device.grid, problem.model, u);
  solution.force = to_lattice(device.grid, problem.model, force);
  return solution;
}

/// Solves to `tolerance` with the default options.
template<class Exec>
Solution solve(const Exec& exec, const BoundaryProblem& problem, double tolerance = 1e-10) {
  VoxelSolverOptions options;
  options.cg.tolerance = tolerance;
  return solve(exec, problem, options);
}

/// Without the voxels from which no path over faces leads to the plane z = 0.
inline reference::Model keep_supported(reference::Model model) {
  std::vector<char> reached(model.modulus.size());
  for (bool grown = true; grown;) {
    grown = false;
    for (int z = 0; z < model.shape[2]; ++z)
      for (int y = 0; y < model.shape[1]; ++y)
        for (int x = 0; x < model.shape[0]; ++x) {
          if (!model.solid(x, y, z) || reached[model.voxel(x, y, z)])
            continue;
          bool reach = z == 0;
          for (int d = 0; d < 3; ++d)
            for (int step : {-1, 1}) {
              const int n[3] = {x + (d == 0) * step, y + (d == 1) * step, z + (d == 2) * step};
              reach = reach ||
                      (model.solid(n[0], n[1], n[2]) && reached[model.voxel(n[0], n[1], n[2])]);
            }
          reached[model.voxel(x, y, z)] = reach;
          grown = grown || reach;
        }
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    if (!reached[i])
      model.modulus[i] = 0;
  return model;
}

/// A porous body held at its bottom, loaded at random everywhere.
inline BoundaryProblem porous(std::array<int, 3> shape, unsigned seed, double contrast = 100) {
  BoundaryProblem problem(
      keep_supported(reference::random_model(shape, 0.7, contrast, 0.3, 0.3, seed, 0.5)));
  problem.clamp_plane(2, 0);
  problem.f = reference::random_vector(problem.model, seed + 1);
  return problem;
}

/// Lame's constants from the moduli themselves, not through the library.
struct Lame {
  double lambda, mu;
  double confined() const { return lambda + 2 * mu; }
};
inline Lame lame(double modulus, double poisson) {
  return {modulus * poisson / ((1 + poisson) * (1 - 2 * poisson)), modulus / (2 * (1 + poisson))};
}

} // namespace ossatura::test
