// SPDX-License-Identifier: Apache-2.0
#include "kernels/offset_operator.hpp"
#include "solvers/voxel_pcg_instance.hpp"

namespace femura::detail {

#define FEMURA_INSTANTIATE(Exec)                                                                   \
  template std::unique_ptr<VoxelPcg<Exec>> make_voxel_pcg<Exec, OffsetOperator>(                   \
      const Exec&, const VoxelHierarchy<Exec>&, VoxelPrecision, const MultigridOptions&);
FEMURA_FOR_EACH_BACKEND(FEMURA_INSTANTIATE)
#undef FEMURA_INSTANTIATE

} // namespace femura::detail
