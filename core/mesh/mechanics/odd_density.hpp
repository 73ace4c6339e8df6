// SPDX-License-Identifier: Apache-2.0
// An odd density is hardly in kg/m^3, as of g/cm^3 or t/mm^3.
#pragma once

namespace ossatura {

/// Whether no solid of this Young's modulus (Pa) is as light (kg/m^3): diamond has 3.6e8 m^2/s^2 of
/// the one by the other, graphene 4.5e8; steel has 2.7e7, and a thousand times that in g/cm^3.
constexpr bool is_too_light(double young, double density) {
  constexpr double most = 1e9; // m^2/s^2
  return young > most * density;
}

} // namespace ossatura
