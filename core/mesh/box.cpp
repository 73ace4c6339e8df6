// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/box.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <sstream>

namespace ossatura {

Box bounding_box(const double* point, std::size_t num_points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr Box nothing{infinity, infinity, infinity, -infinity, -infinity, -infinity};
  Box box = nothing;
  std::mutex mutex;
  for_parts(num_points, 1 << 14, [&](std::size_t first, std::size_t end) {
    Box part = nothing;
    for (std::size_t i = first; i < end; ++i)
      for (std::size_t d = 0; d < 3; ++d) {
        part[d] = std::min(part[d], point[3 * i + d]);
        part[d + 3] = std::max(part[d + 3], point[3 * i + d]);
      }
    const std::lock_guard<std::mutex> lock(mutex);
    for (std::size_t d = 0; d < 3; ++d) {
      box[d] = std::min(box[d], part[d]);
      box[d + 3] = std::max(box[d + 3], part[d + 3]);
    }
  });
  return box;
}

double rounding_of(const Box& box) {
  double farthest = 0;
  for (const double x : box)
    farthest = std::max(farthest, std::fabs(x));
  const double size = std::hypot(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
  // Four times what a number in single precision may be off; not more than what is less than any
  // edge, for bodies in the coordinates of a map, which are in double precision.
  return 1e-6 * size + std::min(std::ldexp(farthest, -22), 1e-4 * size);
}

bool contains(const Box& box, const double* x, double slack) {
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d)
    inside = inside && x[d] >= box[d] - slack && x[d] <= box[d + 3] + slack;
  return inside;
}

std::string span_text(const Box& box) {
  std::ostringstream text;
  text.precision(4);
  for (std::size_t d = 0; d < 3; ++d)
    text << (d == 0 ? "" : ", ") << box[d] << " to " << box[d + 3];
  return text.str();
}

} // namespace ossatura
