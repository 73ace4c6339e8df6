// SPDX-License-Identifier: Apache-2.0
// Voxels of a lattice are linked, so that they share a variable, by columns along an axis and by
// symmetries of the lattice. Who is linked with whom follows from places: there are no lists. The
// mean over the linked voxels that are free is a symmetric matrix L with L L = L; sums are in an
// order that depends on the lattice alone.
#pragma once

#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

/// to[d] = sign[d] from[axis[d]] + offset[d], of the lowest corners of voxels.
struct LatticeMap {
  Kokkos::Array<int, 3> axis{0, 1, 2}, sign{1, 1, 1}, offset{0, 0, 0};

  KOKKOS_FUNCTION Site operator()(const Site& from) const {
    const int place[3] = {from.x, from.y, from.z};
    return {sign[0] * place[axis[0]] + offset[0], sign[1] * place[axis[1]] + offset[1],
            sign[2] * place[axis[2]] + offset[2]};
  }
};

/// The maps of a group, most of a square prism: four turns, a mirror, and one across the axis.
inline constexpr int max_lattice_maps = 16;

/// Voxels at places along an axis, in one part, or in two that meet at `parting`. A column is named
/// by a number, its place across the axis and its part.
template<class Exec>
struct LatticeColumns {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid; ///< [num_nodes] greater than 0 at voxels
  int axis = 2;
  int parting = 0; ///< voxels from here on are in the second part; 0: there is one

  KOKKOS_FUNCTION int num_parts() const { return parting > 0 ? 2 : 1; }
  KOKKOS_FUNCTION int across(int which) const { return (axis + which) % 3; }
  KOKKOS_FUNCTION std::int64_t size() const {
    return std::int64_t(grid.shape[across(1)]) * grid.shape[across(2)] * num_parts();
  }
  KOKKOS_FUNCTION int part(std::int64_t column) const { return int(column % num_parts()); }
  /// The places of a part are begin .. end.
  KOKKOS_FUNCTION int begin(int part) const { return part == 0 ? 0 : parting; }
  KOKKOS_FUNCTION int end(int part) const {
    return part == 0 && parting > 0 ? parting : grid.shape[axis];
  }
  KOKKOS_FUNCTION Site site(std::int64_t column, int place) const {
    const std::int64_t number = column / num_parts();
    int at[3];
    at[axis] = place;
    at[across(1)] = int(number % grid.shape[across(1)]);
    at[across(2)] = int(number / grid.shape[across(1)]);
    return {at[0], at[1], at[2]};
  }
  /// -1 where there is none.
  KOKKOS_FUNCTION int voxel(const Site& s) const {
    const int i = grid.find(s.x, s.y, s.z);
    return i >= 0 && solid(i) > 0 ? i : -1;
  }
  KOKKOS_FUNCTION int voxel(std::int64_t column, int place) const {
    return voxel(site(column, place));
  }
};

/// What is linked: columns with their images, or voxels with theirs. With columns all maps leave
/// their axis alone.
template<class Exec>
struct LatticeLinks {
  LatticeColumns<Exec> columns;
  bool by_columns = false;
  int num_maps = 1;
  Kokkos::Array<LatticeMap, max_lattice_maps> map{}; ///< a group, the identity first

  /// Of columns, or of nodes, which voxels are named by.
  std::int64_t num_items() const {
    return by_columns ? columns.size() : std::int64_t(columns.grid.num_nodes);
  }

  /// The places of what is linked with an item, each once; none unless the item comes first.
  KOKKOS_FUNCTION int images(std::int64_t item, Site (&site)[max_lattice_maps]) const {
    if (!by_columns && !(columns.solid(item) > 0))
      return 0;
    const Site own = by_columns ? columns.site(item, 0) : columns.grid.site(int(item));
    int count = 0;
    for (int m = 0; m < num_maps; ++m) {
      const Site s = map[m](own);
      if (!is_inside(s))
        continue;
      if (key(s) < key(own))
        return 0;
      bool known = false;
      for (int k = 0; k < count; ++k)
        known = known || key(site[k]) == key(s);
      if (!known)
        site[count++] = s;
    }
    return count;
  }

  /// Calls visit(voxel) for those of an image.
  template<class Visit>
  KOKKOS_FUNCTION void for_voxels(std::int64_t item, const Site& image, const Visit& visit) const {
    if (!by_columns) {
      visit(columns.voxel(image));
      return;
    }
    const int part = columns.part(item);
    int at[3] = {image.x, image.y, image.z};
    for (int place = columns.begin(part); place < columns.end(part); ++place) {
      at[columns.axis] = place;
      const int i = columns.voxel({at[0], at[1], at[2]});
      if (i >= 0)
        visit(i);
    }
  }

private:
  KOKKOS_FUNCTION bool is_inside(const Site& s) const {
    const auto& shape = columns.grid.shape;
    return s.x >= 0 && s.y >= 0 && s.z >= 0 && s.x < shape[0] && s.y < shape[1] && s.z < shape[2];
  }
  KOKKOS_FUNCTION std::int64_t key(const Site& s) const {
    const auto& shape = columns.grid.shape;
    return s.x + shape[0] * (s.y + std::int64_t(shape[1]) * s.z);
  }
};

namespace detail {

template<class Exec>
struct AverageLatticeLinks {
  LatticeLinks<Exec> links;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    Site site[max_lattice_maps];
    const int num_images = links.images(item, site);
    double sum = 0;
    std::int64_t count = 0;
    for (int k = 0; k < num_images; ++k)
      links.for_voxels(item, site[k], [&](int i) {
        if (role(i) == std::uint8_t(DesignRole::free)) {
          sum += x(i);
          ++count;
        }
      });
    const double mean = count > 0 ? sum / double(count) : 0;
    for (int k = 0; k < num_images; ++k)
      links.for_voxels(item, site[k], [&](int i) {
        y(i) = role(i) == std::uint8_t(DesignRole::free) ? mean : x(i);
      });
  }
};

/// Voxels whose image by some map is none.
template<class Exec>
struct CountLonelyVoxels {
  LatticeLinks<Exec> links;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    if (!(links.columns.solid(i) > 0))
      return;
    const Site own = links.columns.grid.site(int(i));
    for (int m = 1; m < links.num_maps; ++m)
      if (links.columns.voxel(links.map[m](own)) < 0) {
        ++count;
        return;
      }
  }
};

/// Passive voxels on the other side of a half than what they are linked with.
template<class Exec>
struct CountUnlikeVoxels {
  LatticeLinks<Exec> links;
  Array<std::uint8_t, Exec> role;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t item, std::int64_t& count) const {
    Site site[max_lattice_maps];
    const int num_images = links.images(item, site);
    int other = -1; // a free one, else the first
    for (int k = 0; k < num_images; ++k)
      links.for_voxels(item, site[k], [&](int i) {
        const bool free = role(i) == std::uint8_t(DesignRole::free);
        if (other < 0 || (free && role(other) != std::uint8_t(DesignRole::free)))
          other = i;
      });
    for (int k = 0; k < num_images; ++k)
      links.for_voxels(item, site[k], [&](int i) {
        count += (density(i) >= 0.5) != (density(other) >= 0.5) ? 1 : 0;
      });
  }
};

} // namespace detail

/// y = L x at voxels [num_nodes]; y may be x. Does not fence.
template<class Exec>
void average_links(const Exec& exec, const LatticeLinks<Exec>& links,
                   const Array<std::uint8_t, Exec>& role, const Array<double, Exec>& x,
                   const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::average_lattice_links", range(exec, links.num_items()),
                       detail::AverageLatticeLinks<Exec>{links, role, x, y});
}

/// How many voxels have no image by some map: 0 where the body has the symmetry. Fences.
template<class Exec>
std::int64_t count_lonely(const Exec& exec, const LatticeLinks<Exec>& links) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_lonely_voxels",
                          range(exec, links.columns.grid.num_nodes),
                          detail::CountLonelyVoxels<Exec>{links}, count);
  return count;
}

/// How many voxels are on the other side of a density of a half than what they are linked with,
/// because they are passive. Fences.
template<class Exec>
std::int64_t count_unlike(const Exec& exec, const LatticeLinks<Exec>& links,
                          const Array<std::uint8_t, Exec>& role,
                          const Array<double, Exec>& density) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_unlike_voxels", range(exec, links.num_items()),
                          detail::CountUnlikeVoxels<Exec>{links, role, density}, count);
  return count;
}

} // namespace ossatura
