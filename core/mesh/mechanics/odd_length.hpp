// SPDX-License-Identifier: Apache-2.0
// An odd length is hardly in m, as of a part in mm.
#pragma once

#include <ossatura/core/mesh/box.hpp>

#include <algorithm>
#include <optional>

namespace ossatura {

/// The longest side of an elastic body in m whose file or program did not say its unit, and which
/// is hardly so long: more than 20 m, as parts of 2 cm and more in mm. Bodies whose largest modulus
/// is below that of rubber stand for units.
inline std::optional<double> find_odd_length(const Box& body, double largest_modulus) {
  constexpr double longest = 20, softest = 1e6; // m, Pa
  const double length = std::max({body[3] - body[0], body[4] - body[1], body[5] - body[2]});
  return length > longest && largest_modulus >= softest ? std::optional(length) : std::nullopt;
}

} // namespace ossatura
