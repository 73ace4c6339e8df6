// SPDX-License-Identifier: Apache-2.0
// Ossatura example: voxel micro-FE of bone.
//
// A block of 32^3 voxels, a core of soft trabecular bone between two cortical shells, is compressed
// by 1 % between smooth walls. Printed is the force on the upper plate, which has a closed form:
// the layers share one stress, sum over the layers of thickness stress / M, with the confined
// modulus M = E (1 - nu) / ((1 + nu) (1 - 2 nu)), is the displacement.
//
// Run:  ./sandwich            on the best backend of the build
//       ./sandwich serial     on serial, openmp or cuda
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/bone/loads/reactions.hpp>
#include <ossatura/solvers/bone/problem.hpp>

#include <cmath>
#include <cstdio>

using namespace ossatura;

template<class Exec>
bool run(const Exec& exec) {
  // 1. An image of Young's moduli in MPa, 0 = void. Yours may come from a file (core/io).
  const int n = 32, shell = 4;
  const double nu = 0.3, cortical = 17000, trabecular = 800;
  VoxelImage image;
  image.shape = {n, n, n};
  image.spacing = 0.05; // mm
  for (int z = 0; z < n; ++z)
    image.value.insert(image.value.end(), std::size_t(n) * n,
                       float(z < shell || z >= n - shell ? cortical : trabecular));

  // 2. The model: one hexahedron a voxel, and what a standard test holds and moves.
  VoxelProblem<Exec> problem =
      make_voxel_problem(exec, make_material(to_device(exec, image), nu), image.spacing);
  MechanicalTest test;
  test.kind = TestKind::confined;
  test.strain = -0.01;
  const Array<double, Exec> u =
      prescribe(exec, make_load_case(exec, problem.grid, problem.edge, test), problem);

  // 3. Solve; u has the displacements in mm.
  VoxelSolverOptions options = fastest_voxel_options<Exec>();
  options.cg.tolerance = 1e-9;
  VoxelSolver<Exec> solver(exec, problem, options);
  const SolveResult result = solver.solve(exec, {}, u);

  // 4. The reaction of the upper plate.
  const auto force = make_uninitialized<double>(exec, problem.grid.num_dofs(), "force");
  solver.apply(exec, u, force);
  double reaction = 0;
  for (const HeldNode& node : list_held_nodes(exec, problem.grid, problem.held, u, force))
    if (node.site.z == n)
      reaction += node.force[2];

  // 5. Compare.
  const double confined = (1 - nu) / ((1 + nu) * (1 - 2 * nu)), edge = n * image.spacing;
  const double compliance = (2 * shell / cortical + (n - 2 * shell) / trabecular) / (n * confined);
  const double exact = test.strain / compliance * edge * edge;
  std::printf("%lld degrees of freedom, %d iterations, residual %.1e\n",
              static_cast<long long>(problem.grid.num_dofs()), result.iterations, result.residual);
  std::printf("force on the plate %.6f N, in closed form %.6f N\n", reaction, exact);
  return result.converged && std::abs(reaction - exact) < 1e-6 * std::abs(exact);
}

int main(int argc, char** argv) {
  try {
    const KokkosRuntime kokkos;
    const std::string backend = argc > 1 ? argv[1] : backend_names().back();
    return with_backend(backend, [](const auto& exec) { return run(exec); }) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sandwich: %s\n", error.what());
    return 1;
  }
}
