// SPDX-License-Identifier: Apache-2.0
// A box has faces normal to the axes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ossatura {

using Box = std::array<double, 6>; ///< lower and upper corner

/// The box around points [num_points, 3].
Box bounding_box(const double* point, std::size_t num_points);

inline Box bounding_box(const std::vector<double>& point) {
  return bounding_box(point.data(), point.size() / 3);
}

/// Lengths that are rounding of coordinates in a box: of numbers with six digits, as files of text
/// have them, and of those in single precision, which is by their size; at most about 1e-4 of the
/// box.
double rounding_of(const Box& box);

/// Whether x is in it, surface included; lengths up to `slack` are rounding.
bool contains(const Box& box, const double* x, double slack);

/// "0 to 2, 0 to 1, -1 to 1".
std::string span_text(const Box& box);

} // namespace ossatura
