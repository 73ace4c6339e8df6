// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/part/reanalysis.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/solvers/topopt/analysis.hpp>
#include <ossatura/solvers/topopt/bodies/voxel_elements.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace ossatura {

namespace {

PlacedValue largest_displacement(const LatticeBody& lattice, const std::vector<double>& u) {
  PlacedValue largest;
  std::size_t where = 0;
  for (std::size_t n = 0; n < u.size() / 3; ++n) {
    const double size = std::hypot(u[3 * n], u[3 * n + 1], u[3 * n + 2]);
    if (size > largest.value) {
      largest.value = size;
      where = n;
    }
  }
  largest.place = lattice.point(lattice.node().place(std::int32_t(where)));
  return largest;
}

void set_stresses(const LatticeBody& lattice, std::vector<double> stress, ReanalysedCase& result) {
  const auto largest = std::max_element(stress.begin(), stress.end());
  result.von_mises.value = *largest;
  const LatticeBody::Place cell = lattice.elem().place(std::int32_t(largest - stress.begin()));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<double>& plane = lattice.plane(int(axis));
    result.von_mises.place[axis] =
        0.5 * (plane[std::size_t(cell[axis])] + plane[std::size_t(cell[axis]) + 1]);
  }
  // The least value that at least 99.9 % are not above.
  const auto rank = std::ptrdiff_t(std::ceil(0.999 * double(stress.size()))) - 1;
  std::nth_element(stress.begin(), stress.begin() + rank, stress.end());
  result.von_mises_quantile = stress[std::size_t(rank)];
}

} // namespace

template<class Exec>
Reanalysis reanalyse(const Exec& exec, const SurfaceBody& body, const DesignOptions& options,
                     IterationObserver observe) {
  const TimedScope scope("ossatura::reanalyse");
  DesignOptions solid = options;
  solid.grid = DesignGrid::voxels;
  solid.objective = DesignObjective::compliance;
  const DesignProblem& problem = body.problem;
  // By its base, so that the kernels of its virtual functions are left to its own file.
  const std::unique_ptr<DesignBody<Exec>> body_of_cubes = make_design_body(exec, problem, solid);
  body_of_cubes->observe(std::move(observe));
  const auto& cubes = static_cast<const VoxelElements<Exec>&>(*body_of_cubes);
  DesignAnalysis<Exec> analysis(exec, problem, solid, *body_of_cubes);
  const auto density =
      make_uninitialized<double>(exec, cubes.num_elem(), "ossatura::reanalysis::density");
  Kokkos::deep_copy(exec, density, 1.0);
  DesignStep step;
  try {
    analysis.run(exec, 0, SimpLaw{problem.young, solid.min_modulus, 1, analysis.relative_moduli()},
                 density, step);
  } catch (const DesignBreakdown& breakdown) {
    throw NotReanalysed(std::string("the solve broke down (") + breakdown.what() +
                        "): take more --max-iterations, or thicker members that do not hang "
                        "together by edges of cubes");
  }
  Reanalysis result;
  result.objective = step.objective;
  result.num_elem = problem.lattice->num_elem();
  result.num_nodes = problem.lattice->num_nodes();
  for (const SolveResult& solve : step.solves) {
    result.iterations += solve.iterations;
    result.residual = std::max(result.residual, solve.residual);
  }
  for (std::size_t k = 0; k < step.cases.size(); ++k) {
    const Array<double, Exec>& u = analysis.displacements()[k];
    ReanalysedCase one;
    one.compliance = step.cases[k];
    one.displacement = largest_displacement(*problem.lattice, cubes.download_nodes(exec, u));
    cubes.von_mises(exec, u, density);
    set_stresses(*problem.lattice, cubes.download_elements(exec, density), one);
    result.cases.push_back(one);
  }
  return result;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template Reanalysis reanalyse(const Exec&, const SurfaceBody&, const DesignOptions&,             \
                                IterationObserver);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
