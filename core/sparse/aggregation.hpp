// SPDX-License-Identifier: Apache-2.0
// Smoothed aggregation [1] makes coarse levels of a matrix of blocks; this file has the part that
// depends on the graph and the near-null space alone. Host memory, no Kokkos; the same for any
// number of threads.
//
// [1] P. Vanek, J. Mandel, M. Brezina. Algebraic multigrid by smoothed aggregation for second and
//     fourth order elliptic problems. Computing 56 (1996) 179-196, doi:10.1007/BF02238511.
#pragma once

#include <ossatura/core/sparse/graph.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

struct Aggregates {
  int count = 0;
  std::vector<int> of; ///< [num_rows] the aggregate of a row, -1 where it has none
};

/// Disjoint neighbourhoods, one after the other where most of what is around is taken, so that on a
/// mesh they fill corners and are about 3 x 3 x 3 nodes whatever the numbering; rows between them
/// join the neighbour they touch most. Rows that are not `active` belong to none. `graph` is
/// symmetric with its diagonal. O(blocks).
Aggregates make_aggregates(const HostGraph<>& graph, const std::vector<std::uint8_t>& active);

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

/// The near-null space by aggregates: modes = P0 coarse_modes, P0 with orthonormal columns.
struct TentativeProlongator {
  std::vector<double> value;         ///< [num_rows, height, 6] rows of P0, each in the six columns
                                     ///< of its aggregate
  std::vector<double> coarse_modes;  ///< [count, 6, 6]
  std::vector<std::uint8_t> dropped; ///< [count] bit k: column k is zero, being a combination of
                                     ///< those before it
};

/// modes [num_rows, height, 6], with zeros where components are held.
TentativeProlongator make_tentative_prolongator(const Aggregates& aggregates, int height,
                                                const std::vector<double>& modes);

/// The six rigid motions [num_points, 3, 6] about the mean of the points [num_points, 3]; rotations
/// by such angles that they move points about as far as the translations. Zero where bit c of
/// `held` [num_points] is set.
std::vector<double> rigid_modes(const std::vector<double>& point,
                                const std::vector<std::uint8_t>& held);

} // namespace ossatura
