// SPDX-License-Identifier: Apache-2.0
// The Helmholtz filter [1] smooths densities by a partial differential equation: y solves - l^2
// laplace(y) + y = x on the mesh with zero flux through its boundary, l = R / (2 sqrt(3)) for
// neighbourhoods of radius R, and an element's density is its mean of y. As operators on elements F
// = V^-1 B^T A^-1 B with the volumes V and the integrals B of shape functions: constants stay, the
// volume 1^T V F x is that of x, and F^T = V F V^-1.
//
// [1] B. Lazarov, O. Sigmund. Filters in topology optimization based on Helmholtz-type differential
//     equations. Int. J. Numer. Methods Eng. 86 (2011) 765-781, doi:10.1002/nme.3072.
#pragma once

#include <ossatura/kernels/topopt/helmholtz_terms.hpp>
#include <ossatura/solvers/krylov/cg.hpp>

namespace ossatura {

template<class Exec>
class HelmholtzFilter {
public:
  /// `radius` > 0, m. Fences.
  HelmholtzFilter(const Exec& exec, const HexaArrays<Exec>& arrays, double radius);

  /// y = F x, [num_elem] both; they may alias. Fences.
  SolveResult apply(const Exec& exec, const Array<double, Exec>& x,
                    const Array<double, Exec>& y) const;
  /// result = F^T gradient; they may alias. Fences.
  SolveResult apply_transposed(const Exec& exec, const Array<double, Exec>& gradient,
                               const Array<double, Exec>& result) const;

private:
  SolveResult solve(const Exec& exec) const;

  HelmholtzTerms<Exec> terms_;
  Array<double, Exec> diagonal_, b_, z_;
  CgVectors<Exec, double, double, double> vectors_;
};

} // namespace ossatura
