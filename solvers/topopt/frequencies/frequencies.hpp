// SPDX-License-Identifier: Apache-2.0
// DesignFrequencies find the lowest natural frequencies of a design, f = sqrt(lambda) / 2 pi of
// K u = lambda M u, and differentiate a mean of them. Loads have no part in it: there is no
// stiffening by stress. Components that a load case moves are held.
//
// The lowest frequency has no gradient where two are equal, as those of bending in two directions
// are in a square beam, and designs are driven there. The p-norm of the lowest K of 1 / lambda,
//
//   J = (sum_i lambda_i^-q)^(1/q),   q = 8,
//
// has one: functions that are symmetric in the eigenvalues of a cluster are smooth where these are
// equal, and any modes of the cluster give the same gradient [1]. The frequency of J is below the
// lowest one, by a part of 1 - K^(-1/16) at most, 7 % of K = 3; limits take this out
// (limits/limits.hpp). K has to reach beyond the cluster.
//
// Of a body with mirrors they are those of the whole part: each family of modes (families.hpp) has
// a body of its own, and the lowest of all count.
//
// Modes that are x . K x = 1 have
//   dJ / drho = sum_i (J lambda_i)^(1-q) x_i . (dM/drho - dK/drho / lambda_i) x_i.
//
// [1] A. Torii, J. de Faria. Structural optimization considering smallest magnitude eigenvalues: a
//     smooth approximation. J. Braz. Soc. Mech. Sci. Eng. 39 (2017) 1745-1754,
//     doi:10.1007/s40430-016-0583-x.
#pragma once

#include <ossatura/kernels/algebra/many_vectors.hpp>
#include <ossatura/solvers/topopt/bodies/body.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <memory>
#include <vector>

namespace ossatura {

/// Lowest frequencies that are found of each design, or, where it is not held to them, of the last.
int count_frequencies(const DesignProblem& problem, const DesignOptions& options);

/// Modes that are looked for together, so that so many converge soon.
constexpr int block_of_frequencies(int count) {
  return count + (count < 4 ? 2 : count / 2);
}

/// Whether steps take frequencies.
bool is_held_to_frequencies(const DesignProblem& problem, const DesignOptions& options);

/// Throws std::invalid_argument, with the remedy, for a number of frequencies out of range, and for
/// problems and options that do not go with frequencies.
void require_frequencies(const DesignProblem& problem, const DesignOptions& options);

template<class Exec>
class DesignFrequencies {
public:
  using Vector = Array<double, Exec>;

  /// `body` outlives it. Throws as require_frequencies does, and for materials without mass.
  DesignFrequencies(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                    const DesignBody<Exec>& body);
  ~DesignFrequencies();

  int count() const { return count_; }
  bool is_held_to() const { return is_held_to_; }

  /// Finds the modes of a design after the body was prepared for its moduli, which are by `law`;
  /// reports frequencies in `step`, whose number and errors are of step `number`. Throws
  /// DesignBreakdown, with modes as they were.
  void run(const Exec& exec, int number, const SimpLaw& law, const Vector& density,
           DesignStep& step);
  /// Takes back the last run's modes.
  void revert();

  // Of the last run.
  double lowest() const; ///< Hz
  double mean() const;   ///< Hz, of J
  /// gradient [num_elem] = that of the mean by physical densities.
  void differentiate(const Exec& exec, const SimpLaw& law, const Vector& density,
                     const Vector& gradient) const;
  int num_modes() const { return int(modes_.size()); } ///< 0 before a run
  /// Mode `which` [num_nodes, 3], of what is modelled.
  Vector mode(int which) const;

  /// [num_nodes, 3] each, to be written to for a resumed run: what the next modes start from.
  std::vector<Vector> starts() const;

private:
  struct Family;
  /// A mode, and where it is kept.
  struct Mode {
    double inverse, residual; ///< 1 / lambda, s^2
    std::size_t family;
    int row;
  };
  void make_families(const Exec& exec, const DesignProblem& problem, const DesignOptions& options);
  /// Fills the rows of `family` that modes are looked for from.
  void fill_starts(const Exec& exec, Family& family) const;
  /// Adds the modes of a family to `found`.
  void find(const Exec& exec, int number, std::size_t family, std::vector<Mode>& found,
            DesignStep& step);
  double inverse_norm() const;

  const DesignBody<Exec>& body_;
  int count_;
  bool is_held_to_, warm_start_;
  double tolerance_ = 0;
  int max_iterations_ = 0;
  std::unique_ptr<MassMatrix<Exec>> matrix_;
  Vector mass_density_, mass_, work_;             ///< [num_elem]
  std::vector<std::unique_ptr<Family>> families_; ///< the first is of the body itself
  bool has_mirrors_ = false;
  std::vector<Mode> modes_, kept_; ///< [count] the lowest first; those before
};

} // namespace ossatura
