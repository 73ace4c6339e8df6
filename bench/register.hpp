// SPDX-License-Identifier: Apache-2.0
// The groups of benchmarks; each adds its rows for the backends and sizes of the options.
#pragma once

#include "bench/options.hpp"
#include "bench/voxel_model.hpp"
#include "core/backend.hpp"

#include <string>
#include <vector>

namespace femura::bench {

void register_voxel_apply(const Options& options);
void register_peers(const Options& options);
void register_voxel_multigrid(const Options& options);
void register_voxel_classes(const Options& options);
void register_voxel_memory(const Options& options);
void register_voxel_solve(const Options& options);
void register_voxel_profile(const Options& options);
void register_eikonal_solve(const Options& options);
void register_factor_apply(const Options& options);
void register_soft_assembly(const Options& options);
void register_soft_contact(const Options& options);
void register_soft_step(const Options& options);
void register_hexa_apply(const Options& options);
void register_soft_cg(const Options& options);
void register_hexa_solve(const Options& options);
void register_pfem_form(const Options& options);
void register_pfem_apply(const Options& options);
void register_pfem_solve(const Options& options);

/// Prints the tables of the voxel_profile rows that ran.
void print_profiles(const Options& options);

/// Forgets what the rows of hexahedra keep, before Kokkos ends.
void release_hexa_problems();

/// The same of hierarchical hexahedra: elements to form matrices of, and meshes with vectors.
void release_pfem_batches();
void release_pfem_models();

/// Sizes of a kernel's rows where none are asked for.
template<class Exec>
std::vector<int> kernel_sizes(ModelImage image) {
  if (image == ModelImage::perlin)
    return BackendTraits<Exec>::is_device ? std::vector<int>{275, 550} : std::vector<int>{64, 128};
  return BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256, 400}
                                        : std::vector<int>{16, 32, 64, 128};
}

/// The end of a row's name: "openmp/f64/cube:64".
template<class Exec, class Scalar>
std::string row_name(const std::string& group, const std::string& image, int n) {
  return group + '/' + BackendTraits<Exec>::name + (sizeof(Scalar) == 8 ? "/f64/" : "/f32/") +
         image + ':' + std::to_string(n);
}

} // namespace femura::bench
