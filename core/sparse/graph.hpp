// SPDX-License-Identifier: Apache-2.0
// A HostGraph lists the entries or blocks that a sparse matrix has, row by row, in host memory.
// Graph (kernels/algebra/sparse/graph.hpp) is the same in the memory of a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Row i has the columns column[row_begin[i]] .. column[row_begin[i + 1]], ascending.
template<class Index = std::int64_t>
struct HostGraph {
  std::vector<Index> row_begin; ///< [num_rows + 1]
  std::vector<int> column;

  int num_rows() const { return int(row_begin.size()) - 1; }
  Index num_entries() const { return Index(column.size()); }
};

/// A HostGraph, or the arrays of a Graph in host memory, that someone else keeps alive.
struct GraphView {
  int num_rows;
  const std::int64_t* row_begin;
  const int* column;

  GraphView(int rows, const std::int64_t* begins, const int* columns)
      : num_rows(rows)
      , row_begin(begins)
      , column(columns) {}
  GraphView(const HostGraph<>& graph)
      : GraphView(graph.num_rows(), graph.row_begin.data(), graph.column.data()) {}
};

template<class Visit>
void for_each_column(const GraphView& graph, int row, const Visit& visit) {
  for (std::int64_t k = graph.row_begin[row]; k < graph.row_begin[row + 1]; ++k)
    visit(graph.column[k]);
}

} // namespace ossatura
