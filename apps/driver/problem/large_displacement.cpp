// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/large_displacement.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>

#include <algorithm>
#include <limits>

namespace ossatura {

void warn_of_displacement(const std::string& source, double displacement, const Box& body,
                          double stiffest) {
  constexpr double largest = 0.1;  // of the body: no theory of small displacements goes so far
  constexpr double softest = 1000; // Pa: the softest tissues and gels
  // Of the body, where the modulus may be in GPa: 210 for 210e9 makes this of a strain of 1e-6.
  constexpr double most_in_gpa = 1e3;
  const double most = stiffest >= softest ? largest
                      : stiffest > 1      ? most_in_gpa
                                          : std::numeric_limits<double>::infinity(); // 1: a unit
  const double extent = std::max({body[3] - body[0], body[4] - body[1], body[5] - body[2]});
  if (displacement > most * extent)
    log_warning("large-displacement", source, ": moves by ", format_number(displacement, 3),
                " m, and the longest side is ", format_number(extent, 3),
                " m: the theory is of small displacements. Moduli are in Pa and forces in N; the "
                "largest modulus is ",
                format_number(stiffest, 3), " Pa, and steel has 210e9");
}

} // namespace ossatura
