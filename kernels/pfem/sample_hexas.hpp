// SPDX-License-Identifier: Apache-2.0
// sample_hexas evaluates displacement, stress and energy of hierarchical hexahedra at the points of
// a grid in each element, for pictures and for comparison with known solutions.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

namespace ossatura {

/// The one-dimensional functions at the places xi along an axis that a grid has.
template<class Exec>
struct HexaGrid {
  int points = 0;                        ///< along each axis
  Array<double, Exec> value, derivative; ///< [points, order + 1]
};

/// Fences.
template<class Exec>
HexaGrid<Exec> make_hexa_grid(const Exec& exec, const HexaBatch<Exec>& batch,
                              const std::vector<double>& xi) {
  const std::size_t stride = std::size_t(batch.order) + 1;
  std::vector<double> value(xi.size() * stride), derivative(value.size());
  for (std::size_t q = 0; q < xi.size(); ++q)
    evaluate_basis(batch.order, batch.scaling, xi[q], &value[q * stride], &derivative[q * stride]);
  return {int(xi.size()), upload(exec, "ossatura::hexa_grid::value", value),
          upload(exec, "ossatura::hexa_grid::derivative", derivative)};
}

/// Samples of the elements of a range, one after the other, points numbered as those of HexaBatch.
template<class Exec>
struct HexaSamples {
  Array<double, Exec> displacement; ///< m, [n, 3]
  Array<double, Exec> stress;       ///< Pa, [n, 6]: xx yy zz yz zx xy
  Array<double, Exec> energy;       ///< J / m^3, [n]
};

namespace detail {
template<class Exec>
struct SampleHexas {
  HexaGrid<Exec> grid;
  Array<int, Exec> signed_mode, mode;
  Array<double, Exec> elasticity, jacobian, u;
  HexaSamples<Exec> samples;
  std::int64_t begin, elem_stride;
  int num_modes, stride;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int n = grid.points, cube = n * n * n;
    const std::int64_t elem = begin + i / cube;
    const int q = int(i % cube), q0 = q / (n * n), q1 = q / n % n, q2 = q % n;
    double value[3] = {}, slope[3][3] = {}; // slope[c][k] = du_c / dxi_k
    for (int a = 0; a < num_modes; ++a) {
      const int code = signed_mode(elem * num_modes + a);
      if (code < 0)
        continue;
      const int k0 = q0 * stride + mode(3 * a), k1 = q1 * stride + mode(3 * a + 1),
                k2 = q2 * stride + mode(3 * a + 2);
      const double sign = (code & 1) != 0 ? -1 : 1;
      const double v0 = sign * grid.value(k0), v1 = grid.value(k1), v2 = grid.value(k2);
      const double d[3] = {sign * grid.derivative(k0) * v1 * v2, v0 * grid.derivative(k1) * v2,
                           v0 * v1 * grid.derivative(k2)};
      for (int c = 0; c < 3; ++c) {
        const double x = u(3 * std::int64_t(code >> 1) + c);
        value[c] += v0 * v1 * v2 * x;
        for (int k = 0; k < 3; ++k)
          slope[c][k] += d[k] * x;
      }
    }
    double gradient[3][3];
    to_positions(i, slope, gradient);
    const double strain[6] = {gradient[0][0],
                              gradient[1][1],
                              gradient[2][2],
                              gradient[1][2] + gradient[2][1],
                              gradient[2][0] + gradient[0][2],
                              gradient[0][1] + gradient[1][0]};
    double energy = 0;
    for (int r = 0; r < 6; ++r) {
      double stress = 0;
      for (int s = 0; s < 6; ++s)
        stress += elasticity(elem * elem_stride + elasticity_entry(r, s)) * strain[s];
      samples.stress(6 * i + r) = stress;
      energy += 0.5 * stress * strain[r];
    }
    samples.energy(i) = energy;
    for (int c = 0; c < 3; ++c)
      samples.displacement(3 * i + c) = value[c];
  }

  /// gradient[c][j] = du_c / dx_j = sum over k of slope[c][k] dxi_k / dx_j.
  KOKKOS_FUNCTION void to_positions(std::int64_t i, const double (&slope)[3][3],
                                    double (&gradient)[3][3]) const {
    double j[3][3], cofactor[3][3];
    for (int k = 0; k < 9; ++k)
      j[k / 3][k % 3] = jacobian(9 * i + k);
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) {
        const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        cofactor[r][k] = j[r1][k1] * j[r2][k2] - j[r1][k2] * j[r2][k1];
      }
    const double inverse =
        1 / (j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2]);
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r)
        gradient[c][r] = inverse * (slope[c][0] * cofactor[r][0] + slope[c][1] * cofactor[r][1] +
                                    slope[c][2] * cofactor[r][2]);
  }
};
} // namespace detail

/// Of the elements begin .. end - 1 of the batch. `jacobian` [(end - begin) grid.points^3, 9]:
/// dx_i / dxi_k there; where one is singular, stress and energy are not finite. `u` [..., 3] by
/// modes. The batch has its list of modes, and D that is the same all over an element; throws
/// std::invalid_argument where it has not. Does not fence.
template<class Exec>
void sample_hexas(const Exec& exec, const HexaBatch<Exec>& batch, const HexaGrid<Exec>& grid,
                  std::int64_t begin, std::int64_t end, const Array<double, Exec>& jacobian,
                  const Array<double, Exec>& u, const HexaSamples<Exec>& samples) {
  const std::int64_t n = (end - begin) * grid.points * grid.points * grid.points;
  OSSATURA_REQUIRE(begin >= 0 && begin <= end && end <= batch.num_elem,
                   "elements " << begin << " to " << end << " of " << batch.num_elem);
  OSSATURA_REQUIRE(std::int64_t(batch.signed_mode.extent(0)) == batch.num_elem * batch.num_modes,
                   "sample_hexas: the batch has no list of modes");
  OSSATURA_REQUIRE(batch.point_stride == 0, "sample_hexas: D varies within elements");
  OSSATURA_REQUIRE(std::int64_t(jacobian.extent(0)) >= 9 * n &&
                       std::int64_t(samples.displacement.extent(0)) >= 3 * n &&
                       std::int64_t(samples.stress.extent(0)) >= 6 * n &&
                       std::int64_t(samples.energy.extent(0)) >= n,
                   "sample_hexas: arrays are too short for " << n << " points");
  Kokkos::parallel_for("ossatura::sample_hexas", range(exec, n),
                       detail::SampleHexas<Exec>{
                           grid, batch.signed_mode, batch.mode, batch.elasticity, jacobian, u,
                           samples, begin, batch.elem_stride, batch.num_modes, batch.order + 1});
}

} // namespace ossatura
