// SPDX-License-Identifier: Apache-2.0
// SIMP gives the modulus of material of a density between 0 and 1: solid isotropic material with
// penalisation [1], in the form whose void does not depend on the exponent [2],
//   E = E_0 (e + (1 - e) rho^p).
//
// [1] M. Bendsoe. Optimal shape design as a material distribution problem. Struct. Optim. 1 (1989)
//     193-202, doi:10.1007/BF01650949.
// [2] O. Sigmund. Morphology-based black and white filters for topology optimization. Struct.
//     Multidiscip. Optim. 33 (2007) 401-424, doi:10.1007/s00158-006-0087-x.
// [3] M. Bruyneel, P. Duysinx. Note on topology optimization of continuum structures including
//     self-weight. Struct. Multidiscip. Optim. 29 (2005) 245-256, doi:10.1007/s00158-004-0484-y.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

namespace ossatura {

struct SimpLaw {
  double young;       ///< E_0, > 0, or what the next are parts of
  double min_modulus; ///< e, > 0
  double penalty;     ///< p, >= 1
  /// E_0 of elements as parts of `young`, in the order of densities; null: 1. Elements of several
  /// materials are each between void and their own, whose void has the same part of E_0.
  ArrayPointer<const double> relative{};
  /// Below this density rho^p is rho times that of the threshold t, t^(p - 1), per [3]: elements
  /// that have mass are then never softer than t^(p - 1) for it, where rho^p would let them sag
  /// without end. 0: nowhere.
  double linear_below = 0;

  KOKKOS_FUNCTION double solid_part(std::int64_t e) const {
    return relative.data != nullptr ? relative(e) : 1;
  }
  /// Of element e.
  KOKKOS_FUNCTION double modulus(std::int64_t e, double density) const {
    return solid_part(e) * modulus(density);
  }
  KOKKOS_FUNCTION double slope(std::int64_t e, double density) const {
    return solid_part(e) * slope(density);
  }

  /// Densities below 0, which filters by finite elements may give, count as 0.
  KOKKOS_FUNCTION double modulus(double density) const {
    return young * (min_modulus + (density > 0 ? (1 - min_modulus) * power(density) : 0));
  }
  /// dE / drho
  KOKKOS_FUNCTION double slope(double density) const {
    if (density > 0 && density < linear_below)
      return young * (1 - min_modulus) * pow(linear_below, penalty - 1);
    return density > 0 ? young * (1 - min_modulus) * penalty * pow(density, penalty - 1) : 0;
  }

private:
  KOKKOS_FUNCTION double power(double density) const {
    return density < linear_below ? density * pow(linear_below, penalty - 1)
                                  : pow(density, penalty);
  }
};

namespace detail {
template<class Exec>
struct FillModulus {
  SimpLaw law;
  Array<double, Exec> density, modulus;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const { modulus(e) = law.modulus(e, density(e)); }
};
} // namespace detail

/// modulus(e) = law of density(e). Does not fence.
template<class Exec>
void fill_modulus(const Exec& exec, const SimpLaw& law, const Array<double, Exec>& density,
                  const Array<double, Exec>& modulus) {
  Kokkos::parallel_for("ossatura::fill_modulus", range(exec, density.extent(0)),
                       detail::FillModulus<Exec>{law, density, modulus});
}

} // namespace ossatura
