// SPDX-License-Identifier: Apache-2.0
// Aggregates are the rows of a coarse level: each is a group of neighbouring rows of a matrix.
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
///
/// `point` [num_rows, 3], where it is not null, are places of rows: more rows than `rows_of_cell`
/// (1 or more) are cut into cells of about as many, whose insides are filled side by side; then
/// cells shifted by half, then what is left. The cells, not the threads, decide on the result.
Aggregates make_aggregates(const GraphView& graph, const std::vector<std::uint8_t>& active,
                           const double* point = nullptr, int rows_of_cell = 1 << 18);

} // namespace ossatura
