// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/bodies/fill_surface.hpp>

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/voxelise.hpp>

namespace ossatura {

namespace {

FilledSurface fill(const TriangleSurface& surface, const VoxeliseOptions& options) {
  const Kokkos::DefaultHostExecutionSpace exec;
  const auto body = voxelise(exec, upload_surface(exec, surface.vertex, surface.triangle), options);
  FilledSurface filled;
  for (std::size_t axis = 0; axis < 3; ++axis)
    filled.image.shape[axis] = body.image.shape[axis];
  filled.image.spacing = options.spacing;
  filled.image.origin = body.origin;
  filled.image.value = download(exec, body.image.value);
  filled.num_overlapping = body.num_overlapping;
  filled.num_reversed = body.num_reversed;
  return filled;
}

} // namespace

FilledSurface fill_surface(const TriangleSurface& surface, double edge) {
  VoxeliseOptions options;
  options.spacing = edge;
  return fill(surface, options);
}

FilledSurface fill_surface(const TriangleSurface& surface, double edge,
                           const std::array<double, 3>& origin, const std::array<int, 3>& shape) {
  VoxeliseOptions options;
  options.spacing = edge;
  options.lattice = VoxeliseLattice{origin, shape};
  return fill(surface, options);
}

} // namespace ossatura
