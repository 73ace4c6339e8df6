// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/mma.hpp>

#include <cmath>
#include <limits>

namespace ossatura {

namespace {

/// x with a x = b for a symmetric positive definite a of few rows; overwrites both.
void solve_small(double (&a)[max_mma_constraints][max_mma_constraints],
                 double (&b)[max_mma_constraints], int n) {
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (int j = k; j < n; ++j)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j)
      b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
}

/// Newton's method for the conditions of the dual with barrier e: gap_j + slack_j = 0 and
/// multiplier_j slack_j = e, where gap_j is the j-th constraint at the multipliers' minimiser less
/// its relaxation max(0, multiplier_j - cost).
template<class Exec>
class DualSolver {
public:
  DualSolver(const Exec& exec, const MmaArrays<Exec>& arrays, const double* bound, double cost,
             const Array<double, Exec>& y)
      : exec_(exec)
      , arrays_(arrays)
      , y_(y)
      , m_(arrays.num_constraints)
      , cost_(cost) {
    for (int j = 0; j < m_; ++j) {
      bound_[j] = bound[j];
      multiplier_[j] = cost / 2;
      slack_[j] = 1;
    }
    evaluate();
  }

  std::vector<double> solve(double tolerance) {
    for (double barrier = 1; barrier > tolerance; barrier *= 0.1)
      for (int k = 0; k < 100 && residual(barrier) > 0.9 * barrier; ++k) {
        step(barrier);
        evaluate();
      }
    std::vector<double> result(multiplier_, multiplier_ + m_);
    for (int j = 0; j < m_; ++j)
      if (!std::isfinite(gap_[j]))
        result[std::size_t(j)] = std::numeric_limits<double>::quiet_NaN();
    return result;
  }

private:
  void evaluate() {
    sums_ = mma_dual(exec_, arrays_, multiplier_, y_);
    for (int j = 0; j < m_; ++j)
      gap_[j] = sums_.value[j] - bound_[j] - std::max(0.0, multiplier_[j] - cost_);
  }
  double residual(double barrier) const {
    double largest = 0;
    for (int j = 0; j < m_; ++j)
      largest = std::max({largest, std::fabs(gap_[j] + slack_[j]),
                          std::fabs(multiplier_[j] * slack_[j] - barrier)});
    return largest;
  }
  void step(double barrier) {
    double matrix[max_mma_constraints][max_mma_constraints], d[max_mma_constraints];
    for (int j = 0; j < m_; ++j) {
      for (int k = 0; k < m_; ++k)
        matrix[j][k] = -sums_.hessian[j][k];
      matrix[j][j] += slack_[j] / multiplier_[j] + (multiplier_[j] > cost_ ? 1 : 0);
      d[j] = gap_[j] + barrier / multiplier_[j];
    }
    // Constraints of equal gradient leave the matrix singular but for the slacks.
    double size = 0;
    for (int j = 0; j < m_; ++j)
      size = std::max(size, matrix[j][j]);
    for (int j = 0; j < m_; ++j)
      matrix[j][j] += 1e-12 * size;
    solve_small(matrix, d, m_);
    double shorten = 1.005; // both stay positive
    double ds[max_mma_constraints];
    for (int j = 0; j < m_; ++j) {
      ds[j] = -slack_[j] + (barrier - slack_[j] * d[j]) / multiplier_[j];
      shorten = std::max({shorten, -1.01 * d[j] / multiplier_[j], -1.01 * ds[j] / slack_[j]});
    }
    for (int j = 0; j < m_; ++j) {
      multiplier_[j] += d[j] / shorten;
      slack_[j] += ds[j] / shorten;
    }
  }

  const Exec& exec_;
  const MmaArrays<Exec>& arrays_;
  const Array<double, Exec>& y_;
  int m_;
  double cost_;
  double bound_[max_mma_constraints], multiplier_[max_mma_constraints], slack_[max_mma_constraints],
      gap_[max_mma_constraints];
  MmaDualSums sums_;
};

} // namespace

template<class Exec>
Mma<Exec>::Mma(const Exec& exec, std::int64_t n, int num_constraints, const MmaOptions& options)
    : options_(options)
    , num_constraints_(num_constraints) {
  OSSATURA_REQUIRE(n > 0 && num_constraints >= 1 && num_constraints <= max_mma_constraints,
                   n << " variables, " << num_constraints << " constraints");
  OSSATURA_REQUIRE(options.first > 0 && options.shrink > 0 && options.shrink < 1 &&
                       options.grow >= 1 && options.relaxation_cost > 0,
                   "asymptotes at " << options.first << " of the width, by " << options.shrink
                                    << " or " << options.grow << ", relaxation at "
                                    << options.relaxation_cost);
  for (Array<double, Exec>* vector :
       {&history_.x_old, &history_.x_older, &history_.low, &history_.high, &low_, &high_})
    *vector = make_zeros<double>(exec, n, "ossatura::mma::vector");
}

template<class Exec>
std::vector<double>
Mma<Exec>::propose(const Exec& exec, const Array<double, Exec>& x, double scale,
                   const Array<double, Exec>& df, const std::vector<double>& g,
                   const Array<double, Exec>& dg, const Array<double, Exec>& lower,
                   const Array<double, Exec>& upper, const Array<double, Exec>& x_new) {
  OSSATURA_REQUIRE(int(g.size()) == num_constraints_, g.size() << " values of constraints");
  OSSATURA_REQUIRE(x.extent(0) == low_.extent(0) && dg.extent(0) == x.extent(0) * g.size(),
                   x.extent(0) << " variables, " << dg.extent(0) << " derivatives of constraints");
  const MmaArrays<Exec> arrays{x, lower, upper, df, dg, low_, high_, scale, num_constraints_};
  const auto at_x =
      move_asymptotes(exec, arrays, history_.steps < 2, history_.x_old, history_.x_older,
                      history_.low, history_.high, options_.first, options_.shrink, options_.grow);
  double bound[max_mma_constraints];
  for (int j = 0; j < num_constraints_; ++j)
    bound[j] = at_x[std::size_t(j)] - g[std::size_t(j)];
  DualSolver<Exec> dual(exec, arrays, bound, options_.relaxation_cost, x_new);
  return dual.solve(1e-9 * std::sqrt(double(x.extent(0)) + num_constraints_));
}

template<class Exec>
void Mma<Exec>::accept(const Exec& exec, const Array<double, Exec>& x) {
  std::swap(history_.x_old, history_.x_older);
  Kokkos::deep_copy(exec, history_.x_old, x);
  std::swap(history_.low, low_);
  std::swap(history_.high, high_);
  ++history_.steps;
}

#define OSSATURA_INSTANTIATE(Exec) template class Mma<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
