// SPDX-License-Identifier: Apache-2.0
// Ossatura example: topology optimisation.
//
// The stiffest cantilever of 24 x 12 x 12 elements with 12 % of the material, by five steps of
// optimality criteria: the example of Ferrari and Sigmund's top3D125 (doi:10.1007/
// s00158-020-02629-w). Printed are the compliances of the steps; what the fifth must be is
// from a program in Octave that follows theirs and solves by a sparse Cholesky factor.
//
// Run:  ./cantilever            on the best backend of the build
//       ./cantilever serial     on serial, openmp or cuda
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <cmath>
#include <cstdio>

using namespace ossatura;

template<class Exec>
bool run(const Exec& exec) {
  // 1. The body, held at x = 0 and pressed along the edge x = 24, z = 0 by half a wave.
  DesignProblem problem;
  problem.mesh = make_hexa_box({24, 12, 12}, {24, 12, 12});
  problem.young = 1;
  problem.poisson = 0.3;
  DesignLoadCase load;
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i) {
    const double* const x = &problem.mesh.point[3 * i];
    if (x[0] == 0)
      problem.held.push_back({std::int32_t(i), 7}); // bits of x, y and z
    if (x[0] == 24 && x[2] == 0)
      load.loads.forces.push_back(
          {std::int32_t(i), {0, 0, -std::sin(Kokkos::numbers::pi * x[1] / 12)}});
  }
  problem.cases = {load};
  problem.mirrors = {{0, 0}, {0, 24}, {1, 0}, {1, 12}, {2, 0}, {2, 12}}; // as their filter

  // 2. How: SIMP with penalty 3, a density filter.
  DesignOptions options;
  options.volume_fraction = 0.12;
  options.radius = std::sqrt(3.0);
  options.multiplier_tolerance = 1e-4; // that of the known course

  // 3. Five steps.
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  DesignStep step;
  while (step.number < 5) {
    step = optimizer.step(exec);
    std::printf("step %d: compliance %12.5e, volume %.4f, change %.4f, %d iterations\n",
                step.number, step.objective, step.volume, step.change, step.solves[0].iterations);
  }

  // 4. Compare; optimizer.densities(exec) is the design.
  const double known = 3.52973593e4;
  std::printf("compliance of the fifth design %.5e, known %.5e\n", step.objective, known);
  return std::abs(step.objective - known) < 1e-5 * known;
}

int main(int argc, char** argv) {
  try {
    const KokkosRuntime kokkos;
    const std::string backend = argc > 1 ? argv[1] : backend_names().back();
    return with_backend(backend, [](const auto& exec) { return run(exec); }) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cantilever: %s\n", error.what());
    return 1;
  }
}
