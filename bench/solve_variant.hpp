// SPDX-License-Identifier: BSD-3-Clause
// The ways to solve a voxel problem that are compared, and the memory they may take.
#pragma once

#include "bench/measure.hpp"
#include "bench/voxel_model.hpp"
#include "core/memory.hpp"

#include <string>

namespace femura::bench {

struct SolveVariant {
  VoxelOperatorKind matrix;
  bool mixed; ///< multigrid cycle in fp32
  /// Bytes per degree of freedom that Kokkos may have allocated at the peak, from the image on, for
  /// cube and bone of at least `least_bounded_size` voxels along an axis: 10 % above what was
  /// measured there (docs/performance.md). In smaller models the surface and the dense coarsest
  /// level weigh more.
  double memory_bound[2];

  /// "<group>/<operator>/<backend>/<double|mixed>/<image>:<n>".
  std::string row_name(const std::string& group, const std::string& backend,
                       const std::string& image, int n) const {
    return group + (matrix == VoxelOperatorKind::offset ? "/offset/" : "/gather/") + backend +
           (mixed ? "/mixed/" : "/double/") + image + ':' + std::to_string(n);
  }
  VoxelSolverOptions options() const {
    VoxelSolverOptions options;
    options.matrix = matrix;
    options.precision = mixed ? VoxelPrecision::mixed : VoxelPrecision::fp64;
    return options;
  }
};
inline constexpr SolveVariant all_variants[] = {{VoxelOperatorKind::offset, false, {74, 82}},
                                                {VoxelOperatorKind::offset, true, {79, 84}},
                                                {VoxelOperatorKind::gather, false, {69, 78}},
                                                {VoxelOperatorKind::gather, true, {73, 80}}};
constexpr int least_bounded_size = 96;

/// Reports the peak since the last reset; false, with the benchmark failed, if it is above the
/// bound. `before` is what was allocated then, in bytes.
inline bool report_peak(benchmark::State& state, std::int64_t before, const SolveVariant& variant,
                        ModelImage image, int n, double dofs) {
  const double peak = double(peak_kokkos_bytes() - before) / dofs;
  state.counters["peak_bytes/dof"] = peak;
  const double bound = variant.memory_bound[image == ModelImage::cube ? 0 : 1];
  if (n < least_bounded_size || peak <= bound)
    return true;
  fail_benchmark(state, std::to_string(peak) + " bytes per degree of freedom at the peak, above " +
                            std::to_string(bound));
  return false;
}

} // namespace femura::bench
