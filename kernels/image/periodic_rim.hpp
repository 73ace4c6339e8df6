// SPDX-License-Identifier: Apache-2.0
// A rim makes an image that repeats without end one that has sides. The image of a unit cell of
// n voxels along an axis gets one voxel more there, a copy of its first. Then the nodes 1 to n are
// inside: each has all of its voxels around it, and every place of the repeated lattice is one of
// them. The nodes 0 and n + 1 are ghosts, copies of n and 1. A product with the matrix of such a
// grid is right at the nodes inside once ghosts have the values of what they copy: as for the rim
// of a process that has a part of an image (kernels/algebra/ranks/halo.hpp), so that no operator
// knows of it.
#pragma once

#include <ossatura/kernels/algebra/ranks/halo.hpp>
#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

/// What of a grid is the rim of a unit cell.
template<class Exec>
struct PeriodicRim {
  Kokkos::Array<int, 3> shape{};    ///< voxels of the cell, without the rim
  Array<int, Exec> inside;          ///< [num_nodes] the node itself, or what a ghost copies
  Array<std::uint8_t, Exec> ghosts; ///< [num_nodes] 7 (all components) at ghosts, else 0
  HaloPlan<Exec> plan;              ///< that brings ghosts their values
};

namespace detail {

template<class Exec>
struct RepeatFirstVoxels {
  VoxelArray<Exec> cell, image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto& n = image.shape;
    const int x = int(i % n[0]), y = int(i / n[0] % n[1]), z = int(i / n[0] / n[1]);
    image.value(i) =
        cell.value(cell.index(x % cell.shape[0], y % cell.shape[1], z % cell.shape[2]));
  }
};

/// The place inside of that of a node.
KOKKOS_INLINE_FUNCTION int place_inside(int place, int period) {
  return place == 0 ? period : place > period ? place - period : place;
}

template<class Exec>
struct FindInside {
  VoxelGrid<Exec> grid;
  PeriodicRim<Exec> rim;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const int found = grid.find(place_inside(s.x, rim.shape[0]), place_inside(s.y, rim.shape[1]),
                                place_inside(s.z, rim.shape[2]));
    rim.inside(node) = found;
    rim.ghosts(node) = found == int(node) ? 0 : 7;
  }
};

template<class Exec>
struct ListGhosts {
  Array<int, Exec> inside, ghost, original;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    if (inside(node) == int(node))
      return;
    if (final && ghost.extent(0) > 0) {
      ghost(sum) = int(node);
      original(sum) = inside(node);
    }
    ++sum;
  }
};

} // namespace detail

/// The image of a unit cell with its rim. Does not fence.
template<class Exec>
VoxelArray<Exec> add_rim(const Exec& exec, const VoxelArray<Exec>& cell) {
  const VoxelArray<Exec> image =
      make_voxel_array(exec, {cell.shape[0] + 1, cell.shape[1] + 1, cell.shape[2] + 1});
  Kokkos::parallel_for("ossatura::add_rim", range(exec, image.num_voxels()),
                       detail::RepeatFirstVoxels<Exec>{cell, image});
  return image;
}

/// The rim of the grid of an image that has one (add_rim). Takes 5 bytes for a node. Fences.
template<class Exec>
PeriodicRim<Exec> find_rim(const Exec& exec, const VoxelGrid<Exec>& grid) {
  PeriodicRim<Exec> rim;
  for (int d = 0; d < 3; ++d) {
    OSSATURA_REQUIRE(grid.shape[d] > 1, "the grid of a unit cell without its rim");
    rim.shape[d] = grid.shape[d] - 1;
  }
  const std::int64_t n = grid.num_nodes;
  rim.inside = make_uninitialized<int>(exec, n, "ossatura::periodic_rim::inside");
  rim.ghosts = make_uninitialized<std::uint8_t>(exec, n, "ossatura::periodic_rim::ghosts");
  Kokkos::parallel_for("ossatura::find_rim", range(exec, n), detail::FindInside<Exec>{grid, rim});
  std::int64_t count = 0;
  const auto list = [&] {
    Kokkos::parallel_scan("ossatura::find_rim::list", range(exec, n),
                          detail::ListGhosts<Exec>{rim.inside, rim.plan.ghost, rim.plan.original},
                          count);
  };
  list();
  rim.plan.ghost = make_uninitialized<int>(exec, count, "ossatura::periodic_rim::ghost");
  rim.plan.original = make_uninitialized<int>(exec, count, "ossatura::periodic_rim::original");
  list();
  return rim;
}

} // namespace ossatura
