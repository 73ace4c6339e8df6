// SPDX-License-Identifier: Apache-2.0
// A SoftMaterial is the material of a soft body: its law, and the law's parameters. Reading,
// checks, results and tests go through the table of parameters.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/mesh/element_mesh.hpp>

#include <cmath>

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
  double young = 1e5, poisson = 0.4; ///< see soft_parameters
  double c1 = 0, c2 = 0, bulk = 0;   ///< likewise
  double thickness = 0.001;          ///< m, of triangles
};

/// The parameters that laws share.
enum class SoftModuli { hooke, mooney_rivlin };

constexpr SoftModuli moduli_of(SoftLaw law) {
  return law == SoftLaw::mooney_rivlin ? SoftModuli::mooney_rivlin : SoftModuli::hooke;
}

/// A parameter that every law of these moduli needs.
struct SoftParameter {
  const char* name; ///< in scenes and results
  double SoftMaterial::*value;
  SoftModuli moduli;
  double lower, upper;  ///< the value is between them, and finite
  bool may_be_lower;    ///< it may be `lower` itself
  const char* expected; ///< in messages: meaning, unit and range

  constexpr bool is_of(SoftLaw law) const { return moduli == moduli_of(law); }
  constexpr bool admits(double x) const {
    return (x > lower || (may_be_lower && x == lower)) && x < upper;
  }
};

/// Kernels get Lame's constants of Hooke's moduli, and all others in this order, at most three.
inline constexpr SoftParameter soft_parameters[] = {
    {"young", &SoftMaterial::young, SoftModuli::hooke, 0, HUGE_VAL, false,
     "Young's modulus in Pa, greater than 0"},
    {"poisson", &SoftMaterial::poisson, SoftModuli::hooke, -1, 0.5, false,
     "Poisson's ratio, greater than -1 and less than 0.5"},
    {"c1", &SoftMaterial::c1, SoftModuli::mooney_rivlin, 0, HUGE_VAL, true,
     "a modulus in Pa, at least 0"},
    {"c2", &SoftMaterial::c2, SoftModuli::mooney_rivlin, 0, HUGE_VAL, true,
     "a modulus in Pa, at least 0"},
    {"bulk", &SoftMaterial::bulk, SoftModuli::mooney_rivlin, 0, HUGE_VAL, false,
     "the bulk modulus in Pa, greater than 0"}};

/// What is wrong with parameters that are in their ranges; null if nothing is.
constexpr const char* fault_of(const SoftMaterial& m) {
  return moduli_of(m.law) == SoftModuli::mooney_rivlin && !(m.c1 + m.c2 > 0)
             ? "c1 and c2 are both 0: a solid has c1 + c2 > 0"
             : nullptr;
}

/// Of small deformations, whatever the law.
constexpr double poisson_ratio(const SoftMaterial& m) {
  const double shear = 2 * (m.c1 + m.c2);
  return moduli_of(m.law) == SoftModuli::mooney_rivlin
             ? (3 * m.bulk - 2 * shear) / (2 * (3 * m.bulk + shear))
             : m.poisson;
}

constexpr bool is_made_for(SoftLaw law, ElementShape shape) {
  return law == SoftLaw::corotational || shape == ElementShape::tetra;
}

} // namespace ossatura
