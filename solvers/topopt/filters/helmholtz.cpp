// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/filters/helmholtz.hpp>

#include <ossatura/core/base/timer.hpp>

#include <cmath>

namespace ossatura {

template<class Exec>
HelmholtzFilter<Exec>::HelmholtzFilter(const Exec& exec, const HexaArrays<Exec>& arrays,
                                       double radius) {
  OSSATURA_REQUIRE(radius > 0 && std::isfinite(radius), "a filter of radius " << radius);
  terms_ = make_helmholtz_terms(exec, arrays, radius / (2 * std::sqrt(3.0)));
  for (Array<double, Exec>* vector :
       {&diagonal_, &b_, &z_, &vectors_.x, &vectors_.r, &vectors_.p, &vectors_.q})
    *vector = make_zeros<double>(exec, arrays.num_nodes, "ossatura::helmholtz::vector");
  vectors_.b = vectors_.r;
  helmholtz_diagonal(exec, terms_, diagonal_);
  fence(exec, "ossatura::helmholtz_filter");
}

template<class Exec>
SolveResult HelmholtzFilter<Exec>::apply(const Exec& exec, const Array<double, Exec>& x,
                                         const Array<double, Exec>& y) const {
  helmholtz_source(exec, terms_, x, false, b_);
  const SolveResult result = solve(exec);
  helmholtz_integral(exec, terms_, vectors_.x, true, y);
  return result;
}

template<class Exec>
SolveResult HelmholtzFilter<Exec>::apply_transposed(const Exec& exec,
                                                    const Array<double, Exec>& gradient,
                                                    const Array<double, Exec>& result) const {
  helmholtz_source(exec, terms_, gradient, true, b_);
  const SolveResult solved = solve(exec);
  helmholtz_integral(exec, terms_, vectors_.x, false, result);
  return solved;
}

/// A y = b from y = 0, so that equal b give equal bits.
template<class Exec>
SolveResult HelmholtzFilter<Exec>::solve(const Exec& exec) const {
  const TimedScope scope("ossatura::helmholtz_filter");
  Kokkos::deep_copy(exec, vectors_.x, 0.0);
  CgOptions options;
  options.tolerance = 1e-10;
  options.max_iterations = 10000;
  return conjugate_gradients(
      exec, options,
      [&](const Array<double, Exec>& p, const Array<double, Exec>& q) {
        helmholtz_product(exec, terms_, p, q);
      },
      [&](const Array<double, Exec>& y, double scale, const Array<double, Exec>& r) {
        helmholtz_product(exec, terms_, y, r);
        axpby(exec, scale, b_, -scale, r);
      },
      [&](const Array<double, Exec>& r) {
        helmholtz_precondition(exec, diagonal_, r, z_);
        return z_;
      },
      vectors_);
}

#define OSSATURA_INSTANTIATE(Exec) template class HelmholtzFilter<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
