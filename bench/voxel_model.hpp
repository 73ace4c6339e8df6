// SPDX-License-Identifier: BSD-3-Clause
// The voxel models that benchmarks run on.
#pragma once

#include "solvers/voxel_solver.hpp"

namespace femura::bench {

enum class ModelImage {
  cube, ///< all n^3 voxels
  bone  ///< Perlin bone: a fifth of n^3 voxels, features of about 20 voxels whatever n is
};
inline constexpr ModelImage all_images[] = {ModelImage::cube, ModelImage::bone};
inline const char* name_of(ModelImage image) {
  return image == ModelImage::cube ? "cube" : "bone";
}

/// A model under axial compression by 1 % between plates that hold their nodes in all components.
template<class Exec>
struct VoxelModelOnDevice {
  VoxelProblem<Exec> problem; ///< edge 1 mm, 1000 MPa, Poisson's ratio 0.3
  Array<double, Exec> u;      ///< [3 num_nodes] prescribed displacements (mm), else 0
};

/// The model of `n` voxels along each axis. Fences.
template<class Exec>
VoxelModelOnDevice<Exec> make_voxel_model(const Exec& exec, ModelImage image, int n);

/// As make_voxel_model, kept until another one is asked for on this backend.
template<class Exec>
const VoxelModelOnDevice<Exec>& cached_voxel_model(const Exec& exec, ModelImage image, int n);

/// Forgets the cached models of all backends: before their memory is measured, and before Kokkos
/// ends.
void release_voxel_models();

} // namespace femura::bench
