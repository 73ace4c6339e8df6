// SPDX-License-Identifier: Apache-2.0
// The resident conjugate gradients solve a matrix of 3 x 3 blocks with all scalars on the device.
// Every kernel knows by itself whether to go on, so that a batch of iterations is launched without
// a look at the residual. An iteration has three kernels: the preconditioner (z, with sums of r .
// z), direction and product (p, q = A p, sums of p . q), and step (x, r, sums of r . r). With a
// product of another kind the second kernel becomes three: direction, product, sums. Sums are of
// fixed parts in fixed order: the same for any number of threads.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/operator.hpp>
#include <ossatura/kernels/algebra/sparse/block_matrix.hpp>
#include <ossatura/kernels/krylov/resident_cg_kernels.hpp>

#include <algorithm>

namespace ossatura {

/// Vectors and scalars of a solve; all [3 num_rows] unless said otherwise.
template<class Exec>
struct ResidentCg {
  BlockMatrix<Exec> matrix;
  Array<double, Exec> b, x, r, z, q;
  Array<double, Exec> p[2];     ///< of even and odd iterations
  Array<double, Exec> rz_parts; ///< [num_rz_parts]
  Array<double, Exec> pq_parts; ///< [parts of the product]
  Array<double, Exec> rr_parts; ///< [2 parts of the step or the product]
  Array<double, Exec> numbers;  ///< [num_cg_numbers]
  Array<int, Exec> flags;       ///< [num_cg_flags]
  /// The same where the host reads them, as they were at the last look.
  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> seen_numbers;
  Kokkos::View<int*, Kokkos::SharedHostPinnedSpace> seen_flags;
  int num_rz_parts = 0; ///< the preconditioner's, at most
  int num_pq_parts = 0; ///< the product's
};

namespace detail {

template<class Exec>
CgArrays<Exec> cg_arrays(const ResidentCg<Exec>& cg, int parity) {
  CgArrays<Exec> arrays;
  arrays.row_begin = cg.matrix.row_begin;
  arrays.column = cg.matrix.column;
  arrays.flags = cg.flags;
  arrays.value = cg.matrix.value;
  arrays.b = cg.b;
  arrays.x = cg.x;
  arrays.r = cg.r;
  arrays.z = cg.z;
  arrays.q = cg.q;
  arrays.p_before = cg.p[1 - parity];
  arrays.p = cg.p[parity];
  arrays.rz_parts = cg.rz_parts;
  arrays.pq_parts = cg.pq_parts;
  arrays.rr_parts = cg.rr_parts;
  arrays.numbers = cg.numbers;
  arrays.num_rows = cg.matrix.num_rows;
  arrays.num_rz_parts = cg.num_rz_parts;
  arrays.num_product_parts = cg.num_pq_parts;
  return arrays;
}

inline int num_row_parts(int num_rows) {
  return (num_rows + cg_rows - 1) / cg_rows;
}

template<class Exec, class Kernel>
void launch_cg(const char* label, const Exec& exec, int parts, int threads, const Kernel& kernel) {
  Kokkos::parallel_for(
      label, Kokkos::TeamPolicy<Exec>(exec, parts, BackendTraits<Exec>::is_device ? threads : 1),
      kernel);
}

} // namespace detail

/// Vectors for a matrix; x is zero. `num_rz_parts` of the preconditioner in use may be smaller.
template<class Exec>
ResidentCg<Exec> make_resident_cg(const Exec& exec, const BlockMatrix<Exec>& matrix,
                                  int num_rz_parts) {
  const std::int64_t n = 3 * std::int64_t(matrix.num_rows);
  const int parts = detail::num_row_parts(matrix.num_rows);
  ResidentCg<Exec> cg;
  cg.matrix = matrix;
  for (Array<double, Exec>* vector : {&cg.b, &cg.x, &cg.r, &cg.z, &cg.q, &cg.p[0], &cg.p[1]})
    *vector = make_zeros<double>(exec, n, "ossatura::resident_cg::vector");
  cg.num_rz_parts = std::max(num_rz_parts, parts);
  cg.rz_parts = make_zeros<double>(exec, cg.num_rz_parts, "ossatura::resident_cg::rz");
  cg.num_pq_parts = parts;
  cg.pq_parts = make_zeros<double>(exec, parts, "ossatura::resident_cg::pq");
  cg.rr_parts = make_zeros<double>(exec, 2 * parts, "ossatura::resident_cg::rr");
  cg.numbers = make_zeros<double>(exec, num_cg_numbers, "ossatura::resident_cg::numbers");
  cg.flags = make_zeros<int>(exec, num_cg_flags, "ossatura::resident_cg::flags");
  cg.seen_numbers =
      decltype(cg.seen_numbers)("ossatura::resident_cg::seen_numbers", num_cg_numbers);
  cg.seen_flags = decltype(cg.seen_flags)("ossatura::resident_cg::seen_flags", num_cg_flags);
  return cg;
}

/// r = b - A x. With a positive `tolerance` it starts a solve, relative to |b|. `rotated`, if any,
/// gets R^T r. Does not fence.
template<class Exec, class Real>
void cg_residual(const Exec& exec, const ResidentCg<Exec>& cg, double tolerance,
                 const Array<double, Exec>& rotation, const Array<Real, Exec>& rotated) {
  const detail::CgArrays<Exec> arrays = detail::cg_arrays(cg, 0);
  detail::launch_cg("ossatura::cg_residual", exec, detail::num_row_parts(cg.matrix.num_rows), 256,
                    detail::ResidentResidual<Exec, Real>{arrays, rotation, rotated, tolerance});
}

/// The direction of iteration `parity` (even: 0, odd: 1) and q = A p. Does not fence.
template<class Exec>
void cg_product(const Exec& exec, const ResidentCg<Exec>& cg, int parity) {
  const detail::CgArrays<Exec> arrays = detail::cg_arrays(cg, parity);
  detail::launch_cg("ossatura::cg_product", exec, detail::num_row_parts(cg.matrix.num_rows), 256,
                    detail::ResidentProduct<Exec>{arrays});
}

/// The direction of that iteration alone; q = A p is up to another product. Does not fence.
template<class Exec>
void cg_direction(const Exec& exec, const ResidentCg<Exec>& cg, int parity) {
  const int parts = (cg.matrix.num_rows + detail::cg_nodes - 1) / detail::cg_nodes;
  detail::launch_cg("ossatura::cg_direction", exec, parts, 256,
                    detail::ResidentDirection<Exec>{detail::cg_arrays(cg, parity)});
}

/// Sums of p . q after it. Does not fence.
template<class Exec>
void cg_dot(const Exec& exec, const ResidentCg<Exec>& cg, int parity) {
  detail::launch_cg("ossatura::cg_dot", exec, detail::num_row_parts(cg.matrix.num_rows), 128,
                    detail::ResidentDot<Exec>{detail::cg_arrays(cg, parity)});
}

/// The direction of that iteration, q = A p by another product than that of the blocks, and sums
/// of p . q. Does not fence.
template<class Exec>
void cg_product(const Exec& exec, const ResidentCg<Exec>& cg, int parity,
                const Operator<Exec, double>& product) {
  cg_direction(exec, cg, parity);
  product.apply(exec, cg.p[parity], cg.q);
  cg_dot(exec, cg, parity);
}

/// The step of that iteration. Does not fence.
template<class Exec, class Real>
void cg_resident_step(const Exec& exec, const ResidentCg<Exec>& cg, int parity,
                      const Array<double, Exec>& rotation, const Array<Real, Exec>& rotated) {
  detail::launch_cg(
      "ossatura::cg_step", exec, (cg.matrix.num_rows + detail::cg_nodes - 1) / detail::cg_nodes,
      detail::cg_nodes,
      detail::ResidentStep<Exec, Real>{detail::cg_arrays(cg, parity), rotation, rotated});
}

namespace detail {
template<class Exec, class Form>
void cg_form(const Exec& exec, ResidentCg<Exec>& cg, const Form& form) {
  cg.num_rz_parts = (cg.matrix.num_rows + cg_nodes - 1) / cg_nodes;
  launch_cg("ossatura::cg_precondition", exec, cg.num_rz_parts, cg_nodes,
            CgPrecondition<Exec, Form>{cg_arrays(cg, 0), form});
}
} // namespace detail

/// z = r and sums of r . z. Does not fence.
template<class Exec>
void cg_identity(const Exec& exec, ResidentCg<Exec>& cg) {
  detail::cg_form(exec, cg, detail::IdentityForm<Exec>{cg.r});
}

/// z = B r with 3 x 3 blocks [num_rows, 9], and sums of r . z. Does not fence.
template<class Exec>
void cg_blocks(const Exec& exec, ResidentCg<Exec>& cg, const Array<double, Exec>& blocks) {
  detail::cg_form(exec, cg, detail::BlockForm<Exec>{cg.r, blocks});
}

/// z = R y (rotation may be none, y may be z), and sums of r . z. Does not fence.
template<class Exec>
void cg_rotate(const Exec& exec, ResidentCg<Exec>& cg, const Array<double, Exec>& y,
               const Array<double, Exec>& rotation) {
  detail::cg_form(exec, cg, detail::RotateForm<Exec>{y, rotation});
}

/// The numbers that the host looks at between batches.
struct CgLook {
  double true_norm2 = 0, norm2 = 0; ///< r . r, computed afresh and of the recurrence
  double reference = 0;             ///< b . b
  int stop = 0, iterations = 0;
  bool restarted = false; ///< the recurrence had left the true residual
};

/// What a batch of one launch has left in the host's copies. Fences.
template<class Exec>
CgLook look_at_batch(const Exec& exec, const ResidentCg<Exec>& cg) {
  fence(exec, "ossatura::look_at_cg");
  const double* const numbers = cg.seen_numbers.data();
  const int* const flags = cg.seen_flags.data();
  return {numbers[cg_true], numbers[cg_norm2],    numbers[cg_reference],
          flags[cg_stop],   flags[cg_iterations], numbers[cg_rz] == HUGE_VAL};
}

/// Fences.
template<class Exec>
CgLook look_at_cg(const Exec& exec, const ResidentCg<Exec>& cg) {
  Kokkos::deep_copy(exec, cg.seen_numbers, cg.numbers);
  Kokkos::deep_copy(exec, cg.seen_flags, cg.flags);
  return look_at_batch(exec, cg);
}

} // namespace ossatura
