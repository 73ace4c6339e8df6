// SPDX-License-Identifier: Apache-2.0
// Remodelling changes the density of bone by its strain energy: Wolff's law, one step of it.
//
// The stimulus of a voxel is its strain energy by mass, S = U / rho, in J/g. Where it is more than
// k by a part `lazy`, bone is formed, where it is less by that part, resorbed, in proportion:
//   d rho = rate (S - (1 + lazy) k)   S > (1 + lazy) k
//         = 0                         between, the lazy zone
//         = rate (S - (1 - lazy) k)   S < (1 - lazy) k
// per step, and densities stay within bounds. That is the form of Huiskes and Weinans without
// surface terms, as programs have it: FEHuiskesSupply of FEBio, without a lazy zone.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>

namespace ossatura {

struct RemodellingLaw {
  double coefficient = 0, exponent = 0; ///< E = coefficient rho^exponent, MPa, rho in g/cm3
  double stimulus = 0;                  ///< k, J/g
  double lazy = 0;                      ///< half width of the lazy zone, a part of k
  double rate = 0;                      ///< g/cm3 of a step, per J/g
  double least = 0, most = 0;           ///< densities, g/cm3

  KOKKOS_FUNCTION double change(double stimulus_here) const {
    const double above = stimulus_here - (1 + lazy) * stimulus,
                 below = stimulus_here - (1 - lazy) * stimulus;
    return above > 0 ? rate * above : below < 0 ? rate * below : 0;
  }
  KOKKOS_FUNCTION double modulus(double density) const {
    return coefficient * Kokkos::pow(density, exponent);
  }
  KOKKOS_FUNCTION double density(double modulus_here) const {
    return Kokkos::pow(modulus_here / coefficient, 1 / exponent);
  }
};

/// What the voxels of a state are about to do. Parts are of their number.
struct RemodellingState {
  double mean_density = 0;  ///< g/cm3
  double mean_stimulus = 0; ///< J/g, over the volume
  double forming = 0, resorbing = 0;
  double at_least = 0, at_most = 0; ///< of the bounds
  double mean_change = 0;           ///< |d rho| of the next step
  double mean_reversal = 0;         ///< what of it takes back the step before
};

namespace detail {

template<class Exec>
struct ListDensities {
  RemodellingLaw law;
  Array<int, Exec> element;
  Array<float, Exec> modulus;
  Array<double, Exec> density;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    density(i) = law.density(double(modulus(element(i))));
  }
};

/// own [8]: of density, stimulus, forming, resorbing, at the bounds, |d rho|, what of it is taken
/// back.
template<class Exec>
struct RemodelVoxels {
  RemodellingLaw law;
  Array<int, Exec> element;
  Array<float, Exec> energy;
  Array<double, Exec> density;
  Array<float, Exec> modulus, change;
  bool changes;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    const double rho = density(i), stimulus = double(energy(i)) / rho; // MPa are J/cm3
    const double next = Kokkos::min(law.most, Kokkos::max(law.least, rho + law.change(stimulus)));
    own[0] += rho;
    own[1] += stimulus;
    own[2] += next > rho;
    own[3] += next < rho;
    own[4] += rho <= law.least;
    own[5] += rho >= law.most;
    const double now = next - rho, before = double(change(i));
    own[6] += Kokkos::fabs(now);
    own[7] += now * before < 0 ? Kokkos::min(Kokkos::fabs(now), Kokkos::fabs(before)) : 0;
    change(i) = float(now);
    if (changes) {
      density(i) = next;
      modulus(element(i)) = float(law.modulus(next));
    }
  }
};

} // namespace detail

/// The densities [num_elem] of the voxels `element`, by the moduli (MPa) at their lowest nodes.
/// Does not fence.
template<class Exec>
Array<double, Exec> list_densities(const Exec& exec, const RemodellingLaw& law,
                                   const Array<int, Exec>& element,
                                   const Array<float, Exec>& modulus) {
  const auto density =
      make_uninitialized<double>(exec, element.extent(0), "ossatura::list_densities");
  Kokkos::parallel_for("ossatura::list_densities", range(exec, element.extent(0)),
                       detail::ListDensities<Exec>{law, element, modulus, density});
  return density;
}

/// Describes the state of voxels with these strain energy densities [num_elem] (MPa) and, if
/// `changes` says so, takes the step: writes their densities and the moduli at their lowest nodes.
/// `change` [num_elem] holds d rho of the step before (0: none), and then that of this one. Sums
/// have a fixed order. Fences.
template<class Exec>
RemodellingState remodel(const Exec& exec, const RemodellingLaw& law,
                         const Array<int, Exec>& element, const Array<float, Exec>& energy,
                         bool changes, const Array<double, Exec>& density,
                         const Array<float, Exec>& modulus, const Array<float, Exec>& change) {
  const std::int64_t count = element.extent(0);
  OSSATURA_REQUIRE(count > 0 && std::int64_t(energy.extent(0)) == count &&
                       std::int64_t(density.extent(0)) == count &&
                       std::int64_t(change.extent(0)) == count,
                   count << " voxels, " << energy.extent(0) << " energies, " << density.extent(0)
                         << " densities, " << change.extent(0) << " changes");
  const std::array<double, 8> sum = part_sums<8>(
      exec, "ossatura::remodel", count,
      detail::RemodelVoxels<Exec>{law, element, energy, density, modulus, change, changes});
  const auto mean = [&](std::size_t i) { return sum[i] / double(count); };
  return {mean(0), mean(1), mean(2), mean(3), mean(4), mean(5), mean(6), mean(7)};
}

} // namespace ossatura
