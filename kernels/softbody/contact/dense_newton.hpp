// SPDX-License-Identifier: Apache-2.0
// Newton's method of newton.hpp where more pairs press than a block of a device has registers for:
// the dense system is in memory, and all of the device eliminates it, 32 columns at a time, without
// exchanges of rows.
//
// Sweeps wait for one pair after the other, and some hundred pairs take 10 to 100 sweeps; a step of
// this takes as long as three or four of these sweeps.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/dense/eliminate.hpp>
#include <ossatura/kernels/softbody/contact/compliance.hpp>
#include <ossatura/kernels/softbody/contact/equations.hpp>

#include <cstdint>

namespace ossatura {

/// Arrays between steps, with room that grows when it must.
template<class Exec>
struct DenseNewtonSpace {
  Array<int, Exec> pressing;             ///< [num_pairs]
  Array<ContactEquation, Exec> equation; ///< [3 of each that presses]
  Array<double, Exec> matrix;            ///< [rows, stride], the right-hand side behind the columns
  Array<double, Exec> best;              ///< [2, 3 num_pairs]: forces and motions
};

namespace detail {

template<class Exec>
struct CountPressing {
  ArrayPointer<const ContactBlock> block;
  ArrayPointer<const double> motion, force;

  KOKKOS_FUNCTION void operator()(int p, int& count) const {
    count += contact_presses(block(p), &motion(3 * p), &force(3 * p));
  }
};

/// Pairs that press, in order; the others lose their forces.
template<class Exec>
struct ListPressing {
  ArrayPointer<const ContactBlock> block;
  ArrayPointer<const double> motion;
  ArrayPointer<double> force;
  ArrayPointer<int> pressing;

  KOKKOS_FUNCTION void operator()(int p, int& count, bool last) const {
    double* const own = &force(3 * p);
    const bool presses = contact_presses(block(p), &motion(3 * p), own);
    if (last && presses)
      pressing(count) = p;
    if (last && !presses)
      own[0] = own[1] = own[2] = 0;
    count += presses;
  }
};

template<class Exec>
struct SetEquations {
  ArrayPointer<const ContactBlock> block;
  ArrayPointer<const double> motion, force;
  ArrayPointer<const int> pressing;
  ArrayPointer<ContactEquation> equation;

  KOKKOS_FUNCTION void operator()(int k) const {
    const int p = pressing(k);
    set_contact_equations(block(p), &motion(3 * p), &force(3 * p), &equation(3 * k));
  }
};

/// The system, an entry at a time.
template<class Exec>
struct FillSystem {
  ArrayPointer<const double> compliance, motion;
  ArrayPointer<const int> pressing;
  ArrayPointer<const ContactEquation> equation;
  ArrayPointer<double> matrix;
  int compliance_stride, n, stride;

  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const int i = int(at / (n + 1)), j = int(at % (n + 1));
    const ContactEquation row = equation(i);
    const int p = pressing(i / 3);
    double sum = 0;
    if (j == n) {
      sum = row.base;
      for (int d = 0; d < 3; ++d)
        sum -= row.of[d] * motion(3 * p + d);
    } else {
      const int q = pressing(j / 3), c = j % 3;
      const double* const of =
          &compliance(3 * std::int64_t(p) * compliance_stride + 3 * std::int64_t(q) + c);
      for (int d = 0; d < 3; ++d)
        sum += row.of[d] * of[std::int64_t(d) * compliance_stride];
      if (p == q)
        sum += row.own[c];
    }
    matrix(std::int64_t(i) * stride + j) = sum;
  }
};

template<class Exec>
struct AddChanges {
  ArrayPointer<const double> matrix;
  ArrayPointer<const int> pressing;
  ArrayPointer<double> force;
  int n, stride;

  KOKKOS_FUNCTION void operator()(int i) const {
    force(3 * pressing(i / 3) + i % 3) += matrix(std::int64_t(i) * stride + n);
  }
};

} // namespace detail

/// Pairs that press at `force` and the `motion` that belongs to it. Fences.
template<class Exec>
int count_pressing(const Exec& exec, int num_pairs, const Array<ContactBlock, Exec>& block,
                   const Array<double, Exec>& motion, const Array<double, Exec>& force) {
  int count = 0;
  Kokkos::parallel_reduce("ossatura::count_pressing",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, num_pairs),
                          detail::CountPressing<Exec>{block, motion, force}, count);
  return count;
}

/// Most rows of the system, 134 MB.
constexpr int most_dense_newton_rows = 4096;

/// One step of Newton's method from `force` and the `motion` that belongs to it: a change of force
/// that solves the equations of the pairs that press as they stand, and no force of the others.
/// `update_motion` sets motion from force, and is called twice. False where no pair presses, or too
/// many: forces of open pairs are gone then. Fences.
template<class Exec, class UpdateMotion>
bool step_dense_newton(const Exec& exec, const Compliance<Exec>& compliance,
                       const Array<ContactBlock, Exec>& block, const Array<double, Exec>& motion,
                       const Array<double, Exec>& force, const UpdateMotion& update_motion,
                       DenseNewtonSpace<Exec>& space) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>;
  const int num_pairs = compliance.num_pairs;
  detail::make_room(exec, num_pairs, space.pressing, "ossatura::dense_newton::pressing");
  int count = 0;
  Kokkos::parallel_scan("ossatura::dense_newton::list", Range(exec, 0, num_pairs),
                        detail::ListPressing<Exec>{block, motion, force, space.pressing}, count);
  fence(exec, "ossatura::step_dense_newton");
  update_motion();
  const int n = 3 * count;
  if (n == 0 || n > most_dense_newton_rows)
    return false;
  const int stride = (n + 1 + 7) / 8 * 8; // whole 64 bytes
  if (int(space.equation.extent(0)) < n)
    space.equation =
        make_uninitialized<ContactEquation>(exec, n + n / 2, "ossatura::dense_newton::equation");
  detail::make_room(exec, std::int64_t(n) * stride, space.matrix, "ossatura::dense_newton::matrix");
  Kokkos::parallel_for(
      "ossatura::dense_newton::equations", Range(exec, 0, count),
      detail::SetEquations<Exec>{block, motion, force, space.pressing, space.equation});
  Kokkos::parallel_for("ossatura::dense_newton::fill", range(exec, std::int64_t(n) * (n + 1)),
                       detail::FillSystem<Exec>{compliance.value, motion, space.pressing,
                                                space.equation, space.matrix, compliance.stride, n,
                                                stride});
  detail::eliminate(exec, space.matrix, n, stride);
  Kokkos::parallel_for("ossatura::dense_newton::add", Range(exec, 0, n),
                       detail::AddChanges<Exec>{space.matrix, space.pressing, force, n, stride});
  update_motion();
  return true;
}

} // namespace ossatura
