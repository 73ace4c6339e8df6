// SPDX-License-Identifier: Apache-2.0
// The bodies of kernels with more than 2^31 degrees of freedom, on node numbers up to 2^31 - 1:
// arrays of which only a few pages are ever touched. Bodies run on the host, without a launch.
#include "tests/kernels/bone/last_voxel.hpp"
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>
#include <ossatura/kernels/bone/diagonal.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/offset_operator.hpp>
#include <ossatura/kernels/bone/published/hash_operator.hpp>

namespace {

using namespace ossatura;
using ossatura::test::Host;
using ossatura::test::last_node;
using ossatura::test::LastVoxel;
using ossatura::test::most_nodes;
using ossatura::test::SparseMemory;

TEST_CASE("The element product reaches the last nodes", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  int node[8];
  for (int v = 0; v < 8; ++v)
    node[v] = last.lowest + v;
  detail::add_element_product<false>(node, last.lame, last.edge, last.x.array<Host>(),
                                     last.y.array<Host>());
  last.check_result(last.y);
}

TEST_CASE("The offset tables reach the last nodes", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  const SparseMemory<int> near(1), far(1);
  const SparseMemory<std::uint8_t> near_distance(7);
  const SparseMemory<std::int32_t> far_distance(7);
  OSSATURA_NEEDS(near.ok() && far.ok() && near_distance.ok() && far_distance.ok());
  detail::OffsetTables<Host> tables;
  auto& near_elements = tables.short_elements;
  near_elements.lowest = near.array<Host>();
  near_elements.distance = decltype(near_elements.distance)(&near_distance[0], 1);
  near[0] = last.lowest;
  for (int v = 1; v < 8; ++v)
    near_distance[v - 1] = std::uint8_t(v);
  int node[8];
  tables.nodes(std::integral_constant<int, 2>(), 0, node);
  last.check_nodes(node);
  // An element from the first node to the last.
  auto& far_elements = tables.long_elements;
  far_elements.lowest = far.array<Host>();
  far_elements.distance = decltype(far_elements.distance)(&far_distance[0], 1);
  for (int v = 1; v < 8; ++v)
    far_distance[v - 1] = last.lowest + v;
  tables.nodes(std::integral_constant<int, 0>(), 0, node);
  CHECK(node[0] == 0);
  CHECK(node[7] == last_node);
}

TEST_CASE("The hash reaches the last nodes through tables beyond 2^31 entries", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  const std::int64_t before = (std::int64_t(1) << 31) + 77; // entries of other cubes
  const SparseMemory<std::uint16_t> entry(before + 8), offset(before + 1);
  const SparseMemory<std::uint64_t> place(1); // at (0, 0, 0)
  const SparseMemory<detail::HashCube> cubes(1);
  OSSATURA_NEEDS(entry.ok() && offset.ok() && place.ok() && cubes.ok());
  detail::HashElements<Host> elements;
  elements.place = place.array<Host>();
  SpatialHash<Host>& hash = elements.hash;
  hash.num_cubes = {1, 1, 1};
  hash.cube = cubes.array<Host>();
  hash.entry = entry.array<Host>();
  hash.offset = offset.array<Host>();
  // The keys of the corners, shifted by the one offset of 3.
  detail::HashCube& cube = cubes[0];
  cube.entry_begin = before - 15;
  cube.offset_begin = before;
  cube.entries = detail::Modulus::of(23);
  cube.offsets = detail::Modulus::of(1);
  cube.first_node = last.lowest;
  offset[before] = 3;
  const int keys[8] = {0, 1, 4, 5, 16, 17, 20, 21};
  for (int v = 0; v < 8; ++v)
    entry[before - 15 + (keys[v] + 3) % 23] = std::uint16_t(v);
  int node[8];
  elements.nodes({}, 0, node);
  last.check_nodes(node);
}

TEST_CASE("Cubes of the hash are counted in 64 bits", "[large_indices]") {
  SpatialHash<Host> hash;
  hash.num_cubes = {32768, 32768, 32768};
  const int far = (1 << 20) - 1;
  CHECK(hash.cube_index(far, far, far) == (std::int64_t(1) << 45) - 1);
  CHECK(hash.cube_index(0, 0, far) == 32767 * (std::int64_t(1) << 30));
}

TEST_CASE("Gathering reaches the last nodes", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  const StoreProduct<Host, double> store{last.y.array<Host>()};
  const detail::GatherVoxels<Host, double, StoreProduct<Host, double>> rows{
      last.grid, last.lame, last.edge, last.x.array<Host>(), store};
  for (int v = 0; v < 8; ++v)
    rows(std::int64_t(last.lowest) + v);
  last.check_result(last.y);
}

TEST_CASE("The last nodes know their sites", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  for (int v = 0; v < 8; ++v) {
    const Site site = last.grid.site(last.lowest + v);
    CHECK(site.x == (v & 1));
    CHECK(site.y == (v >> 1 & 1));
    CHECK(site.z == v >> 2);
  }
}

TEST_CASE("Blocks of nodes are counted in 64 bits", "[large_indices]") {
  const int side = 5200; // 1301^3 blocks are more than 2^31
  const int blocks = side / 4 + 1;
  const SparseMemory<detail::NodeBlock> block(std::int64_t(blocks) * blocks * blocks);
  OSSATURA_NEEDS(block.ok());
  VoxelGrid<Host> grid;
  grid.shape = {side, side, side};
  grid.num_blocks = {blocks, blocks, blocks};
  grid.block = block.array<Host>();
  detail::NodeBlock& corner = block[std::int64_t(blocks) * blocks * blocks - 1];
  corner.mask = 1;
  corner.begin = 42;
  CHECK(grid.find(side, side, side) == 42);
  CHECK(grid.find(side, side, side - 4) == -1);
  CHECK(grid.find(side + 1, side, side) == -1);
}

TEST_CASE("Updates reach the last nodes", "[large_indices]") {
  const LastVoxel last;
  OSSATURA_NEEDS(last.ok());
  const SparseMemory<double> b(3 * most_nodes), r(3 * most_nodes), inverse(most_nodes);
  const SparseMemory<std::uint8_t> held(most_nodes);
  OSSATURA_NEEDS(b.ok() && r.ok() && inverse.ok() && held.ok());
  const std::int64_t node = last_node, dof = 3 * node;
  const double product[3] = {1, 2, 3};
  for (int c = 0; c < 3; ++c)
    b[dof + c] = 10 * (c + 1);
  held[node] = 2;
  inverse[node] = 0.5;
  const StoreResidual<Host, double> residual{held.array<Host>(), b.array<Host>(), r.array<Host>()};
  finish_node(residual, int(node), last.x.array<Host>(), product);
  CHECK(r[dof] == 9);
  CHECK(r[dof + 1] == 0);
  CHECK(r[dof + 2] == 27);
  const double before[3] = {last.x[dof], last.x[dof + 1], last.x[dof + 2]};
  const SmoothingStep<Host, double> step{0.25, inverse.array<Host>(), held.array<Host>(),
                                         b.array<Host>(), last.y.array<Host>()};
  finish_node(step, int(node), last.x.array<Host>(), product);
  CHECK(last.y[dof] == before[0] + 0.125 * 9);
  CHECK(last.y[dof + 1] == 0);
  CHECK(last.y[dof + 2] == before[2] + 0.125 * 27);
  // A stored product as the input of an update.
  for (int c = 0; c < 3; ++c)
    last.y[dof + c] = product[c];
  const detail::UpdateNodes<Host, double, StoreResidual<Host, double>> update{
      last.x.array<Host>(),
      last.y.array<Host>(),
      {held.array<Host>(), b.array<Host>(), b.array<Host>()}};
  update(node);
  CHECK(b[dof] == 9);
  CHECK(b[dof + 2] == 27);
}

} // namespace
