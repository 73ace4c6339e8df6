// SPDX-License-Identifier: Apache-2.0
// These checks find numbers of a scene that are hardly in SI units, which give no error and another
// motion. Each is far from what any body has: nobody is to see a warning of what was meant.
#pragma once

#include <ossatura/solvers/softbody/scene.hpp>

#include <cstddef>
#include <optional>

namespace ossatura {

/// Lengths that are hardly in m.
struct OddSize {
  double extent;                 ///< of the longest side, m
  double mass;                   ///< kg
  std::optional<double> modulus; ///< Young's, Pa, of an object that its own weight would flatten
};

/// Finds whether an object is hardly given in m: longer than 100 m, or than 5 m of a solid that is
/// softer than its weight on earth.
std::optional<OddSize> find_odd_size(const SoftObject& object);

/// kg/m^3: the density, or that of all masses of nodes.
double mean_density(const SoftObject& object);

/// Whether a density is hardly in kg/m^3, of a body whose modulus is in Pa: below that of the
/// lightest foam, as of g/cm^3, or below 0.5 where nodes have masses, or above that of any metal.
/// Densities of 0, which stand for no mass, and those beside moduli near 1, which stand for units,
/// are not odd.
bool is_odd_density(const SoftObject& object);

/// A modulus that is hardly in Pa.
struct OddModulus {
  enum class Kind {
    stiff, ///< above diamond's, or above that of any solid as light as this one
    soft,  ///< of something as heavy as a metal and softer than rubber
    weak   ///< its own weight in the scene would stretch or flatten it a hundredfold
  } kind;
  double young;  ///< of small strains, Pa, with the factor of an element that is nearest to usual
  double weight; ///< density, gravity and length over the modulus, of `weak`
};

/// Finds whether the modulus of an object is hardly in Pa. It goes with the density, and nothing is
/// said where that is odd or not given; nor of weights of membranes, which hang, or of fibres.
std::optional<OddModulus> find_odd_modulus(const SoftObject& object, const SoftScene& scene);

/// The magnitude of a gravity that is hardly in m/s^2, as of cm/s^2 and mm/s^2: fifty times that on
/// earth, of bodies whose moduli are in Pa.
std::optional<double> find_odd_gravity(const SoftScene& scene);

/// A velocity that is hardly in m/s.
struct OddVelocity {
  double speed; ///< m/s at the start, of the fastest node
  double sound; ///< m/s, of waves in the material; 0: density or modulus do not say
};

/// Finds whether a starting velocity is hardly in m/s, as of mm/s, of a body whose modulus is in
/// Pa: above ten times the speed of sound in it, with which it is flat at the first thing that it
/// meets, and above 30 m/s; or above 1000 m/s.
std::optional<OddVelocity> find_odd_velocity(const SoftObject& object);

/// An object that moves by more than its own length in a step.
struct LongStep {
  std::size_t object; ///< in the scene
  double motion;      ///< m, in the first step, of its middle
  double extent;      ///< m, of its longest side
};

/// Finds objects for which steps are so long that contact, whose conditions are those of a step,
/// sees them only when they are through what they meet, and then with all their nodes: each round
/// of its sweeps takes the square of their number. Scenes without contact and bodies that are held
/// anywhere have none.
std::optional<LongStep> find_long_step(const SoftScene& scene, double time_step);

} // namespace ossatura
