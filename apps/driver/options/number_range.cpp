// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/number_range.hpp"

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

void require_body_size(const std::string& where, const std::vector<double>& point) {
  require_body_size(where, bounding_box(point));
}

void require_body_size(const std::string& where, const Box& box) {
  const double length = std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
  if (!(length >= 1e-12 && length <= 1e12))
    fail<InputError>(where, ": the body is ", length,
                     " m long, and 1e-12 to 1e12 m are solved: what is the unit of the mesh?");
}

void require_number(const std::string& where, const std::string& what, double value) {
  if (value != 0 && !(std::abs(value) >= 1e-30 && std::abs(value) <= 1e30))
    fail<InputError>(where, ": ", what, " of ", value,
                     ": sizes of 1e-30 to 1e30 are solved; choose other units");
}

void require_numbers(const std::string& where, const std::string& what,
                     const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value))
      require_number(where, what, value);
    largest = std::max(largest, std::abs(value));
  }
  require_number(where, what, largest);
}

} // namespace ossatura
