// SPDX-License-Identifier: Apache-2.0
// These rows time a solve on n^3 distorted hierarchical hexahedra of order p in the trunk space,
// clamped on one side, under a body force, from zero to a true residual of 1e-8:
//   pfem_solve/<preconditioner>/<operator>/<backend>/f64/<n>/p:<p>
// <operator> is automatic, packed, bsr or matrix-free, or element-wise: the vectors of the
// iteration element by element. The time of a row is that of the solve; counters: setup_s from the
// mesh on the host to a solver, iterations.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include "bench/pfem/problem.hpp"
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/hexa/entities.hpp>
#include <ossatura/core/pfem/numbering.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/loads.hpp>
#include <ossatura/solvers/pfem/solver.hpp>

#include <algorithm>

namespace ossatura::bench {

namespace {

/// Faces that were in the plane x = 0 before make_pfem_mesh moved points.
std::vector<ElementFace> faces_of_first_layer(const HexaEntities& entities, int n) {
  std::vector<ElementFace> faces;
  for (const ElementFace& face : boundary_faces(entities))
    if (face.face == 0 && face.elem % n == 0)
      faces.push_back(face);
  return faces;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, const HierarchicSolverOptions& options, int n,
         int order) {
  const CurvedHexaMesh mesh = make_pfem_mesh(PfemShapes::elements, {n, n, n});
  const HexaEntities entities = make_hexa_entities(mesh.mesh);
  const HierarchicNumbering numbering =
      make_hierarchic_numbering(mesh.mesh, entities, HexaSpace::trunk, {std::uint8_t(order)});
  const HierarchicOptions model_options;
  std::vector<std::uint8_t> held(std::size_t(numbering.num_modes), 0);
  for (const std::int32_t mode :
       modes_of_faces(mesh.mesh, entities, numbering, faces_of_first_layer(entities, n)))
    held[std::size_t(mode)] = 7;
  std::vector<double> force(3 * held.size(), 0);
  add_body_force(
      mesh, numbering, model_options.scaling, quadrature_points(model_options.rule, order),
      [](const double(&)[3], double(&density)[3]) {
        density[0] = 0.1;
        density[1] = 0.2;
        density[2] = -1;
      },
      force);
  const Array<double, Exec> f = upload(exec, "ossatura::bench::f", force);
  for (auto _ : state) {
    const auto u = make_zeros<double>(exec, std::int64_t(force.size()), "ossatura::bench::u");
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch setup_watch;
    const HierarchicModel<Exec> model = make_hierarchic_model(
        exec, mesh, numbering, make_pfem_elasticity(PfemShapes::elements, mesh), model_options);
    HierarchicSolver<Exec> solver(exec, mesh, numbering, model, held, options);
    state.counters["setup_s"] = setup_watch.seconds();

    const Stopwatch solve_watch;
    const SolveResult result = solver.solve(exec, f, u);
    const double seconds = solve_watch.seconds();
    state.SetIterationTime(seconds);
    const double dofs = double(force.size());
    state.counters["dofs"] = dofs;
    state.counters["elements"] = double(n) * n * n;
    state.counters["pcg_iterations"] = result.iterations;
    state.counters["true_residual"] = result.residual;
    state.counters["iteration_us"] = 1e6 * seconds / std::max(1, result.iterations);
    state.counters["dofs/s"] = dofs / seconds;
    state.counters["peak_bytes/dof"] = double(peak_kokkos_bytes() - before) / dofs;
    state.SetLabel(std::string(name_of(solver.kind())) + ", " + solver.describe());
    if (!(result.residual <= options.cg.tolerance))
      return fail_benchmark(state, "the solve did not converge");
  }
}

template<class Exec>
void register_row(const Options& options, const HierarchicSolverOptions& solver, int n, int order) {
  add_row(options,
          std::string("pfem_solve/") + name_of(solver.preconditioner) + '/' +
              (solver.element_wise ? "element-wise" : name_of(solver.kind)) + '/' +
              BackendTraits<Exec>::name + "/f64/" + std::to_string(n) +
              "/p:" + std::to_string(order),
          [=](benchmark::State& state) { run(state, Exec(), solver, n, order); },
          {benchmark::kMillisecond});
}

template<class Exec>
void register_rows(const Options& options) {
  const std::vector<int> own(1, BackendTraits<Exec>::is_device ? 8 : 3);
  for (const int n : options.sizes_or(own)) {
    for (int p = 2; p <= 4; ++p) { // direct solves are for thin bodies: these are none
      HierarchicSolverOptions solver;
      solver.preconditioner = HierarchicPreconditioner::ldlt;
      register_row<Exec>(options, solver, n, p);
    }
    for (int p = 2; p <= 8; ++p)
      for (const HierarchicPreconditioner preconditioner :
           {HierarchicPreconditioner::jacobi, HierarchicPreconditioner::vertex_stars}) {
        HierarchicSolverOptions solver;
        solver.preconditioner = preconditioner;
        for (const HierarchicOperatorKind kind :
             {HierarchicOperatorKind::automatic, HierarchicOperatorKind::packed,
              HierarchicOperatorKind::bsr, HierarchicOperatorKind::matrix_free}) {
          solver.kind = kind;
          register_row<Exec>(options, solver, n, p);
        }
        if (preconditioner == HierarchicPreconditioner::jacobi) {
          solver.kind = HierarchicOperatorKind::packed;
          solver.element_wise = true;
          register_row<Exec>(options, solver, n, p);
        }
      }
  }
}

} // namespace

void register_pfem_solve(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_rows<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
