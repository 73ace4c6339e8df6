// SPDX-License-Identifier: Apache-2.0
// Benchmarks run on these voxel models.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/solvers/bone/solver.hpp>

#include <vector>

namespace ossatura::bench {

enum class ModelImage {
  cube,  ///< all n^3 voxels
  bone,  ///< Perlin bone: a fifth of n^3 voxels, features of about 20 voxels whatever n is
  perlin ///< the bone of 550^3 voxels with features of 43 voxels and a threshold of 0.25, at the
         ///< resolution n: the family perlin1, perlin2, ... of the paper (offset_operator.hpp)
};
constexpr Names<ModelImage> names_of(ModelImage) {
  return {{ModelImage::cube, "cube"}, {ModelImage::bone, "bone"}, {ModelImage::perlin, "perlin"}};
}

/// A model under axial compression by 1 % between plates that hold their nodes in all components.
template<class Exec>
struct VoxelModelOnDevice {
  VoxelProblem<Exec> problem; ///< edge 1 mm, 1000 MPa, Poisson's ratio 0.3
  Array<double, Exec> u;      ///< [3 num_nodes] prescribed displacements (mm), else 0
};

/// Young's moduli of `n` voxels along each axis, made on the backend: the largest component.
/// Fences.
template<class Exec>
VoxelArray<Exec> make_model_image(const Exec& exec, ModelImage image, int n);

/// The model of an image. Fences.
template<class Exec>
VoxelModelOnDevice<Exec> make_voxel_model(const Exec& exec, const VoxelArray<Exec>& modulus);

/// The model of make_model_image, kept until another one is asked for on this backend.
template<class Exec>
const VoxelModelOnDevice<Exec>& cached_voxel_model(const Exec& exec, ModelImage image, int n);

/// Sizes of a kernel's rows where none are asked for.
template<class Exec>
std::vector<int> kernel_sizes(ModelImage image) {
  if (image == ModelImage::perlin)
    return BackendTraits<Exec>::is_device ? std::vector<int>{275, 550} : std::vector<int>{64, 128};
  return BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256, 400}
                                        : std::vector<int>{16, 32, 64, 128};
}

} // namespace ossatura::bench
