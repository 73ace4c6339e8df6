// SPDX-License-Identifier: Apache-2.0
// These rows show how the elements of the offset operator fall into classes of 1-, 2- and 4-byte
// distances, and its bytes per element; the time is that of its set-up:
//   voxel_classes/<backend>/<image>:<n>
#include "bench/bone/cost.hpp"
#include "bench/bone/model.hpp"
#include "bench/harness/groups.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/register.hpp"

namespace ossatura::bench {

namespace {

// Least shares of a solid cube [kernels/bone/offset_operator.hpp, 1, appendix A].
constexpr double least_short = 0.644, least_short_and_medium = 0.938;

template<class Exec>
void run(benchmark::State& state, const Exec& exec, ModelImage image, int n) {
  const VoxelProblem<Exec>& problem = cached_voxel_model(exec, image, n).problem;
  const OffsetClasses classes =
      OffsetOperator<Exec>(exec, problem.grid, problem.lame, problem.edge).classes();
  const double all = double(problem.grid.num_elem);
  if (classes.num_short + classes.num_medium + classes.num_long != problem.grid.num_elem)
    return fail_benchmark(state, "the classes do not add up to all elements");
  const double share_short = double(classes.num_short) / all;
  const double share_medium = double(classes.num_medium) / all;
  state.counters["short+medium"] = share_short + share_medium;
  if (image == ModelImage::cube &&
      (share_short < least_short || share_short + share_medium < least_short_and_medium))
    return fail_benchmark(state, "a solid cube has fewer short elements than the paper's bounds");
  time_iterations(state, exec, [&] {
    const OffsetOperator<Exec> matrix(exec, problem.grid, problem.lame, problem.edge);
    benchmark::DoNotOptimize(matrix.classes());
  });
  state.counters["elements"] = all;
  state.counters["short"] = share_short;
  state.counters["medium"] = share_medium;
  state.counters["long"] = double(classes.num_long) / all;
  state.counters["bytes/element"] = classes.bytes() / all;
}

template<class Exec>
void register_classes(const Options& options) {
  for (const ModelImage image : name_table<ModelImage>)
    for (const int n : options.sizes_or(kernel_sizes<Exec>(image)))
      add_row(options,
              std::string("voxel_classes/") + BackendTraits<Exec>::name + '/' + name_of(image) +
                  ':' + std::to_string(n),
              [=](benchmark::State& state) { run(state, Exec(), image, n); });
}

} // namespace

void register_voxel_classes(const Options& options) {
  for_each_backend(options,
                   [&](auto backend) { register_classes<BackendOf<decltype(backend)>>(options); });
}

} // namespace ossatura::bench
