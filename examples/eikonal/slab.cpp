// SPDX-License-Identifier: Apache-2.0
// Ossatura example: activation times of the heart.
//
// A slab of tissue, 20 x 7 x 3 mm, with fibres along x, is stimulated in two ways at once: at one
// corner, and on the whole side x = 0. Printed are the times at the opposite corner. A wave from
// a side is plane, so that its time, 20 mm / velocity, is exact; from a corner it is the length
// of the diagonal in the metric of the velocities, met with an error that falls with the edges.
//
// Run:  ./slab            on the best backend of the build
//       ./slab serial     on serial, openmp or cuda
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <cmath>
#include <cstdio>

using namespace ossatura;

template<class Exec>
bool run(const Exec& exec) {
  // 1. A mesh with a tag and a fibre for each tetrahedron, and the velocities of each tag in mm/ms.
  const TetraMesh mesh = make_slab(0.25);
  const std::int32_t last = std::int32_t(mesh.num_points()) - 1; // the corner (20, 7, 3)
  const double along = 0.6, across = 0.3;
  const TissueVelocities velocities = {{1, {along, across, across}}};

  // 2. Two sets of sites, each vertex with its time in ms.
  std::vector<EikonalSite> corner = {{0, 0.0}}, side;
  for (std::int32_t v = 0; v <= last; ++v)
    if (mesh.point[3 * std::size_t(v)] == 0)
      side.push_back({v, 0.0});

  // 3. Solve in double; times has a row for each set.
  EikonalSolver<Exec, double> solver(exec, mesh, velocities);
  const auto times = make_uninitialized<double>(exec, 2 * solver.num_points(), "times");
  const EikonalResult result = solver.solve(exec, {corner, side}, times);

  // 4. Compare.
  const std::vector<double> host = download(exec, times);
  const double from_corner = host[std::size_t(last)], from_side = host.back();
  const double exact_corner = std::hypot(20 / along, 7 / across, 3 / across);
  const double exact_side = 20 / along;
  std::printf("%lld tetrahedra, %d iterations, certificate %.1e\n",
              static_cast<long long>(solver.num_tetra()), result.iterations, result.certificate);
  std::printf("from the corner %.3f ms, in closed form %.3f ms\n", from_corner, exact_corner);
  std::printf("from the side   %.3f ms, in closed form %.3f ms\n", from_side, exact_side);
  return result.converged && std::abs(from_corner - exact_corner) < 0.02 * exact_corner &&
         std::abs(from_side - exact_side) < 1e-6 * exact_side;
}

int main(int argc, char** argv) {
  try {
    const KokkosRuntime kokkos;
    const std::string backend = argc > 1 ? argv[1] : backend_names().back();
    return with_backend(backend, [](const auto& exec) { return run(exec); }) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slab: %s\n", error.what());
    return 1;
  }
}
