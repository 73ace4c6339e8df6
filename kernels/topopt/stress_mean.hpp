// SPDX-License-Identifier: Apache-2.0
// These kernels aggregate the stresses of a design. An element of density rho counts with the
// relaxed stress rho^(1/2) s, s that of solid material [1]: it vanishes with the material, so that
// elements can become void, and is s where the element is solid. What is held below a limit L is
// the p-mean over free elements of all load cases,
//   m = L (sum v_e (rho_e^(1/2) s_e / L)^p / sum v_e)^(1/p),
// which is smooth, and of one load case not above the largest of them.
//
// [1] C. Le, J. Norato, T. Bruns, C. Ha, D. Tortorelli. Stress-based topology optimization for
//     continua. Struct. Multidiscip. Optim. 41 (2010) 605-620, doi:10.1007/s00158-009-0440-y.
#pragma once

#include <ossatura/core/mesh/design_role.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/topopt/element_volumes.hpp>

namespace ossatura {

/// The power p of the mean.
inline constexpr double stress_power = 8;

/// Elements that count; arrays are [num_elem].
template<class Exec>
struct StressedElements {
  Array<std::uint8_t, Exec> role;
  ElementVolumes<Exec> volume;
  Array<double, Exec> density, stress; ///< of solid material

  KOKKOS_FUNCTION bool counts(std::int64_t e) const {
    return role(e) == std::uint8_t(DesignRole::free);
  }
  /// Densities below 0, which filters by finite elements may give, count as 0.
  KOKKOS_FUNCTION double relaxed(std::int64_t e) const {
    return density(e) > 0 ? Kokkos::sqrt(density(e)) * stress(e) : 0;
  }
};

namespace detail {
template<class Exec>
struct StressTerms {
  StressedElements<Exec> elements;
  double limit;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    if (!elements.counts(e))
      return;
    const double v = elements.volume(e);
    own[0] += v * Kokkos::pow(elements.relaxed(e) / limit, double(stress_power));
    own[1] += v;
  }
};

template<class Exec>
struct LargestStresses {
  StressedElements<Exec> elements;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double& relaxed, double& solid) const {
    if (!elements.counts(e))
      return;
    relaxed = Kokkos::max(relaxed, elements.relaxed(e));
    if (elements.density(e) > 0.5)
      solid = Kokkos::max(solid, elements.stress(e));
  }
};

template<class Exec>
struct StressSlopes {
  StressedElements<Exec> elements;
  double limit, scale;
  Array<double, Exec> gradient, factor;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const double density = elements.density(e);
    factor(e) = 0;
    if (!elements.counts(e) || !(density > 0))
      return;
    const double by_relaxed = scale * elements.volume(e) *
                              Kokkos::pow(elements.relaxed(e) / limit, double(stress_power - 1));
    const double root = Kokkos::sqrt(density);
    factor(e) = by_relaxed * root;
    gradient(e) += by_relaxed * 0.5 * elements.stress(e) / root;
  }
};
} // namespace detail

/// Of one load case.
struct StressSums {
  double power = 0;              ///< sum of v (relaxed / limit)^p
  double volume = 0;             ///< sum of v
  double relaxed = 0, solid = 0; ///< the largest; that of solid material where rho > 0.5
};

/// Fences.
template<class Exec>
StressSums sum_stresses(const Exec& exec, const StressedElements<Exec>& elements, double limit) {
  const std::int64_t n = elements.density.extent(0);
  const auto sums =
      part_sums<2>(exec, "ossatura::sum_stresses", n, detail::StressTerms<Exec>{elements, limit});
  StressSums result{sums[0], sums[1], 0, 0};
  Kokkos::parallel_reduce("ossatura::largest_stresses", range(exec, n),
                          detail::LargestStresses<Exec>{elements},
                          Kokkos::Max<double>(result.relaxed), Kokkos::Max<double>(result.solid));
  fence(exec, "ossatura::largest_stresses");
  result.relaxed = Kokkos::max(result.relaxed, 0.0); // where no element counts
  result.solid = Kokkos::max(result.solid, 0.0);
  return result;
}

namespace detail {
template<class Exec>
struct KeepLargestRelaxed {
  StressedElements<Exec> elements;
  Array<double, Exec> largest;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    largest(e) = Kokkos::max(largest(e), elements.relaxed(e));
  }
};
} // namespace detail

/// largest(e) = max(largest(e), relaxed stress of element e), whatever its role. Does not fence.
template<class Exec>
void keep_largest_relaxed(const Exec& exec, const StressedElements<Exec>& elements,
                          const Array<double, Exec>& largest) {
  Kokkos::parallel_for("ossatura::keep_largest_relaxed", range(exec, largest.extent(0)),
                       detail::KeepLargestRelaxed<Exec>{elements, largest});
}

/// The derivatives of the mean m of given sums over all cases: gradient(e) += that by density,
/// factor(e) = that by the stress of solid material. Does not fence.
template<class Exec>
void fill_stress_slopes(const Exec& exec, const StressedElements<Exec>& elements, double limit,
                        double power_sum, double volume, const Array<double, Exec>& gradient,
                        const Array<double, Exec>& factor) {
  const double mean = power_sum / volume;
  const double scale = mean > 0 ? Kokkos::pow(mean, 1 / stress_power - 1) / volume : 0;
  Kokkos::parallel_for("ossatura::fill_stress_slopes", range(exec, factor.extent(0)),
                       detail::StressSlopes<Exec>{elements, limit, scale, gradient, factor});
}

} // namespace ossatura
