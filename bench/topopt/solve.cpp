// SPDX-License-Identifier: Apache-2.0
// These rows time a cantilever of n x n/2 x n/2 cubes, taken as any mesh of hexahedra, from zero to
// a true residual of 1e-6; n = 64 and 256 are 65 thousand and 4.2 million elements:
//   hexa_solve/<preconditioner>/<backend>/<precision>/<design>:<n>
// Designs: `uniform`; `lattice`, a gyroid of walls some three elements thick, period 16 elements,
// with a grey zone and a modulus of 1e-9 in between, as topology optimisation makes them, and a
// solid plate under the load. The time of a row is that of the solve; counters: setup_s to make the
// solver, prepare_s to take moduli (once for each design step), iterations.
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/base/names.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/hexa/solver.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura::bench {

namespace {

enum class Design { uniform, lattice };
constexpr Names<Design> names_of(Design) {
  return {{Design::uniform, "uniform"}, {Design::lattice, "lattice"}};
}

struct Cantilever {
  ElementMesh mesh;
  std::vector<HeldComponents> held;
  std::vector<double> modulus, force;
};

Cantilever make_cantilever(Design design, int n) {
  const int half = n / 2;
  const double width = half, pi = Kokkos::numbers::pi;
  Cantilever c;
  c.mesh = make_hexa_box({n, half, half}, {double(n), width, width});
  const std::vector<double>& x = c.mesh.point;
  c.force.assign(x.size(), 0);
  for (std::size_t i = 0; i < c.mesh.num_points(); ++i) {
    if (x[3 * i] == 0)
      c.held.push_back({std::int32_t(i), 7});
    else if (x[3 * i] == n && x[3 * i + 2] == 0)
      c.force[3 * i + 2] = -std::sin(pi * x[3 * i + 1] / width);
  }
  for (std::size_t e = 0; e < c.mesh.num_elem(); ++e) {
    double angle[3] = {0, 0, 0};
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t d = 0; d < 3; ++d)
        angle[d] += 2 * pi / 16 * x[3 * std::size_t(c.mesh.node[8 * e + a]) + d] / 8;
    double gyroid = 0;
    for (std::size_t d = 0; d < 3; ++d)
      gyroid += std::sin(angle[d]) * std::cos(angle[(d + 1) % 3]);
    const bool loaded = angle[0] > 2 * pi / 16 * (n - 2); // a plate that takes the load
    const double density = design == Design::uniform || loaded
                               ? 1
                               : std::min(1.0, std::max(0.0, 2 - 2.5 * std::abs(gyroid)));
    c.modulus.push_back(1e-9 + (1 - 1e-9) * density * density * density);
  }
  return c;
}

template<class Exec>
void run(benchmark::State& state, const Exec& exec, const HexaSolverOptions& options, Design design,
         int n) {
  const Cantilever c = make_cantilever(design, n);
  const Array<double, Exec> f = upload(exec, "ossatura::bench::f", c.force),
                            modulus = upload(exec, "ossatura::bench::modulus", c.modulus);
  for (auto _ : state) {
    const auto u = make_zeros<double>(exec, std::int64_t(c.force.size()), "ossatura::bench::u");
    reset_memory_peaks();
    const std::int64_t before = peak_kokkos_bytes();
    const Stopwatch setup_watch;
    HexaSolver<Exec> solver(exec, c.mesh, 0.3, c.held, options);
    state.counters["setup_s"] = setup_watch.seconds();
    solver.set_modulus(exec, modulus); // allocates
    const Stopwatch prepare_watch;
    solver.set_modulus(exec, modulus);
    state.counters["prepare_s"] = prepare_watch.seconds();

    const Stopwatch solve_watch;
    const SolveResult result = solver.solve(exec, f, u);
    const double seconds = solve_watch.seconds();
    state.SetIterationTime(seconds);
    const double dofs = double(c.force.size());
    state.counters["dofs"] = dofs;
    state.counters["elements"] = double(c.mesh.num_elem());
    state.counters["pcg_iterations"] = result.iterations;
    state.counters["true_residual"] = result.residual;
    state.counters["fell_back"] = result.fell_back;
    state.counters["iteration_us"] = 1e6 * seconds / std::max(1, result.iterations);
    state.counters["dofs/s"] = dofs / seconds;
    state.counters["peak_bytes/dof"] = double(peak_kokkos_bytes() - before) / dofs;
    state.SetLabel(solver.describe());
    if (!result.converged)
      return fail_benchmark(state, "the solve did not converge");
  }
}

template<class Exec>
void register_rows(const Options& options) {
  const std::vector<int> own = BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256}
                                                              : std::vector<int>{16, 32, 64};
  for (const HexaPreconditioner preconditioner :
       {HexaPreconditioner::jacobi, HexaPreconditioner::block_jacobi, HexaPreconditioner::chebyshev,
        HexaPreconditioner::amg})
    for (const Precision precision : {Precision::mixed, Precision::fp64})
      for (const Design design : name_table<Design>)
        for (const int n : options.sizes_or(own)) {
          HexaSolverOptions solver;
          solver.preconditioner = preconditioner;
          solver.precision = precision;
          solver.cg.max_iterations = 20000;
          const std::string name = std::string("hexa_solve/") + name_of(preconditioner) + '/' +
                                   BackendTraits<Exec>::name +
                                   (precision == Precision::mixed ? "/mixed/" : "/f64/") +
                                   name_of(design) + ':' + std::to_string(n);
          add_row(options, name,
                  [=](benchmark::State& state) { run(state, Exec(), solver, design, n); },
                  {benchmark::kMillisecond});
        }
}

} // namespace

void register_hexa_solve(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_rows<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
