// SPDX-License-Identifier: Apache-2.0
// A transpose turns a graph, or a map, around: by all threads, and the same for any number of them.
#pragma once

#include <ossatura/core/sparse/graph.hpp>

#include <vector>

namespace ossatura {

/// The transpose of a graph whose columns are below `num_columns`. `entry` becomes, of each of its
/// entries, the place in `graph`.
HostGraph<> transpose(const HostGraph<>& graph, int num_columns, std::vector<int>& entry);

/// For each target below `num_targets` the indices, ascending, that `map` takes there; those of
/// negative targets are nowhere.
HostGraph<> invert_map(const std::vector<int>& map, int num_targets);

} // namespace ossatura
