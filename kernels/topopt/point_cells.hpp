// SPDX-License-Identifier: Apache-2.0
// Point cells sort points into the cells of a box, for the search of points within a distance.
#pragma once

#include <ossatura/kernels/algebra/offsets.hpp>
#include <ossatura/kernels/algebra/sorting/keys.hpp>

#include <cmath>

namespace ossatura {

/// Cell (i, j, k) has number i + cells[0] (j + cells[1] k), and its points are the entries
/// begin(number) .. begin(number + 1) of member, which ascend.
template<class Exec>
struct PointCells {
  double low[3], width; ///< of the box, of a cell
  int cells[3];
  Array<int, Exec> begin;  ///< [number of cells + 1]
  Array<int, Exec> member; ///< [num_points]

  /// Along an axis, inside the box or the nearest.
  KOKKOS_FUNCTION int cell_at(int axis, double x) const {
    const double place = floor((x - low[axis]) / width);
    return place < 0 ? 0 : place >= cells[axis] ? cells[axis] - 1 : int(place);
  }
  KOKKOS_FUNCTION int number(int i, int j, int k) const {
    return i + cells[0] * (j + cells[1] * k);
  }
};

namespace detail {
template<class Exec>
struct NumberCells {
  PointCells<Exec> grid;
  Array<double, Exec> point;
  Array<std::uint32_t, Exec> key;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int number = grid.number(grid.cell_at(0, point(3 * i)), grid.cell_at(1, point(3 * i + 1)),
                                   grid.cell_at(2, point(3 * i + 2)));
    key(i) = std::uint32_t(number);
    Kokkos::atomic_add(&grid.begin(number), 1);
  }
};

template<class Exec>
struct BoundPoints {
  Array<double, Exec> point;
  int axis;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& low, double& high) const {
    const double x = point(3 * i + axis);
    low = Kokkos::min(low, x);
    high = Kokkos::max(high, x);
  }
};
} // namespace detail

/// Sorts points [n, 3] into cells that are `width` > 0 wide, or wider where that would make many
/// more cells than points. Fences.
template<class Exec>
PointCells<Exec> make_point_cells(const Exec& exec, const Array<double, Exec>& point,
                                  double width) {
  PointCells<Exec> grid;
  const std::int64_t n = point.extent(0) / 3;
  double extent[3], volume = 1;
  for (int axis = 0; axis < 3; ++axis) {
    double low = 0, high = 0;
    Kokkos::parallel_reduce("ossatura::make_point_cells::bound", range(exec, n),
                            detail::BoundPoints<Exec>{point, axis}, Kokkos::Min<double>(low),
                            Kokkos::Max<double>(high));
    fence(exec, "ossatura::make_point_cells");
    grid.low[axis] = low;
    extent[axis] = high - low;
    volume *= std::max(extent[axis], width);
  }
  grid.width = std::max(width, std::cbrt(volume / (4.0 * double(n))));
  std::int64_t num_cells = 1;
  for (int axis = 0; axis < 3; ++axis) {
    grid.cells[axis] = int(extent[axis] / grid.width) + 1;
    num_cells *= grid.cells[axis];
  }
  grid.begin = make_zeros<int>(exec, num_cells + 1, "ossatura::point_cells::begin");
  const auto key = make_uninitialized<std::uint32_t>(exec, n, "ossatura::point_cells::key");
  Kokkos::parallel_for("ossatura::make_point_cells::number", range(exec, n),
                       detail::NumberCells<Exec>{grid, point, key});
  lengths_to_begins(exec, grid.begin, "points");
  grid.member = sorted_order(exec, key, bits_for(num_cells));
  return grid;
}

} // namespace ossatura
