// SPDX-License-Identifier: Apache-2.0
// The hierarchy holds the coarse levels of smoothed aggregation, as far as the graph of the matrix,
// the places of its nodes and the supports determine them.
#pragma once

#include <ossatura/kernels/aggregation/products.hpp>
#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/solvers/aggregation/options.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ossatura {

/// A level and the way to the next.
template<class Exec>
struct AggregationLevel {
  AggregationArrays<Exec> arrays;
  Constraints<Exec> coarse_held; ///< columns of P that are zero; an aggregate counts as two nodes
  std::vector<std::int64_t> product_begin, coarse_begin; ///< [count + 1] of the arrays, on the host

  int num_aggregates() const { return arrays.coarse.num_rows; }
};

template<class Exec>
struct AggregationHierarchy {
  Graph<Exec> graph; ///< of the finest level, blocks of 3 x 3
  Constraints<Exec> held;
  std::vector<AggregationLevel<Exec>> levels;

  std::string describe() const; ///< "66049 nodes, 2925, 150 aggregates"
};

/// Coarsens until at most max_coarse_dofs are left, at least once. `point` [num_rows, 3], for the
/// rigid motions. Nodes that are held in all components and those without blocks are left out.
/// `meanwhile` is other work of the caller, which is called once: on devices while threads of the
/// host choose the first aggregates, for which the device would wait. Fences.
template<class Exec>
AggregationHierarchy<Exec> make_aggregation_hierarchy(
    const Exec& exec, const Graph<Exec>& graph, const Array<double, Exec>& point,
    const Constraints<Exec>& held, const AggregationOptions& options,
    const std::function<void()>& meanwhile = [] {});

} // namespace ossatura
