// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/body.hpp>

#include <ossatura/solvers/topopt/bodies/cut_voxels.hpp>
#include <ossatura/solvers/topopt/bodies/hexa.hpp>
#include <ossatura/solvers/topopt/bodies/solids.hpp>
#include <ossatura/solvers/topopt/bodies/voxels.hpp>

namespace ossatura {

template<class Exec>
std::unique_ptr<DesignBody<Exec>> make_design_body(const Exec& exec, const DesignProblem& problem,
                                                   const DesignOptions& options) {
  OSSATURA_REQUIRE(!options.ranks || (options.grid == DesignGrid::voxels && !problem.solids),
                   "processes divide the grid voxels alone");
  if (problem.solids)
    return std::make_unique<SolidBody<Exec>>(exec, problem, options);
  if (options.ranks)
    return std::make_unique<CutVoxelBody<Exec>>(exec, problem, options);
  if (options.grid == DesignGrid::voxels)
    return std::make_unique<VoxelBody<Exec>>(exec, problem, options);
  OSSATURA_REQUIRE(!problem.lattice, "a body of cells on a lattice is of the grid voxels");
  return std::make_unique<HexaBody<Exec>>(exec, problem, options);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<DesignBody<Exec>> make_design_body(const Exec&, const DesignProblem&,   \
                                                              const DesignOptions&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
