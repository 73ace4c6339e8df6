// SPDX-License-Identifier: Apache-2.0
// A ForceBalance adds up all forces on a body at rest, those of its supports included, and the work
// that they do. The sums of force and moment are zero, and the work is twice the strain energy, as
// far as the displacements solve their equations.
//
// A residual cannot show that for itself: it is relative to its start, which stiff parts dominate,
// while soft ones may carry the load.
#pragma once

#include <ossatura/core/base/result_check.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace ossatura {

struct ForceBalance {
  std::array<double, 3> force{}, moment{}; ///< sums
  double force_scale = 0;                  ///< sum of |force| over the nodes
  double moment_scale = 0;                 ///< sum of |arm| |force|
  double work = 0;                         ///< sum of force . displacement
  double work_scale = 0;                   ///< sum of |force . displacement| over the nodes
  double energy = 0;                       ///< strain energy, found from the elements

  /// The force on a node at `arm` from any one point, which moved by `u`.
  void add(const double (&arm)[3], const double (&f)[3], const double (&u)[3]) {
    double size = 0, distance = 0, product = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t a = (d + 1) % 3, b = (d + 2) % 3;
      force[d] += f[d];
      moment[d] += arm[a] * f[b] - arm[b] * f[a];
      size += f[d] * f[d];
      distance += arm[d] * arm[d];
      product += f[d] * u[d];
    }
    force_scale += std::sqrt(size);
    moment_scale += std::sqrt(size * distance);
    work += product;
    work_scale += std::fabs(product);
  }

  // Relative to the scales; 0 where there is no force.
  double force_error() const { return relative(largest(force), force_scale); }
  double moment_error() const { return relative(largest(moment), moment_scale); }
  double energy_error() const {
    return relative(std::fabs(work - 2 * energy), std::max(work_scale, 2 * std::fabs(energy)));
  }

private:
  static double largest(const std::array<double, 3>& v) {
    const double sum = std::fabs(v[0]) + std::fabs(v[1]) + std::fabs(v[2]);
    return std::isnan(sum) ? sum : std::max({std::fabs(v[0]), std::fabs(v[1]), std::fabs(v[2])});
  }
  static double relative(double error, double scale) { return error == 0 ? 0 : error / scale; }
};

/// The most that the errors of a balance may be for a solve with this tolerance on its residual.
/// The forces that are missing are the sum of the residual over the free components. It is relative
/// to the start of the iteration, not to the forces, and is summed over many nodes: sound solves
/// are out of balance by up to some ten tolerances (trabecular bone, torsion). A factor of 1000
/// leaves room for those, and at 1e-6 finds 0.1 % of a force. 1e-5 is rounding where stiff
/// parts are in the way of a load (double precision, contrast 1e9); from 0.1 on no tolerance makes
/// forces right.
inline double balance_bound(double tolerance) {
  return std::clamp(1000 * tolerance, 1e-5, 0.1);
}

} // namespace ossatura
