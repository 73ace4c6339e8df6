// SPDX-License-Identifier: Apache-2.0
// OwnedNodes tells the nodes that a process computes from those that it only reads.
//
// A process sees the nodes that it owns and ghosts, which belong to others. Its numbers follow the
// order of all nodes of all processes: ghosts of lower ranks, owned nodes, ghosts of higher ranks.
// Kernels read all nodes and finish owned ones; ghosts come by an exchange (halo.hpp).
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ossatura {

/// Consecutive nodes of a level that this process owns.
struct OwnedNodes {
  int begin = 0, end = 0;        ///< numbers on this process
  std::int64_t global_begin = 0; ///< number of node `begin` among those of all processes
  std::int64_t global_count = 0; ///< nodes of all processes, by which decisions are made
  KOKKOS_FUNCTION bool has(int node) const {
    return unsigned(node - begin) < unsigned(end - begin); // false of -1, too
  }
  int count() const { return end - begin; }
};

/// Those of one process alone.
inline OwnedNodes own_all(int num_nodes) {
  return {0, num_nodes, 0, num_nodes};
}

} // namespace ossatura
