// SPDX-License-Identifier: Apache-2.0
// An inverse map lists, for each target of a map, what the map takes there.
#pragma once

#include <ossatura/core/sparse/graph.hpp>

#include <vector>

namespace ossatura {

/// For each target below `num_targets` the indices, ascending, that `map` takes there; those of
/// negative targets are nowhere. By all threads, and the same for any number of them.
HostGraph<> invert_map(const std::vector<int>& map, int num_targets);

} // namespace ossatura
