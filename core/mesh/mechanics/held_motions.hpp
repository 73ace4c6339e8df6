// SPDX-License-Identifier: Apache-2.0
// HeldMotions finds the rigid motions of a body that its held components leave free.
#pragma once

#include <array>
#include <string>

namespace ossatura {

/// Sum of r r^T over the held components of a body, r the values there of its six rigid motions:
/// three along the axes, three about them through `centre`, in units of `size`.
struct HeldMotions {
  double centre[3] = {}, size = 0;
  double gram[6][6] = {};

  /// The value of each motion at the point x, in the direction `component`.
  std::array<double, 6> at(const double* x, int component) const;

  void add(const double* x, int component);

  /// How many of the motions are held, of those in `motions` (bit i: motion i).
  int rank(unsigned motions = 63) const;

  /// The motions left free, in words: "along x, about z"; empty if all are held.
  std::string free_motions() const;

  /// Coefficients of the rigid motion whose values are next to prescribed ones, in least squares;
  /// `load` is the sum of r times the value prescribed.
  std::array<double, 6> fit(const std::array<double, 6>& load) const;
};

} // namespace ossatura
