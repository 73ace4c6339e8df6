// SPDX-License-Identifier: Apache-2.0
// These kernels measure volumes, centroids and edges of hexahedra.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

/// Sizes of each element of a mesh; the centroid is the mean of the corners.
template<class Exec>
struct HexaGeometry {
  Array<double, Exec> volume;   ///< [num_elem], m^3
  Array<double, Exec> centroid; ///< [num_elem, 3]
  double total_volume = 0;
  double mean_edge = 0; ///< length over all edges of all elements
};

namespace detail {
template<class Exec>
struct MeasureHexa {
  HexaArrays<Exec> arrays;
  Array<double, Exec> volume, centroid;

  /// own [2]: volume, length of edges.
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    double x[24];
    arrays.load_points(int(e), x);
    const HexaModes modes = hexa_modes(x);
    double sum = 0;
    for (int g = 0; g < 8; ++g)
      sum += determinant(gauss_jacobian(modes, g));
    volume(e) = sum;
    own[0] += sum;
    for (int c = 0; c < 3; ++c) {
      double mean = 0;
      for (int a = 0; a < 8; ++a)
        mean += x[3 * a + c] / 8;
      centroid(3 * e + c) = mean;
    }
    for (int a = 0; a < 4; ++a)
      own[1] += length(x, a, (a + 1) % 4) + length(x, a + 4, 4 + (a + 1) % 4) + length(x, a, a + 4);
  }
  KOKKOS_FUNCTION static double length(const double (&x)[24], int a, int b) {
    double square = 0;
    for (int c = 0; c < 3; ++c)
      square += (x[3 * b + c] - x[3 * a + c]) * (x[3 * b + c] - x[3 * a + c]);
    return sqrt(square);
  }
};
} // namespace detail

/// Fences.
template<class Exec>
HexaGeometry<Exec> measure_hexas(const Exec& exec, const HexaArrays<Exec>& arrays) {
  HexaGeometry<Exec> geometry;
  const std::int64_t n = arrays.num_elem;
  geometry.volume = make_uninitialized<double>(exec, n, "ossatura::hexa::volume");
  geometry.centroid = make_uninitialized<double>(exec, 3 * n, "ossatura::hexa::centroid");
  const auto sums =
      part_sums<2>(exec, "ossatura::measure_hexas", n,
                   detail::MeasureHexa<Exec>{arrays, geometry.volume, geometry.centroid});
  geometry.total_volume = sums[0];
  geometry.mean_edge = sums[1] / (12 * double(n));
  return geometry;
}

} // namespace ossatura
