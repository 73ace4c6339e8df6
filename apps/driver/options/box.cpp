// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/box.hpp"

#include "apps/driver/output/table.hpp"

#include <algorithm>
#include <limits>

namespace ossatura {

Box bounding_box(const std::vector<double>& point) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Box box{infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t i = 0; i < point.size(); ++i) {
    box[i % 3] = std::min(box[i % 3], point[i]);
    box[i % 3 + 3] = std::max(box[i % 3 + 3], point[i]);
  }
  return box;
}

bool contains(const Box& box, const double* x, double slack) {
  bool inside = true;
  for (std::size_t d = 0; d < 3; ++d)
    inside = inside && x[d] >= box[d] - slack && x[d] <= box[d + 3] + slack;
  return inside;
}

std::string span_text(const Box& box) {
  std::string text;
  for (std::size_t d = 0; d < 3; ++d)
    text += (d == 0 ? "" : ", ") + format_number(box[d], 4) + " to " + format_number(box[d + 3], 4);
  return text;
}

} // namespace ossatura
