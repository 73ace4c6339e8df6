// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/hexa/cycle.hpp>

#include <ossatura/solvers/krylov/lanczos.hpp>

namespace ossatura::detail {

template<class Exec, class Scalar>
void HexaPolynomialCycle<Exec, Scalar>::prepare(const Exec& exec,
                                                const HexaStiffness<Exec>& stiffness,
                                                const Operator<Exec, Scalar>& product) {
  const std::int64_t n = stiffness.num_dofs();
  const bool polynomial = kind_ == HexaPreconditioner::chebyshev;
  if (jacobi_.blocks.extent(0) == 0) {
    jacobi_.blocks = make_uninitialized<Scalar>(exec, 2 * n, "ossatura::hexa::jacobi");
    x_ = make_zeros<Scalar>(exec, n, "ossatura::hexa::x");
    if (polynomial) {
      next_ = make_zeros<Scalar>(exec, n, "ossatura::hexa::next");
      scratch_ = make_zeros<Scalar>(exec, n, "ossatura::hexa::scratch");
    }
  }
  product_ = &product;
  held_ = stiffness.held.mask;
  stiffness.invert_blocks(exec, kind_ != HexaPreconditioner::jacobi, jacobi_.blocks);
  if (!polynomial)
    return;
  const double largest = estimate_largest_eigenvalue(
      exec, 10, jacobi_,
      [&](const auto& p, const auto& q) {
        product_->apply(exec, p, q);
        clear(exec, stiffness.held, q);
      },
      [&](const auto& r) { clear(exec, stiffness.held, r); }, scratch_, x_, next_);
  // With a spectrum up to degree^2 times the lower end, a cycle gains about a digit there.
  const double lmax = largest > 0 ? largest : 1;
  weights_ = chebyshev_weights(degree_, lmax / std::max(4, degree_ * degree_), 1.05 * lmax);
}

template<class Exec, class Scalar>
Array<Scalar, Exec> HexaPolynomialCycle<Exec, Scalar>::apply(const Exec& exec,
                                                             const Array<Scalar, Exec>& b) {
  if (kind_ != HexaPreconditioner::chebyshev) {
    apply_jacobi(exec, jacobi_, Scalar(1), b, x_);
    return x_;
  }
  smooth_from_zero(exec,
                   SmoothedSystem<Exec, Scalar, Operator<Exec, Scalar>, BlockJacobi<Exec, Scalar>>{
                       *product_, jacobi_, held_, scratch_},
                   weights_, b, x_, next_);
  return x_;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template class HexaPolynomialCycle<Exec, float>;                                                 \
  template class HexaPolynomialCycle<Exec, double>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
