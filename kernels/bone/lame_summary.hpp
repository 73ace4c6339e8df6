// SPDX-License-Identifier: Apache-2.0
// The summary has ranges and averages of the material over the solid voxels.
#pragma once

#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

/// Over the solid voxels; sums for the bounds of Voigt (stiffness) and Reuss (compliance).
struct LameSummary {
  double modulus_min, modulus_max, modulus_sum; ///< Young's, MPa
  double poisson_min, poisson_max;
  std::int64_t num_solid;                  ///< voxels
  double lambda_sum, mu_sum;               ///< MPa
  double inverse_bulk_sum, inverse_mu_sum; ///< 1 / MPa
};

namespace detail {
template<class Exec>
struct SummariseLame {
  LameField<Exec> lame;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& e_min, double& e_max, double& e_sum,
                                  double& nu_min, double& nu_max, double& lambda_sum,
                                  double& mu_sum) const {
    if (!lame.solid(int(node)))
      return;
    const double lambda = lame.lambda(int(node)), mu = lame.mu(int(node));
    const double e = lame.modulus(int(node)), nu = lambda / (2 * (lambda + mu));
    e_min = Kokkos::min(e_min, e);
    e_max = Kokkos::max(e_max, e);
    e_sum += e;
    nu_min = Kokkos::min(nu_min, nu);
    nu_max = Kokkos::max(nu_max, nu);
    lambda_sum += lambda;
    mu_sum += mu;
  }
};

template<class Exec>
struct SumCompliance {
  LameField<Exec> lame;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& bulk, double& mu,
                                  std::int64_t& count) const {
    if (!lame.solid(int(node)))
      return;
    ++count;
    bulk += 1 / (lame.lambda(int(node)) + 2 * lame.mu(int(node)) / 3);
    mu += 1 / lame.mu(int(node));
  }
};
} // namespace detail

/// Fences.
template<class Exec>
LameSummary summarise_lame(const Exec& exec, const LameField<Exec>& lame) {
  LameSummary s{};
  const std::int64_t n = lame.mu_value.extent(0);
  Kokkos::parallel_reduce("ossatura::summarise_lame", range(exec, n),
                          detail::SummariseLame<Exec>{lame}, Kokkos::Min<double>(s.modulus_min),
                          Kokkos::Max<double>(s.modulus_max), Kokkos::Sum<double>(s.modulus_sum),
                          Kokkos::Min<double>(s.poisson_min), Kokkos::Max<double>(s.poisson_max),
                          Kokkos::Sum<double>(s.lambda_sum), Kokkos::Sum<double>(s.mu_sum));
  Kokkos::parallel_reduce(
      "ossatura::summarise_lame::compliance", range(exec, n), detail::SumCompliance<Exec>{lame},
      Kokkos::Sum<double>(s.inverse_bulk_sum), Kokkos::Sum<double>(s.inverse_mu_sum),
      Kokkos::Sum<std::int64_t>(s.num_solid));
  return s;
}

} // namespace ossatura
