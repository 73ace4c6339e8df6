// SPDX-License-Identifier: Apache-2.0
// The cone filter of cubes on a lattice (cone_filter.hpp says what it computes). All volumes are
// equal and cancel, neighbours are found by their places, and w is of a distance in cubes.
//
// A team has a tile of 8 x 8 x 8 sites. It fetches one plane after the other of what lies within
// the radius of the tile, and adds it to eight voxels of a row along z at a time: eight weights and
// one value for eight sums, without a look-up. Each value is fetched (1 + 2 R / 8)^3 times in all,
// where the neighbours of each voxel by themselves are (2 R)^3 look-ups and roots.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ossatura {

/// Of the voxels of a grid. Vectors are [num_nodes], a voxel's number is that of its lowest corner;
/// elsewhere they are zero.
template<class Exec>
struct LatticeCone {
  static constexpr int side = 8; ///< sites along an edge of a tile

  VoxelGrid<Exec> grid;
  Array<float, Exec> solid; ///< [num_nodes] greater than 0 at voxels
  double radius = 0;        ///< in voxels
  int reach = 0;            ///< voxels along an axis that the radius may reach
  /// In voxels; the bodies lie at one side of each.
  Kokkos::Array<int, 3> low_mirror{}, high_mirror{};
  Kokkos::Array<bool, 3> has_low{}, has_high{};
  Array<int, Exec> tile;       ///< those with nodes, numbered x fastest
  Array<double, Exec> weight;  ///< [(reach + 1)^2, num_weights()] by |dy|, |dx| and dz
  Array<double, Exec> row_sum; ///< [num_nodes] S / v

  int num_tiles(int axis) const { return (4 * grid.num_blocks[axis] + side - 1) / side; }

  KOKKOS_FUNCTION int num_weights() const { return 2 * (reach + side) - 1; }

  /// Lowest site of a listed tile.
  KOKKOS_FUNCTION Site tile_corner(int i) const {
    const int nx = (4 * grid.num_blocks[0] + side - 1) / side,
              ny = (4 * grid.num_blocks[1] + side - 1) / side, t = tile(i);
    return {side * (t % nx), side * (t / nx % ny), side * (t / nx / ny)};
  }

  /// The lowest place with a voxel, images among them, and the one behind the highest.
  KOKKOS_FUNCTION int first(int axis) const {
    return has_low[axis] ? 2 * low_mirror[axis] - grid.shape[axis] : 0;
  }
  KOKKOS_FUNCTION int end(int axis) const {
    return has_high[axis] ? 2 * high_mirror[axis] : grid.shape[axis];
  }

  /// The number of the voxel at a place, or of the one whose image is there; -1: none.
  KOKKOS_FUNCTION int voxel_at(int x, int y, int z) const {
    const int voxel = grid.find(image(x, 0), image(y, 1), image(z, 2));
    return voxel >= 0 && solid(voxel) > 0 ? voxel : -1;
  }

private:
  /// The place whose mirror image is at x, beyond a mirror, else x.
  KOKKOS_FUNCTION int image(int x, int axis) const {
    if (has_low[axis] && x < low_mirror[axis])
      return 2 * low_mirror[axis] - 1 - x;
    if (has_high[axis] && x >= high_mirror[axis])
      return 2 * high_mirror[axis] - 1 - x;
    return x;
  }
};

namespace detail {

/// The sums of w alone.
template<class Exec>
struct LatticeWeightSum {
  KOKKOS_FUNCTION double source(int) const { return 1; }
  KOKKOS_FUNCTION double result(int, double sum) const { return sum; }
};

/// What neighbours give to a sum, and the use of the sum.
template<class Exec, ConeSum what>
struct LatticeConeTerms {
  Array<double, Exec> row_sum, x, density;

  KOKKOS_FUNCTION double source(int j) const {
    if constexpr (what == ConeSum::mean)
      return x(j);
    else if constexpr (what == ConeSum::transposed)
      return x(j) / row_sum(j);
    else
      return density(j) * x(j);
  }
  KOKKOS_FUNCTION double result(int i, double sum) const {
    if constexpr (what == ConeSum::mean)
      return sum / row_sum(i);
    else if constexpr (what == ConeSum::transposed)
      return sum;
    else
      return sum / (row_sum(i) * (density(i) > 1e-3 ? density(i) : 1e-3));
  }
};

/// y = the results of all voxels, 0 at other nodes.
template<class Exec, class Terms>
struct SumLatticeTile {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int side = LatticeCone<Exec>::side;
  static constexpr int team_size = BackendTraits<Exec>::is_device ? side * side : 1;
  static constexpr int rows_of_thread = side * side / team_size;

  LatticeCone<Exec> filter;
  Terms terms;
  Array<double, Exec> y;
  int level; ///< of scratch memory

  KOKKOS_FUNCTION int pitch() const { return side + 2 * filter.reach; }

  KOKKOS_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(double) * std::size_t(pitch()) * std::size_t(pitch());
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Site corner = filter.tile_corner(team.league_rank());
    double* plane = static_cast<double*>(team.team_scratch(level).get_shmem(scratch_bytes()));
    double sum[rows_of_thread][side] = {};
    const int reach = filter.reach;
    const int first = Kokkos::max(-reach, filter.first(2) - corner.z),
              end = Kokkos::min(side + reach, filter.end(2) - corner.z);
    for (int z = first; z < end; ++z) {
      team.team_barrier();
      fetch(team, corner, z, plane);
      team.team_barrier();
      for (int i = 0; i < rows_of_thread; ++i)
        add_plane(corner, z, i * team_size + team.team_rank(), plane, sum[i]);
    }
    for (int i = 0; i < rows_of_thread; ++i)
      store(corner, i * team_size + team.team_rank(), sum[i]);
  }

  /// The sources at height z above the corner, of the tile and what it reaches around it.
  KOKKOS_FUNCTION void fetch(const Member& team, const Site& corner, int z, double* plane) const {
    const int size = pitch(), x0 = corner.x - filter.reach, y0 = corner.y - filter.reach;
    for (int i = team.team_rank(); i < size * size; i += team_size) {
      const int voxel = filter.voxel_at(x0 + i % size, y0 + i / size, corner.z + z);
      plane[i] = voxel >= 0 ? terms.source(voxel) : 0;
    }
  }

  /// The values at dx and -dx, dy and -dy have the same weights.
  KOKKOS_FUNCTION void add_plane(const Site& corner, int z, int row, const double* plane,
                                 double (&sum)[side]) const {
    const int x = row % side, y = row / side, reach = filter.reach, length = filter.num_weights();
    const int above = z < 0 ? -z : z < side ? 0 : z - side + 1; // of the nearest of the eight
    const double square = filter.radius * filter.radius - double(above * above);
    double own[side];
    for (int k = 0; k < side; ++k)
      own[k] = sum[k];
    const int most_x = farthest(corner.x + x, 0), most_y = farthest(corner.y + y, 1);
    for (int dy = 0; dy <= most_y; ++dy) {
      const double left = square - double(dy * dy);
      if (!(left > 0))
        break;
      const int last = Kokkos::min(most_x, int(sqrt(left)));
      const double* const up = plane + pitch() * (reach + y + dy) + reach + x;
      const double* const down = up - 2 * dy * pitch();
      const double* w =
          filter.weight.data() + std::int64_t(dy) * (reach + 1) * length + (reach + side - 1 - z);
      add_value(dy > 0 ? up[0] + down[0] : up[0], w, own);
      for (int dx = 1; dx <= last; ++dx) {
        const double v = up[dx] + up[-dx];
        add_value(dy > 0 ? v + (down[dx] + down[-dx]) : v, w += length, own);
      }
    }
    for (int k = 0; k < side; ++k)
      sum[k] = own[k];
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add_value(double value, const double* weight,
                                                    double (&sum)[side]) {
    for (int k = 0; k < side; ++k)
      sum[k] += weight[k] * value;
  }

  /// How far from a place its neighbours lie along an axis at most.
  KOKKOS_FUNCTION int farthest(int place, int axis) const {
    return Kokkos::min(filter.reach,
                       Kokkos::max(place - filter.first(axis), filter.end(axis) - 1 - place));
  }

  KOKKOS_FUNCTION void store(const Site& corner, int row, const double (&sum)[side]) const {
    for (int k = 0; k < side; ++k) {
      const int i = filter.grid.find(corner.x + row % side, corner.y + row / side, corner.z + k);
      if (i >= 0)
        y(i) = filter.solid(i) > 0 ? terms.result(i, sum[k]) : 0;
    }
  }
};

template<class Exec, class Terms>
void sum_lattice_tiles(const char* label, const Exec& exec, const LatticeCone<Exec>& filter,
                       const Terms& terms, const Array<double, Exec>& y) {
  using Kernel = SumLatticeTile<Exec, Terms>;
  constexpr std::size_t near_memory = 24 << 10; // bytes: more leaves a device few teams
  Kernel kernel{filter, terms, y, 0};
  kernel.level = kernel.scratch_bytes() <= near_memory ? scratch_level<Exec> : 1;
  Kokkos::TeamPolicy<Exec> policy(exec, int(filter.tile.extent(0)), int(Kernel::team_size));
  policy.set_scratch_size(kernel.level, Kokkos::PerTeam(int(kernel.scratch_bytes())));
  Kokkos::parallel_for(label, policy, kernel);
}

/// Lists the tiles with nodes; the first pass counts them.
template<class Exec>
struct ListLatticeTiles {
  LatticeCone<Exec> filter;
  Kokkos::Array<int, 3> num_tiles;

  KOKKOS_FUNCTION bool has_nodes(int t) const {
    constexpr int blocks = LatticeCone<Exec>::side / 4;
    const int x = blocks * (t % num_tiles[0]), y = blocks * (t / num_tiles[0] % num_tiles[1]),
              z = blocks * (t / num_tiles[0] / num_tiles[1]);
    const Kokkos::Array<int, 3>& n = filter.grid.num_blocks;
    for (int k = z; k < z + blocks && k < n[2]; ++k)
      for (int j = y; j < y + blocks && j < n[1]; ++j)
        for (int i = x; i < x + blocks && i < n[0]; ++i)
          if (filter.grid.block(i + n[0] * (j + std::int64_t(n[1]) * k)).mask)
            return true;
    return false;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t t, int& count, bool final) const {
    if (!has_nodes(int(t)))
      return;
    if (final && filter.tile.extent(0) > 0)
      filter.tile(count) = int(t);
    ++count;
  }
};

template<class Exec>
Array<int, Exec> list_lattice_tiles(const Exec& exec, LatticeCone<Exec> filter) {
  const Kokkos::Array<int, 3> n{filter.num_tiles(0), filter.num_tiles(1), filter.num_tiles(2)};
  const auto all = range(exec, std::int64_t(n[0]) * n[1] * n[2]);
  int count = 0;
  Kokkos::parallel_scan("ossatura::lattice_cone::count_tiles", all,
                        ListLatticeTiles<Exec>{filter, n}, count);
  filter.tile = make_uninitialized<int>(exec, count, "ossatura::lattice_cone::tiles");
  Kokkos::parallel_scan("ossatura::lattice_cone::list_tiles", all,
                        ListLatticeTiles<Exec>{filter, n}, count);
  return filter.tile;
}

/// By |dy|, |dx|, and dz from -(reach + side - 1) on, 0 beyond the radius.
template<class Exec>
std::vector<double> lattice_weights(const LatticeCone<Exec>& filter) {
  std::vector<double> weight;
  const int farthest = filter.reach + LatticeCone<Exec>::side - 1;
  for (int dy = 0; dy <= filter.reach; ++dy)
    for (int dx = 0; dx <= filter.reach; ++dx)
      for (int dz = -farthest; dz <= farthest; ++dz)
        weight.push_back(
            std::max(0.0, filter.radius - std::sqrt(double(dx * dx + dy * dy + dz * dz))));
  return weight;
}

template<ConeSum what, class Exec>
void apply_lattice_cone(const char* label, const Exec& exec, const LatticeCone<Exec>& filter,
                        const Array<double, Exec>& x, const Array<double, Exec>& density,
                        const Array<double, Exec>& y) {
  sum_lattice_tiles(label, exec, filter, LatticeConeTerms<Exec, what>{filter.row_sum, x, density},
                    y);
}

} // namespace detail

/// Of the voxels where `solid` [num_nodes] is greater than 0, of the given edge and with mirrors in
/// units of its lattice, which lie between voxels; `radius` > 0 in the unit of the edge. Images of
/// images do not count. Fences.
template<class Exec>
LatticeCone<Exec> make_lattice_cone(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const Array<float, Exec>& solid, double edge, double radius,
                                    const MirrorPlanes& mirrors = {}) {
  OSSATURA_REQUIRE(radius > 0 && std::isfinite(radius), "a filter of radius " << radius);
  OSSATURA_REQUIRE(radius < 100 * edge,
                   "a filter of radius " << radius << " reaches " << radius / edge << " voxels");
  LatticeCone<Exec> filter;
  filter.grid = grid;
  filter.solid = solid;
  filter.radius = radius / edge;
  filter.reach = int(std::ceil(filter.radius)) - 1;
  for (int axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(mirrors.count[axis] < 2 || std::fabs(mirrors.place[axis][1] -
                                                          mirrors.place[axis][0]) >= filter.radius,
                     "mirrors normal to axis " << axis << " are nearer than the radius " << radius);
    for (int k = 0; k < mirrors.count[axis]; ++k) {
      const double place = mirrors.place[axis][k];
      const int nearest = int(std::lround(place));
      OSSATURA_REQUIRE(std::fabs(place - nearest) <= 1e-3 &&
                           (nearest <= 0 || nearest >= grid.shape[axis]),
                       "a mirror normal to axis " << axis << " at " << place
                                                  << " voxels is not beside the body");
      (nearest <= 0 ? filter.low_mirror : filter.high_mirror)[axis] = nearest;
      (nearest <= 0 ? filter.has_low : filter.has_high)[axis] = true;
    }
  }
  filter.row_sum = make_uninitialized<double>(exec, grid.num_nodes, "ossatura::lattice_cone");
  filter.tile = detail::list_lattice_tiles(exec, filter);
  filter.weight = upload(exec, "ossatura::lattice_cone::weights", detail::lattice_weights(filter));
  detail::sum_lattice_tiles("ossatura::make_lattice_cone", exec, filter,
                            detail::LatticeWeightSum<Exec>{}, filter.row_sum);
  fence(exec, "ossatura::make_lattice_cone");
  return filter;
}

/// y = the means of x; y must not alias x. Does not fence.
template<class Exec>
void apply_cone_filter(const Exec& exec, const LatticeCone<Exec>& filter,
                       const Array<double, Exec>& x, const Array<double, Exec>& y) {
  detail::apply_lattice_cone<detail::ConeSum::mean>("ossatura::apply_lattice_cone", exec, filter, x,
                                                    {}, y);
}

/// The transposed of the above. No aliases. Does not fence.
template<class Exec>
void apply_cone_filter_transposed(const Exec& exec, const LatticeCone<Exec>& filter,
                                  const Array<double, Exec>& gradient,
                                  const Array<double, Exec>& result) {
  detail::apply_lattice_cone<detail::ConeSum::transposed>("ossatura::apply_lattice_cone_transposed",
                                                          exec, filter, gradient, {}, result);
}

/// As for listed neighbours. No aliases. Does not fence.
template<class Exec>
void filter_sensitivities(const Exec& exec, const LatticeCone<Exec>& filter,
                          const Array<double, Exec>& density, const Array<double, Exec>& gradient,
                          const Array<double, Exec>& result) {
  detail::apply_lattice_cone<detail::ConeSum::sensitivity>("ossatura::filter_lattice_sensitivities",
                                                           exec, filter, gradient, density, result);
}

} // namespace ossatura
