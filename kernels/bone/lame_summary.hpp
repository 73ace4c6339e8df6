// SPDX-License-Identifier: Apache-2.0
// The summary has ranges and averages of the material over the solid voxels.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>
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
struct BoundLame {
  LameField<Exec> lame;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& e_min, double& e_max, double& nu_min,
                                  double& nu_max, std::int64_t& count) const {
    if (!lame.solid(int(node)))
      return;
    const double lambda = lame.lambda(int(node)), mu = lame.mu(int(node));
    const double e = lame.modulus(int(node)), nu = lambda / (2 * (lambda + mu));
    e_min = Kokkos::min(e_min, e);
    e_max = Kokkos::max(e_max, e);
    nu_min = Kokkos::min(nu_min, nu);
    nu_max = Kokkos::max(nu_max, nu);
    ++count;
  }
};

template<class Exec>
struct AddLame {
  LameField<Exec> lame;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double* sum) const {
    if (!lame.solid(int(node)))
      return;
    const double lambda = lame.lambda(int(node)), mu = lame.mu(int(node));
    sum[0] += lame.modulus(int(node));
    sum[1] += lambda;
    sum[2] += mu;
    sum[3] += 1 / (lambda + 2 * mu / 3);
    sum[4] += 1 / mu;
  }
};
} // namespace detail

/// `nodes` are those that this process owns; by all that share them. Fences.
template<class Exec>
LameSummary summarise_lame(const Exec& exec, const SharedEntries& nodes,
                           const LameField<Exec>& lame) {
  LameSummary s{};
  Kokkos::parallel_reduce("ossatura::summarise_lame", range(exec, nodes.begin, nodes.end),
                          detail::BoundLame<Exec>{lame}, Kokkos::Min<double>(s.modulus_min),
                          Kokkos::Max<double>(s.modulus_max), Kokkos::Min<double>(s.poisson_min),
                          Kokkos::Max<double>(s.poisson_max),
                          Kokkos::Sum<std::int64_t>(s.num_solid));
  const Communicator& comm = nodes.comm;
  s.modulus_min = comm.min(s.modulus_min);
  s.modulus_max = comm.max(s.modulus_max);
  s.poisson_min = comm.min(s.poisson_min);
  s.poisson_max = comm.max(s.poisson_max);
  s.num_solid = comm.sum(s.num_solid);
  const auto sum = sum_in_groups<5>(exec, nodes, detail::AddLame<Exec>{lame});
  s.modulus_sum = sum[0];
  s.lambda_sum = sum[1];
  s.mu_sum = sum[2];
  s.inverse_bulk_sum = sum[3];
  s.inverse_mu_sum = sum[4];
  return s;
}

} // namespace ossatura
