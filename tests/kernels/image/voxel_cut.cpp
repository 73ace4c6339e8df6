// SPDX-License-Identifier: Apache-2.0
// Cuts of superblocks by hand, without processes.
#include "tests/catch.hpp"
#include <ossatura/kernels/image/cut.hpp>

#include <stdexcept>

namespace {

using namespace ossatura;

/// `count` superblocks with nodes, every third of them heavy, with gaps along the curve.
std::vector<SuperblockNodes> some_superblocks(int count) {
  std::vector<SuperblockNodes> listed;
  for (int i = 0; i < count; ++i)
    listed.push_back({std::uint64_t(2 * i + i / 7), i % 3 == 0 ? 64 : 5});
  return listed;
}

std::int64_t nodes_between(const std::vector<SuperblockNodes>& superblocks, std::uint64_t begin,
                           std::uint64_t end) {
  std::int64_t sum = 0;
  for (const SuperblockNodes& s : superblocks)
    sum += s.key >= begin && s.key < end ? s.nodes : 0;
  return sum;
}

TEST_CASE("Ranks own consecutive groups, balanced to within a group", "[cut]") {
  for (int count : {1, 2, 5, 50, 3000})
    for (int ranks : {1, 2, 3, 4, 7}) {
      const auto superblocks = some_superblocks(count);
      const VoxelCut cut = make_voxel_cut(3, {100, 100, 100}, superblocks, ranks);
      REQUIRE(cut.num_ranks() == ranks);
      REQUIRE(cut.num_groups() >= 1);
      CHECK(cut.num_groups() <= 1024);
      CHECK(cut.group_begin.front() == 0);
      CHECK(cut.group_begin.back() == VoxelCut::no_key);
      CHECK(cut.rank_begin.front() == 0);
      CHECK(cut.rank_begin.back() == cut.num_groups());
      std::int64_t heaviest = 0, total = 0;
      for (int g = 0; g < cut.num_groups(); ++g) {
        REQUIRE(cut.group_begin[g] < cut.group_begin[g + 1]);
        const std::int64_t nodes =
            nodes_between(superblocks, cut.group_begin[g], cut.group_begin[g + 1]);
        CHECK(nodes > 0);
        heaviest = std::max(heaviest, nodes);
        total += nodes;
      }
      CHECK(total == nodes_between(superblocks, 0, VoxelCut::no_key));
      for (int r = 0; r < ranks; ++r) {
        REQUIRE(cut.rank_begin[r] <= cut.rank_begin[r + 1]);
        const std::int64_t nodes = nodes_between(superblocks, cut.group_begin[cut.rank_begin[r]],
                                                 cut.group_begin[cut.rank_begin[r + 1]]);
        CHECK(double(nodes) <= double(total) / ranks + double(heaviest));
        CHECK(double(nodes) >= double(total) / ranks - double(heaviest));
      }
    }
}

TEST_CASE("Groups do not depend on the number of ranks", "[cut]") {
  const auto superblocks = some_superblocks(5000);
  const VoxelCut one = make_voxel_cut(2, {64, 64, 64}, superblocks, 1);
  CHECK(one.num_groups() > 500);
  for (int ranks : {2, 3, 8})
    CHECK(make_voxel_cut(2, {64, 64, 64}, superblocks, ranks).group_begin == one.group_begin);
}

TEST_CASE("A node belongs to the rank of its superblock, also where ranks have nothing", "[cut]") {
  // Two superblocks among five ranks.
  const VoxelCut cut = make_voxel_cut(2, {7, 3, 3}, {{0, 10}, {1, 10}}, 5);
  int owners = 0, last = -1;
  for (int x : {0, 3, 4, 7}) {
    const int owner = cut.owner_of_site(x, 1, 2);
    REQUIRE(owner >= 0);
    REQUIRE(owner < 5);
    CHECK(cut.rank_begin[owner] < cut.rank_begin[owner + 1]);
    owners += owner != last;
    last = owner;
  }
  CHECK(owners == 2);
  CHECK(cut.owner_of_site(0, 0, 0) == cut.owner_of_site(3, 3, 3));
  CHECK(cut.owner_of_site(-1, 0, 0) == -1);
  CHECK(cut.owner_of_site(0, 4, 0) == -1);
  CHECK(cut.owner_of_site(8, 0, 0) == -1);
}

TEST_CASE("A cut of nothing is refused", "[cut]") {
  CHECK_THROWS_AS(make_voxel_cut(2, {4, 4, 4}, {}, 2), std::invalid_argument);
  CHECK_THROWS_AS(make_voxel_cut(1, {4, 4, 4}, {{0, 1}}, 2), std::invalid_argument);
  CHECK_THROWS_AS(make_voxel_cut(2, {4, 4, 4}, {{0, 1}}, 0), std::invalid_argument);
}

} // namespace
