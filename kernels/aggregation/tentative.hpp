// SPDX-License-Identifier: Apache-2.0
// The tentative prolongator of smoothed aggregation has the near-null space of an operator,
// aggregate by aggregate: modes = P0 coarse_modes, P0 with orthonormal columns [1]. For elastic
// bodies the near-null space is that of the rigid motions.
//
// [1] P. Vanek, J. Mandel, M. Brezina. Algebraic multigrid by smoothed aggregation for second and
//     fourth order elliptic problems. Computing 56 (1996) 179-196, doi:10.1007/BF02238511.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/mesh/box.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>

#include <algorithm>
#include <cstdint>

namespace ossatura {

template<class Exec>
struct TentativeProlongator {
  Array<double, Exec> value;         ///< [num_rows, height, 6] rows of P0, each in the six columns
                                     ///< of its aggregate; zero without one
  Array<double, Exec> coarse_modes;  ///< [count, 6, 6]
  Array<std::uint8_t, Exec> dropped; ///< [count] bit k: column k is zero, being a combination of
                                     ///< those before it
};

namespace detail {

template<class Exec>
struct RigidModes {
  ArrayPointer<const double> point;
  ArrayPointer<const std::uint8_t> held;
  double centre[3], scale;
  ArrayPointer<double> mode;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int c = 0; c < 3; ++c) {
      const bool free = !(held(i) >> c & 1);
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      double row[6] = {0, 0, 0, 0, 0, 0};
      row[c] = free ? 1 : 0;
      // Component c of axis x position: that about e turns d backwards into c, that about d turns
      // e.
      row[3 + e] = free ? -scale * (point(3 * i + d) - centre[d]) : 0;
      row[3 + d] = free ? scale * (point(3 * i + e) - centre[e]) : 0;
      for (int k = 0; k < 6; ++k)
        mode(18 * i + 6 * c + k) = row[k];
    }
  }
};

/// Rows without an aggregate go to target `count`, and their values become zero.
template<class Exec>
struct AggregateOrNone {
  int count, height;
  ArrayPointer<const int> aggregate;
  ArrayPointer<int> target;
  ArrayPointer<double> value;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    const int a = aggregate(row);
    target(row) = a < 0 ? count : a;
    for (int k = 0; a < 0 && k < 6 * height; ++k)
      value(6 * height * row + k) = 0;
  }
};

/// Modified Gram-Schmidt of the six columns of an aggregate, in place. Lanes take its rows.
template<class Exec>
struct OrthonormaliseAggregate {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 32 : 1;

  int height;
  ArrayPointer<const int> begin, member;
  ArrayPointer<double> value, coarse_modes;
  ArrayPointer<std::uint8_t> dropped;

  /// Entry k of row i of the aggregate whose members begin at `first`.
  KOKKOS_FORCEINLINE_FUNCTION double& entry(int first, int i, int k) const {
    const std::int64_t row = member(first + i / height);
    return value(6 * (height * row + i % height) + k);
  }
  KOKKOS_FUNCTION double product(const Member& team, int first, int rows, int j, int k) const {
    double total = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, rows),
        [&](int i, double& sum) { sum += entry(first, i, j) * entry(first, i, k); }, total);
    return total;
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int a = team.league_rank(), first = begin(a);
    const int rows = height * (begin(a + 1) - first);
    double r[36] = {};
    unsigned zero = 0;
    for (int k = 0; k < 6; ++k) {
      const double full = product(team, first, rows, k, k);
      for (int pass = 0; pass < 2; ++pass) // the second for what rounding left
        for (int j = 0; j < k; ++j) {
          const double part = product(team, first, rows, j, k);
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows),
                               [&](int i) { entry(first, i, k) -= part * entry(first, i, j); });
          r[6 * j + k] += part;
        }
      const double left = product(team, first, rows, k, k);
      const bool drop = !(left > 1e-16 * full);
      const double norm = drop ? 0 : Kokkos::sqrt(left);
      r[7 * k] = norm;
      zero |= unsigned(drop) << k;
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, rows), [&](int i) {
        double& x = entry(first, i, k);
        x = drop ? 0 : x / norm;
      });
    }
    Kokkos::single(Kokkos::PerThread(team), [&] {
      for (int k = 0; k < 36; ++k)
        coarse_modes(36 * std::int64_t(a) + k) = r[k];
      dropped(a) = std::uint8_t(zero);
    });
  }
};

} // namespace detail

/// The six rigid motions [num_points, 3, 6] about the centre of `box`, which is around the points
/// [num_points, 3]; rotations by such angles that they move points about as far as the
/// translations. Zero where bit c of `held` [num_points] is set. Does not fence.
template<class Exec>
Array<double, Exec> rigid_modes(const Exec& exec, const Array<double, Exec>& point, const Box& box,
                                const Array<std::uint8_t, Exec>& held) {
  const std::int64_t n = std::int64_t(held.extent(0));
  OSSATURA_REQUIRE(std::int64_t(point.extent(0)) == 3 * n,
                   n << " marks for " << point.extent(0) << " coordinates");
  const double half = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]}) / 2;
  const auto mode = make_uninitialized<double>(exec, 18 * n, "ossatura::aggregation::rigid_modes");
  Kokkos::parallel_for("ossatura::rigid_modes", range(exec, n),
                       detail::RigidModes<Exec>{
                           point,
                           held,
                           {(box[0] + box[3]) / 2, (box[1] + box[4]) / 2, (box[2] + box[5]) / 2},
                           half > 0 ? 1 / half : 1,
                           mode});
  return mode;
}

/// Of `count` aggregates; aggregate [num_rows], -1 where a row has none. `modes` [num_rows, height,
/// 6], with zeros where components are held, becomes the `value` of the result. The same for any
/// number of threads. Fences.
template<class Exec>
TentativeProlongator<Exec>
make_tentative_prolongator(const Exec& exec, const Array<int, Exec>& aggregate, int count,
                           int height, const Array<double, Exec>& modes) {
  const std::int64_t num_rows = std::int64_t(aggregate.extent(0));
  OSSATURA_REQUIRE(std::int64_t(modes.extent(0)) == 6 * height * num_rows,
                   modes.extent(0) << " entries of modes");
  TentativeProlongator<Exec> tentative{
      modes,
      make_uninitialized<double>(exec, 36 * std::int64_t(count), "ossatura::aggregation::modes"),
      make_uninitialized<std::uint8_t>(exec, count, "ossatura::aggregation::dropped")};
  const auto target = make_uninitialized<int>(exec, num_rows, "ossatura::aggregation::target");
  Kokkos::parallel_for("ossatura::aggregate_or_none", range(exec, num_rows),
                       detail::AggregateOrNone<Exec>{count, height, aggregate, target, modes});
  const InverseMap<Exec> rows = invert_map(exec, target, count);
  using Kernel = detail::OrthonormaliseAggregate<Exec>;
  Kokkos::parallel_for(
      "ossatura::orthonormalise_aggregate", Kokkos::TeamPolicy<Exec>(exec, count, 1, Kernel::lanes),
      Kernel{height, rows.begin, rows.member, modes, tentative.coarse_modes, tentative.dropped});
  fence(exec, "ossatura::make_tentative_prolongator"); // target and rows go
  return tentative;
}

} // namespace ossatura
