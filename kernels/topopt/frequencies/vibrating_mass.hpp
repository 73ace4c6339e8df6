// SPDX-License-Identifier: Apache-2.0
// The mass by which elements of a density between 0 and 1 vibrate. Where modulus falls as rho^3 and
// mass as rho, void has modes of its own, of the lowest frequencies of all [1]. Here mass falls
// faster than the modulus below rho = 0.1, as of [2], with a slope that is continuous,
//
//   m / m_0 = rho                            for rho >= 0.1,
//             6e5 rho^6 - 5e6 rho^7          below,
//
// and is nothing in void, whose modulus is not.
//
// [1] N. Pedersen. Maximization of eigenvalues using topology optimization. Struct. Multidiscip.
//     Optim. 20 (2000) 2-11, doi:10.1007/s001580050130.
// [2] J. Du, N. Olhoff. Topological design of freely vibrating continuum structures for maximum
//     values of simple and multiple eigenfrequencies and frequency gaps. Struct. Multidiscip.
//     Optim. 34 (2007) 91-110, doi:10.1007/s00158-007-0101-y.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

struct VibratingMass {
  static constexpr double threshold = 0.1;

  /// As a part of that of solid material. Densities below 0 count as 0.
  KOKKOS_FUNCTION static double value(double density) {
    if (density >= threshold)
      return density;
    const double square = density * density;
    return density > 0 ? square * square * square * (6e5 - 5e6 * density) : 0;
  }
  KOKKOS_FUNCTION static double slope(double density) {
    if (density >= threshold)
      return 1;
    const double square = density * density;
    return density > 0 ? square * square * density * (36e5 - 35e6 * density) : 0;
  }
};

namespace detail {

template<class Exec>
struct FillVibratingMasses {
  Array<double, Exec> mass_density, density, mass;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    mass(e) = mass_density(e) * VibratingMass::value(density(e));
  }
};

template<class Exec>
struct AddVibratingSlope {
  Array<double, Exec> mass_density, density, energy, gradient;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    gradient(e) += mass_density(e) * VibratingMass::slope(density(e)) * energy(e);
  }
};

} // namespace detail

/// mass(e) = mass_density(e) times the part of density(e), kg / m^3. Does not fence.
template<class Exec>
void fill_vibrating_masses(const Exec& exec, const Array<double, Exec>& mass_density,
                           const Array<double, Exec>& density, const Array<double, Exec>& mass) {
  Kokkos::parallel_for("ossatura::fill_vibrating_masses", range(exec, mass.extent(0)),
                       detail::FillVibratingMasses<Exec>{mass_density, density, mass});
}

/// gradient(e) += dm/drho energy(e), m as fill_vibrating_masses gives it. Does not fence.
template<class Exec>
void add_vibrating_slope(const Exec& exec, const Array<double, Exec>& mass_density,
                         const Array<double, Exec>& density, const Array<double, Exec>& energy,
                         const Array<double, Exec>& gradient) {
  Kokkos::parallel_for("ossatura::add_vibrating_slope", range(exec, gradient.extent(0)),
                       detail::AddVibratingSlope<Exec>{mass_density, density, energy, gradient});
}

} // namespace ossatura
