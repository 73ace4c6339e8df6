// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/fill_surface.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/voxelise.hpp>

namespace ossatura {

FilledSurface fill_surface(const TriangleSurface& surface, double edge) {
  const Kokkos::DefaultHostExecutionSpace exec;
  VoxeliseOptions options;
  options.spacing = edge;
  const auto body = voxelise(exec, upload_surface(exec, surface.vertex, surface.triangle), options);
  FilledSurface filled;
  for (std::size_t axis = 0; axis < 3; ++axis)
    filled.image.shape[axis] = body.image.shape[axis];
  filled.image.spacing = edge;
  filled.image.origin = body.origin;
  filled.image.value = download(exec, body.image.value);
  filled.num_overlapping = body.num_overlapping;
  filled.num_reversed = body.num_reversed;
  return filled;
}

} // namespace ossatura
