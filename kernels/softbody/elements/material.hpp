// SPDX-License-Identifier: Apache-2.0
// A SoftMaterial is the material of a soft body: its law and moduli.
#pragma once

#include <ossatura/core/base/names.hpp>

namespace ossatura {

enum class SoftLaw {
  corotational,  ///< linear elasticity in the frame that turns with the element; all shapes
  stvk,          ///< St Venant-Kirchhoff; tetrahedra
  mooney_rivlin, ///< W = c1 (J^-2/3 I1 - 3) + c2 (J^-4/3 I2 - 3) + bulk / 2 ln^2 J; tetrahedra
  neo_hookean    ///< stable neo-Hookean (Smith et al. 2018); tetrahedra
};

/// The frame of a corotational element.
enum class SoftRotation {
  polar, ///< rotation of the polar decomposition; the nearest rotation where det F <= 0
  qr     ///< Gram-Schmidt on edges (Nesme 2005)
};

constexpr Names<SoftLaw> names_of(SoftLaw) {
  return {{SoftLaw::corotational, "corotational"},
          {SoftLaw::stvk, "stvk"},
          {SoftLaw::mooney_rivlin, "mooney_rivlin"},
          {SoftLaw::neo_hookean, "neo_hookean"}};
}

constexpr Names<SoftRotation> names_of(SoftRotation) {
  return {{SoftRotation::polar, "polar"}, {SoftRotation::qr, "qr"}};
}

struct SoftMaterial {
  SoftLaw law = SoftLaw::corotational;
  SoftRotation rotation = SoftRotation::polar;
  double young = 1e5;              ///< Pa; not used by mooney_rivlin
  double poisson = 0.4;            ///< in (-1, 0.5), likewise
  double c1 = 0, c2 = 0, bulk = 0; ///< Pa, of mooney_rivlin
  double thickness = 0.001;        ///< m, of triangles
};

} // namespace ossatura
