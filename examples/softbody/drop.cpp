// SPDX-License-Identifier: Apache-2.0
// Ossatura example: soft bodies with contact.
//
// A cube of soft rubber, 0.1 m, falls 1 cm onto the floor, bounces and comes to rest. Printed is
// how far its top has then sunk under the body's own weight, which for Poisson's ratio 0 is rho g
// L^2 / (2 E).
//
// Run:  ./drop            on the best backend of the build
//       ./drop serial     on serial, openmp or cuda
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

#include <cmath>
#include <cstdio>

using namespace ossatura;

template<class Exec>
bool run(const Exec& exec) {
  // 1. A body: mesh (m), material (Pa), density (kg / m^3).
  const double edge = 0.1, height = 0.01, young = 2e4, density = 1000, gravity = 9.81;
  SoftObject cube;
  cube.name = "cube";
  cube.mesh = make_hexa_box({4, 4, 4}, {edge, edge, edge});
  for (std::size_t i = 2; i < cube.mesh.point.size(); i += 3)
    cube.mesh.point[i] += height;
  cube.material.young = young;
  cube.material.poisson = 0;
  cube.density = density;

  // 2. The scene: gravity, and the plane z = 0 as floor.
  SoftScene scene;
  scene.objects = {cube};
  scene.obstacles = {SoftObstacle{}};
  scene.gravity[2] = -gravity;

  // 3. Step through a second.
  SoftOptions options;
  options.time_step = 0.01;
  options.rayleigh_stiffness = 0.01;
  SoftSolver<Exec> solver(exec, scene, options);
  int failed = 0, contacts = 0, iterations = 0;
  while (solver.time() < 1) {
    const SoftStep step = solver.step(exec);
    failed += !step.converged;
    contacts = step.contacts;
    iterations += step.iterations;
  }

  // 4. Compare the mean height of the top with that of the cube without weight.
  const std::vector<double> at = solver.positions(exec);
  double top = 0;
  int count = 0;
  for (std::size_t i = 2; i < at.size(); i += 3)
    if (cube.mesh.point[i] > height + 0.999 * edge) {
      top += at[i];
      ++count;
    }
  const double sunk = edge - top / count;
  const double exact = density * gravity * edge * edge / (2 * young);
  std::printf("%lld nodes, %d iterations, %d contacts\n",
              static_cast<long long>(solver.num_nodes()), iterations, contacts);
  std::printf("the top sank by %.6f m, in closed form %.6f m\n", sunk, exact);
  return failed == 0 && std::abs(sunk - exact) < 1e-3 * exact;
}

int main(int argc, char** argv) {
  try {
    const KokkosRuntime kokkos;
    const std::string backend = argc > 1 ? argv[1] : backend_names().back();
    return with_backend(backend, [](const auto& exec) { return run(exec); }) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drop: %s\n", error.what());
    return 1;
  }
}
