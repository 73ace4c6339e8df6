// SPDX-License-Identifier: Apache-2.0
// Preconditioned conjugate gradients [1] iterate in one precision or in several: the solution, the
// vectors of the iteration and the preconditioner may each have their own.
//
// The library has two conjugate gradients. These take any operator, and the host sees every
// residual, which lets it replace, observe and stop at each iteration. Those of resident_solve.hpp
// serve small matrices of blocks, where waiting for a norm takes longer than an iteration: their
// scalars stay on the device, and the host looks once a batch.
//
// [1] M. Hestenes, E. Stiefel, J. Res. NBS 49 (1952) 409-436.
#pragma once

#include <ossatura/solvers/krylov/residual_monitor.hpp>

#include <type_traits>

namespace ossatura {

/// What an iteration works on; all of one size, none aliased but b to r where their types agree.
template<class Exec, class Solution, class Vector, class Cycle>
struct CgVectors {
  Array<Solution, Exec> x; ///< the initial guess, and the solution
  Array<Vector, Exec> r, p, q;
  Array<Cycle, Exec> b; ///< r, for the preconditioner
};

namespace detail {
/// q = A p and p . q, which `apply` may do itself.
template<class Exec, class Apply, class T>
void multiply_and_sum(const Exec& exec, const Apply& apply, const Array<T, Exec>& p,
                      const Array<T, Exec>& q, const CgScalarArray<Exec>& scalars,
                      const VectorSums<Exec>& sums) {
  if constexpr (std::is_invocable_v<Apply, Array<T, Exec>, Array<T, Exec>, CgScalarArray<Exec>>) {
    apply(p, q, scalars);
  } else {
    apply(p, q);
    if (sums.by_groups())
      sums.dot_to(exec, p, q, scalars, VectorSums<Exec>::curvature);
    else
      cg_curvature(exec, p, q, scalars);
  }
}

/// z = M b and r . z, which `precondition` may do itself where b is r.
template<class Exec, class Precondition, class T, class B>
Array<B, Exec> precondition_and_sum(const Exec& exec, const Precondition& precondition,
                                    const Array<B, Exec>& b, const Array<T, Exec>& r,
                                    const CgScalarArray<Exec>& scalars,
                                    const VectorSums<Exec>& sums) {
  if constexpr (std::is_same_v<T, B> &&
                std::is_invocable_v<Precondition, Array<B, Exec>, CgScalarArray<Exec>>) {
    return precondition(b, scalars);
  } else {
    const Array<B, Exec> z = precondition(b);
    if (sums.by_groups())
      sums.dot_to(exec, r, z, scalars, VectorSums<Exec>::angle);
    else
      cg_angle(exec, r, z, scalars);
    return z;
  }
}
} // namespace detail

/// Solves A x = b from the given x. `apply(p, q)` sets q = A p; `residual(x, scale, r)` sets
/// r = scale (b - A x) for a power of two; `precondition(b)` returns an array z = M b, M symmetric
/// positive definite, which stays as it is until p is formed: it may share memory with q. All are
/// zero at held components. `apply(p, q, scalars)` and `precondition(b, scalars)` in their places
/// set scalars.pq and scalars.next_rz, too. When the recurrence meets the tolerance and the true
/// residual does not, the iteration goes on from the true residual; it gives up when that gains
/// less than a factor of two several times, and where the recurrence stalls (CgOptions). Vectors
/// that are cut among processes come with their sums; what they hold at ghosts does not matter.
/// Fences, once an iteration.
template<class Exec, class Solution, class Vector, class Cycle, class Apply, class Residual,
         class Precondition>
SolveResult conjugate_gradients(const Exec& exec, const CgOptions& options, const Apply& apply,
                                const Residual& residual, const Precondition& precondition,
                                const CgVectors<Exec, Solution, Vector, Cycle>& vectors,
                                const IterationObserver& observe = {},
                                const VectorSums<Exec>& sums = {}) {
  const auto& [x, r, p, q, b] = vectors;
  const CgScalarArray<Exec> scalars = make_cg_scalars(exec, std::int64_t(x.extent(0)));
  sums.expect_nothing();
  detail::ResidualMonitor<Exec, CgVectors<Exec, Solution, Vector, Cycle>, Residual> monitor(
      exec, options, residual, vectors, observe, sums); // r = b - A x
  while (!monitor.is_done()) {
    const Array<Cycle, Exec> z =
        detail::precondition_and_sum(exec, precondition, b, r, scalars, sums); // r . z
    cg_direction(exec, monitor.growth(), z, p, scalars);                       // p = z + beta p
    detail::multiply_and_sum(exec, apply, p, q, scalars, sums);                // q = A p, p . q
    sums.step(exec, 1 / monitor.scale(), p, q, x, r, b, scalars); // x += alpha p, r -= alpha q
    const CgScalars values = read_scalars(exec, scalars);
    monitor.look(values); // r = b - A x again, now and then
    if (monitor.growth() == 1)
      sums.expect(values);
    else
      sums.expect_nothing();
  }
  return monitor.result();
}

} // namespace ossatura
