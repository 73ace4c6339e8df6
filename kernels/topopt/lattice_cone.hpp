// SPDX-License-Identifier: Apache-2.0
// The cone filter of cubes on a lattice (cone_filter.hpp says what it computes): neighbours are
// found by their places, so that there are no lists of them, and w is of a distance in cubes. What
// is kept is a number a cube.
#pragma once

#include <ossatura/kernels/image/grid.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>

namespace ossatura {

/// Of the voxels of a grid. Vectors are [num_nodes], a voxel's number is that of its lowest corner;
/// elsewhere they are zero.
template<class Exec>
struct LatticeCone {
  VoxelGrid<Exec> grid;
  Array<float, Exec> solid; ///< [num_nodes] greater than 0 at voxels
  double radius = 0;        ///< in voxels
  int reach = 0;            ///< voxels along an axis that the radius may reach
  double volume = 0;        ///< of a voxel
  /// In voxels; the bodies lie at one side of each.
  Kokkos::Array<int, 3> low_mirror{}, high_mirror{};
  Kokkos::Array<bool, 3> has_low{}, has_high{};
  Array<double, Exec> row_sum; ///< [num_nodes] S

  KOKKOS_FUNCTION double volume_of(std::int64_t) const { return volume; }

  /// Calls visit(voxel, w) for the neighbours of the voxel at `s`, images among them, z slowest.
  template<class Visit>
  KOKKOS_FUNCTION void for_neighbours(const Site& s, const Visit& visit) const {
    for (int dz = -reach; dz <= reach; ++dz)
      for (int dy = -reach; dy <= reach; ++dy)
        for (int dx = -reach; dx <= reach; ++dx) {
          const double w = radius - sqrt(double(dx * dx + dy * dy + dz * dz));
          if (!(w > 0))
            continue;
          const int voxel = grid.find(image(s.x + dx, 0), image(s.y + dy, 1), image(s.z + dz, 2));
          if (voxel >= 0 && solid(voxel) > 0)
            visit(voxel, w);
        }
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

template<class Exec>
struct SumLatticeRows {
  LatticeCone<Exec> filter;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    if (filter.solid(i) > 0)
      filter.for_neighbours(filter.grid.site(int(i)), [&](int, double w) { sum += w; });
    filter.row_sum(i) = sum * filter.volume;
  }
};

template<class Exec, ConeSum what>
struct ApplyLatticeCone {
  ConeTerms<Exec, LatticeCone<Exec>, what> terms;
  Array<double, Exec> y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const LatticeCone<Exec>& filter = terms.filter;
    if (!(filter.solid(i) > 0)) {
      y(i) = 0;
      return;
    }
    double sum = 0;
    filter.for_neighbours(filter.grid.site(int(i)),
                          [&](int j, double w) { sum += terms.term(j, w); });
    y(i) = terms.result(i, sum);
  }
};

template<ConeSum what, class Exec>
void apply_lattice_cone(const char* label, const Exec& exec, const LatticeCone<Exec>& filter,
                        const Array<double, Exec>& x, const Array<double, Exec>& density,
                        const Array<double, Exec>& y) {
  Kokkos::parallel_for(label, range(exec, filter.grid.num_nodes),
                       ApplyLatticeCone<Exec, what>{{filter, x, density}, y});
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
  filter.volume = edge * edge * edge;
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
  Kokkos::parallel_for("ossatura::make_lattice_cone", range(exec, grid.num_nodes),
                       detail::SumLatticeRows<Exec>{filter});
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
