// SPDX-License-Identifier: Apache-2.0
// A LatticeOrder turns vectors in the order of a LatticeBody, as the host has them, into those in
// the order of a grid of voxels, and back, by bits of the lattice in the place of lists of numbers.
#pragma once

#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <algorithm>

namespace ossatura {

/// Numbers of places: nodes of a lattice or elements (named by their lowest corner).
template<class Exec>
struct LatticeOrder {
  Kokkos::Array<int, 3> shape{};
  int words = 0;
  Array<std::uint64_t, Exec> bits;
  Array<std::int32_t, Exec> begin;

  /// -1 where nothing is.
  KOKKOS_FUNCTION std::int64_t number(const Site& s) const {
    if (s.x >= shape[0] || s.y >= shape[1] || s.z >= shape[2])
      return -1;
    const std::int64_t row = s.y + std::int64_t(shape[1]) * s.z, first = row * words;
    const std::uint64_t own = bits(first + s.x / 64), bit = std::uint64_t(1) << (s.x & 63);
    if ((own & bit) == 0)
      return -1;
    std::int64_t result = begin(row) + count_ones(own & (bit - 1));
    for (int w = 0; w < s.x / 64; ++w)
      result += count_ones(bits(first + w));
    return result;
  }
};

/// Fences.
template<class Exec>
LatticeOrder<Exec> make_lattice_order(const Exec& exec, const LatticeRows& rows) {
  return {{rows.shape[0], rows.shape[1], rows.shape[2]},
          rows.words,
          upload(exec, "ossatura::lattice_order::bits", rows.bits),
          upload(exec, "ossatura::lattice_order::begin", rows.begin)};
}

namespace detail {

template<class Exec>
struct MarkLatticeCells {
  LatticeOrder<Exec> order;
  VoxelArray<Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int x = int(i % image.shape[0]);
    const std::int64_t row = i / image.shape[0];
    image.value(i) = float(order.bits(row * order.words + x / 64) >> (x & 63) & 1);
  }
};

/// Between placed(i) and part(n - first), n the number of what is at node i.
template<class Exec, class T, bool to_grid>
struct MoveLatticePart {
  VoxelGrid<Exec> grid;
  LatticeOrder<Exec> order;
  int components;
  std::int64_t first;
  Array<T, Exec> part, placed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t n = order.number(grid.site(int(i))) - first;
    if (n < 0 || components * n >= std::int64_t(part.extent(0)))
      return;
    for (int c = 0; c < components; ++c)
      if (to_grid)
        placed(components * i + c) = part(components * n + c);
      else
        part(components * n + c) = placed(components * i + c);
  }
};

template<class Exec>
struct FindLatticeNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> site;
  Array<int, Exec> node;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = unpack_site(site(i));
    node(i) = grid.find(s.x, s.y, s.z);
  }
};

} // namespace detail

/// 1 at the cells of an order of elements. Does not fence.
template<class Exec>
VoxelArray<Exec> make_cell_image(const Exec& exec, const LatticeOrder<Exec>& order) {
  const VoxelArray<Exec> image =
      make_voxel_array(exec, {order.shape[0], order.shape[1], order.shape[2]});
  Kokkos::parallel_for("ossatura::mark_lattice_cells", range(exec, image.num_voxels()),
                       detail::MarkLatticeCells<Exec>{order, image});
  return image;
}

/// Most numbers that go between host and backend at a time.
constexpr std::int64_t lattice_part = std::int64_t(1) << 26;

/// placed [num_nodes of the grid, components] = values [of the order, components], and what it was
/// where the order has nothing. `part`: most numbers at a time. Fences.
template<class T, class Exec>
void put_in_grid(const Exec& exec, const VoxelGrid<Exec>& grid, const LatticeOrder<Exec>& order,
                 int components, const std::vector<T>& values, const Array<T, Exec>& placed,
                 std::int64_t part = lattice_part) {
  const std::int64_t count = std::int64_t(values.size()) / components;
  for (std::int64_t first = 0; first < count; first += part) {
    const std::int64_t end = std::min(first + part, count);
    const Array<T, Exec> some =
        make_uninitialized<T>(exec, components * (end - first), "ossatura::lattice_order::part");
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        values.data() + components * first, std::size_t(components * (end - first)));
    Kokkos::deep_copy(exec, some, host);
    Kokkos::parallel_for(
        "ossatura::put_in_grid", range(exec, grid.num_nodes),
        detail::MoveLatticePart<Exec, T, true>{grid, order, components, first, some, placed});
    fence(exec, "ossatura::put_in_grid");
  }
}

/// The values that an order of `count` numbers has in a grid. Fences.
template<class T, class Exec>
std::vector<T> take_from_grid(const Exec& exec, const VoxelGrid<Exec>& grid,
                              const LatticeOrder<Exec>& order, int components, std::int64_t count,
                              const Array<T, Exec>& placed, std::int64_t part = lattice_part) {
  std::vector<T> values(std::size_t(components * count));
  for (std::int64_t first = 0; first < count; first += part) {
    const std::int64_t end = std::min(first + part, count);
    const Array<T, Exec> some =
        make_uninitialized<T>(exec, components * (end - first), "ossatura::lattice_order::part");
    Kokkos::parallel_for(
        "ossatura::take_from_grid", range(exec, grid.num_nodes),
        detail::MoveLatticePart<Exec, T, false>{grid, order, components, first, some, placed});
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        values.data() + components * first, std::size_t(components * (end - first)));
    Kokkos::deep_copy(exec, host, some);
    fence(exec, "ossatura::take_from_grid");
  }
  return values;
}

/// The numbers in the grid of nodes of a lattice. Fences.
template<class Exec>
Array<int, Exec> find_nodes(const Exec& exec, const VoxelGrid<Exec>& grid, const LatticeRows& rows,
                            const std::vector<std::int32_t>& nodes) {
  std::vector<std::uint64_t> sites;
  for (const std::int32_t node : nodes) {
    const std::array<int, 3> place = rows.place(node);
    sites.push_back(detail::pack_site(place[0], place[1], place[2]));
  }
  const Array<int, Exec> found =
      make_uninitialized<int>(exec, std::int64_t(nodes.size()), "ossatura::lattice_nodes");
  const Array<std::uint64_t, Exec> site = upload(exec, "ossatura::lattice_sites", sites);
  Kokkos::parallel_for("ossatura::find_lattice_nodes", range(exec, found.extent(0)),
                       detail::FindLatticeNodes<Exec>{grid, site, found});
  fence(exec, "ossatura::find_lattice_nodes");
  return found;
}

} // namespace ossatura
