// SPDX-License-Identifier: Apache-2.0
// Node parts tell which connected part of a specimen a node belongs to.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/connected_components.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <vector>

namespace ossatura {

/// Parts of the solid voxels that share no node, as far as given nodes belong to them.
struct NodeParts {
  std::int64_t num_parts = 0;     ///< of the specimen
  std::vector<std::int64_t> part; ///< [nodes given] named by the part's smallest voxel
  std::vector<std::int64_t> size; ///< [nodes given] voxels of that part
};

namespace detail {

template<class Index, class Exec>
struct FindNodePart {
  VoxelGrid<Exec> grid;
  VoxelArray<Exec> image;
  Array<int, Exec> node;
  Array<Index, Exec> root, root_size;
  Array<std::int64_t, Exec> part, size;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = grid.site(node(i));
    part(i) = -1;
    size(i) = 0;
    for (int v = 0; v < 8; ++v) {
      const int x = s.x - (v & 1), y = s.y - (v >> 1 & 1), z = s.z - (v >> 2);
      if (!(image.value_or_void(x, y, z) > 0))
        continue;
      part(i) = root(image.index(x, y, z));
      size(i) = root_size(part(i));
      return;
    }
  }
};

template<class Index, class Exec>
struct CountRoots {
  Array<Index, Exec> root_size;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += root_size(i) > 0;
  }
};

template<class Index, class Exec>
NodeParts find_node_parts(const Exec& exec, const VoxelGrid<Exec>& grid,
                          const VoxelArray<Exec>& image, const Array<int, Exec>& node) {
  const auto root = label_components<Index>(exec, image, Connectivity::node);
  const auto root_size = component_sizes<Index>(exec, root);
  NodeParts parts;
  Kokkos::parallel_reduce("ossatura::find_node_parts::count", range(exec, root.extent(0)),
                          CountRoots<Index, Exec>{root_size}, parts.num_parts);
  const std::int64_t n = node.extent(0);
  const auto part = make_uninitialized<std::int64_t>(exec, n, "ossatura::node_parts");
  const auto size = make_uninitialized<std::int64_t>(exec, n, "ossatura::node_part_sizes");
  Kokkos::parallel_for("ossatura::find_node_parts", range(exec, n),
                       FindNodePart<Index, Exec>{grid, image, node, root, root_size, part, size});
  parts.part = download(exec, part);
  parts.size = download(exec, size);
  return parts;
}

} // namespace detail

/// The parts of the nodes listed in `node`, corners of solid voxels of `image`. Fences.
template<class Exec>
NodeParts find_node_parts(const Exec& exec, const VoxelGrid<Exec>& grid,
                          const VoxelArray<Exec>& image, const Array<int, Exec>& node) {
  return image.num_voxels() <= INT32_MAX
             ? detail::find_node_parts<std::int32_t>(exec, grid, image, node)
             : detail::find_node_parts<std::int64_t>(exec, grid, image, node);
}

namespace detail {
template<class Exec>
struct MarkLoaded {
  Array<std::uint8_t, Exec> held;
  Array<double, Exec> force;
  Array<std::uint8_t, Exec> mask;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    std::uint8_t loaded = 0;
    for (int c = 0; c < 3; ++c)
      if (!(held(node) >> c & 1) && force(3 * node + c) != 0)
        loaded = std::uint8_t(loaded | 1 << c);
    mask(node) = loaded;
  }
};
} // namespace detail

/// Nodes on whose free components a force [3 num_nodes] acts; `mask` has these components. Fences.
template<class Exec>
Constraints<Exec> find_loaded_nodes(const Exec& exec, const Constraints<Exec>& held,
                                    const Array<double, Exec>& force) {
  const std::int64_t n = held.mask.extent(0);
  const auto mask = make_uninitialized<std::uint8_t>(exec, n, "ossatura::loaded_mask");
  Kokkos::parallel_for("ossatura::find_loaded_nodes", range(exec, n),
                       detail::MarkLoaded<Exec>{held.mask, force, mask});
  return make_constraints(exec, mask);
}

} // namespace ossatura
