// SPDX-License-Identifier: Apache-2.0
// The cone filter takes weighted means over the neighbourhood of elements [1, 2]. With the distance
// d_ij of centroids and the volumes v_j,
//   w_ij = max(0, R - d_ij),   y_i = sum_j w_ij v_j x_j / S_i,   S_i = sum_j w_ij v_j.
// On uniform meshes these are the weights of the papers. Mirror images of elements count as
// elements of their own, which keeps w symmetric: chain rules need no transposed matrix.
//
// [1] T. Bruns, D. Tortorelli. Topology optimization of non-linear elastic structures and compliant
//     mechanisms. Comput. Methods Appl. Mech. Eng. 190 (2001) 3443-3459,
//     doi:10.1016/S0045-7825(00)00278-4.
// [2] O. Sigmund. On the design of compliant mechanisms using topology optimization. Mech. Struct.
//     Mach. 25 (1997) 493-524, doi:10.1080/08905459708945415.
#pragma once

#include <ossatura/kernels/topopt/point_cells.hpp>

namespace ossatura {

/// Up to two planes normal to each axis.
struct MirrorPlanes {
  int count[3] = {0, 0, 0};
  double place[3][2] = {{0, 0}, {0, 0}, {0, 0}};
};

/// Rows are elements; row i has entries begin(i) .. begin(i + 1), in an order that depends on the
/// mesh alone. An element comes up more than once in a row if mirror images of it are near.
template<class Exec>
struct ConeFilter {
  std::int64_t num_elem = 0;
  Array<std::int64_t, Exec> begin; ///< [num_elem + 1]
  Array<int, Exec> column;
  Array<double, Exec> weight;  ///< w
  Array<double, Exec> volume;  ///< v
  Array<double, Exec> row_sum; ///< S
};

namespace detail {

/// Calls visit(j, w) for the neighbours of element i.
template<class Exec>
struct ConeNeighbours {
  PointCells<Exec> grid;
  MirrorPlanes mirrors;
  Array<double, Exec> centroid;
  double radius;

  /// Component `axis` of the image: 0 the element itself, else by a plane.
  KOKKOS_FUNCTION double image(double x, int axis, int which) const {
    return which == 0 ? x : 2 * mirrors.place[axis][which - 1] - x;
  }

  template<class Visit>
  KOKKOS_FUNCTION void operator()(std::int64_t i, const Visit& visit) const {
    for (int mz = 0; mz <= mirrors.count[2]; ++mz)
      for (int my = 0; my <= mirrors.count[1]; ++my)
        for (int mx = 0; mx <= mirrors.count[0]; ++mx) {
          const double x[3] = {image(centroid(3 * i), 0, mx), image(centroid(3 * i + 1), 1, my),
                               image(centroid(3 * i + 2), 2, mz)};
          visit_near(x, visit);
        }
  }

  template<class Visit>
  KOKKOS_FUNCTION void visit_near(const double (&x)[3], const Visit& visit) const {
    int first[3], last[3];
    for (int axis = 0; axis < 3; ++axis) {
      if (x[axis] + radius < grid.low[axis] ||
          x[axis] - radius > grid.low[axis] + grid.width * grid.cells[axis])
        return;
      first[axis] = grid.cell_at(axis, x[axis] - radius);
      last[axis] = grid.cell_at(axis, x[axis] + radius);
    }
    for (int ck = first[2]; ck <= last[2]; ++ck)
      for (int cj = first[1]; cj <= last[1]; ++cj)
        for (int ci = first[0]; ci <= last[0]; ++ci) {
          const int cell = grid.number(ci, cj, ck);
          for (int m = grid.begin(cell); m < grid.begin(cell + 1); ++m) {
            const int j = grid.member(m);
            double square = 0;
            for (int axis = 0; axis < 3; ++axis) {
              const double way = centroid(3 * std::int64_t(j) + axis) - x[axis];
              square += way * way;
            }
            const double w = radius - sqrt(square);
            if (w > 1e-9 * radius) // less is rounding
              visit(j, w);
          }
        }
  }
};

template<class Exec>
struct CountConeNeighbours {
  ConeNeighbours<Exec> neighbours;
  Array<std::int64_t, Exec> length;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t count = 0;
    neighbours(i, [&](int, double) { ++count; });
    length(i) = count;
  }
};

template<class Exec>
struct BeginOfRow {
  std::int64_t num_rows;
  Array<std::int64_t, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const std::int64_t count = i < num_rows ? begin(i) : 0; // before it is overwritten
    if (final)
      begin(i) = sum;
    sum += count;
  }
};

template<class Exec>
struct FillNeighbours {
  ConeNeighbours<Exec> neighbours;
  ConeFilter<Exec> filter;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t next = filter.begin(i);
    double sum = 0;
    neighbours(i, [&](int j, double w) {
      filter.column(next) = j;
      filter.weight(next) = w;
      sum += w * filter.volume(j);
      ++next;
    });
    filter.row_sum(i) = sum;
  }
};

/// The summand over the neighbours of an element, and the use of the sum.
enum class ConeSum { mean, transposed, sensitivity };

template<class Exec, ConeSum what>
struct ConeTerms {
  ConeFilter<Exec> filter;
  Array<double, Exec> x, density;

  KOKKOS_FUNCTION double term(int j, double w) const {
    if constexpr (what == ConeSum::mean)
      return w * filter.volume(j) * x(j);
    else if constexpr (what == ConeSum::transposed)
      return w * x(j) / filter.row_sum(j);
    else
      return w * density(j) * x(j); // w v x (dc / v)
  }
  KOKKOS_FUNCTION double result(std::int64_t i, double sum) const {
    if constexpr (what == ConeSum::mean)
      return sum / filter.row_sum(i);
    else if constexpr (what == ConeSum::transposed)
      return sum * filter.volume(i);
    else
      return sum * filter.volume(i) / (filter.row_sum(i) * (density(i) > 1e-3 ? density(i) : 1e-3));
  }
};

template<class Exec, ConeSum what>
struct ApplyCone {
  static constexpr bool device = BackendTraits<Exec>::is_device;
  static constexpr int rows_per_team = 16, lanes = 8; // on devices
  ConeTerms<Exec, what> terms;
  Array<double, Exec> y;

  KOKKOS_FUNCTION double term(std::int64_t entry) const {
    return terms.term(terms.filter.column(entry), terms.filter.weight(entry));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t entry = terms.filter.begin(i); entry < terms.filter.begin(i + 1); ++entry)
      sum += term(entry);
    y(i) = terms.result(i, sum);
  }
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t i = std::int64_t(team.league_rank()) * int(rows_per_team) + team.team_rank();
    if (i >= terms.filter.num_elem)
      return;
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, terms.filter.begin(i + 1) - terms.filter.begin(i)),
        [&](std::int64_t k, double& partial) { partial += term(terms.filter.begin(i) + k); }, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { y(i) = terms.result(i, sum); });
  }
};

template<ConeSum what, class Exec>
void apply_cone(const char* label, const Exec& exec, const ConeFilter<Exec>& filter,
                const Array<double, Exec>& x, const Array<double, Exec>& density,
                const Array<double, Exec>& y) {
  using Kernel = ApplyCone<Exec, what>;
  const Kernel kernel{{filter, x, density}, y};
  if constexpr (Kernel::device) {
    const int rows = Kernel::rows_per_team;
    Kokkos::parallel_for(label,
                         Kokkos::TeamPolicy<Exec>(exec, int((filter.num_elem + rows - 1) / rows),
                                                  rows, int(Kernel::lanes)),
                         kernel);
  } else {
    Kokkos::parallel_for(label, range(exec, filter.num_elem), kernel);
  }
}

} // namespace detail

/// Of elements with the given centroids [num_elem, 3] and volumes [num_elem]; `radius` > 0. Images
/// of images in parallel planes do not count: these are to be no nearer than `radius`. Fences.
template<class Exec>
ConeFilter<Exec> make_cone_filter(const Exec& exec, const Array<double, Exec>& centroid,
                                  const Array<double, Exec>& volume, double radius,
                                  const MirrorPlanes& mirrors = {}) {
  OSSATURA_REQUIRE(radius > 0 && std::isfinite(radius), "a filter of radius " << radius);
  OSSATURA_REQUIRE(centroid.extent(0) == 3 * volume.extent(0) && volume.extent(0) > 0,
                   centroid.extent(0) << " coordinates of " << volume.extent(0) << " centroids");
  for (int axis = 0; axis < 3; ++axis)
    OSSATURA_REQUIRE(mirrors.count[axis] < 2 ||
                         std::fabs(mirrors.place[axis][1] - mirrors.place[axis][0]) >= radius,
                     "mirrors normal to axis " << axis << " are nearer than the radius " << radius);
  ConeFilter<Exec> filter;
  filter.num_elem = volume.extent(0);
  filter.volume = volume;
  const detail::ConeNeighbours<Exec> neighbours{make_point_cells(exec, centroid, radius), mirrors,
                                                centroid, radius};
  const std::int64_t n = filter.num_elem;
  filter.begin = make_uninitialized<std::int64_t>(exec, n + 1, "ossatura::cone_filter::begin");
  Kokkos::parallel_for("ossatura::make_cone_filter::count", range(exec, n),
                       detail::CountConeNeighbours<Exec>{neighbours, filter.begin});
  std::int64_t entries = 0;
  Kokkos::parallel_scan("ossatura::make_cone_filter::begin", range(exec, n + 1),
                        detail::BeginOfRow<Exec>{n, filter.begin}, entries);
  fence(exec, "ossatura::make_cone_filter");
  filter.column = make_uninitialized<int>(exec, entries, "ossatura::cone_filter::column");
  filter.weight = make_uninitialized<double>(exec, entries, "ossatura::cone_filter::weight");
  filter.row_sum = make_uninitialized<double>(exec, n, "ossatura::cone_filter::row_sum");
  Kokkos::parallel_for("ossatura::make_cone_filter::fill", range(exec, n),
                       detail::FillNeighbours<Exec>{neighbours, filter});
  fence(exec, "ossatura::make_cone_filter");
  return filter;
}

/// y = the means of x; y must not alias x. Does not fence.
template<class Exec>
void apply_cone_filter(const Exec& exec, const ConeFilter<Exec>& filter,
                       const Array<double, Exec>& x, const Array<double, Exec>& y) {
  detail::apply_cone<detail::ConeSum::mean>("ossatura::apply_cone_filter", exec, filter, x, {}, y);
}

/// The transposed of the above: makes a gradient by the means one by x. No aliases. Does not fence.
template<class Exec>
void apply_cone_filter_transposed(const Exec& exec, const ConeFilter<Exec>& filter,
                                  const Array<double, Exec>& gradient,
                                  const Array<double, Exec>& result) {
  detail::apply_cone<detail::ConeSum::transposed>("ossatura::apply_cone_filter_transposed", exec,
                                                  filter, gradient, {}, result);
}

/// Per [2], with the gradient c by volume: result_i / v_i = sum_j w_ij x_j c_j / (S_i max(x_i,
/// 0.001)). No aliases. Does not fence.
template<class Exec>
void filter_sensitivities(const Exec& exec, const ConeFilter<Exec>& filter,
                          const Array<double, Exec>& density, const Array<double, Exec>& gradient,
                          const Array<double, Exec>& result) {
  detail::apply_cone<detail::ConeSum::sensitivity>("ossatura::filter_sensitivities", exec, filter,
                                                   gradient, density, result);
}

} // namespace ossatura
