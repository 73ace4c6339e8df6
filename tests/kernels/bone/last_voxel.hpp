// SPDX-License-Identifier: Apache-2.0
// One voxel at the end of 2^31 - 1 nodes, in arrays of which only a few pages are ever touched.
#pragma once

#include "tests/catch.hpp"
#include "tests/kernels/bone/sparse_memory.hpp"
#include "tests/reference/voxel_reference.hpp"
#include <ossatura/kernels/bone/lame_field.hpp>

#include <array>

namespace ossatura::test {

using Host = Kokkos::DefaultHostExecutionSpace;

constexpr std::int64_t most_nodes = (std::int64_t(1) << 31) - 1;
constexpr int last_node = int(most_nodes - 1);

/// One voxel whose nodes are the last eight of 2^31 - 1.
struct LastVoxel {
  SparseMemory<double> x{3 * most_nodes}, y{3 * most_nodes};
  SparseMemory<float> modulus{most_nodes};
  SparseMemory<std::uint32_t> solid_block{1};
  SparseMemory<int> block_of_64th{most_nodes / 64 + 1};
  SparseMemory<detail::NodeBlock> block{1};
  VoxelGrid<Host> grid;
  LameField<Host> lame;
  const double edge = 0.5;
  const int lowest = last_node - 7;
  std::array<double, 24> expected{};

  bool ok() const {
    return x.ok() && y.ok() && modulus.ok() && solid_block.ok() && block_of_64th.ok() && block.ok();
  }

  LastVoxel() {
    if (!ok())
      return;
    // The corners of the voxel (0, 0, 0) in one block of nodes.
    grid.shape = {3, 3, 3};
    grid.num_blocks = {1, 1, 1};
    grid.num_nodes = int(most_nodes);
    grid.num_elem = 1;
    grid.owned = own_all(grid.num_nodes);
    grid.block = block.array<Host>();
    grid.solid_block = solid_block.array<Host>();
    grid.block_of_64th = block_of_64th.array<Host>();
    block[0].begin = lowest;
    for (int v = 0; v < 8; ++v)
      block[0].mask |= std::uint64_t(1) << detail::local_index(v & 1, v >> 1 & 1, v >> 2);
    const LamePerModulus unit = lame_per_modulus(0.3);
    modulus[lowest] = 7;
    lame = {modulus.array<Host>(), modulus.array<Host>(), unit.lambda, unit.mu};
    const auto k = reference::element_matrix(7, 0.3, edge);
    for (int i = 0; i < 24; ++i)
      x[3 * std::int64_t(lowest) + i] = 0.1 * (i % 7) - 0.25 * (i % 3);
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 24; ++j)
        expected[i] += k[i][j] * x[3 * std::int64_t(lowest) + j];
  }
  void check_result(const SparseMemory<double>& result) const {
    for (int i = 0; i < 24; ++i)
      CHECK(result[3 * std::int64_t(lowest) + i] == Approx(expected[i]).margin(1e-14));
  }
  void check_nodes(const int (&node)[8]) const {
    for (int v = 0; v < 8; ++v)
      CHECK(node[v] == lowest + v);
  }
};

} // namespace ossatura::test

/// Systems that reserve no more than they have cannot run these.
#define OSSATURA_NEEDS(condition)                                                                  \
  if (!(condition)) {                                                                              \
    WARN("the system does not reserve the addresses");                                             \
    return;                                                                                        \
  }
