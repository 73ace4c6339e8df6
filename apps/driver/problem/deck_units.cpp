// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/deck_units.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/mechanics/odd_length.hpp>

namespace ossatura {

void warn_of_deck_units(const std::string& file, double young) {
  // Plastics, wood and metals in MPa; the same numbers in Pa are gels. 1 stands for a unit.
  constexpr double least_mpa = 1e3, greatest_mpa = 1e6;
  constexpr double stiffest = 2e12; // diamond has 1.2e12 Pa
  if (young >= least_mpa && young < greatest_mpa)
    log_warning("odd-modulus", file, ": Young's modulus is ", format_number(young),
                " Pa, as of a gel: lengths are in m, forces in N; a deck in mm, N and MPa is read "
                "with --unit 0.001 (\"unit\" of the mesh in a problem)");
  else if (young > stiffest)
    log_warning("odd-modulus", file, ": Young's modulus is ", format_number(young),
                " Pa, more than that of diamond: moduli are in N per square of the unit of length, "
                "so that a deck with lengths in m and Pa takes no --unit");
}

void warn_of_mesh_unit(const std::string& file, const Box& body, double young) {
  if (const auto length = find_odd_length(body, young))
    log_warning("odd-size", file, ": is ", format_number(*length, 4),
                " m long, for lengths are in m where nothing says otherwise: a mesh in mm takes "
                "--unit 0.001 (\"unit\" of the mesh in a problem), one as long as that --unit 1");
}

} // namespace ossatura
