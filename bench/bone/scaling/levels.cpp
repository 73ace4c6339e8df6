// SPDX-License-Identifier: Apache-2.0
#include "bench/bone/scaling/levels.hpp"

#include "bench/harness/kept.hpp"

namespace ossatura::bench {

template<class Exec>
const ScalingLevels<Exec>& scaling_levels(const Exec& exec, int n) {
  static Kept<int, ScalingLevels<Exec>> kept;
  return kept.get(n, [&] {
    auto levels = std::make_unique<ScalingLevels<Exec>>();
    levels->image = make_model_image(exec, ModelImage::perlin, n);
    const VoxelGrid<Exec> grid = make_voxel_grid(exec, levels->image);
    const auto free = make_constraints(
        exec, make_zeros<std::uint8_t>(exec, grid.num_nodes, "ossatura::bench::held"));
    const MaterialImage<Exec> material = make_material(levels->image, 0.3);
    MultigridOptions options;
    options.direct_nodes = 1; // all levels: ranks cut theirs whatever the size
    levels->hierarchy =
        make_voxel_hierarchy(exec, grid, make_lame_field(exec, grid, material), free, 1, options);
    for (CoarseLevel<Exec>& level : levels->hierarchy.coarse)
      if (level.cells.node_begin.extent(0) == 0) // dropped: patches do without
        ossatura::detail::list_node_corners(exec, level.cells);
    return levels;
  });
}

template<class Exec>
int device_cut_bits(const Exec& exec, const VoxelGrid<Exec>& grid) {
  int bits = 2;
  while (bits < 10 && count_superblock_nodes(exec, grid, bits).size() > 200'000)
    ++bits;
  return bits;
}

template<class Exec>
std::vector<CutCounts> count_cut(const Exec& exec, const ScalingLevels<Exec>& levels, int bits,
                                 int num_ranks) {
  const VoxelHierarchy<Exec>& hierarchy = levels.hierarchy;
  const VoxelGrid<Exec>& grid = hierarchy.grid;
  const VoxelCut cut =
      make_voxel_cut(bits, grid.shape, count_superblock_nodes(exec, grid, bits), num_ranks);
  const CutTable<Exec> table = make_cut_table(exec, cut, 0);
  std::vector<CutCounts> counts{count_level(
      exec, cut, table, 0, CountVoxelNodes<Exec>{{}, grid, levels.image}, grid.num_nodes)};
  for (int l = 1; l < bits && l <= int(hierarchy.coarse.size()); ++l) {
    const CellGrid<Exec>& cells = hierarchy.coarse[std::size_t(l) - 1].cells;
    counts.push_back(
        count_level(exec, cut, table, l, CountCellNodes<Exec>{{}, cells}, cells.num_nodes));
  }
  return counts;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template const ScalingLevels<Exec>& scaling_levels(const Exec&, int);                            \
  template int device_cut_bits(const Exec&, const VoxelGrid<Exec>&);                               \
  template std::vector<CutCounts> count_cut(const Exec&, const ScalingLevels<Exec>&, int, int);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::bench
