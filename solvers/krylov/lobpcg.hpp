// SPDX-License-Identifier: Apache-2.0
// The lowest modes of K x = lambda M x, K symmetric positive definite and M semidefinite, by LOBPCG
// [1]: Rayleigh-Ritz over the present modes, their preconditioned residuals and the directions in
// which the modes moved last.
//
// M has no mass in void, so that 1 / lambda, the largest x . M x / x . K x, is looked for, and
// bases are orthonormal in K, which is definite. Directions are made orthonormal to the modes by
// their coefficients [2]; residuals are made so before they are multiplied, and what depends on
// others is dropped [3]. What converged is multiplied with K and M afresh, and counts if its true
// residuals meet the tolerance.
//
// [1] A. Knyazev. Toward the optimal preconditioned eigensolver: locally optimal block
//     preconditioned conjugate gradient method. SIAM J. Sci. Comput. 23 (2001) 517-541,
//     doi:10.1137/S1064827500366124.
// [2] U. Hetmaniuk, R. Lehoucq. Basis selection in LOBPCG. J. Comput. Phys. 218 (2006) 324-332,
//     doi:10.1016/j.jcp.2006.02.007.
// [3] A. Stathopoulos, K. Wu. A block orthogonalization procedure with constant synchronization
//     requirements. SIAM J. Sci. Comput. 23 (2002) 2165-2182, doi:10.1137/S1064827500370883.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/many_vectors.hpp>
#include <ossatura/solvers/krylov/small_eigen.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ossatura {

struct LobpcgOptions {
  int wanted = 1;          ///< lowest modes that have to converge
  double tolerance = 1e-6; ///< |K x - lambda M x| / (lambda |M x|)
  int max_iterations = 500;
};

struct LobpcgResult {
  std::vector<double> value;    ///< [wanted] lambda, the lowest first
  std::vector<double> residual; ///< [wanted], true ones
  int iterations = 0;
  bool converged = false;

  double worst_residual() const {
    double worst = value.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (const double one : residual)
      worst = worst == worst && !(one <= worst) ? one : worst; // NaN stays
    return worst;
  }
};

/// `Pencil` has apply_stiffness(exec, x, y), apply_mass(exec, count, x, y) of several vectors, one
/// after the other, precondition(exec, r, z), z near K^-1 r, and solve(exec, r, z), z nearer to it,
/// all within the space of admissible vectors.
/// Residuals do not fall all the time, and where a preconditioner is weak, as beside void, they may
/// stay for hundreds of iterations: after forty without a gain systems are solved in its place.
template<class Exec, class Pencil>
class Lobpcg {
public:
  /// Vectors of length n, a block of `block` modes, of which those beyond the wanted ones speed up
  /// the others. `pencil` outlives it.
  Lobpcg(const Exec& exec, const Pencil& pencil, int block, std::int64_t n)
      : pencil_(pencil)
      , block_(block)
      , s_(make_many_vectors(exec, 3 * block, n, "ossatura::lobpcg::s"))
      , ks_(make_many_vectors(exec, 3 * block, n, "ossatura::lobpcg::ks"))
      , ms_(make_many_vectors(exec, 3 * block, n, "ossatura::lobpcg::ms")) {
    OSSATURA_REQUIRE(block >= 1 && 3 * block <= most_combined_rows && n > 0,
                     "blocks of " << block << " modes of length " << n);
  }

  /// Rows 0 .. block - 1 are the admissible vectors to start from, and then the modes, with
  /// x . K x = 1.
  const ManyVectors<Exec>& modes() const { return s_; }

  /// Throws std::invalid_argument where fewer modes than wanted have mass, and what `observe`
  /// throws. Fences.
  LobpcgResult solve(const Exec& exec, const LobpcgOptions& options,
                     const IterationObserver& observe = {}) {
    options_ = options;
    num_modes_ = block_;
    is_thorough_ = false;
    LobpcgResult result;
    restart(exec);
    double best = std::numeric_limits<double>::infinity();
    for (int restarts = 0, since_best = 0;;) {
      const std::vector<double> residual = measure(exec);
      result.value.clear();
      for (int i = 0; i < options.wanted; ++i)
        result.value.push_back(value(i));
      result.residual.assign(residual.begin(), residual.begin() + options.wanted);
      if (observe)
        observe(result.iterations, result.worst_residual());
      const bool meets = result.worst_residual() <= options.tolerance;
      result.converged = meets && is_fresh_;
      if (result.converged || result.iterations >= options.max_iterations)
        break;
      if (result.worst_residual() < 0.9 * best) {
        best = result.worst_residual();
        since_best = 0;
      } else if (++since_best > most_without_gain) {
        if (is_thorough_) // rounding keeps it from the tolerance
          break;
        is_thorough_ = true;
        since_best = 0;
        restart(exec);
        continue;
      }
      if (meets && restarts < most_restarts) {
        ++restarts;
        restart(exec);
        continue;
      }
      if (meets || !iterate(exec, residual)) { // likewise
        restart(exec);
        const std::vector<double> truly = measure(exec);
        result.residual.assign(truly.begin(), truly.begin() + options.wanted);
        result.converged = result.worst_residual() <= options.tolerance;
        break;
      }
      ++result.iterations;
    }
    return result;
  }

private:
  static constexpr int most_restarts = 5, most_without_gain = 40; ///< iterations
  /// The part of its length that is left of a vector which depends on others.
  static constexpr double dependent = 1e-10;

  std::size_t at(int i, int j, int n) const {
    return std::size_t(i) * std::size_t(n) + std::size_t(j);
  }

  /// lambda of mode i; without mass the largest number.
  double value(int i) const {
    return 1 / std::max(inverse_[std::size_t(i)], std::numeric_limits<double>::min());
  }

  void multiply(const Exec& exec, int first, int last) {
    for (int j = first; j < last; ++j)
      pencil_.apply_stiffness(exec, s_.row(j), ks_.row(j));
    pencil_.apply_mass(exec, last - first, s_.rows(first, last - first),
                       ms_.rows(first, last - first));
  }

  /// From the modes alone, multiplied afresh.
  void restart(const Exec& exec) {
    num_directions_ = 0;
    multiply(exec, 0, num_modes_);
    rayleigh_ritz(exec, num_modes_);
    is_fresh_ = true;
  }

  /// Puts the residuals in the rows behind modes and directions; returns their sizes.
  std::vector<double> measure(const Exec& exec) {
    const int first = num_modes_ + num_directions_;
    std::vector<int> residuals, modes; // each with itself
    for (int i = 0; i < num_modes_; ++i) {
      const Array<double, Exec> r = s_.row(first + i);
      Kokkos::deep_copy(exec, r, ks_.row(i));
      axpby(exec, -value(i), ms_.row(i), 1.0, r);
      residuals.insert(residuals.end(), 2, first + i);
      modes.insert(modes.end(), 2, i);
    }
    const std::vector<double> squares = row_products(exec, s_, s_, residuals);
    const std::vector<double> of_mass = row_products(exec, ms_, ms_, modes);
    std::vector<double> size;
    for (int i = 0; i < num_modes_; ++i)
      size.push_back(std::sqrt(squares[std::size_t(i)]) /
                     (value(i) * std::sqrt(of_mass[std::size_t(i)])));
    return size;
  }

  /// False where nothing new is left to look in.
  bool iterate(const Exec& exec, const std::vector<double>& residual) {
    const int first = num_modes_ + num_directions_;
    int last = first;
    for (int i = 0; i < num_modes_; ++i)
      if (residual[std::size_t(i)] > options_.tolerance / 2) { // in place of those that converged
        if (is_thorough_)
          pencil_.solve(exec, s_.row(first + i), ks_.row(last));
        else
          pencil_.precondition(exec, s_.row(first + i), ks_.row(last));
        Kokkos::deep_copy(exec, s_.row(last), ks_.row(last));
        ++last;
      }
    for (int round = 0; round < 2; ++round)
      make_orthogonal(exec, first, last);
    multiply(exec, first, last);
    is_fresh_ = false;
    return rayleigh_ritz(exec, last);
  }

  /// Takes the parts along modes and directions, which are orthonormal in K, out of new rows.
  void make_orthogonal(const Exec& exec, int first, int last) {
    std::vector<int> pairs;
    for (int k = 0; k < first; ++k)
      for (int j = first; j < last; ++j) {
        pairs.push_back(k);
        pairs.push_back(j);
      }
    subtract_rows(exec, s_, first, first, last, row_products(exec, ks_, s_, pairs));
  }

  /// Modes and directions from the first `count` rows. False where all that is new is dropped.
  bool rayleigh_ritz(const Exec& exec, int count) {
    const std::vector<double> stiffness = row_products(exec, s_, ks_, count);
    const std::vector<double> mass = row_products(exec, s_, ms_, count);
    const std::vector<double> basis = orthonormal_basis(stiffness, count);
    const int kept = int(basis.size()) / count;
    if (kept < options_.wanted)
      throw std::invalid_argument("the body has " + std::to_string(kept) + " modes, and " +
                                  std::to_string(options_.wanted) +
                                  " are asked for: ask for fewer, or keep mass that can move");
    const SmallEigen ritz = small_eigen(reduce(mass, basis, count, kept), std::size_t(kept));
    const int modes = std::min(num_modes_, kept);
    std::vector<std::vector<double>> columns; // coefficients of modes, then of directions
    for (int j = 0; j < modes; ++j) {
      columns.emplace_back(std::size_t(count));
      for (int i = 0; i < count; ++i)
        for (int k = 0; k < kept; ++k)
          columns.back()[std::size_t(i)] += basis[at(i, k, kept)] * ritz.vector[at(k, j, kept)];
    }
    inverse_.assign(ritz.value.begin(), ritz.value.begin() + modes);
    add_directions(stiffness, count, columns);
    std::vector<double> factor(std::size_t(count) * columns.size());
    for (int i = 0; i < count; ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        factor[std::size_t(i) * columns.size() + j] = columns[j][std::size_t(i)];
    for (const ManyVectors<Exec>& rows : {s_, ks_, ms_})
      combine_rows(exec, rows, count, int(columns.size()), factor);
    const bool is_new = count == num_modes_ || kept > num_modes_ + num_directions_;
    num_modes_ = modes;
    num_directions_ = int(columns.size()) - modes;
    return is_new;
  }

  /// Coefficients [count, kept] of vectors that are orthonormal by `gram` [count, count].
  static std::vector<double> orthonormal_basis(const std::vector<double>& gram, int count) {
    const std::size_t n = std::size_t(count);
    std::vector<double> scale(n), scaled(n * n);
    for (std::size_t i = 0; i < n; ++i)
      scale[i] = gram[n * i + i] > 0 ? 1 / std::sqrt(gram[n * i + i]) : 0;
    for (std::size_t i = 0; i < n * n; ++i)
      scaled[i] = scale[i / n] * gram[i] * scale[i % n];
    const SmallEigen own = small_eigen(scaled, n);
    std::size_t kept = 0;
    while (kept < n && own.value[kept] > dependent)
      ++kept;
    std::vector<double> basis(n * kept);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < kept; ++k)
        basis[kept * i + k] = scale[i] * own.vector[n * i + k] / std::sqrt(own.value[k]);
    return basis;
  }

  /// basis^T matrix basis.
  std::vector<double> reduce(const std::vector<double>& matrix, const std::vector<double>& basis,
                             int count, int kept) const {
    std::vector<double> half(basis.size()), reduced(std::size_t(kept) * std::size_t(kept));
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        for (int k = 0; k < kept; ++k)
          half[at(i, k, kept)] += matrix[at(i, j, count)] * basis[at(j, k, kept)];
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < kept; ++k)
        for (int l = 0; l < kept; ++l)
          reduced[at(k, l, kept)] += basis[at(i, k, kept)] * half[at(i, l, kept)];
    for (int k = 0; k < kept; ++k)
      for (int l = 0; l < k; ++l) {
        const double mean = 0.5 * (reduced[at(k, l, kept)] + reduced[at(l, k, kept)]);
        reduced[at(k, l, kept)] = reduced[at(l, k, kept)] = mean;
      }
    return reduced;
  }

  /// What the modes have beside the rows that were modes, made orthonormal to them and to each
  /// other.
  void add_directions(const std::vector<double>& gram, int count,
                      std::vector<std::vector<double>>& columns) const {
    if (count == num_modes_)
      return;
    const auto product = [&](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
          sum += a[std::size_t(i)] * gram[at(i, j, count)] * b[std::size_t(j)];
      return sum;
    };
    const std::size_t modes = columns.size();
    for (std::size_t j = 0; j < modes; ++j) {
      std::vector<double> direction = columns[j];
      std::fill(direction.begin(), direction.begin() + num_modes_, 0.0);
      const double before = std::sqrt(std::max(product(direction, direction), 0.0));
      for (int round = 0; round < 2; ++round)
        for (const std::vector<double>& other : columns) {
          const double along = product(other, direction);
          for (std::size_t i = 0; i < direction.size(); ++i)
            direction[i] -= along * other[i];
        }
      const double left = std::sqrt(std::max(product(direction, direction), 0.0));
      if (!(left > 1e-6 * before) || !(before > 1e-12))
        continue;
      for (double& one : direction)
        one /= left;
      columns.push_back(std::move(direction));
    }
  }

  const Pencil& pencil_;
  int block_;
  LobpcgOptions options_;
  ManyVectors<Exec> s_, ks_, ms_; ///< [3 block, n]: modes, directions, new ones; times K; times M
  int num_modes_ = 0, num_directions_ = 0;
  bool is_thorough_ = false;    ///< systems are solved in place of a cycle
  bool is_fresh_ = false;       ///< whether the modes were multiplied with K and M, not combined
  std::vector<double> inverse_; ///< 1 / lambda of the modes
};

} // namespace ossatura
