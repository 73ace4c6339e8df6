// SPDX-License-Identifier: Apache-2.0
// A PlusDiagonal adds a diagonal matrix to an operator, as springs to the ground do.
#pragma once

#include <ossatura/kernels/algebra/operator.hpp>

namespace ossatura {

namespace detail {
template<class Exec, class Scalar>
struct AddDiagonalProduct {
  Array<Scalar, Exec> diagonal, x, y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) += diagonal(i) * x(i); }
};
} // namespace detail

/// y(i) += diagonal(i) x(i). Does not fence.
template<class Exec, class Scalar>
void add_diagonal_product(const Exec& exec, const Array<Scalar, Exec>& diagonal,
                          const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& y) {
  Kokkos::parallel_for("ossatura::add_diagonal_product", range(exec, diagonal.extent(0)),
                       detail::AddDiagonalProduct<Exec, Scalar>{diagonal, x, y});
}

/// A + D. The operator of A must stay.
template<class Exec, class Scalar>
class PlusDiagonal final : public Operator<Exec, Scalar> {
public:
  PlusDiagonal() = default;
  /// `diagonal` as long as vectors are, or empty: nothing is added.
  PlusDiagonal(const Operator<Exec, Scalar>* matrix, const Array<Scalar, Exec>& diagonal)
      : matrix_(matrix)
      , diagonal_(diagonal) {}

  void apply(const Exec& exec, const Array<Scalar, Exec>& x,
             const Array<Scalar, Exec>& y) const override {
    matrix_->apply(exec, x, y);
    if (diagonal_.extent(0) > 0)
      add_diagonal_product(exec, diagonal_, x, y);
  }
  /// The diagonal, x and y are read and y is written once more.
  OperatorCost cost() const override {
    const auto n = std::int64_t(diagonal_.extent(0)), bytes = n * std::int64_t(sizeof(Scalar));
    const OperatorCost own = matrix_->cost();
    return {own.bytes_kept + bytes, own.bytes_moved + 4.0 * double(bytes),
            own.flops + 2.0 * double(n)};
  }
  bool is_deterministic() const override { return matrix_->is_deterministic(); }

private:
  const Operator<Exec, Scalar>* matrix_ = nullptr;
  Array<Scalar, Exec> diagonal_;
};

} // namespace ossatura
