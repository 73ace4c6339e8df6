// SPDX-License-Identifier: Apache-2.0
// The largest energy that given displacements have in any distribution of a limited volume of
// material, moduli being linear in densities, E = E_0 (e + (1 - e) rho):
//   max { sum_e E(rho_e) q_e : 0 <= rho_e <= 1, sum_e v_e rho_e <= V },   q_e >= 0.
// Free elements are a continuous knapsack of values g_e = E_0 (1 - e) q_e. By weak duality
//   sum g_e rho_e <= l V + sum max(0, g_e - l v_e)   for any l >= 0 and any such densities,
// so that what is computed is not below the maximum whatever l is; the least over l is the maximum.
// It is found where the elements with g_e > l v_e have the volume V, by trials of several l a pass.
#pragma once

#include <ossatura/kernels/topopt/design_variables.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ossatura {

/// Material that may be where elements are free; arrays are [num_elem].
template<class Exec>
struct MaterialRoom {
  Array<std::uint8_t, Exec> role; ///< solid elements have a density of 1, void ones of 0
  ElementVolumes<Exec> volume;
  SimpLaw law;       ///< but its penalty, which is taken as 1
  double share;      ///< of the volume of all elements, at most
  double excess = 1; ///< E = E_0 (e + (1 - e) excess rho), for densities of a law that is stiffer
                     ///< than the linear one where they are above 1
  double most = 1;   ///< the largest density
};

namespace detail {

template<class Exec>
struct KnapsackItem {
  MaterialRoom<Exec> room;
  Array<double, Exec> energy;

  KOKKOS_FUNCTION bool is_free(std::int64_t e) const {
    return room.role(e) == std::uint8_t(DesignRole::free) && room.volume(e) > 0;
  }
  KOKKOS_FUNCTION double solid(std::int64_t e) const {
    return room.law.young * room.law.solid_part(e) * energy(e);
  }
  KOKKOS_FUNCTION double gain(std::int64_t e) const {
    return solid(e) * (1 - room.law.min_modulus) * room.excess;
  }
};

/// own [4]: energy of what does not vary, its material, all volume; values of free elements.
template<class Exec>
struct KnapsackRest {
  KnapsackItem<Exec> item;
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double v = item.room.volume(e);
    if (!(v > 0))
      return;
    const bool is_solid = item.room.role(e) == std::uint8_t(DesignRole::solid);
    own[0] += is_solid ? item.solid(e) : item.solid(e) * item.room.law.min_modulus;
    own[1] += is_solid ? v : 0;
    own[2] += v;
  }
};

template<class Exec>
struct LargestGain {
  KnapsackItem<Exec> item;
  KOKKOS_FUNCTION void operator()(std::int64_t e, double& largest) const {
    if (item.is_free(e))
      largest = Kokkos::max(largest, item.gain(e) / item.room.volume(e));
  }
};

/// own [2 count]: for each l the volume that is filled, and what gains are above l v.
template<class Exec, int count>
struct KnapsackTrials {
  KnapsackItem<Exec> item;
  double price[count];
  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    if (!item.is_free(e))
      return;
    const double v = item.room.volume(e), gain = item.gain(e);
    for (int k = 0; k < count; ++k)
      if (gain > price[k] * v) {
        own[k] += v;
        own[count + k] += gain - price[k] * v;
      }
  }
};

template<class Exec>
struct StoreGain {
  KnapsackItem<Exec> item;
  Array<double, Exec> result;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    result(e) = item.is_free(e) ? -item.gain(e) : 0;
  }
};

} // namespace detail

/// result(e) = minus the gain of an element, the derivative of compliance by its density. The
/// arrays may be the same. Does not fence.
template<class Exec>
void store_gains(const Exec& exec, const MaterialRoom<Exec>& room,
                 const Array<double, Exec>& energy, const Array<double, Exec>& result) {
  Kokkos::parallel_for("ossatura::store_gains", range(exec, room.volume.size()),
                       detail::StoreGain<Exec>{{room, energy}, result});
}

/// The largest energy, in the unit of `energy` [num_elem] times that of moduli; `energy` is for a
/// modulus of 1. To rounding of sums, relative, never below it; the same bits for any number of
/// threads. Infinite where an energy is not finite. Fences.
template<class Exec>
double largest_energy(const Exec& exec, const MaterialRoom<Exec>& room,
                      const Array<double, Exec>& energy) {
  constexpr int count = 16, max_passes = 16;
  const std::int64_t n = room.volume.size();
  const detail::KnapsackItem<Exec> item{room, energy};
  const auto rest =
      part_sums<3>(exec, "ossatura::largest_energy::rest", n, detail::KnapsackRest<Exec>{item});
  const double volume = std::max(0.0, room.share * rest[2] - rest[1]);
  double high = 0, low = 0;
  Kokkos::parallel_reduce("ossatura::largest_energy::range", range(exec, n),
                          detail::LargestGain<Exec>{item}, Kokkos::Max<double>(high));
  double best = std::numeric_limits<double>::infinity();
  if (!std::isfinite(rest[0]) || !std::isfinite(high))
    return best;
  high = std::max(0.0, high);
  for (int pass = 0; pass < max_passes; ++pass) {
    detail::KnapsackTrials<Exec, count> trials{item, {}};
    for (int k = 0; k < count; ++k)
      trials.price[k] = k == count - 1 ? high : low + (high - low) * k / (count - 1);
    const auto sums = part_sums<2 * count>(exec, "ossatura::largest_energy", n, trials);
    int next = 0; // the first price at which the volume is not filled
    for (int k = 0; k < count; ++k) {
      best = std::min(best, trials.price[k] * volume + room.most * sums[std::size_t(count + k)]);
      if (room.most * sums[std::size_t(k)] > volume)
        next = k + 1;
    }
    if (next == 0 || high - low <= 1e-14 * high)
      break;
    low = trials.price[next - 1];
    high = trials.price[std::min(next, count - 1)];
  }
  return rest[0] + best;
}

} // namespace ossatura
