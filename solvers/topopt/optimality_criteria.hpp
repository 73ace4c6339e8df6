// SPDX-License-Identifier: Apache-2.0
// A step of optimality criteria bisects on the multiplier of the volume constraint, four halvings
// for each pass over the variables.
#pragma once

#include <ossatura/kernels/topopt/oc_update.hpp>

#include <cmath>

namespace ossatura {

/// What a step reads; arrays are [num_elem].
template<class Exec, class Bounds = KeptBounds<Exec>>
struct OcArrays {
  Array<double, Exec> x;
  Bounds bounds;          ///< lower(e) and upper(e); where they are one x does not move
  Array<double, Exec> df; ///< by x; where it is positive a variable shrinks
  Array<double, Exec> dv; ///< of the volume fraction by x
  ElementVolumes<Exec> volume;
};

/// x_new of least objective with dv . (x_new - x) at most about `room`; `fraction` is the aim of
/// the whole, which bounds the first guess of the multiplier. Multipliers are known to `tolerance`
/// of each other in the end; the halvings are those of F. Ferrari, O. Sigmund, Struct. Multidiscip.
/// Optim. 62 (2020) 2211-2228, doi:10.1007/s00158-020-02629-w, where it is 1e-4. Returns the
/// multiplier to the power of `damping`, NaN if the numbers are not finite. x_new aliases no array.
/// Fences.
template<class Exec, class Bounds>
double optimality_step(const Exec& exec, const OcArrays<Exec, Bounds>& a, double room,
                       double fraction, double damping, double tolerance,
                       const Array<double, Exec>& x_new) {
  constexpr int levels = 4, count = 1 << levels; // the trials of four halvings, and the upper end
  double low = 0;
  double high = oc_numerators(exec, a.bounds, a.x, a.df, a.dv, a.volume, damping, x_new) / fraction;
  double middle = high;
  bool bracketed = false;
  // An upper end may be too low where bounds keep variables up; a lower end of zero stays where all
  // variables at their upper bounds leave room.
  constexpr int max_passes = 40;
  for (int pass = 0; pass < max_passes && std::isfinite(high) && high > 0; ++pass) {
    std::array<double, count> trial;
    trial[0] = high;
    // trial[k], k = 1 .. count - 1, cuts [low, high] at k / count, as halving would round.
    const auto end = [&](int k) {
      return k == 0 ? low : k == count ? high : trial[std::size_t(k)];
    };
    for (int width = count / 2; width > 0; width /= 2)
      for (int k = width; k < count; k += 2 * width)
        trial[std::size_t(k)] = 0.5 * (end(k - width) + end(k + width));
    const std::array<double, count> change =
        oc_trials<count>(exec, a.bounds, a.x, a.dv, x_new, trial);
    // Where nothing is at its bounds the first guess is the solution, but for rounding.
    if (!bracketed && change[0] > room + tolerance * fraction) {
      low = high;
      high *= 2;
      middle = high;
      continue;
    }
    bracketed = true;
    int left = 0;
    for (int width = count / 2; width > 0 && (high - low) / (high + low) > tolerance; width /= 2) {
      const std::size_t k = std::size_t(left + width);
      middle = trial[k];
      if (change[k] > room) {
        left += width;
        low = middle;
      } else {
        high = middle;
      }
    }
    if ((high - low) / (high + low) <= tolerance)
      break;
  }
  if (!(high > 0)) // nothing gains from material, or NaN
    middle = std::isnan(high) ? high : 1;
  oc_update(exec, a.bounds, x_new, middle, x_new); // in the place of the numerators
  return middle;
}

/// x_new of another multiplier, to the power of `damping`. x_new aliases no array. Does not fence.
template<class Exec, class Bounds>
void optimality_update(const Exec& exec, const OcArrays<Exec, Bounds>& a, double damping,
                       double multiplier, const Array<double, Exec>& x_new) {
  oc_numerators(exec, a.bounds, a.x, a.df, a.dv, a.volume, damping, x_new);
  oc_update(exec, a.bounds, x_new, multiplier, x_new);
}

} // namespace ossatura
