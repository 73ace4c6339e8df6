// SPDX-License-Identifier: Apache-2.0
// An ElementFilter takes means over the neighbourhoods of elements. The mesh of a body decides how:
// by lists of neighbours, by an equation, or on a lattice without lists.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

namespace ossatura {

/// Vectors are [num_elem] in the order of the body and do not alias. Functions return how an
/// equation was solved, converged where there is none.
template<class Exec>
class ElementFilter {
public:
  using Vector = Array<double, Exec>;

  virtual ~ElementFilter() = default;

  /// Whether an element has another one, or an image of itself, in its neighbourhood.
  virtual bool reaches_neighbours() const = 0;
  /// y = F x.
  virtual SolveResult apply(const Exec& exec, const Vector& x, const Vector& y) const = 0;
  /// result = F^T gradient.
  virtual SolveResult apply_transposed(const Exec& exec, const Vector& gradient,
                                       const Vector& result) const = 0;
  /// The mean of Sigmund (1997): see kernels/topopt/cone_filter.hpp. Throws std::logic_error where
  /// the filter has none.
  virtual void filter_sensitivities(const Exec& exec, const Vector& density, const Vector& gradient,
                                    const Vector& result) const = 0;
};

} // namespace ossatura
