// SPDX-License-Identifier: Apache-2.0
// A triangle grid finds triangles near a point. Each triangle is in the cell of a uniform grid that
// has its centre, and cells are so wide that a node reaches in a step no triangle outside the 27
// cells around the node. Cells are hashed to buckets [1], so that the grid has no bounds. Nothing
// here needs the host.
//
// [1] M. Teschner, B. Heidelberger, M. Mueller, D. Pomeranets, M. Gross. Optimized spatial hashing
//     for collision detection of deformable objects. VMV 2003, 47-54.
#pragma once

#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/softbody/contact/nearest_point.hpp>
#include <ossatura/kernels/softbody/contact/surfaces.hpp>

namespace ossatura {

/// Made anew for the positions of each step.
template<class Exec>
struct TriangleGrid {
  /// Of an object: least and greatest position and motion, of each axis; then the greatest distance
  /// of a triangle's corner from its centre.
  enum { lower = 0, upper = 3, least_motion = 6, most_motion = 9, radius = 12, num_bounds = 13 };
  int num_buckets = 0;        ///< a power of two
  Array<double, Exec> bounds; ///< [num_objects, num_bounds]
  Array<double, Exec> width;  ///< [2] of a cell, and how far a node can reach, m
  Array<int, Exec> bucket;    ///< [num_triangles]
  InverseMap<Exec> triangles; ///< of a bucket, in the order of threads
};

namespace detail {

KOKKOS_INLINE_FUNCTION int grid_cell(double x, double width) {
  const double cell = floor(x / width);
  return cell > -1e9 && cell < 1e9 ? int(cell) : 0; // of what flew away
}

KOKKOS_INLINE_FUNCTION int grid_bucket(int x, int y, int z, int num_buckets) {
  return int((unsigned(x) * 73856093u ^ unsigned(y) * 19349663u ^ unsigned(z) * 83492791u) &
             unsigned(num_buckets - 1));
}

template<class Exec>
struct MeasureObjects {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Grid = TriangleGrid<Exec>;
  static constexpr int threads = BackendTraits<Exec>::is_device ? 256 : 1;
  ContactSurfaces<Exec> surfaces;
  Array<double, Exec> x, x_free;
  Array<double, Exec> bounds;

  KOKKOS_FUNCTION static bool is_least(int b) { return b / 3 % 2 == 0 && b != int(Grid::radius); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int object = team.league_rank(), rank = team.team_rank(), size = team.team_size();
    const int n = int(Grid::num_bounds);
    const Scratch partial(team.team_scratch(0), n * size);
    double b[Grid::num_bounds];
    for (int k = 0; k < n; ++k)
      b[k] = k == int(Grid::radius) ? 0 : is_least(k) ? 1e300 : -1e300;
    for (int j = surfaces.surface_begin(object) + rank; j < surfaces.surface_begin(object + 1);
         j += size)
      for (int d = 0; d < 3; ++d) {
        const std::int64_t i = 3 * std::int64_t(surfaces.surface_node(j)) + d;
        const double p = x(i), motion = x_free(i) - p;
        b[d] = p < b[d] ? p : b[d];
        b[3 + d] = p > b[3 + d] ? p : b[3 + d];
        b[6 + d] = motion < b[6 + d] ? motion : b[6 + d];
        b[9 + d] = motion > b[9 + d] ? motion : b[9 + d];
      }
    for (int t = surfaces.triangle_begin(object) + rank; t < surfaces.triangle_begin(object + 1);
         t += size) {
      double centre[3] = {0, 0, 0};
      for (int k = 0; k < 3; ++k)
        for (int d = 0; d < 3; ++d)
          centre[d] += x(3 * std::int64_t(surfaces.triangle(3 * t + k)) + d) / 3;
      for (int k = 0; k < 3; ++k) {
        double square = 0;
        for (int d = 0; d < 3; ++d) {
          const double away = x(3 * std::int64_t(surfaces.triangle(3 * t + k)) + d) - centre[d];
          square += away * away;
        }
        const double distance = sqrt(square);
        b[12] = distance > b[12] ? distance : b[12];
      }
    }
    for (int k = 0; k < n; ++k)
      partial(k * size + rank) = b[k];
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int k) {
      double best = partial(k * size);
      for (int other = 1; other < size; ++other) {
        const double value = partial(k * size + other);
        if (is_least(k) ? value < best : value > best)
          best = value;
      }
      bounds(object * n + k) = best;
    });
  }
};

/// The cells of triangles, and how many each bucket has. The widths, which every thread works out,
/// are left by the first.
template<class Exec>
struct HashTriangles {
  using Grid = TriangleGrid<Exec>;
  ContactSurfaces<Exec> surfaces;
  Grid grid;
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    double radius = 0, relative = 0;
    for (int object = 0; object < surfaces.num_objects; ++object) {
      const double r = grid.bounds(object * int(Grid::num_bounds) + int(Grid::radius));
      radius = Kokkos::max(radius, r);
    }
    for (int d = 0; d < 3; ++d) {
      double least = 1e300, most = -1e300;
      for (int object = 0; object < surfaces.num_objects; ++object) {
        const double* b = &grid.bounds(object * int(Grid::num_bounds));
        least = b[6 + d] < least ? b[6 + d] : least;
        most = b[9 + d] > most ? b[9 + d] : most;
      }
      relative += (most - least) * (most - least);
    }
    // No two nodes come nearer in the step than by the diagonal of all motions.
    const double reach = surfaces.distance + sqrt(relative), width = radius + reach;
    if (t == 0) {
      grid.width(0) = width;
      grid.width(1) = reach;
    }
    int cell[3];
    for (int d = 0; d < 3; ++d) {
      double centre = 0;
      for (int k = 0; k < 3; ++k)
        centre += x(3 * std::int64_t(surfaces.triangle(3 * t + k)) + d) / 3;
      cell[d] = grid_cell(centre, width);
    }
    const int bucket = grid_bucket(cell[0], cell[1], cell[2], grid.num_buckets);
    grid.bucket(t) = bucket;
    Kokkos::atomic_add(&grid.triangles.begin(bucket), 1);
  }
};

/// The order in which a node may touch triangles; smaller is nearer. Squares of distances count in
/// single precision: at an edge, which two triangles have, rounding must not decide, but the height
/// above their planes: the larger one is on the right side.
struct NearestTriangle {
  float square;
  double height;
  int triangle = -1;

  KOKKOS_INLINE_FUNCTION bool nearer(const NearestTriangle& other) const {
    if (other.triangle < 0 || square != other.square)
      return other.triangle < 0 || square < other.square;
    return height != other.height ? height > other.height : triangle < other.triangle;
  }
};

} // namespace detail

/// A grid with room for all triangles of the surfaces.
template<class Exec>
TriangleGrid<Exec> make_triangle_grid(const Exec& exec, const ContactSurfaces<Exec>& surfaces) {
  TriangleGrid<Exec> grid;
  grid.num_buckets = 64;
  while (grid.num_buckets < 2 * surfaces.num_triangles())
    grid.num_buckets *= 2;
  grid.bounds =
      make_zeros<double>(exec, std::int64_t(surfaces.num_objects) * TriangleGrid<Exec>::num_bounds,
                         "ossatura::bounds");
  grid.width = make_zeros<double>(exec, 2, "ossatura::triangle_grid::width");
  grid.bucket = make_zeros<int>(exec, surfaces.num_triangles(), "ossatura::triangle_grid::bucket");
  grid.triangles.begin =
      make_zeros<int>(exec, grid.num_buckets + 1, "ossatura::triangle_grid::begin");
  grid.triangles.member =
      make_zeros<int>(exec, surfaces.num_triangles(), "ossatura::triangle_grid::member");
  return grid;
}

/// Puts the triangles where they are at x, for motions to x_free, [num_nodes, 3] both. Does not
/// fence.
template<class Exec>
void fill_triangle_grid(const Exec& exec, const ContactSurfaces<Exec>& surfaces,
                        const Array<double, Exec>& x, const Array<double, Exec>& x_free,
                        const TriangleGrid<Exec>& grid) {
  using Measure = detail::MeasureObjects<Exec>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  const std::size_t scratch =
      Measure::Scratch::shmem_size(TriangleGrid<Exec>::num_bounds * Measure::threads);
  Kokkos::parallel_for("ossatura::fill_triangle_grid::measure",
                       Policy(exec, surfaces.num_objects, int(Measure::threads))
                           .set_scratch_size(0, Kokkos::PerTeam(scratch)),
                       Measure{surfaces, x, x_free, grid.bounds});
  Kokkos::deep_copy(exec, grid.triangles.begin, 0);
  Kokkos::parallel_for("ossatura::fill_triangle_grid::hash", range(exec, surfaces.num_triangles()),
                       detail::HashTriangles<Exec>{surfaces, grid, x});
  Kokkos::parallel_scan("ossatura::fill_triangle_grid::end", range(exec, grid.num_buckets + 1),
                        detail::EndOfTarget<Exec>{grid.triangles.begin});
  Kokkos::parallel_for("ossatura::fill_triangle_grid::place", range(exec, surfaces.num_triangles()),
                       detail::PlaceMembers<Exec>{grid.bucket, grid.triangles});
}

/// The triangle of `object` that is nearest to the node i at x and within its reach; -1: none. Does
/// not depend on the order of triangles in buckets.
template<class Exec>
KOKKOS_INLINE_FUNCTION int nearest_triangle(const ContactSurfaces<Exec>& surfaces,
                                            const TriangleGrid<Exec>& grid, const double* x, int i,
                                            int object) {
  const double* p = x + 3 * std::int64_t(i);
  const double* bounds = &grid.bounds(object * int(TriangleGrid<Exec>::num_bounds));
  const double width = grid.width(0), reach = grid.width(1);
  int cell[3];
  for (int d = 0; d < 3; ++d) {
    if (p[d] < bounds[d] - reach || p[d] > bounds[3 + d] + reach)
      return -1;
    cell[d] = detail::grid_cell(p[d], width);
  }
  const int first = surfaces.triangle_begin(object), end = surfaces.triangle_begin(object + 1);
  detail::NearestTriangle best;
  for (int around = 0; around < 27; ++around) {
    const int bucket = detail::grid_bucket(cell[0] + around % 3 - 1, cell[1] + around / 3 % 3 - 1,
                                           cell[2] + around / 9 - 1, grid.num_buckets);
    for (int m = grid.triangles.begin(bucket); m < grid.triangles.begin(bucket + 1); ++m) {
      const int t = grid.triangles.member(m);
      if (t < first || t >= end)
        continue;
      const double* corner[3];
      for (int k = 0; k < 3; ++k)
        corner[k] = x + 3 * std::int64_t(surfaces.triangle(3 * t + k));
      double ab[3], ac[3], way[3];
      for (int d = 0; d < 3; ++d) {
        ab[d] = corner[1][d] - corner[0][d];
        ac[d] = corner[2][d] - corner[0][d];
      }
      const double n[3] = {ab[1] * ac[2] - ab[2] * ac[1], ab[2] * ac[0] - ab[0] * ac[2],
                           ab[0] * ac[1] - ab[1] * ac[0]};
      const double area2 = dot3(n, n);
      if (!(area2 > 0))
        continue; // its neighbours have its edges
      const NearestPoint nearest = nearest_point(corner[0], corner[1], corner[2], p);
      for (int d = 0; d < 3; ++d) {
        way[d] = p[d];
        for (int k = 0; k < 3; ++k)
          way[d] -= nearest.weight[k] * corner[k][d];
      }
      const double square = dot3(way, way), height = dot3(n, way);
      if (square > reach * reach)
        continue;
      const detail::NearestTriangle candidate{float(square), height * height / area2, t};
      if (candidate.nearer(best))
        best = candidate;
    }
  }
  return best.triangle;
}

} // namespace ossatura
