// SPDX-License-Identifier: Apache-2.0
// Ossatura example: hexahedra of high order.
//
// A hollow steel sphere, 0.2 m to 0.25 m, under 20 MPa from inside: an octant of 12 curved
// elements of order 5. Printed is how far the inner surface moves outwards, which Lame has in
// closed form.
//
// Run:  ./sphere            on the best backend of the build
//       ./sphere serial     on serial, openmp or cuda
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/pfem/meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/solver.hpp>

#include <cmath>
#include <cstdio>

using namespace ossatura;

template<class Exec>
bool run(const Exec& exec) {
  // 1. The mesh, and the modes of its elements.
  const double inner = 0.2, outer = 0.25, young = 210e9, nu = 0.3, pressure = 20e6;
  const int order = 5;
  const CurvedHexaMesh mesh = make_sphere_octant(inner, outer, 2, 1);
  const HexaEntities entities = make_hexa_entities(mesh.mesh);
  const HierarchicNumbering numbering =
      make_hierarchic_numbering(mesh.mesh, entities, HexaSpace::trunk, {order});

  // 2. Symmetry holds component c on the plane x_c = 0; pressure acts on the inner faces.
  std::vector<std::uint8_t> held(std::size_t(numbering.num_modes), 0);
  for (int c = 0; c < 3; ++c) {
    const auto plane =
        boundary_faces(mesh, entities, [c](const double(&x)[3]) { return std::abs(x[c]) < 1e-9; });
    for (const std::int32_t mode : modes_of_faces(mesh.mesh, entities, numbering, plane))
      held[std::size_t(mode)] |= std::uint8_t(1 << c);
  }
  const auto inside = boundary_faces(mesh, entities, [=](const double(&x)[3]) {
    return std::hypot(x[0], x[1], x[2]) < 1.01 * inner;
  });
  const auto push = [=](const double(&)[3], const double(&normal)[3], double(&traction)[3]) {
    for (int c = 0; c < 3; ++c)
      traction[c] = -pressure * normal[c];
  };
  const HierarchicOptions of_model;
  std::vector<double> f(3 * held.size(), 0.0);
  add_traction(mesh, numbering, of_model.scaling, order + 2, inside, push, f);

  // 3. Solve; u has three components for each mode, those of the vertices first.
  const HierarchicModel<Exec> model =
      make_hierarchic_model(exec, mesh, numbering, {isotropic_elasticity(young, nu), {}}, of_model);
  HierarchicSolver<Exec> solver(exec, mesh, numbering, model, held, {});
  const auto u = make_zeros<double>(exec, std::int64_t(f.size()), "u");
  const SolveResult result = solver.solve(exec, upload(exec, "f", f), u);

  // 4. Compare at vertex 0, which is on the inner surface.
  const std::vector<double> host = download(exec, u);
  const double cube = std::pow(outer / inner, 3);
  const double exact = pressure * inner / (young * (cube - 1)) * (1 - 2 * nu + (1 + nu) / 2 * cube);
  const double moved = std::hypot(host[0], host[1], host[2]);
  std::printf("%zu modes of 3 components, %d iterations, residual %.1e\n", held.size(),
              result.iterations, result.residual);
  std::printf("inner surface moves by %.6e m, in closed form %.6e m\n", moved, exact);
  return result.converged && std::abs(moved - exact) < 1e-3 * exact;
}

int main(int argc, char** argv) {
  try {
    const KokkosRuntime kokkos;
    const std::string backend = argc > 1 ? argv[1] : backend_names().back();
    return with_backend(backend, [](const auto& exec) { return run(exec); }) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sphere: %s\n", error.what());
    return 1;
  }
}
