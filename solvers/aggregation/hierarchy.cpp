// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/aggregation/hierarchy.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/sparse/aggregation.hpp>
#include <ossatura/kernels/aggregation/tentative.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <sstream>

namespace ossatura {

namespace {

template<class Exec>
Graph<Exec> upload_graph(const Exec& exec, const HostGraph<>& graph) {
  return {graph.num_rows(), upload(exec, "ossatura::aggregation::row_begin", graph.row_begin),
          upload(exec, "ossatura::aggregation::column", graph.column)};
}

template<class Make>
auto timed(const char* region, const Make& make) {
  const TimedScope scope(region);
  return make();
}

} // namespace

template<class Exec>
AggregationHierarchy<Exec> make_aggregation_hierarchy(const Exec& exec, const Graph<Exec>& finest,
                                                      const Array<double, Exec>& point,
                                                      const Constraints<Exec>& held,
                                                      const AggregationOptions& options) {
  AggregationHierarchy<Exec> hierarchy;
  hierarchy.graph = finest;
  hierarchy.held = held;
  HostGraph<> graph{download(exec, finest.row_begin), download(exec, finest.column)};
  const std::vector<std::uint8_t> mask = download(exec, held.mask);
  std::vector<double> places = download(exec, point);
  Array<double, Exec> modes = rigid_modes(exec, point, bounding_box(places), held.mask);
  std::vector<std::uint8_t> active(mask.size());
  for (std::size_t i = 0; i < mask.size(); ++i)
    active[i] = mask[i] != 7 && graph.row_begin[i + 1] > graph.row_begin[i];

  Graph<Exec> matrix = finest;
  for (int height = 3; int(hierarchy.levels.size()) + 1 < std::max(2, options.max_levels);
       height = 6) {
    const Aggregates aggregates = timed("ossatura::aggregation::aggregates",
                                        [&] { return make_aggregates(graph, active, places); });
    places = {}; // coarse levels are small
    const bool stalled = aggregates.count > graph.num_rows() / 2;
    if (aggregates.count == 0 || (stalled && !hierarchy.levels.empty()))
      break;
    AggregationPattern pattern = timed("ossatura::aggregation::pattern",
                                       [&] { return make_aggregation_pattern(graph, aggregates); });

    AggregationLevel<Exec> level;
    level.arrays.matrix = matrix;
    level.arrays.prolongator = upload_graph(exec, pattern.prolongator);
    level.arrays.restriction = upload_graph(exec, pattern.restriction);
    level.arrays.entry = upload(exec, "ossatura::aggregation::entry", pattern.entry);
    level.arrays.product = upload_graph(exec, pattern.product);
    level.arrays.coarse = upload_graph(exec, pattern.coarse);
    level.arrays.aggregate = upload(exec, "ossatura::aggregation::aggregate", aggregates.of);
    const TentativeProlongator<Exec> tentative =
        make_tentative_prolongator(exec, level.arrays.aggregate, aggregates.count, height, modes);
    level.arrays.tentative = tentative.value;
    level.product_begin = std::move(pattern.product.row_begin);
    level.coarse_begin = pattern.coarse.row_begin;
    std::vector<std::uint8_t> halves;
    active.clear();
    for (const std::uint8_t dropped : download(exec, tentative.dropped)) {
      halves.push_back(dropped & 7);
      halves.push_back(dropped >> 3);
      active.push_back(dropped != 63);
    }
    level.coarse_held = make_constraints(exec, upload(exec, "ossatura::aggregation::held", halves));
    matrix = level.arrays.coarse;
    graph = std::move(pattern.coarse);
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
      const AggregationOptions&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
