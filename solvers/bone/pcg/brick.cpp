// SPDX-License-Identifier: Apache-2.0
#include <ossatura/kernels/bone/brick/operator.hpp>
#include <ossatura/solvers/bone/pcg/instance.hpp>

namespace ossatura::detail {

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::unique_ptr<VoxelPcg<Exec>> make_voxel_pcg<Exec, BrickOperator<Exec>>(              \
      const Exec&, const VoxelHierarchy<Exec>&, Precision, const MultigridOptions&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
