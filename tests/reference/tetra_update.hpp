// SPDX-License-Identifier: Apache-2.0
// Oracle: the earliest arrival at a vertex of a tetrahedron over its opposite face, by nested
// golden sections. Slow, without cases, from coordinates and the metric.
#pragma once

#include <algorithm>
#include <cmath>

namespace reference {

/// The least value of a convex function on [0, 1], to the square of the last width where it is
/// smooth.
template<class Function>
double golden_section(const Function& f) {
  const double ratio = 0.6180339887498949;
  double left = 0, right = 1;
  double a = right - ratio * (right - left), b = left + ratio * (right - left);
  double at_a = f(a), at_b = f(b);
  double least = std::min({f(0), f(1), at_a, at_b});
  while (right - left > 1e-10) {
    if (at_a <= at_b) {
      right = b;
      b = a;
      at_b = at_a;
      a = right - ratio * (right - left);
      at_a = f(a);
      least = std::min(least, at_a);
    } else {
      left = a;
      a = b;
      at_a = at_b;
      b = left + ratio * (right - left);
      at_b = f(b);
      least = std::min(least, at_b);
    }
  }
  return least;
}

/// Length of v in the metric G, symmetric.
inline double metric_length(const double (&G)[3][3], const double (&v)[3]) {
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      square += v[i] * G[i][j] * v[j];
  return std::sqrt(square);
}

/// min over the points of the face `base` of (time interpolated there + length to `target`).
inline double brute_force_update(const double (&base)[3][3], const double (&time)[3],
                                 const double (&target)[3], const double (&G)[3][3]) {
  const auto arrival = [&](const double(&weight)[3]) {
    double to_target[3], sum = 0;
    for (int n = 0; n < 3; ++n)
      sum += weight[n] * time[n];
    for (int axis = 0; axis < 3; ++axis) {
      to_target[axis] = target[axis];
      for (int n = 0; n < 3; ++n)
        to_target[axis] -= weight[n] * base[n][axis];
    }
    return sum + metric_length(G, to_target);
  };
  // A line through the face for each first weight, a point of the line for each second one.
  return golden_section([&](double first) {
    return golden_section([&](double part) {
      const double weight[3] = {first, (1 - first) * part, (1 - first) * (1 - part)};
      return arrival(weight);
    });
  });
}

} // namespace reference
