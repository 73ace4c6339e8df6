// SPDX-License-Identifier: Apache-2.0
// A variant is one of the ways to solve a voxel problem that are compared, with the memory that it
// may take.
#pragma once

#include "bench/bone/model.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"
#include <ossatura/core/machine/memory.hpp>

#include <string>

namespace ossatura::bench {

struct SolveVariant {
  VoxelOperatorKind matrix;
  Precision precision;
  /// Bytes per degree of freedom that Kokkos may have allocated at the peak, from the image on, for
  /// each of name_table<ModelImage> of at least `least_bounded_size` voxels along an axis: 10 %
  /// above what cores were measured to take at 96 (docs/performance.md). In smaller models the
  /// surface and the dense coarsest level, larger on devices, weigh more.
  double memory_bound[3];

  /// "<group>/<operator>/<backend>/<precision>/<image>:<n>".
  std::string row_name(const std::string& group, const std::string& backend,
                       const std::string& image, int n) const {
    return group + '/' + ossatura::name_of(matrix) + '/' + backend + '/' +
           ossatura::name_of(precision) + '/' + image + ':' + std::to_string(n);
  }
  VoxelSolverOptions options() const {
    VoxelSolverOptions options;
    options.matrix = matrix;
    options.precision = precision;
    return options;
  }
};
inline constexpr SolveVariant all_variants[] = {
    {VoxelOperatorKind::offset, Precision::mixed, {64, 69, 77}},
    {VoxelOperatorKind::offset, Precision::lean, {51, 55, 63}},
    {VoxelOperatorKind::hash, Precision::mixed, {63, 69, 77}},
    {VoxelOperatorKind::gather, Precision::mixed, {58, 61, 75}},
    {VoxelOperatorKind::brick, Precision::fp64, {69, 73, 93}},
    {VoxelOperatorKind::brick, Precision::mixed, {58, 61, 75}},
    {VoxelOperatorKind::brick, Precision::lean, {45, 48, 61}}};
template<class Exec>
constexpr int least_bounded_size = BackendTraits<Exec>::is_device ? 256 : 96;

/// Sizes of a solve's rows where none are asked for.
template<class Exec>
std::vector<int> solve_sizes(ModelImage image) {
  if (image == ModelImage::perlin)
    return BackendTraits<Exec>::is_device ? std::vector<int>{275, 550} : std::vector<int>{64, 96};
  return BackendTraits<Exec>::is_device ? std::vector<int>{64, 128, 256}
                                        : std::vector<int>{16, 32, 64, 96};
}

/// A row for every variant and image at the sizes asked for or `own(image)`, each run once:
/// run(state, exec, variant, image, n).
template<class Exec, class Sizes, class Run>
void register_variants(const Options& options, const std::string& group, const Sizes& own,
                       const Run& run) {
  for (const SolveVariant& variant : all_variants)
    for (const ModelImage image : name_table<ModelImage>)
      for (const int n : options.sizes_or(own(image)))
        add_row(options, variant.row_name(group, BackendTraits<Exec>::name, name_of(image), n),
                [=, &variant](benchmark::State& state) { run(state, Exec(), variant, image, n); },
                {benchmark::kMillisecond});
}

/// Reports the peak since the last reset; false, with the benchmark failed, if it is above the
/// bound. `before` is what was allocated then, in bytes.
template<class Exec>
bool report_peak(benchmark::State& state, std::int64_t before, const SolveVariant& variant,
                 ModelImage image, int n, double dofs) {
  const double bytes = double(peak_kokkos_bytes() - before), peak = bytes / dofs;
  state.counters["peak_GB"] = 1e-9 * bytes;
  state.counters["peak_bytes/dof"] = peak;
  const double bound = variant.memory_bound[int(image)];
  if (n < least_bounded_size<Exec> || peak <= bound)
    return true;
  fail_benchmark(state, std::to_string(peak) + " bytes per degree of freedom at the peak, above " +
                            std::to_string(bound));
  return false;
}

} // namespace ossatura::bench
