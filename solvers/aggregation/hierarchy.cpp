// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/aggregation/hierarchy.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/sparse/aggregates.hpp>
#include <ossatura/kernels/aggregation/pattern.hpp>
#include <ossatura/kernels/aggregation/tentative.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <future>
#include <sstream>

namespace ossatura {

namespace {

template<class Make>
auto timed(const char* region, const Make& make) {
  const TimedScope scope(region);
  return make();
}

/// make(), which leaves a device idle, and other work: at the same time if there is a device.
template<class Exec, class Make>
auto beside(const std::function<void()>& work, const Make& make) {
  if constexpr (BackendTraits<Exec>::is_device) {
    auto made = std::async([&make] { // in its turn where there are no more threads
      unbind_thread();
      return make();
    });
    work();
    return made.get();
  } else {
    work();
    return make();
  }
}

} // namespace

template<class Exec>
AggregationHierarchy<Exec> make_aggregation_hierarchy(const Exec& exec, const Graph<Exec>& finest,
                                                      const Array<double, Exec>& point,
                                                      const Constraints<Exec>& held,
                                                      const AggregationOptions& options,
                                                      const std::function<void()>& meanwhile) {
  AggregationHierarchy<Exec> hierarchy;
  hierarchy.graph = finest;
  hierarchy.held = held;
  std::vector<std::uint8_t> active = download(exec, held.mask);
  auto row_begin = host_view(exec, finest.row_begin);
  auto column = host_view(exec, finest.column);
  auto places = host_view(exec, point);
  Array<double, Exec> modes =
      rigid_modes(exec, point, bounding_box(places.data(), active.size()), held.mask);
  for (std::size_t i = 0; i < active.size(); ++i)
    active[i] = active[i] != 7 && row_begin(i + 1) > row_begin(i);

  Graph<Exec> matrix = finest;
  for (int height = 3; int(hierarchy.levels.size()) + 1 < std::max(2, options.max_levels);
       height = 6) {
    const auto choose = [&] {
      return make_aggregates({matrix.num_rows, row_begin.data(), column.data()}, active,
                             places.data());
    };
    const Aggregates aggregates = timed("ossatura::aggregation::aggregates", [&] {
      return hierarchy.levels.empty() ? beside<Exec>(meanwhile, choose) : choose();
    });
    places = {}; // coarse levels are small
    const bool stalled = aggregates.count > matrix.num_rows / 2;
    if (aggregates.count == 0 || (stalled && !hierarchy.levels.empty()))
      break;
    AggregationLevel<Exec> level;
    AggregationArrays<Exec>& arrays = level.arrays;
    arrays.matrix = matrix;
    arrays.aggregate = upload(exec, "ossatura::aggregation::aggregate", aggregates.of);
    {
      const TimedScope scope("ossatura::aggregation::patterns");
      make_aggregation_patterns(exec, aggregates.count, arrays);
    }
    const TentativeProlongator<Exec> tentative =
        make_tentative_prolongator(exec, arrays.aggregate, aggregates.count, height, modes);
    arrays.tentative = tentative.value;
    level.product_begin = download(exec, arrays.product.row_begin);
    level.coarse_begin = download(exec, arrays.coarse.row_begin);
    std::vector<std::uint8_t> halves;
    active.clear();
    for (const std::uint8_t dropped : download(exec, tentative.dropped)) {
      halves.push_back(dropped & 7);
      halves.push_back(dropped >> 3);
      active.push_back(dropped != 63);
    }
    level.coarse_held = make_constraints(exec, upload(exec, "ossatura::aggregation::held", halves));
    matrix = arrays.coarse;
    row_begin = host_view(exec, matrix.row_begin);
    column = host_view(exec, matrix.column);
    modes = tentative.coarse_modes;
    hierarchy.levels.push_back(std::move(level));
    if (6 * aggregates.count <= options.max_coarse_dofs)
      break;
  }
  return hierarchy;
}

template<class Exec>
std::string AggregationHierarchy<Exec>::describe() const {
  std::ostringstream text;
  text << graph.num_rows << " nodes";
  for (const AggregationLevel<Exec>& level : levels)
    text << ", " << level.num_aggregates();
  text << " aggregates";
  return text.str();
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template struct AggregationHierarchy<Exec>;                                                      \
  template AggregationHierarchy<Exec> make_aggregation_hierarchy<Exec>(                            \
      const Exec&, const Graph<Exec>&, const Array<double, Exec>&, const Constraints<Exec>&,       \
      const AggregationOptions&, const std::function<void()>&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
