// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/box.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

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
  std::ostringstream text;
  text.precision(4);
  for (std::size_t d = 0; d < 3; ++d)
    text << (d == 0 ? "" : ", ") << box[d] << " to " << box[d + 3];
  return text.str();
}

} // namespace ossatura
