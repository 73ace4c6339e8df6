// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/aggregation.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/sparse/index_set.hpp>
#include <ossatura/core/sparse/transpose.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// The graph of `count` rows whose columns `collect(row, set)` adds to a set, by all threads.
template<class Collect>
HostGraph<> collect_rows(int count, const Collect& collect) {
  constexpr std::size_t rows_of_block = 4096;
  const std::size_t num_rows = std::size_t(count),
                    num_blocks = (num_rows + rows_of_block - 1) / rows_of_block;
  HostGraph<> graph;
  graph.row_begin.assign(num_rows + 1, 0);
  std::vector<std::vector<int>> columns(num_blocks);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    IndexSet set;
    for (std::size_t block = first; block < end; ++block)
      for (std::size_t row = rows_of_block * block;
           row < std::min(num_rows, rows_of_block * (block + 1)); ++row) {
        collect(int(row), set);
        std::sort(set.list().begin(), set.list().end());
        graph.row_begin[row + 1] = std::int64_t(set.list().size());
        columns[block].insert(columns[block].end(), set.list().begin(), set.list().end());
        set.clear();
      }
  });
  for (std::size_t row = 0; row < num_rows; ++row)
    graph.row_begin[row + 1] += graph.row_begin[row];
  graph.column.reserve(std::size_t(graph.row_begin.back()));
  for (std::vector<int>& block : columns) {
    graph.column.insert(graph.column.end(), block.begin(), block.end());
    block = {};
  }
  return graph;
}

} // namespace

AggregationPattern make_aggregation_pattern(const HostGraph<>& graph,
                                            const Aggregates& aggregates) {
  const std::vector<int>& of = aggregates.of;
  AggregationPattern pattern;
  pattern.prolongator = collect_rows(graph.num_rows(), [&](int i, IndexSet& set) {
    if (of[std::size_t(i)] >= 0)
      for_each_column(graph, i, [&](int j) {
        if (of[std::size_t(j)] >= 0)
          set.add(of[std::size_t(j)]);
      });
  });
  pattern.restriction = transpose(pattern.prolongator, aggregates.count, pattern.entry);
  pattern.product = collect_rows(aggregates.count, [&](int a, IndexSet& set) {
    for_each_column(pattern.restriction, a, [&](int i) {
      for_each_column(graph, i, [&](int k) {
        if (of[std::size_t(k)] >= 0)
          set.add(k);
      });
    });
  });
  pattern.coarse = collect_rows(aggregates.count, [&](int a, IndexSet& set) {
    for_each_column(pattern.product, a, [&](int k) {
      for_each_column(pattern.prolongator, k, [&](int b) { set.add(b); });
    });
  });
  return pattern;
}

} // namespace ossatura
