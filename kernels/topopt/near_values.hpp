// SPDX-License-Identifier: Apache-2.0
// Values at points are interpolated to other points by the modified method of Shepard [1]: of the
// k nearest points, at distances d, with that of the farthest of these, R, each counts as much as
// ((R - d) / (R d))^2. What lies where a point is has its value, values stay between those around,
// and a point that comes or goes at the distance R changes nothing.
//
// [1] R. Franke, G. Nielson. Smooth interpolation of large sets of scattered data. Int. J. Numer.
//     Methods Eng. 15 (1980) 1691-1704, doi:10.1002/nme.1620151110.
#pragma once

#include <ossatura/kernels/topopt/point_cells.hpp>

namespace ossatura {

/// Points of elements with their values.
template<class Exec>
struct NearSources {
  PointCells<Exec> cells;
  Array<double, Exec> point; ///< [n, 3]
  Array<double, Exec> size;  ///< [n] how far the element reaches from its point
  Array<double, Exec> value; ///< [n]

  std::int64_t count() const { return size.extent(0); }
};

namespace detail {

/// The nearest points, by distance, those of one distance by number: the same in whatever order
/// they are found.
struct NearestPoints {
  static constexpr int most = 9; ///< a cube of points around, and one that bounds it
  int wanted, count = 0;
  double square[most];
  int which[most];

  KOKKOS_FUNCTION explicit NearestPoints(std::int64_t num_points)
      : wanted(num_points < most ? int(num_points) : most) {}

  KOKKOS_FUNCTION bool is_full_within(double distance) const {
    return count == wanted && square[count - 1] <= distance * distance;
  }
  KOKKOS_FUNCTION void add(double d, int i) {
    int place = count;
    while (place > 0 && (d < square[place - 1] || (d == square[place - 1] && i < which[place - 1])))
      --place;
    if (place == wanted)
      return;
    count += count < wanted ? 1 : 0;
    for (int k = count - 1; k > place; --k) {
      square[k] = square[k - 1];
      which[k] = which[k - 1];
    }
    square[place] = d;
    which[place] = i;
  }
};

template<class Exec>
struct InterpolateNear {
  NearSources<Exec> from;
  Array<double, Exec> to, result;

  /// The cells whose largest distance from `middle` along an axis is `ring`.
  KOKKOS_FUNCTION void add_ring(const double (&x)[3], const int (&middle)[3], int ring,
                                NearestPoints& near) const {
    int first[3], last[3];
    for (int axis = 0; axis < 3; ++axis) {
      first[axis] = Kokkos::max(middle[axis] - ring, 0);
      last[axis] = Kokkos::min(middle[axis] + ring, from.cells.cells[axis] - 1);
    }
    for (int k = first[2]; k <= last[2]; ++k)
      for (int j = first[1]; j <= last[1]; ++j) {
        const bool all = distance(k, middle[2]) == ring || distance(j, middle[1]) == ring;
        for (int i = first[0]; i <= last[0]; ++i)
          if (all || distance(i, middle[0]) == ring)
            add_cell(x, from.cells.number(i, j, k), near);
      }
  }

  KOKKOS_FUNCTION static int distance(int a, int b) { return a < b ? b - a : a - b; }

  KOKKOS_FUNCTION void add_cell(const double (&x)[3], int cell, NearestPoints& near) const {
    for (int m = from.cells.begin(cell); m < from.cells.begin(cell + 1); ++m) {
      const int j = from.cells.member(m);
      double square = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const double way = from.point(3 * std::int64_t(j) + axis) - x[axis];
        square += way * way;
      }
      near.add(square, j);
    }
  }

  KOKKOS_FUNCTION double mean(const NearestPoints& near) const {
    constexpr double same = 1e-6;
    const double nearest = Kokkos::sqrt(near.square[0]), size = from.size(near.which[0]);
    if (nearest <= same * size || nearest > size) // its own point, or off the body
      return from.value(near.which[0]);
    const double radius = Kokkos::sqrt(near.square[near.count - 1]);
    const bool alike = radius - nearest <= same * radius; // all as far
    double sum = 0, weights = 0;
    for (int k = 0; k < near.count; ++k) {
      const double d = Kokkos::sqrt(near.square[k]), root = (radius - d) / (radius * d);
      const double weight = alike ? 1 : root * root;
      sum += weight * from.value(near.which[k]);
      weights += weight;
    }
    return sum / weights;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double x[3];
    int middle[3], rings = 0;
    for (int axis = 0; axis < 3; ++axis) {
      x[axis] = to(3 * i + axis);
      middle[axis] = from.cells.cell_at(axis, x[axis]);
      rings = Kokkos::max(rings, Kokkos::max(middle[axis], from.cells.cells[axis] - middle[axis]));
    }
    NearestPoints near(from.size.extent(0));
    // What lies beyond a ring is at least its number times the width away.
    for (int ring = 0; ring <= rings && !near.is_full_within((ring - 1) * from.cells.width); ++ring)
      add_ring(x, middle, ring, near);
    result(i) = mean(near);
  }
};

} // namespace detail

/// `point` [n, 3], `size` and `value` [n], which are kept; `width` about the mean distance of
/// points. Fences.
template<class Exec>
NearSources<Exec> make_near_sources(const Exec& exec, const Array<double, Exec>& point,
                                    const Array<double, Exec>& size,
                                    const Array<double, Exec>& value, double width) {
  return {make_point_cells(exec, point, width), point, size, value};
}

/// The values at points `to` [m, 3]; where the nearest source is farther than its element reaches,
/// its value. Does not fence.
template<class Exec>
Array<double, Exec> interpolate_near(const Exec& exec, const NearSources<Exec>& from,
                                     const Array<double, Exec>& to) {
  const std::int64_t count = to.extent(0) / 3;
  const auto result = make_uninitialized<double>(exec, count, "ossatura::near_values");
  Kokkos::parallel_for("ossatura::interpolate_near", range(exec, count),
                       detail::InterpolateNear<Exec>{from, to, result});
  return result;
}

} // namespace ossatura
