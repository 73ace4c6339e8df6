// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/transpose.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

namespace {

/// Counting sort of the pairs (row, column) by columns. visit(row, put) calls put(column, k) for
/// the pairs of a row; place(to, row, k) is told where in the transpose they go.
template<class Visit, class Place>
std::vector<std::int64_t> sort_by_columns(std::size_t num_rows, std::size_t num_columns,
                                          const Visit& visit, const Place& place) {
  // Each block of rows counts for itself; more than a few are not worth their counters.
  const std::size_t num_blocks = std::clamp<std::size_t>(num_rows / (num_columns + 1), 1,
                                                         std::size_t(std::min(io_threads(), 32)));
  const auto begin_of = [&](std::size_t block) { return num_rows * block / num_blocks; };
  std::vector<std::vector<int>> before(num_blocks);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block) {
      std::vector<int>& count = before[block];
      count.assign(num_columns, 0);
      for (std::size_t row = begin_of(block); row < begin_of(block + 1); ++row)
        visit(row, [&](int column, std::int64_t) { ++count[std::size_t(column)]; });
    }
  });
  std::vector<std::int64_t> begin(num_columns + 1, 0);
  for (std::size_t column = 0; column < num_columns; ++column) {
    int sum = 0;
    for (std::vector<int>& count : before)
      sum += std::exchange(count[column], sum);
    begin[column + 1] = begin[column] + sum;
  }
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block)
      for (std::size_t row = begin_of(block); row < begin_of(block + 1); ++row)
        visit(row, [&](int column, std::int64_t k) {
          place(std::size_t(begin[std::size_t(column)] + before[block][std::size_t(column)]++),
                int(row), int(k));
        });
  });
  return begin;
}

} // namespace

HostGraph<> transpose(const HostGraph<>& graph, int num_columns, std::vector<int>& entry) {
  HostGraph<> transposed;
  transposed.column.resize(graph.column.size());
  entry.resize(graph.column.size());
  transposed.row_begin = sort_by_columns(
      std::size_t(graph.num_rows()), std::size_t(num_columns),
      [&](std::size_t row, const auto& put) {
        for (std::int64_t k = graph.row_begin[row]; k < graph.row_begin[row + 1]; ++k)
          put(graph.column[std::size_t(k)], k);
      },
      [&](std::size_t to, int row, int k) {
        transposed.column[to] = row;
        entry[to] = k;
      });
  return transposed;
}

HostGraph<> invert_map(const std::vector<int>& map, int num_targets) {
  HostGraph<> inverse;
  inverse.column.resize(
      map.size() - std::size_t(std::count_if(map.begin(), map.end(), [](int x) { return x < 0; })));
  inverse.row_begin = sort_by_columns(
      map.size(), std::size_t(num_targets),
      [&](std::size_t index, const auto& put) {
        if (map[index] >= 0)
          put(map[index], 0);
      },
      [&](std::size_t to, int index, int) { inverse.column[to] = index; });
  return inverse;
}

} // namespace ossatura
