// SPDX-License-Identifier: Apache-2.0
#include "bench/bone/model.hpp"

#include "bench/harness/kept.hpp"
#include <ossatura/kernels/bone/loads/mechanical_test.hpp>
#include <ossatura/kernels/image/component_selection.hpp>
#include <ossatura/kernels/image/perlin.hpp>
#include <ossatura/kernels/image/shapes.hpp>

#include <algorithm>

namespace ossatura::bench {

template<class Exec>
VoxelArray<Exec> make_model_image(const Exec& exec, ModelImage image, int n) {
  constexpr float modulus = 1000;
  if (image == ModelImage::cube)
    return make_cube(exec, {n, n, n}, modulus);
  PerlinOptions options;
  options.shape = {n, n, n};
  options.modulus = modulus;
  if (image == ModelImage::bone) {
    options.feature = 20;
    options.fraction = 0.2;
  } else {
    options.feature = std::max(1.0, 43 * n / 550.0);
    options.threshold = 0.25;
  }
  const VoxelArray<Exec> bone = make_perlin_bone(exec, options).modulus;
  keep_largest_component(exec, bone, Connectivity::face);
  return bone;
}

template<class Exec>
VoxelModelOnDevice<Exec> make_voxel_model(const Exec& exec, const VoxelArray<Exec>& modulus) {
  VoxelModelOnDevice<Exec> model;
  VoxelProblem<Exec>& problem = model.problem;
  problem.material = make_material(modulus, 0.3);
  problem.grid = make_voxel_grid(exec, problem.material.solid());
  problem.lame = make_lame_field(exec, problem.grid, problem.material);
  problem.edge = 1;
  std::vector<PrescribedRegion> regions;
  for (const NamedRegion& named :
       make_load_case(exec, problem.grid, problem.edge, MechanicalTest()))
    regions.push_back(named.region);
  const Array<std::uint8_t, Exec> mask =
      make_zeros<std::uint8_t>(exec, problem.grid.num_nodes, "ossatura::held_mask");
  model.u = make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::u");
  prescribe(exec, problem.grid, problem.edge, regions, mask, model.u);
  problem.held = make_constraints(exec, mask);
  return model;
}

template<class Exec>
const VoxelModelOnDevice<Exec>& cached_voxel_model(const Exec& exec, ModelImage image, int n) {
  static Kept<std::pair<ModelImage, int>, VoxelModelOnDevice<Exec>> kept;
  return kept.get({image, n}, [&] {
    return std::make_unique<VoxelModelOnDevice<Exec>>(
        make_voxel_model(exec, make_model_image(exec, image, n)));
  });
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template VoxelArray<Exec> make_model_image(const Exec&, ModelImage, int);                        \
  template VoxelModelOnDevice<Exec> make_voxel_model(const Exec&, const VoxelArray<Exec>&);        \
  template const VoxelModelOnDevice<Exec>& cached_voxel_model(const Exec&, ModelImage, int);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::bench
