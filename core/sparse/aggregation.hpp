// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation [1] makes coarse levels of a matrix of blocks; this file has the part that
// depends on the graph alone. Host memory, no Kokkos; the same for any number of threads.
//
// [1] P. Vanek, J. Mandel, M. Brezina. Algebraic multigrid by smoothed aggregation for second and
//     fourth order elliptic problems. Computing 56 (1996) 179-196, doi:10.1007/BF02238511.
#pragma once

#include <ossatura/core/sparse/aggregates.hpp>
#include <ossatura/core/sparse/graph.hpp>

#include <vector>

namespace ossatura {

/// Blocks of the products of aggregation, with P = (I - omega D^-1 A) P0 and P0 that of the
/// aggregates. Rows of A without an aggregate have none in P.
struct AggregationPattern {
  HostGraph<> prolongator; ///< P: rows of A, columns aggregates
  HostGraph<> restriction; ///< P^T: columns are rows of A
  std::vector<int> entry;  ///< of each block of P^T: its place in the prolongator
  HostGraph<> product;     ///< (A P)^T: rows aggregates, columns rows of A
  HostGraph<> coarse;      ///< P^T A P
};

AggregationPattern make_aggregation_pattern(const HostGraph<>& graph, const Aggregates& aggregates);

} // namespace ossatura
